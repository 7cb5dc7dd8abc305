"""The edges of ``tests/data/ops/edges.json`` are those of the real MindSpore."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.differential.side import Side
from tests.framework.ops.test_edges import DATA, PROGRAM

pytestmark = pytest.mark.interop


def test_recorded_edges_hold(mindspore_side: Side, tmp_path: Path) -> None:
    mindspore_side.printed(PROGRAM, tmp_path, tmp_path / "facts.json", tmp_path)
    assert json.loads((tmp_path / "facts.json").read_text()) == json.loads(DATA.read_text())
