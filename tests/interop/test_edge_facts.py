"""The edges of ``tests/data/ops/edges.json`` are those of the real MindSpore."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.framework.ops.test_edges import DATA, facts

pytestmark = pytest.mark.interop


def test_recorded_edges_hold(mindspore_python: str, tmp_path: Path) -> None:
    assert facts([mindspore_python], tmp_path) == json.loads(DATA.read_text())
