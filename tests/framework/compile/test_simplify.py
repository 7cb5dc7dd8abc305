"""One test for each simplification, and for each node that was measured to stay."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from harness import Tensor, dtypes, ops
from harness.framework.compile.simplify import constant_key
from harness.framework.tensor import call
from harness.graph import Const, Parameter, ScalarSpec, TensorSpec, constant
from tests.framework.compile.build import constants, floats, graph_of, kernels, only

X, Y = floats(2, 3), floats(2, 3, start=2.0)
ROW = floats(3)
LEAST = float(np.finfo(np.float32).min)

GONE: dict[str, tuple[Callable[..., Any], tuple[Tensor, ...], list[str]]] = {
    "equal nodes": (lambda net, x: ops.relu(x) + ops.relu(x), (X,), ["ReLU", "Add"]),
    "equal nodes behind equal nodes": (
        lambda net, x: ops.exp(ops.relu(x)) * ops.exp(ops.relu(x)), (X,), ["ReLU", "Exp", "Mul"],
    ),
    "equal numbers": (lambda net, x: (x + 1) * (x + 1), (X,), ["Add", "Mul"]),
    "equal constants": (lambda net, x: (x + net.c) * (x + net.d), (X,), ["Add", "Mul"]),
    "times int 1": (lambda net, x: (ops.exp(x) * 1, 1 * ops.exp(x)), (X,), ["Exp"]),
    "times ones": (lambda net, x: ops.exp(x) * Tensor(np.ones((2, 3), np.float32)), (X,), ["Exp"]),
    "ones times": (lambda net, x: Tensor(np.ones(3, np.float32)) * ops.exp(x), (X,), ["Exp"]),
    "plus int 0": (lambda net, x: (ops.exp(x) + 0, 0 + ops.exp(x)), (X,), ["Exp"]),
    "chained reshapes": (lambda net, x: ops.reshape(ops.reshape(x, (3, 2)), (6,)), (X,), ["Reshape"]),
    "reshape to the same": (lambda net, x: ops.exp(ops.reshape(x, (2, 3))), (X,), ["Exp"]),
    "reshapes back": (lambda net, x: ops.exp(ops.reshape(ops.reshape(x, (6,)), (2, 3))), (X,), ["Exp"]),
    "cast to the same": (lambda net, x: ops.exp(ops.cast(x, dtypes.float32)), (X,), ["Exp"]),
    "sum of constants": (lambda net, x: (net.c + net.d) * x, (X,), ["Mul"]),
    "product of constants": (lambda net, x: (net.c * net.d) * x, (X,), ["Mul"]),
    "a constant times a number": (lambda net, x: (net.c * 2) * x, (X,), ["Mul"]),
    "ones times a constant of one element": (
        lambda net, x: Tensor(np.ones((2, 3), np.float32)) * Tensor(np.array([[0.3]], np.float32)) + x, (X,), ["Add"],
    ),
    "a constant negated": (lambda net, x: ops.neg(net.c) * x, (X,), ["Mul"]),
    "a constant in another shape": (
        lambda net, x: ops.reshape(net.c, (3, 2)) * x.reshape((3, 2)), (X,), ["Reshape", "Mul"],
    ),
    "a constant in another dtype": (lambda net, x: ops.cast(net.c, dtypes.int32) * x, (X,), ["Mul"]),
    "a constant repeated": (lambda net, x: ops.tile(net.c, (2, 1))[:2] * x, (X,), ["StridedSlice", "Mul"]),
    "no number below": (lambda net, x: ops.maximum(ops.exp(x), LEAST), (X,), ["Exp"]),
    "no number above": (lambda net, x: ops.minimum(ops.exp(x), float("inf")), (X,), ["Exp"]),
    "what nobody uses": (lambda net, x: (ops.exp(x), ops.relu(x))[1], (X,), ["ReLU"]),
}  # fmt: skip

STAYS: dict[str, tuple[Callable[..., Any], tuple[Tensor, ...], list[str]]] = {
    "a bound in front": (lambda net, x: ops.maximum(LEAST, x), (X,), ["Maximum"]),
    "a bound of the other side": (lambda net, x: ops.minimum(x, LEAST), (X,), ["Minimum"]),
    "a bound near the least": (lambda net, x: ops.maximum(x, -1e38), (X,), ["Maximum"]),
    "times float 1": (lambda net, x: x * 1.0, (X,), ["Mul"]),
    "divided by 1": (lambda net, x: x / 1, (X,), ["Div"]),
    "minus 0": (lambda net, x: x - 0, (X,), ["Sub"]),
    "times 0": (lambda net, x: x * 0, (X,), ["Mul"]),
    "two negations": (lambda net, x: ops.neg(ops.neg(x)), (X,), ["Neg", "Neg"]),
    "two transposes": (
        lambda net, x: ops.transpose(ops.transpose(x, (1, 0)), (1, 0)), (X,), ["Transpose", "Transpose"],
    ),
    "casts there and back": (
        lambda net, x: ops.cast(ops.cast(x, dtypes.float16), dtypes.float32), (X,), ["Cast", "Cast"],
    ),
    "a constant plus a number": (lambda net, x: (net.c + 1) * x, (X,), ["Add", "Mul"]),
    "a function of a constant": (lambda net, x: ops.exp(net.c) * x, (X,), ["Exp", "Mul"]),
    "ones that stretch the other": (
        lambda net, x: x * Tensor(np.ones((2, 3), np.float32)), (ROW,), ["Mul"],
    ),
    "twos times a constant of one element": (
        lambda net, x: Tensor(np.full((2, 3), 2, np.float32)) * Tensor(np.float32(0.3)) + x, (X,), ["Mul", "Add"],
    ),
    "other attributes": (lambda net, x: ops.argmax(x, 0) + ops.argmax(x, 1).sum(), (X,), ["Argmax"] * 2),
    "the same operator on other arguments": (
        lambda net, x, y: ops.relu(x) + ops.relu(y), (X, Y), ["ReLU", "ReLU", "Add"],
    ),
    "draws of random numbers": (
        lambda net, x: call("Dropout", x, 0.5, 0, 0)[0] + call("Dropout", x, 0.5, 0, 0)[0], (X,),
        ["Dropout", "Dropout", "Add"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", GONE)
def test_goes(name: str) -> None:
    function, inputs, expected = GONE[name]
    assert kernels(graph_of(function, *inputs)) == expected


@pytest.mark.parametrize("name", STAYS)
def test_stays(name: str) -> None:
    function, inputs, expected = STAYS[name]
    assert kernels(graph_of(function, *inputs))[: len(expected)] == expected


def test_updates_are_never_merged() -> None:
    def twice(net: Any, x: Any) -> Any:
        ops.assign_add(net.w, x)
        ops.assign_add(net.w, x)
        return x * 2

    assert kernels(graph_of(twice, X)).count("AssignAdd") == 2


def test_a_folded_constant_has_the_rounded_value() -> None:
    graph = graph_of(lambda net, x: (net.c * 0.1) * x, X)
    assert constants(only(graph, "Mul"))[0] == np.full((2, 3), np.float32(3) * np.float32(0.1), np.float32).tolist()


def test_constants_are_equal_by_kind_and_value() -> None:
    same = [constant(1), Const(1, ScalarSpec(dtypes.int64))]
    others = [constant(1.0), constant(True), constant((1,)), constant("1"), constant(np.array(1)), constant(None)]
    assert len({constant_key(c) for c in same}) == 1
    assert len({constant_key(c) for c in [same[0], *others]}) == 7
    zeros = [constant(np.array([0.0], np.float32)), constant(np.array([-0.0], np.float32))]
    assert constant_key(zeros[0]) != constant_key(zeros[1])
    parameters = [Parameter("x", TensorSpec(dtypes.float32, (2,)), False) for _ in range(2)]
    assert constant_key(parameters[0]) != constant_key(parameters[1])
