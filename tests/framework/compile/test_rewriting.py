"""Statements that tensors decide, and assignment to elements: a graph gives what Python gives."""

from __future__ import annotations

import functools
import gc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from harness import Parameter, Tensor, context, dtypes, grad, nn, ops
from harness.errors import TraceError
from harness.framework.ops.base import OPERATORS
from tests.framework.compile.build import compiled


class Net(nn.Cell):
    """A cell of one function."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.function = function

    def construct(self, *args: Tensor) -> Any:
        return self.function(*args)


def in_mode(mode: int, function: Callable[..., Any], *args: Any) -> Any:
    before = context.get_context("mode")
    context.set_context(mode=mode)
    try:
        result = Net(function)(*(Tensor(np.array(a, np.float32)) for a in args))
    finally:
        context.set_context(mode=before)
    return [r.asnumpy().tolist() for r in (result if isinstance(result, tuple) else (result,))]


def either(x: Tensor) -> Tensor:
    if x.sum() > 0:
        y = x * 3
    else:
        y = -x
    return y + 1


def alone(x: Tensor) -> Tensor:
    scale = 2
    if x.sum() > 0 and not x.max() > 8:
        x = x - 1
        scale = 5
        unused = x * 7  # noqa: F841
    return x * scale


def several(x: Tensor) -> Tensor:
    if x.sum() > 5:
        y = x * 2
    elif x.sum() > 0 or x.min() < -8:
        y = ops.relu(x)
        if y.max() > 1:
            y = y + 10
    else:
        y = -x
    return y


def returns(x: Tensor) -> Tensor:
    if x.sum() > 5:
        return x - 1
    x = x * x
    for k in range(2):
        if x.max() > 3:
            x = x + k
    return x * 2 if x.min() > 0 else x * 4


def loops(x: Tensor) -> tuple[Tensor, Tensor]:
    i = 0
    total = x
    while total.sum() < 50 and total.max() < 40:
        step = x * x + 1
        if step.sum() > 12:
            total = total + step * 2
        else:
            total = total + step
        i += 1
    return total, total * i


@pytest.mark.sampled(9)
@pytest.mark.parametrize("function", [either, alone, several, returns, loops], ids=lambda f: f.__name__)
@pytest.mark.parametrize("given", [[1.0, 2.0], [-1.0, -2.0], [4.0, 5.0], [9.0, 1.0], [-9.0, 8.0]])
def test_a_graph_decides_as_python_does(function: Callable[..., Any], given: list[float]) -> None:
    assert in_mode(context.GRAPH_MODE, function, given) == in_mode(context.PYNATIVE_MODE, function, given)


@pytest.mark.long
def test_functions_set_aside_from_collections_are_found() -> None:
    gc.freeze()
    try:
        test_one_graph_takes_both_ways()
    finally:
        gc.unfreeze()


def test_one_graph_takes_both_ways() -> None:
    with compiled() as graphs:
        net = Net(either)
        assert net(Tensor(np.array([1, 2], np.float32))).asnumpy().tolist() == [4, 7]
        assert net(Tensor(np.array([-1, -2], np.float32))).asnumpy().tolist() == [2, 3]
    # As MindSpore numbers them: what decides, what follows, the true side, the false side.
    assert [[n.op for n in g.execution_order] for g in graphs] == [["ReduceSum", "Greater"], ["Add"], ["Mul"], ["Neg"]]


def test_functions_are_as_they_were_afterwards() -> None:
    before = either.__code__
    in_mode(context.GRAPH_MODE, either, [1.0, 2.0])
    assert either.__code__ is before


def differs(x: Tensor) -> Tensor:
    if x.sum() > 0:
        y = x
    else:
        y = ops.cast(x, dtypes.float16)
    return y


def unbound(x: Tensor) -> Tensor:
    if x.sum() > 0:
        z = x + 1
    return z * 2


def elsewhere(x: Tensor) -> Tensor:
    (x * 1)[0] = 3
    return x


def in_a_list(x: Tensor) -> Any:
    held = [x * 2, {"k": x + 1}]
    held[0][1] = 3
    held[1]["k"][0] += 4
    return held[0], held[1]["k"]


def in_rows(x: Tensor) -> Tensor:
    x = x.reshape((2, 1)) + Tensor(np.zeros((2, 3), np.float32))
    x[0][1] = 5.0
    x[1][0:2] = x[0][1]
    return x


class Held(nn.Cell):
    """Its parameter is assigned to, by elements."""

    def __init__(self) -> None:
        super().__init__()
        self.p = Parameter(Tensor(np.zeros((2, 2), np.float32)), name="p")

    def construct(self, x: Tensor) -> Tensor:
        self.p[0] = x
        self.p[1][0] = 7.0
        return self.p + 1


@pytest.mark.sampled(2)
@pytest.mark.parametrize("mode", [context.GRAPH_MODE, context.PYNATIVE_MODE])
def test_elements_of_elements_are_assigned(mode: int) -> None:
    assert in_mode(mode, in_a_list, [1.0, 2.0]) == [[2, 3], [6, 3]]
    assert in_mode(mode, in_rows, [1.0, 2.0]) == [[[1, 5, 1], [5, 5, 2]]]


def test_elements_of_a_parameter_are_assigned() -> None:
    net = Held()
    before = context.get_context("mode")
    context.set_context(mode=context.GRAPH_MODE)
    try:
        result = net(Tensor(np.array([1, 2], np.float32)))
    finally:
        context.set_context(mode=before)
    assert result.asnumpy().tolist() == [[2, 3], [8, 1]]
    assert net.p.asnumpy().tolist() == [[1, 2], [7, 0]]


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (differs, r"Cannot join .*at .*test_rewriting.py:\d+"),
        (unbound, r"'z' is not bound on every way to .*test_rewriting.py:\d+"),
        (elsewhere, r"assigned at .*test_rewriting.py:\d+ \(\(x \* 1\)\[0\] = 3\)"),
    ],
)
def test_what_cannot_be_is_said(function: Callable[..., Any], said: str) -> None:
    with pytest.raises(TraceError, match=said):
        in_mode(context.GRAPH_MODE, function, [1.0, 2.0])


MASK = [[True, False, True], [False, False, True], [False] * 3, [True] * 3]
#: index, shape of the value (None: a number), operators MindSpore 2.10.0 makes of it (None: others than here)
INDICES: list[tuple[Any, tuple[int, ...] | None, str | None]] = [
    (0, None, "TensorScatterUpdate"),
    (-1, (3,), "BroadcastTo TensorScatterUpdate"),
    (slice(1, 3), (3,), "BroadcastTo TensorCopySlices"),
    (slice(None), (3,), "BroadcastTo TensorCopySlices"),
    (slice(None, None, 2), (3,), "BroadcastTo TensorScatterUpdate"),
    ((0, slice(None)), (3,), "BroadcastTo TensorCopySlices"),
    ((1, slice(0, 2)), (2,), "BroadcastTo TensorCopySlices"),
    ((slice(1, 3), 0), None, "ExpandDims ExpandDims Concat TensorScatterUpdate"),
    ((slice(1, 3), slice(None)), (3,), "ExpandDims ExpandDims Concat BroadcastTo TensorScatterUpdate"),
    ((Ellipsis, 2), None, "ExpandDims ExpandDims Concat TensorScatterUpdate"),
    ((None, 1), (3,), "ExpandDims Concat BroadcastTo TensorScatterUpdate"),
    ((1, 2), None, "ExpandDims ExpandDims Concat TensorScatterUpdate"),
    ((slice(None, None, 2), slice(1, None)), None, "ExpandDims ExpandDims Concat TensorScatterUpdate"),
    ([0, 2], (3,), "Add Select ExpandDims BroadcastTo TensorScatterUpdate"),
    (np.array(MASK), None, None),
    (np.array([True, False, False, True]), None, None),
    ((np.array([0, 2, 3]), np.array([1, 1, 2])), (3,), None),
    ((np.array([0, 2]), slice(1, None)), (2, 2), None),
    (Ellipsis, (3,), None),
    (True, None, None),
]


def known(index: Any) -> Any:
    """An index with tensors for arrays."""
    if isinstance(index, tuple):
        return tuple(map(known, index))
    return Tensor(index) if isinstance(index, np.ndarray) else index


@pytest.mark.sampled(10)
@pytest.mark.parametrize(("index", "shape", "operators"), INDICES, ids=map(str, range(len(INDICES))))
def test_elements_are_assigned(index: Any, shape: tuple[int, ...] | None, operators: str | None) -> None:
    x = np.arange(12, dtype=np.float32).reshape(4, 3)
    value = np.float32(-5) if shape is None else -np.arange(1, 1 + np.prod(shape), dtype=np.float32).reshape(shape)
    place = known(index)

    def function(x: Tensor, v: Tensor) -> Tensor:
        alias = x
        x[place] = -5.0 if shape is None else v
        return x * 2 + alias * 0

    wanted = x.copy()
    wanted[index] = value
    assert in_mode(context.GRAPH_MODE, function, x, value)[0] == (wanted * 2).tolist()
    if operators is not None:
        with compiled() as graphs:
            Net(lambda x, v: x.with_items(place, -5.0 if shape is None else v))(Tensor(x), Tensor(value))
        assert " ".join(n.op for n in graphs[0].execution_order) == operators


def test_the_other_names_of_a_tensor_stay() -> None:
    def function(x: Tensor) -> Tensor:
        alias = x
        x[0] = 9.0
        x[1] += 1.0
        return alias * 10 + x

    assert in_mode(context.GRAPH_MODE, function, [1.0, 2.0])[0] == [19, 23]


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    ("index", "value", "error"),
    [(7, 1.0, IndexError), ("a", 1.0, TypeError), (0, "b", TypeError), (0, np.ones(2, np.float32), ValueError)],
)
def test_what_cannot_be_assigned(index: Any, value: Any, error: type[Exception]) -> None:
    def function(x: Tensor) -> Tensor:
        x[index] = Tensor(value) if isinstance(value, np.ndarray) else value
        return x

    with pytest.raises(error):
        in_mode(context.GRAPH_MODE, function, np.zeros((4, 3)))


@pytest.mark.long
def test_copied_slices_have_gradients() -> None:
    assert OPERATORS.get("TensorCopySlices").mutates == ()

    class Squares(nn.Cell):
        def construct(self, x: Tensor, v: Tensor) -> Tensor:
            y = x * 3
            y[1, 0:2] = v
            return y * y

    with compiled():
        dx, dv = grad(Squares(), (0, 1))(Tensor(np.ones((2, 3), np.float32)), Tensor(np.array([7, 8], np.float32)))
    assert dx.asnumpy().tolist() == [[18, 18, 18], [0, 0, 18]]
    assert dv.asnumpy().tolist() == [14, 16]


def leaving(x: Tensor) -> Any:
    for turn in range(3):
        if x.sum() > 10:
            return x, x - turn
        x = x * 2
    y = x + 1
    return y, -y


def leaving_inner(x: Tensor) -> Tensor:
    total = x.max()
    for scale in (1.0, 2.0):
        y = x * scale
        for turn in range(2):
            if y.sum() > 8:
                return y + turn
            y = y + turn + 1
        total = total + y.mean()
    return total + x


@pytest.mark.sampled(5)
@pytest.mark.parametrize("function", [leaving, leaving_inner])
@pytest.mark.parametrize("values", [[1, 2, 3], [9, 2, 3], [-1, -9, 0], [0.1, 2, 0], [2, 2, 2]])
def test_a_tensor_leaves_a_loop(function: Callable[..., Any], values: list[float]) -> None:
    assert in_mode(0, function, values) == in_mode(1, function, values)


def doubled(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def wrapper(*args: Any, factor: float = 2.0) -> Any:
        return function(*args) * factor

    return wrapper


@doubled
def shifted(x: Tensor) -> Tensor:
    return x + 1


def test_a_graph_holds_what_a_decorator_was_given() -> None:
    """``decorated`` of the recorded networks has MindSpore's graphs of it; outside of graphs nothing changes."""
    for mode, wanted in ((context.GRAPH_MODE, 2.0), (context.PYNATIVE_MODE, 4.0), (context.GRAPH_MODE, 2.0)):
        assert in_mode(mode, shifted, 1.0) == [wanted]
    assert in_mode(context.GRAPH_MODE, lambda x: doubled(shifted)(x), 1.0) == [4.0]
    assert float(shifted(Tensor(1.0), factor=3.0)) == 6.0


def late(function: Callable[..., Any]) -> Callable[..., Any]:
    def wrapper(x: Tensor) -> Any:
        return function(x) * 2

    functools.update_wrapper(wrapper, function)
    return wrapper


def later(function: Callable[..., Any]) -> Callable[..., Any]:
    def wrapper(x: Tensor) -> Any:
        return function(x) * 2

    return functools.wraps(function)(wrapper)


@pytest.mark.parametrize("decorator", [late, later])
def test_what_is_wrapped_after_it_was_made(decorator: Callable[..., Any]) -> None:
    """The same without a decorator of the wrapper's own (measured)."""
    function = decorator(lambda x: x + 1)
    assert in_mode(context.GRAPH_MODE, function, 1.0) == [2.0]
    assert in_mode(context.PYNATIVE_MODE, function, 1.0) == [4.0]
