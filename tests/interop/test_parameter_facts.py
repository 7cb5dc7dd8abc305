"""The facts of ``tests/data/tensor/parameters.json`` are those of the real MindSpore."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.differential.side import Side
from tests.framework.tensor.test_parameter import DATA, PROGRAM

pytestmark = pytest.mark.interop


def test_recorded_parameters_hold(mindspore_side: Side, tmp_path: Path) -> None:
    mindspore_side.printed(PROGRAM, tmp_path, tmp_path / "facts.json")
    assert json.loads((tmp_path / "facts.json").read_text()) == json.loads(DATA.read_text())
