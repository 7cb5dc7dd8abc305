"""The recorded cases of ``Print`` are what the real MindSpore writes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.differential.side import Side
from tests.interop import print_facts
from tests.interop.trees import ROOT

pytestmark = pytest.mark.interop


@pytest.mark.parametrize("mode", ["graph", "pynative"])
def test_recorded_cases_are_real(mode: str, mindspore_side: Side, tmp_path: Path) -> None:
    recorded = json.loads(print_facts.DATA.read_text(encoding="utf-8"))[mode]
    number = ["graph", "pynative"].index(mode)
    printed = mindspore_side.printed(Path(print_facts.__file__), tmp_path, number, PYTHONPATH=str(ROOT))
    assert print_facts.parsed(printed) == recorded
