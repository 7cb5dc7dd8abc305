"""Reads the facts recorded from the real MindSpore."""

from __future__ import annotations

import json
from typing import Any

from tests.interop.nn_facts import DATA


def recorded(name: str) -> Any:
    """Facts ``name`` (``names``, ``initial_values``, ...), as ``tests/interop/nn_facts.py`` wrote them."""
    return json.loads((DATA / f"{name}.json").read_text(encoding="utf-8"))


def plain(facts: Any) -> Any:
    """Facts as JSON would give them back."""
    return json.loads(json.dumps(facts))
