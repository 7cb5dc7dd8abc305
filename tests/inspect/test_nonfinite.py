"""NaN and infinity: the operator, the element and the reason, over drawn values; with values and with statistics."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.capture import read_tree
from harness.inspect import Certainty, Report, inspect
from harness.inspect.finding import Finding
from harness.inspect.inspecting import opened
from harness.inspect.origins import Search
from harness.inspect.run import Made as Maker
from tests.capture.msprobe_build import call, dump, tensor
from tests.inspect.made import Made

#: kind -> operator, how it computes, the input that does it, what the others are
CASES: dict[str, tuple[str, Any, tuple[float, ...], str]] = {
    "log of zero": ("Log", np.log, (0.0,), "float32"),
    "log of a negative number": ("log", np.log, (-0.5,), "float32"),
    "root of a negative number": ("Sqrt", np.sqrt, (-2.0,), "float32"),
    "division by zero": ("RealDiv", np.divide, (3.0, 0.0), "float32"),
    "zero divided by zero": ("div", np.divide, (0.0, 0.0), "float64"),
    "exponential overflow": ("Exp", np.exp, (200.0,), "float32"),
    "overflow of Float16": ("Mul", np.multiply, (300.0, 400.0), "float16"),
    "overflow of Float32": ("Square", np.square, (1e30,), "float32"),
}


_NUMBERS = ("Max", "Min", "Mean", "Norm")


def only(report: Report) -> Finding:
    """The one error of a report."""
    assert len(report.errors) == 1, report.findings
    return report.errors[0]


@pytest.mark.parametrize("statistics", [False, True], ids=["values", "statistics"])
@pytest.mark.parametrize("kind", CASES)
@settings(max_examples=2, deadline=None)
@given(data=st.data())
def test_the_first_operator_its_element_and_why(kind: str, statistics: bool, data: st.DataObject) -> None:
    op, compute, doing, dtype = CASES[kind]
    shape = tuple(data.draw(st.lists(st.integers(1, 4), min_size=1, max_size=3)))
    at = tuple(data.draw(st.integers(0, n - 1)) for n in shape)
    operands = []
    for value in doing:
        array = np.full(shape, 1.5, dtype)
        array[at] = value
        operands.append(array)
    run = Made(statistics)
    with np.errstate(all="ignore"):
        before = run.op("Default/a-Abs/Abs-op0", "Abs", [np.ones(3, dtype)], [np.ones(3, dtype) * 2])
        assert before is not None
        bad = run.op(f"Default/b/{op}-op0", op, operands, [compute(*operands)])
        last = run.op("Default/c/Neg-op0", "Neg", [bad], [-bad])
        run.op("Default/d/ReduceSum-op0", "ReduceSum", [last], [np.asarray(last.sum())])
    found = only(inspect(run.capture(), ["nonfinite"]))
    assert found.operator == f"Default/b/{op}-op0"
    assert found.source == "net.py:7"
    assert found.folded.startswith("2 later executions")
    if statistics:
        assert found.certainty is not Certainty.PROVEN
        assert found.kind in (kind, "division by zero")
        return
    assert found.kind == kind
    assert found.certainty is Certainty.PROVEN
    assert f"{list(at)}" in found.text
    assert found.elements[-1] == f"input.{len(doing) - 1}{list(at)} = {operands[-1][at]:.9g}"


@given(st.integers(2, 5), st.integers(2, 5))
@settings(max_examples=3, deadline=None)
def test_a_mask_of_infinity_is_meant(rows: int, columns: int) -> None:
    run = Made()
    scores = np.arange(rows * columns, dtype=np.float32).reshape(rows, columns)
    masked = np.where(np.arange(columns) > 0, np.float32(-np.inf), scores)
    run.op("Default/masked_fill-op0", "masked_fill", [scores, np.arange(columns) > 0], [masked])
    with np.errstate(all="ignore"):
        weights = np.exp(masked - masked.max(-1, keepdims=True))
        run.op("Default/_softmax-op0", "_softmax", [masked], [weights / weights.sum(-1, keepdims=True)])
    assert not inspect(run.capture(), ["nonfinite"]).findings


def test_a_row_that_is_masked_whole_makes_nan() -> None:
    run = Made()
    scores = np.ones((2, 3), np.float32)
    masked = np.array([[1, 1, 1], [-np.inf] * 3], np.float32)
    run.op("Default/masked_fill-op0", "masked_fill", [scores, masked < 0], [masked])
    weights = np.array([[1 / 3] * 3, [np.nan] * 3], np.float32)
    run.op("Default/_softmax-op0", "_softmax", [masked], [weights])
    found = only(inspect(run.capture(), ["nonfinite"]))
    assert (found.operator, found.kind) == ("Default/_softmax-op0", "infinity minus infinity")


@pytest.mark.parametrize("statistics", [False, True])
def test_what_follows_in_later_steps_is_folded(statistics: bool) -> None:
    run = Made(statistics)
    weight, x = np.ones((3, 2), np.float32), np.ones((4, 3), np.float32)
    for run.step in range(3):
        y = run.op("Default/fc-Dense/MatMul-op0", "MatMul", [x, weight], [x @ weight])
        with np.errstate(all="ignore"):
            zero = np.zeros_like(y) if run.step == 1 else np.ones_like(y)
            z = run.op("Default/RealDiv-op0", "RealDiv", [y, zero], [y / zero])
            weight = weight - z.sum()
        run.op("Default/optimizer-SGD/sub_-op0", "sub_", [z], [weight])
        run.parameter("fc.weight", weight)
    found = only(inspect(run.capture(), ["nonfinite"]))
    assert (found.operator, found.iteration, found.kind) == ("Default/RealDiv-op0", 1, "division by zero")
    assert "fc.weight" in found.folded


def test_a_result_that_no_arithmetic_gives_is_wrong() -> None:
    for statistics in (False, True):
        run = Made(statistics)
        x = np.full((2, 2), 0.5, np.float32)
        run.op("Default/MatMul-op0", "MatMul", [x, x], [np.array([[0.5, np.nan], [0.5, 0.5]], np.float32)])
        found = only(inspect(run.capture(), ["nonfinite"]))
        assert found.kind == "wrong result"


def test_data_that_hold_nan_are_named() -> None:
    run = Made()
    x = np.array([1, np.nan], np.float32)
    run.op("Default/Neg-op0", "Neg", [x], [-x])
    found = only(inspect(run.capture(), ["nonfinite"]))
    assert found.kind == "given"
    assert found.operator == "Default/Neg-op0 input.0"


def test_overflow_that_the_step_checks_for_is_a_note_until_it_is_always() -> None:
    for steps, errors in ((3, 0), (6, 1)):
        run = Made()
        for run.step in range(steps):
            g = np.full(3, 60000, np.float16)
            with np.errstate(all="ignore"):
                scaled = run.op("Gradients/Default/a/Mul-op0", "Mul", [g, g], [g * g])
            run.op("Gradients/Default/IsFinite-op0", "IsFinite", [scaled], [np.isfinite(scaled)])
        report = inspect(run.capture(), ["nonfinite"])
        assert (len(report.errors), len(report.findings)) == (errors, 1)


@pytest.mark.parametrize("spoilt", [True, False], ids=["forward", "backward"])
@pytest.mark.parametrize(
    "names",
    [("Functional.linear.1.forward", "Functional.linear.1.backward"),
     ("Module.b.Linear.forward.0", "Module.b.Linear.backward.0")],
    ids=["L1", "L0"],
)  # fmt: skip
def test_a_gradient_of_msprobe_reads_what_its_call_kept(names: tuple[str, str], spoilt: bool, tmp_path: Path) -> None:
    nan = dict.fromkeys(_NUMBERS, "NaN") if spoilt else {}
    data = {
        "Torch.log.0.forward": call([tensor(Min=-0.25)], [tensor(**nan)]),
        names[0]: call([tensor(**nan), tensor(shape=(3, 3))], [tensor(**nan)]),
        names[1]: {"input": [tensor()], "output": [tensor(**dict.fromkeys(_NUMBERS, "NaN"))]},
    }
    found = only(inspect(read_tree(dump(tmp_path / "a", data)), ["nonfinite"]))
    assert found.operator == ("Torch.log.0.forward" if spoilt else names[1])


@pytest.mark.parametrize(("value", "meant"), [(-np.inf, True), (np.nan, False)])
def test_a_constant_may_hold_infinity_on_purpose_and_never_nan(value: float, meant: bool) -> None:
    """Data that a step is given are constants of PyTorch's graphs; so are masks."""
    made, x = Made(), np.ones(3, np.float32)
    made.op("Default/a-Cell/Add-op0", "Add", [x, np.float32([0, value, 0])], [np.float32([1, value, 1])])
    run, _ = opened(made.capture(), made.capture().records())
    run.ops[0].makers = {0: Maker(parameter="x"), 1: Maker(constant=True)}
    assert [each.meant for each in Search(run).origins] == [meant]
