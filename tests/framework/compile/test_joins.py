"""What the ways of a condition on a tensor give together, and what values decide; measured with MindSpore 2.10.0."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness import GRAPH_MODE, Tensor, context, dtypes, jit, nn, ops
from harness.errors import HarnessError, JoinError, OutsideError
from tests.examples import examples

KINDS: dict[str, Any] = {
    "int": lambda x: 6, "float": lambda x: 2.5, "bool": lambda x: True, "tensor": lambda x: x + 1,
    "half": lambda x: ops.cast(x, dtypes.float16), "pair": lambda x: (x, x), "other pair": lambda x: (x, x + 1),
    "three": lambda x: (x, x, x), "list": lambda x: [x, x], "long": lambda x: ops.tile(x, (2,)),
    "mixed": lambda x: (1, x), "none": lambda x: None, "dict": lambda x: {"a": x}, "text": lambda x: "a",
}  # fmt: skip
#: kinds that join each other; None joins all
GROUPS = [{"int"}, {"float"}, {"bool"}, {"tensor", "long"}, {"half"}, {"pair", "other pair", "three"}, {"list"},
          {"mixed"}, {"dict"}, {"text"}]  # fmt: skip


#: every twelfth pair, and the others where time does not matter
PAIRS = [
    pytest.param(*pair, marks=() if at % 12 == 0 else pytest.mark.long if at % 4 == 0 else pytest.mark.deep)
    for at, pair in enumerate(itertools.combinations_with_replacement(KINDS, 2))
]


def kind(value: Any) -> Any:
    if isinstance(value, (tuple, list)):
        return type(value)(map(kind, value))
    if isinstance(value, dict):
        return {key: kind(each) for key, each in value.items()}
    return (value.dtype.name, value.shape, value.asnumpy().tolist()) if isinstance(value, Tensor) else value


@pytest.mark.parametrize(("one", "other"), PAIRS)
def test_each_pair_of_kinds(one: str, other: str) -> None:
    first, second = KINDS[one], KINDS[other]

    @jit
    def returned(x: Any) -> Any:
        if x > 3:
            return first(x)
        return second(x)

    @jit
    def named(x: Any) -> Any:
        if x > 3:
            y = first(x)
        else:
            y = second(x)
        return y

    joins = "none" in (one, other) or any({one, other} <= group for group in GROUPS)
    for function in (returned, named):
        for number, way in ((5, first), (1, second)):
            if joins:
                assert kind(function(Tensor(number))) == kind(way(Tensor(number)))
            else:
                with pytest.raises(JoinError, match=r"Cannot join .* at .*test_joins\.py:\d+"):
                    function(Tensor(number))


def test_a_name_that_nobody_uses_joins_with_nothing() -> None:
    @jit
    def function(x: Any) -> Any:
        y = 0
        if x > 3:
            y = x
        return x * 2, type(y) is int and 0

    assert kind(function(Tensor(5)))[0] == ("Int64", (), 10)


@examples(20, 200)
@given(st.integers(-9, 9), st.integers(-9, 9), st.integers(-9, 9), st.sampled_from("+-*"))
def test_numbers_stay_numbers(x: int, one: int, other: int, sign: str) -> None:
    compute = {"+": lambda a, b: a + b, "-": lambda a, b: a - b, "*": lambda a, b: a * b}[sign]

    @jit
    def function(x: Any) -> Any:
        if x > 0:
            y = one
        else:
            y = other
        return y, compute(y, 3), compute(y, 0.5), compute(y, x)

    chosen = one if x > 0 else other
    number, whole, half, tensor = function(Tensor(x))
    assert (type(number), number) == (int, chosen)
    assert (type(whole), whole) == (int, compute(chosen, 3))
    assert (type(half), half) == (float, compute(chosen, 0.5))
    assert kind(tensor) == ("Int64", (), compute(chosen, x))


def test_a_loop_counts_in_numbers() -> None:
    @jit
    def function(x: Any) -> Any:
        n, half = 0, 1.5
        while x > n:
            n = n + 1
            half = half + 1
        return n, half

    assert function(Tensor(3)) == (3, 4.5)


class Chosen(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.CellList([nn.ReLU(), nn.Tanh(), nn.Sigmoid()])

    def construct(self, at: Any, x: Any) -> Any:
        return self.layers[at](x)


def test_a_tensor_chooses_a_cell() -> None:
    context.set_context(mode=GRAPH_MODE)
    net, x = Chosen(), Tensor(np.array([0.5, -1.0], np.float32))
    found = [net(Tensor(at, dtypes.int32), x).asnumpy() for at in (0, 1, 2, -1)]
    expected = [cell(x).asnumpy() for cell in net.layers]
    assert all(map(np.array_equal, found, [*expected, expected[-1]]))
    with pytest.raises(IndexError):
        net(Tensor(3, dtypes.int32), x)


@examples(12, 200)
@given(st.integers(1, 4))
def test_data_decide_the_graph(count: int) -> None:
    @jit
    def function(x: Any, y: Any) -> Any:
        total = y
        for _ in range(int(x)):
            total = total + Tensor(np.sort(y.asnumpy()))
        return total, ops.zeros((int(x), 2)).shape, x.asnumpy().item()

    y = np.array([2.0, 1.0], np.float32)
    total, shape, number = function(Tensor(count), Tensor(y))
    assert np.array_equal(total.asnumpy(), y + count * np.sort(y))
    assert (shape, number) == ((count, 2), count)


@jit
def counted(n: Any) -> Any:
    if n < 1:
        return Tensor([100])
    return counted(n - 1) + n


def power(x: Any, n: int) -> Any:
    if n == 0:
        return ops.ones_like(x)
    return x * power(x, n - 1)


@examples(15, 200)
@given(st.integers(0, 6))
def test_a_function_calls_itself(n: int) -> None:
    @jit
    def function(x: Any) -> Any:
        return power(x, n)

    assert counted(Tensor([n])).asnumpy().tolist() == [100 + n * (n + 1) // 2]
    assert function(Tensor([2.0])).asnumpy().tolist() == [2.0**n]


def test_map_takes_no_tensor() -> None:
    @jit
    def of_tensor(x: Any) -> Any:
        return list(map(lambda v: v + 1, x))  # noqa: C417

    @jit
    def of_tuple(x: Any) -> Any:
        return list(map(lambda v: v + 1, (x, x)))  # noqa: C417

    with pytest.raises(OutsideError, match="map can only be applied to a list or tuple"):
        of_tensor(Tensor([1, 2]))
    assert [each.asnumpy().tolist() for each in of_tuple(Tensor([1, 2]))] == [[2, 3], [2, 3]]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("shape", [[2, None], [None, None], None])
@pytest.mark.parametrize("index", [None, ..., True, 0, slice(None)])
def test_items_of_open_shapes(shape: Any, index: Any) -> None:
    class Net(nn.Cell):
        def construct(self, x: Any) -> Any:
            x[index] = 7
            return x

    context.set_context(mode=GRAPH_MODE)
    net = Net()
    net.set_inputs(Tensor(shape=shape, dtype=dtypes.float32))
    values = np.arange(4, dtype=np.float32).reshape(2, 2)
    found = net(Tensor(values)).asnumpy()
    values[index] = 7
    assert np.array_equal(found, values)


def test_any_number_of_axes() -> None:
    class Net(nn.Cell):
        def construct(self, x: Any) -> Any:
            return x + 1

    context.set_context(mode=GRAPH_MODE)
    net = Net()
    net.set_inputs(Tensor(shape=None, dtype=dtypes.float32))
    assert [net(Tensor(np.zeros(shape, np.float32))).shape for shape in ((2,), (1, 2), (2, 1, 3))] == [
        (2,), (1, 2), (2, 1, 3),
    ]  # fmt: skip
    with pytest.raises(HarnessError, match="set_inputs says"):
        net(Tensor([1, 2]))
