"""Outputs that MindSpore's kernels leave unwritten are not compared, nor what took them; anything else is, though old
memory holds the same."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from harness.compare import first_divergence
from harness.compare.policy import Judgement, Party, judge
from harness.compare.verdict import Verdict
from harness.records import Record
from tests.compare.helpers import operator

G, RUN = (np.float32([at, at + 1, at + 2]) for at in (1, 5))
W = np.float32([7, 7, 7])
#: an output of Adam's is old memory
ADAM, AFTER = "Default/Adam-op0", "Default/After-op1"


def _side(gradient: Any, memory: Any, after: Any = W) -> list[Record]:
    return [
        *operator("Default/Mul-op0", [W, gradient[:1]], [gradient], "Mul"),
        *operator("Default/MatMul-op0", [gradient], [gradient * 2], "MatMul"),
        *operator(ADAM, [W] * 10, [memory, W, W], "Adam"),
        *operator(AFTER, [after], [W], "Mul"),
    ]


def _judged(one: list[Record], other: list[Record]) -> Judgement:
    return judge(*(Party(side, "mindspore", release="2.10.0") for side in (one, other)), lay=lambda *_: None)


def test_old_memory_is_left_out_with_what_takes_it() -> None:
    other = np.float32([9, 9, 9])
    judged = _judged(_side(G, W, W), _side(G, other, other))
    assert judged.holds
    assert {key[3] for key in judged.comparison.uncompared} == {ADAM, AFTER}


@pytest.mark.parametrize("memory", ["a gradient", "the result"])
def test_a_difference_that_lies_in_old_memory_too_is_compared(memory: str) -> None:
    """A buffer is used again: what an operator before Adam took is what Adam's output shows."""
    one, other = (each if memory == "a gradient" else each * 2 for each in (G, RUN))
    judged = _judged(_side(G, one), _side(RUN, other))
    assert set(judged.comparison.uncompared) == {(0, 0, 0, ADAM, 0)}
    differing = [s.key.operator for s in judged.comparison.slots if s.verdict is Verdict.DIFFERS]
    assert differing.count("Default/MatMul-op0") == 2
    origin = first_divergence(judged.comparison)
    assert origin is not None
    assert origin.where.operator == "Default/Mul-op0"


def test_data_that_lies_in_old_memory_too_is_compared() -> None:
    """An input that nothing made, before the kernel that left its output unwritten."""
    one, other = ([*operator("Default/Cast-op0", [e], [W], "Cast"), *_side(G, e)] for e in (G, RUN))
    judged = _judged(one, other)
    assert not judged.holds
    assert set(judged.comparison.uncompared) == {(0, 0, 0, ADAM, 0)}
