"""An input that was not captured never counts as agreeing; an operator that only slices makes no values."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from harness import Tensor, nn
from harness.capture import Capture
from harness.explain import Explanation
from harness.records import Record
from tests.explain.runs import captured, explained


class Net(nn.Cell):
    """A product, a slice and a sum."""

    def construct(self, x: Tensor, y: Tensor) -> Tensor:
        return (x * y)[1:3] + 1.0


@pytest.fixture(scope="module")
def golden() -> Capture:
    values = np.arange(1, 13, dtype=np.float32).reshape(4, 3)
    return captured(lambda: Net()(Tensor(values), Tensor(values + 0.5)))


def having(capture: Capture, operator: str, *, without: str = "", add: float = 0.0) -> Capture:
    """The capture without one of an operator's slots, and with another output."""

    def records() -> list[Record]:
        kept = []
        for record in capture.records():
            mine = operator in record.key.operator
            if mine and record.key.slot_name == without:
                continue
            if mine and add and record.key.io == "output":
                values = record.load()
                assert values is not None
                record = replace(record, values=values + np.float32(add), digest=None)
            kept.append(record)
        return kept

    return replace(capture, source=records())


def told(golden: Capture, operator: str, without: str = "") -> Explanation:
    return explained(having(golden, operator, without=without), having(golden, operator, without=without, add=0.25))


def test_where_all_was_captured_inputs_agree(golden: Capture) -> None:
    explanation = told(golden, "Mul-op0")
    assert explanation.origin is not None
    assert explanation.origin.inputs == "its inputs agree"


def test_an_input_that_was_not_captured_is_told(golden: Capture) -> None:
    explanation = told(golden, "Mul-op0", "input.1")
    assert explanation.origin is not None
    assert explanation.origin.inputs == "input 0 agrees, input.1 (y) was not compared"
    assert "not all of its inputs were compared" in explanation.origin.reason


def test_a_slice_does_not_make_values(golden: Capture) -> None:
    explanation = told(golden, "StridedSlice-op0")
    assert explanation.origin is not None
    assert "StridedSlice" in explanation.origin.operator
    assert "unrecorded" in explanation.origin.reason
