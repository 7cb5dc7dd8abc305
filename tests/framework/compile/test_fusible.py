"""Which kernels a graph kernel takes in: by operator, and by the dtypes of its tensors."""

from __future__ import annotations

import pytest

from harness import dtypes
from harness.dtypes import DType
from harness.framework.compile.fusible import FUSIBLE, is_fusible
from harness.framework.ops.base import OPERATORS
from harness.graph import Node, Parameter, TensorSpec, TupleSpec
from harness.graph.node import constant

SINGLE, HALF, BRAIN, DOUBLE = dtypes.float32, dtypes.float16, dtypes.bfloat16, dtypes.float64
INT, LONG, BOOL = dtypes.int32, dtypes.int64, dtypes.bool_


def node(op: str, *inputs: DType, output: DType, shape: tuple[int, ...] = (2,)) -> Node:
    given = [Parameter(f"p{at}", TensorSpec(dtype, shape), False) for at, dtype in enumerate(inputs)]
    return Node(op, list(given), {}, "Default", TensorSpec(output, shape))


def test_every_operator_is_known() -> None:
    assert FUSIBLE.keys() <= set(OPERATORS)


@pytest.mark.parametrize(
    ("op", "inputs", "output", "taken"),
    [
        ("Add", (SINGLE, SINGLE), SINGLE, True),
        ("Add", (INT, INT), INT, True),
        ("Add", (LONG, LONG), LONG, False),
        ("Add", (DOUBLE, DOUBLE), DOUBLE, False),
        ("Add", (HALF, SINGLE), SINGLE, False),
        ("Exp", (BRAIN,), BRAIN, True),
        ("Exp", (INT,), INT, False),
        ("Sigmoid", (HALF,), HALF, True),
        ("BiasAdd", (INT, INT), INT, True),
        ("ReLU", (LONG,), LONG, False),
        ("Greater", (SINGLE, SINGLE), BOOL, True),
        ("Greater", (LONG, LONG), BOOL, False),
        ("IsFinite", (INT,), BOOL, False),
        ("IsFinite", (HALF,), BOOL, True),
        ("Cast", (SINGLE,), HALF, True),
        ("Cast", (BOOL,), INT, True),
        ("Cast", (LONG,), SINGLE, False),
        ("Select", (BOOL, SINGLE, SINGLE), SINGLE, True),
        ("Select", (BOOL, INT, INT), INT, False),
        ("LogicalAnd", (BOOL, BOOL), BOOL, False),
        ("Sin", (SINGLE,), SINGLE, False),
        ("ReduceSum", (SINGLE,), SINGLE, False),
        ("AddN", (SINGLE,) * 10, SINGLE, True),
        ("AddN", (SINGLE,) * 11, SINGLE, False),
    ],
)
def test_what_is_taken_in(op: str, inputs: tuple[DType, ...], output: DType, taken: bool) -> None:
    assert is_fusible(node(op, *inputs, output=output)) is taken


def test_what_is_no_plain_kernel() -> None:
    plain = node("Add", SINGLE, SINGLE, output=SINGLE)
    assert is_fusible(plain)
    plain.inputs[1] = constant(2.0)  # numbers have no dtype that counts
    assert is_fusible(plain)
    plain.extra.effect = True
    assert not is_fusible(plain)
    assert not is_fusible(node("Add", SINGLE, SINGLE, output=SINGLE, shape=(0, 2)))
    several = node("Add", SINGLE, SINGLE, output=SINGLE)
    several.spec = TupleSpec((several.spec,))
    assert not is_fusible(several)
    load = node("Add", SINGLE, SINGLE, output=SINGLE)
    load.kernel = False
    assert not is_fusible(load)
