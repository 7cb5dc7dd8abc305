"""Reductions and broadcasting over any shape agree with numpy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from harness import Tensor, dtypes, ops
from harness.errors import DtypeError, ShapeError

FLOATS = st.floats(-1e3, 1e3, width=32)


@st.composite
def reductions(draw: Any) -> tuple[np.ndarray[Any, Any], Any, bool]:
    """An array of at least one element, axes (a number, a tuple, or None), and whether they stay."""
    array = draw(hnp.arrays(np.float32, hnp.array_shapes(min_dims=1, max_dims=4, max_side=4), elements=FLOATS))
    axes = draw(st.none() | st.integers(-array.ndim, array.ndim - 1) | hnp.valid_tuple_axes(array.ndim, min_size=1))
    return array, axes, draw(st.booleans())


@given(reductions())
def test_sum_and_mean(case: tuple[np.ndarray[Any, Any], Any, bool]) -> None:
    array, axes, keep = case
    exact = array.astype(np.float64)
    close(ops.sum(Tensor(array), axes, keep), exact.sum(axes, keepdims=keep))
    close(Tensor(array).mean(axes, keep), exact.mean(axes, keepdims=keep))


@given(reductions())
def test_tensors_name_axes(case: tuple[np.ndarray[Any, Any], Any, bool]) -> None:
    array, axes, keep = case
    named = Tensor(np.array([] if axes is None else axes, np.int64))
    for reduce in (ops.sum, ops.mean, ops.amax, ops.prod):
        kept = keep and not (reduce is ops.prod and axes is None)
        plain = reduce(Tensor(array), axes, kept)
        np.testing.assert_array_equal(reduce(Tensor(array), named, kept).asnumpy(), plain.asnumpy())
    if isinstance(axes, int):
        within = ops.sum(Tensor(array), (Tensor(axes),), keep)
        np.testing.assert_array_equal(within.asnumpy(), ops.sum(Tensor(array), axes, keep).asnumpy())


@given(reductions())
def test_extremes(case: tuple[np.ndarray[Any, Any], Any, bool]) -> None:
    array, axes, keep = case
    np.testing.assert_array_equal(ops.amax(Tensor(array), axes, keep).asnumpy(), array.max(axes, keepdims=keep))
    np.testing.assert_array_equal(ops.amin(Tensor(array), axes, keep).asnumpy(), array.min(axes, keepdims=keep))


@given(reductions())
def test_logic(case: tuple[np.ndarray[Any, Any], Any, bool]) -> None:
    array, axes, keep = case
    truth = Tensor(array > 0)
    np.testing.assert_array_equal(ops.all(truth, axes, keep).asnumpy(), (array > 0).all(axes, keepdims=keep))
    np.testing.assert_array_equal(ops.any(truth, axes, keep).asnumpy(), (array > 0).any(axes, keepdims=keep))


@given(hnp.arrays(np.int8, hnp.array_shapes(min_dims=1, max_dims=3, max_side=4)), st.data())
def test_integers_are_exact(array: np.ndarray[Any, Any], data: Any) -> None:
    axis = data.draw(st.integers(-array.ndim, array.ndim - 1))
    wide = array.astype(np.int64)
    total = ops.sum(Tensor(array), axis)
    assert total.dtype is dtypes.int64
    np.testing.assert_array_equal(total.asnumpy(), wide.sum(axis))
    np.testing.assert_array_equal(ops.prod(Tensor(array), axis).asnumpy(), wide.prod(axis))
    np.testing.assert_array_equal(ops.cumsum(Tensor(array), axis).asnumpy(), array.cumsum(axis, dtype=np.int8))


@given(hnp.arrays(np.float32, hnp.array_shapes(min_dims=1, max_dims=3, max_side=5), elements=FLOATS), st.data())
def test_where_the_extreme_is(array: np.ndarray[Any, Any], data: Any) -> None:
    axis = data.draw(st.integers(-array.ndim, array.ndim - 1))
    np.testing.assert_array_equal(ops.argmax(Tensor(array), axis).asnumpy(), array.argmax(axis))
    np.testing.assert_array_equal(ops.argmin(Tensor(array), axis).asnumpy(), array.argmin(axis))
    values, index = ops.max(Tensor(array), axis)
    np.testing.assert_array_equal(values.asnumpy(), array.max(axis))
    np.testing.assert_array_equal(index.asnumpy(), array.argmax(axis))
    k = data.draw(st.integers(1, array.shape[-1]))
    values, index = ops.topk(Tensor(array), k)
    np.testing.assert_array_equal(values.asnumpy(), -np.sort(-array, axis=-1)[..., :k])
    np.testing.assert_array_equal(np.take_along_axis(array, index.asnumpy().astype(int), -1), values.asnumpy())


@given(hnp.mutually_broadcastable_shapes(num_shapes=2, max_dims=4, max_side=3), st.data())
def test_two_operands_broadcast(shapes: Any, data: Any) -> None:
    x, y = (data.draw(hnp.arrays(np.float32, s, elements=FLOATS)) for s in shapes.input_shapes)
    a, b = Tensor(x), Tensor(y)
    for ours, theirs in ((a + b, x + y), (a - b, x - y), (a * b, x * y), (ops.maximum(a, b), np.maximum(x, y))):
        assert ours.shape == shapes.result_shape
        np.testing.assert_array_equal(ours.asnumpy(), theirs)
    np.testing.assert_array_equal((a < b).asnumpy(), x < y)
    np.testing.assert_array_equal(ops.select(a < b, a, b).asnumpy(), np.where(x < y, x, y))


@pytest.mark.parametrize("shapes", [((2, 3), (4,)), ((2,), (3,)), ((2, 1, 3), (2, 2))])
def test_shapes_that_do_not_broadcast_are_refused(shapes: Any) -> None:
    x, y = (Tensor(np.zeros(s, np.float32)) for s in shapes)
    with pytest.raises(ShapeError, match=r"Add\(Float32\[2.*do not broadcast"):
        x + y


@pytest.mark.parametrize(("call", "error", "text"), [
    ("ops.sum(x, 2)", ShapeError, "axis 2 is out of range for 2 dimensions"),
    ("ops.amax(x, (0, 0))", ShapeError, "name one axis twice"),
    ("ops.cumsum(x, 5)", ShapeError, "axis 5 is out of range"),
    ("ops.topk(x, 4)", ShapeError, "4 elements are asked for"),
    ("ops.sum(x, x)", TypeError, "axes must be ints, got Tensor"),
    ("ops.argmax(x, 3)", ShapeError, "axis 3 is out of range"),
    ("ops.sin(x > 1)", DtypeError, "Sin: argument 0 is Bool; floating, complex tensors are accepted"),
    ("ops.floor(x.astype(int32))", DtypeError, "Floor: argument 0 is Int32"),
    ("ops.bitwise_and(x, x)", DtypeError, "BitwiseAnd: argument 0 is Float32"),
    ("ops.add(x, 'a')", DtypeError, "ops.add takes a tensor and a tensor or number, got Tensor and str"),
    ("ops.addn([x, ops.sum(x)])", ShapeError, "one shape and one dtype"),
    ("ops.select(x, x, x)", DtypeError, "Select: argument 0 is Float32; bool tensors are accepted"),
    ("ops.clamp(x)", ValueError, "needs min or max"),
    ("ops.clip_by_global_norm(x)", TypeError, "takes a tuple or list of tensors, got Tensor"),
    ("ops.clip_by_global_norm((x, 1.0))", TypeError, "takes a tuple or list of tensors, got tuple"),
    ("ops.clip_by_global_norm(())", ValueError, "takes one tensor or more, got none"),
    ("ops.clip_by_global_norm((x,), 'a')", TypeError, "must be a number, got 'a'"),
    ("ops.clip_by_global_norm((x,), 0)", ValueError, "must be above 0, got 0"),
    ("ops.clip_by_global_norm((x,), 1.0, 2.0)", ValueError, "must be None, got 2.0"),
    ("ops.fill(x.dtype, (2,), None)", TypeError, "filled with a number, got None"),
    ("ops.dropout(x, 1.0)", DtypeError, "keep_prob must be in"),
    ("ops.div(x, x, rounding_mode='up')", ValueError, "'floor' or 'trunc', got 'up'"),
    ("ops.gelu(x, 'x')", ValueError, "'none' or 'tanh', got 'x'"),
])  # fmt: skip
def test_errors_say_what_was_given(call: str, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        eval(call, {"ops": ops, "x": Tensor(np.zeros((2, 3), np.float32)), "int32": dtypes.int32})


def close(ours: Tensor, exact: Any) -> None:
    """Asserts the float32 nearest to ``exact`` (the sum in another order may be one float64 step away)."""
    nearest = np.asarray(exact, np.float32)
    assert ours.shape == nearest.shape
    np.testing.assert_allclose(ours.asnumpy(), nearest, rtol=2e-7, atol=1e-9)
