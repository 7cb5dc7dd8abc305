"""Faults drawn from a seed: the gate tells file, line and change. ``python -m tests.plugin.planted`` draws more."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.plugin.planted.planting import Planted


@pytest.mark.long
@pytest.mark.parametrize(("name", "count"), [("arrays", 8), ("networks", 3)])
def test_file_line_and_change_of_a_planted_fault_are_told(name: str, count: int, tmp_path: Path) -> None:
    for outcome in Planted(name, tmp_path).drawn(random.Random(20261130), count):
        assert outcome.place, outcome.told
        assert outcome.cause, outcome.told
