"""Values and gradients of broadcasting, reductions, indexing and joining, for shapes nobody chose."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from harness import Tensor, ops
from tests.examples import examples
from tests.framework.ops.slopes import Case, first, graph, random, tensors

Array = np.ndarray[Any, np.dtype[Any]]
SHAPES = hnp.array_shapes(min_dims=1, max_dims=4, max_side=4)
quick = examples(25, 25)


def confirm(case: Case, expected: Array) -> None:
    """The value is numpy's, in shape too, and the gradient is the slope."""
    got = graph(case.function, *tensors(case.inputs)).asnumpy()
    assert got.shape == expected.shape
    np.testing.assert_allclose(got, expected, rtol=1e-12, atol=1e-14)
    if expected.size:
        derivative, slope = first(case, random(tuple(a.shape for a in case.inputs), 3))
        assert derivative == pytest.approx(slope, rel=1e-5, abs=1e-6)


BINARY: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "add": (lambda x, y: x + y, np.add),
    "sub": (lambda x, y: x - y, np.subtract),
    "mul": (lambda x, y: x * y, np.multiply),
    "div": (lambda x, y: x / (y * y + 1), lambda x, y: x / (y * y + 1)),
    "maximum": (ops.maximum, np.maximum),
    "select": (lambda x, y: ops.select(x > y, x * 2, y), lambda x, y: np.where(x > y, x * 2, y)),
    "pow": (lambda x, y: (x * x + 1) ** y, lambda x, y: (x * x + 1) ** y),
}


@pytest.mark.parametrize("name", BINARY)
@quick
@given(hnp.mutually_broadcastable_shapes(num_shapes=2, max_dims=4, max_side=3), st.integers(0, 2**16))
def test_broadcasting(name: str, shapes: hnp.BroadcastableShapes, seed: int) -> None:
    function, reference = BINARY[name]
    x, y = random(shapes.input_shapes, seed)
    if name == "select" and x.shape != y.shape:
        x, y = (np.ascontiguousarray(np.broadcast_to(a, shapes.result_shape)) for a in (x, y))
    confirm(Case(function, (x, y)), reference(x, y))


REDUCTIONS: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "sum": (lambda x, axis, keep: ops.sum(x, axis, keep), np.sum),
    "mean": (lambda x, axis, keep: ops.mean(x, axis, keep), np.mean),
    "ReduceSum": (lambda x, axis, keep: ops.ReduceSum(keep)(x, axis), np.sum),
    "ReduceMean": (lambda x, axis, keep: ops.ReduceMean(keep)(x, axis), np.mean),
    "amax": (lambda x, axis, keep: ops.amax(x, axis, keep), np.max),
    "amin": (lambda x, axis, keep: ops.amin(x, axis, keep), np.min),
    "logsumexp": (
        lambda x, axis, keep: ops.logsumexp(x, axis, keep),
        lambda x, axis, keepdims: np.log(np.sum(np.exp(x), axis, keepdims=keepdims)),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REDUCTIONS)
@quick
@given(data=st.data())
def test_reductions(name: str, data: st.DataObject) -> None:
    function, reference = REDUCTIONS[name]
    shape = data.draw(SHAPES)
    axes = data.draw(st.sets(st.integers(0, len(shape) - 1), min_size=1))
    axis = tuple(a - len(shape) * data.draw(st.booleans()) for a in axes)
    keep = data.draw(st.booleans())
    (x,) = random((shape,), data.draw(st.integers(0, 2**16)))
    confirm(Case(lambda x: function(x, axis, keep), (x,)), np.asarray(reference(x, axis=axis, keepdims=keep)))


@quick
@given(data=st.data())
def test_basic_indexing(data: st.DataObject) -> None:
    shape = data.draw(SHAPES)
    index = data.draw(hnp.basic_indices(shape, allow_newaxis=True))
    (x,) = random((shape,), data.draw(st.integers(0, 2**16)))
    expected = np.asarray(x[index])
    if expected.size:
        confirm(Case(lambda x: x[index] * 2, (x,)), expected * 2)


@quick
@given(data=st.data())
def test_indexing_by_a_tensor(data: st.DataObject) -> None:
    shape = data.draw(SHAPES)
    places = st.integers(0, shape[0] - 1)
    rows = data.draw(hnp.arrays(np.int64, hnp.array_shapes(max_dims=2, max_side=4), elements=places))
    (x,) = random((shape,), data.draw(st.integers(0, 2**16)))
    where = Tensor(rows)
    confirm(Case(lambda x: x[where] * 2, (x,)), x[rows] * 2)


@quick
@given(data=st.data())
def test_shapes_there_and_back(data: st.DataObject) -> None:
    shape = data.draw(SHAPES)
    order = data.draw(st.permutations(range(len(shape))))
    (x,) = random((shape,), data.draw(st.integers(0, 2**16)))
    moved = tuple(shape[a] for a in order)
    turned = np.transpose(x, order)
    confirm(Case(lambda x: ops.transpose(x, tuple(order)) * Tensor(turned), (x,)), turned * turned)
    confirm(Case(lambda x: (ops.transpose(x, tuple(order)).reshape((-1,)) * 2).reshape(moved), (x,)), turned * 2)


@quick
@given(data=st.data())
def test_joining_and_splitting(data: st.DataObject) -> None:
    shape = data.draw(SHAPES)
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    lengths = data.draw(st.lists(st.integers(1, 3), min_size=1, max_size=4))
    shapes = tuple(tuple(n if a == axis % len(shape) else s for a, s in enumerate(shape)) for n in lengths)
    pieces = random(shapes, data.draw(st.integers(0, 2**16)))
    joined = np.concatenate(pieces, axis)
    confirm(Case(lambda *parts: ops.concat(parts, axis) * 2, pieces), joined * 2)
    kept = data.draw(st.integers(0, len(lengths) - 1))
    confirm(Case(lambda x: ops.split(x, lengths, axis)[kept] * 2, (joined,)), pieces[kept] * 2)


@quick
@given(
    st.tuples(st.integers(1, 4), st.integers(1, 4), st.integers(1, 4)),
    st.booleans(),
    st.booleans(),
    st.sampled_from([(), (2,), (2, 1)]),
)
def test_matrix_products(sizes: tuple[int, int, int], ta: bool, tb: bool, lead: tuple[int, ...]) -> None:
    m, k, n = sizes
    a, b = random(((*lead, k, m) if ta else (*lead, m, k), (*lead, n, k) if tb else (*lead, k, n)), m * k + n)
    left = np.swapaxes(a, -1, -2) if ta else a
    right = np.swapaxes(b, -1, -2) if tb else b
    if lead:
        confirm(Case(lambda x, y: ops.BatchMatMul(ta, tb)(x, y), (a, b)), left @ right)
    else:
        confirm(Case(lambda x, y: ops.MatMul(ta, tb)(x, y), (a, b)), left @ right)
