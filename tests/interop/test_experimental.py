"""The recorded steps of ``mindspore.experimental.optim`` are those of the real MindSpore."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.differential.side import Side

pytestmark = pytest.mark.interop
HERE = Path(__file__).parent


def test_recorded_steps_hold(mindspore_side: Side, tmp_path: Path) -> None:
    printed = mindspore_side.printed(HERE / "experimental_facts.py", tmp_path)
    stored = (HERE.parent / "data" / "nn" / "experimental.json").read_text(encoding="utf-8")
    assert json.loads(printed.splitlines()[-1]) == json.loads(stored)
