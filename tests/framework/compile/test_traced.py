"""What a traced function cannot do; each error names the user's file and line."""

from __future__ import annotations

from collections.abc import Callable
from inspect import getsourcelines
from typing import Any

import numpy as np
import pytest

from harness import Tensor, ops
from harness.errors import DtypeError, ShapeError, TraceError, UnknownNameError
from harness.framework.tensor import call
from tests.framework.compile.build import Net, compiled, floats


def place(function: Callable[..., Any], text: str) -> str:
    """``test_traced.py:17``: the line of ``function`` that holds ``text``."""
    lines, first = getsourcelines(function)
    (at,) = [first + i for i, line in enumerate(lines) if text in line]
    return f"test_traced.py:{at}"


def python_break(net: Any, x: Any) -> Any:
    for _ in range(2):
        if x.sum() > 0:
            break
    return -x


def python_while(net: Any, x: Any) -> Any:
    while x.sum() > 0:
        return x - 1
    return x


def asks_for_data(net: Any, x: Any) -> Any:
    return x * float(x.asnumpy().max())


def asks_for_an_item(net: Any, x: Any) -> Any:
    return x * x.sum().item()


def asks_for_a_number(net: Any, x: Any) -> Any:
    return x * int(x.sum())


def sets_data(net: Any, x: Any) -> Any:
    x.set_data(x)  # data
    return x


def odd_argument(net: Any, x: Any) -> Any:
    return call("Add", x, set(range(2)))  # odd


def odd_result(net: Any, x: Any) -> Any:
    return ops.relu(x), ops.relu


def unknown_operator(net: Any, x: Any) -> Any:
    return call("MatMull", x, x)  # unknown


def bad_shapes(net: Any, x: Any) -> Any:
    return ops.matmul(x, x)  # shapes


def bad_dtype(net: Any, x: Any) -> Any:
    return ops.BitwiseAnd()(x, x)  # dtype


@pytest.mark.parametrize(
    ("function", "mark", "error", "texts"),
    [
        (sets_data, "# data", TraceError, ["set_data", "ops.assign"]),
        (odd_argument, "# odd", TraceError, ["a value of type set cannot be part of a graph"]),
        (unknown_operator, "# unknown", UnknownNameError, ["no operator is called 'MatMull'", "did you mean MatMul"]),
        (bad_shapes, "# shapes", ShapeError, ["matmul", "[2, 3]"]),
        (bad_dtype, "# dtype", DtypeError, ["BitwiseAnd", "Float32"]),
    ],
)
def test_refused_with_the_users_line(
    function: Callable[..., Any], mark: str, error: type[Exception], texts: list[str]
) -> None:
    with compiled(), pytest.raises(error) as caught:
        Net(function)(floats(2, 3))
    message = str(caught.value)
    for text in [*texts, place(function, mark)]:
        assert text in message, message


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (python_break, lambda x: -x), (python_while, lambda x: x - 1), (asks_for_data, lambda x: x * x.max()),
        (asks_for_an_item, lambda x: x * x.sum()), (asks_for_a_number, lambda x: x * int(x.sum())),
    ],
)  # fmt: skip
def test_a_tensor_decides_when_the_network_runs(function: Callable[..., Any], expected: Callable[..., Any]) -> None:
    with compiled():
        found = Net(function)(floats(2, 3))
    np.testing.assert_array_equal(found.asnumpy(), expected(floats(2, 3).asnumpy()))


def test_a_function_is_no_result() -> None:
    with compiled(), pytest.raises(TraceError, match="a value of type function cannot be part of a graph"):
        Net(odd_result)(floats(2, 3))


def test_the_line_is_told_once() -> None:
    def inner(net: Any, x: Any) -> Any:
        return ops.relu(ops.matmul(x, x))

    with compiled(), pytest.raises(ShapeError) as caught:
        Net(inner)(floats(2, 3))
    assert str(caught.value).count("test_traced.py") == 1


def test_a_failed_trace_leaves_no_graph_and_no_number() -> None:
    with compiled() as graphs:
        with pytest.raises(ShapeError):
            Net(bad_shapes)(floats(2, 3))
        Net(lambda net, x: ops.relu(x))(floats(2, 3))
    assert [graph.id for graph in graphs] == [0]
    assert [node.number for node in graphs[0].execution_order] == [0]


def test_what_is_known_of_a_traced_tensor() -> None:
    seen: dict[str, Any] = {}

    def look(net: Any, x: Any) -> Any:
        seen.update(
            kind=type(x), shape=x.shape, ndim=x.ndim, size=x.size, dtype=str(x.dtype), length=len(x),
            nbytes=x.nbytes,
        )  # fmt: skip
        return x + 1

    with compiled():
        Net(look)(floats(2, 3))
    assert seen == {
        "kind": Tensor, "shape": (2, 3), "ndim": 2, "size": 6, "dtype": "Float32", "length": 2,
        "nbytes": 24,
    }  # fmt: skip


def test_the_text_of_a_tensor_is_that_of_its_data() -> None:
    with compiled():
        assert Net(lambda net, x: f"{x} {x + 1}")(Tensor(np.array([1, 2]))) == "[1 2] [2 3]"


def test_a_traced_tensor_iterates_over_its_rows() -> None:
    with compiled() as graphs:
        out = Net(lambda net, x: tuple(row * 2 for row in x))(floats(2, 3))
    assert [node.op for node in graphs[0].execution_order].count("StridedSlice") == 2
    np.testing.assert_array_equal([row.asnumpy() for row in out], floats(2, 3).asnumpy() * 2)


def test_numpy_leaves_arithmetic_to_the_tensor() -> None:
    array = np.full((2, 3), 2, np.float32)
    with compiled():
        out = Net(lambda net, x: x * Tensor(array))(floats(2, 3))
    np.testing.assert_array_equal(out.asnumpy(), floats(2, 3).asnumpy() * array)
