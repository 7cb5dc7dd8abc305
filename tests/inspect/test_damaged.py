"""Spoilt trees and goldens: one error, or a line that says what is missing; ``tests.inspect.damaged`` takes many."""

from __future__ import annotations

import secrets
import sys

import numpy as np
import pytest

from harness.inspect import inspect
from tests.inspect.damaged import run
from tests.inspect.made import Made


@pytest.mark.long
def test_spoilt_files_are_told() -> None:
    assert run(20261129, 200)["wrong"] == 0


@pytest.mark.deep
def test_many_spoilt_files_are_told() -> None:
    seed = secrets.randbelow(1 << 30)
    print(f"seed {seed}", file=sys.stderr)
    assert run(seed, 2000)["wrong"] == 0


def _told(made: Made) -> list[str]:
    return [line for line in inspect(made.capture()).untold if "not there" in line]


def test_what_is_missing_is_said() -> None:
    x, whole, holes = np.ones(3, np.float32), Made(), Made()
    for step in range(6):
        for run_ in (whole, holes):
            run_.step = step
            if run_ is holes and step in (2, 3):
                continue
            run_.op("Default/a-Abs/Abs-op0", "Abs", [x], [x] if run_ is whole or step != 4 else [])
            run_.parameter("w", x)
    assert _told(whole) == []
    assert _told(holes) == [
        "2 steps are not there, the first is 2",
        "1 slot of step 4 is not there that another step has, such as Default/a-Abs/Abs-op0 output.0",
    ]
    every = Made()
    for every.step in (0, 10, 20):
        every.op("Default/a-Abs/Abs-op0", "Abs", [x], [x])
    assert _told(every) == []


def test_one_rank_of_several_is_said() -> None:
    made, x = Made(), np.ones(3, np.float32)
    made.op("Default/AllReduce-op0", "AllReduce", [x], [x])
    assert _told(made) == ["rank 0 alone: what other ranks gave to 1 collective (AllReduce) is not there"]
