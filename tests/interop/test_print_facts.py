"""The recorded cases of ``Print`` are what the real MindSpore writes."""

from __future__ import annotations

import json

import pytest

from tests.interop import print_facts

pytestmark = pytest.mark.interop


@pytest.mark.parametrize("mode", ["graph", "pynative"])
def test_recorded_cases_are_real(mode: str, mindspore_python: str) -> None:
    recorded = json.loads(print_facts.DATA.read_text(encoding="utf-8"))[mode]
    assert print_facts.results([mindspore_python], ["graph", "pynative"].index(mode)) == recorded
