"""Functions that form tensors and matrices out of others, written with other functions."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from harness import dtypes
from harness.errors import SettingError, ShapeError
from harness.framework.ops.functions.arithmetic import add, mul
from harness.framework.ops.functions.join import concat, stack
from harness.framework.ops.functions.math import atan2
from harness.framework.ops.functions.matrix import bmm, matmul, outer
from harness.framework.ops.functions.reduction import amax, amin, mean, std, sum, var
from harness.framework.ops.functions.search import sort
from harness.framework.ops.functions.shape import axis_of, swapaxes, transpose
from harness.framework.tensor import Tensor, call, tensor_method

__all__ = [
    "addbmm", "addmv", "addr", "adjoint", "aminmax", "arctan2", "atleast_1d", "atleast_2d", "atleast_3d",
    "cartesian_prod", "channel_shuffle", "column_stack", "combinations", "cross", "ger", "is_floating_point", "kron",
    "msort", "row_stack", "sequence_mask", "std_mean", "tril_indices", "triu_indices", "var_mean",
]  # fmt: skip


def _scaled(x: Any, factor: Any) -> Any:
    return x if factor == 1 else mul(x, factor)


@tensor_method("addbmm")
def addbmm(input: Any, batch1: Any, batch2: Any, *, beta: Any = 1, alpha: Any = 1) -> Any:
    """``beta * input + alpha *`` the sum of the products of matrices in two stacks."""
    return add(_scaled(input, beta), _scaled(sum(bmm(batch1, batch2), 0), alpha))


@tensor_method("addmv")
def addmv(input: Any, mat: Any, vec: Any, *, beta: Any = 1, alpha: Any = 1) -> Any:
    """``beta * input + alpha * mat @ vec``."""
    return add(_scaled(input, beta), _scaled(matmul(mat, vec), alpha))


@tensor_method("addr")
def addr(x: Any, vec1: Any, vec2: Any, *, beta: Any = 1, alpha: Any = 1) -> Any:
    """``beta * x + alpha *`` the outer product of two vectors."""
    return add(_scaled(x, beta), _scaled(outer(vec1, vec2), alpha))


@tensor_method("ger")
def ger(input: Any, vec2: Any) -> Any:
    """The outer product of two vectors."""
    return outer(input, vec2)


@tensor_method("adjoint")
def adjoint(x: Any) -> Any:
    """The last two axes exchanged, the conjugate of complex numbers."""
    turned = swapaxes(x, -1, -2)
    return call("Conj", turned) if x.dtype.kind == "c" else turned


@tensor_method("arctan2")
def arctan2(input: Any, other: Any) -> Any:
    """The angle of the point (other, input)."""
    return atan2(input, other)


def kron(input: Any, other: Any) -> Any:
    """The Kronecker product: a block ``other`` times each element of ``input``."""
    rank = max(len(input.shape), len(other.shape))
    first, second = ((1,) * (rank - len(t.shape)) + tuple(t.shape) for t in (input, other))
    spread = [n for size in first for n in (size, 1)], [n for size in second for n in (1, size)]
    product = mul(input.reshape(tuple(spread[0])), other.reshape(tuple(spread[1])))
    return product.reshape(tuple(a * b for a, b in zip(first, second, strict=True)))


@tensor_method("cross")
def cross(input: Any, other: Any, dim: int | None = None) -> Any:
    """The cross product of vectors of three along ``dim`` (None: the first axis of length 3)."""
    if dim is None:
        found = [axis for axis, n in enumerate(input.shape) if n == 3]
        if not found:
            raise SettingError(f"cross: no axis of {list(input.shape)} has length 3")
        dim = found[0]
    axis = axis_of(dim, len(input.shape), "cross")
    if input.shape[axis] != 3 or tuple(input.shape) != tuple(other.shape):
        raise SettingError(f"cross: two tensors of one shape with 3 along axis {dim} are needed")
    a, b = ([_at(t, axis, k) for k in range(3)] for t in (input, other))
    return stack([a[k - 2] * b[k - 1] - a[k - 1] * b[k - 2] for k in range(3)], axis)


def _at(x: Any, axis: int, k: int) -> Any:
    begin, size = [0] * len(x.shape), list(x.shape)
    begin[axis], size[axis] = k, 1
    shape = tuple(n for at, n in enumerate(x.shape) if at != axis)
    return call("Reshape", call("Slice", x, tuple(begin), tuple(size)), shape)


@tensor_method("aminmax")
def aminmax(input: Any, *, axis: int | None = 0, keepdims: bool = False) -> Any:
    """(the smallest, the largest) along ``axis`` (None: of all)."""
    return amin(input, axis, keepdims), amax(input, axis, keepdims)


def std_mean(input: Any, axis: Any = None, ddof: int = 0, keepdims: bool = False) -> Any:
    """(standard deviation, mean) along ``axis``."""
    return std(input, axis, ddof, keepdims), mean(input, axis, keepdims)


def var_mean(input: Any, axis: Any = None, ddof: int = 0, keepdims: bool = False) -> Any:
    """(variance, mean) along ``axis``."""
    return var(input, axis, ddof, keepdims), mean(input, axis, keepdims)


def is_floating_point(input: Any) -> bool:
    """Whether its elements are floating numbers."""
    return bool(input.dtype.kind == "f")


def _each(inputs: Any, function: Any) -> Any:
    return [function(t) for t in inputs] if isinstance(inputs, (tuple, list)) else function(inputs)


def atleast_1d(inputs: Any) -> Any:
    """With one axis at least."""
    return _each(inputs, lambda t: t if t.shape else t.reshape((1,)))


def atleast_2d(inputs: Any) -> Any:
    """With two axes at least: new ones in front."""
    return _each(inputs, lambda t: t if len(t.shape) > 1 else t.reshape((1, -1)))


def atleast_3d(inputs: Any) -> Any:
    """With three axes at least: a vector lies along the second, a matrix along the first two."""

    shapes = {0: (1, 1, 1), 1: (1, -1, 1)}
    return _each(inputs, lambda t: t if len(t.shape) > 2 else t.reshape(shapes.get(len(t.shape), (*t.shape, 1))))


def column_stack(tensors: Any) -> Any:
    """Vectors as the columns of a matrix; matrices side by side."""
    return concat([t.reshape((-1, 1)) if len(t.shape) < 2 else t for t in tensors], 1)


def row_stack(tensors: Any) -> Any:
    """Vectors as the rows of a matrix; matrices one below the other."""
    return concat(atleast_2d(list(tensors)), 0)


def cartesian_prod(*inputs: Any) -> Any:
    """Every choice of one element of each vector, a row each."""
    if len(inputs) == 1:
        return inputs[0]
    return stack([grid.reshape((-1,)) for grid in _grids(inputs)], 1)


def _grids(inputs: Any) -> list[Any]:
    """The grids of coordinates of vectors, the first along the first axis."""
    rank, sizes = len(inputs), tuple(t.shape[0] for t in inputs)
    shapes = [tuple(sizes[k] if k == at else 1 for k in range(rank)) for at in range(rank)]
    return [call("BroadcastTo", t.reshape(shape), sizes) for t, shape in zip(inputs, shapes, strict=True)]


def combinations(input: Any, r: int = 2, with_replacement: bool = False) -> Any:
    """Every choice of ``r`` elements of a vector in their order, a row each."""
    if len(input.shape) != 1:
        raise ShapeError(f"combinations: a vector is needed, got {list(input.shape)}")
    choose = itertools.combinations_with_replacement if with_replacement else itertools.combinations
    chosen = np.array(list(choose(range(input.shape[0]), r)), np.int64).reshape(-1, r)
    return call("Gather", input, Tensor(chosen), 0, 0)


def channel_shuffle(x: Any, groups: int) -> Any:
    """The channels (axis 1) of ``groups`` groups in turn."""
    if x.shape[1] % groups:
        raise SettingError(f"channel_shuffle: {x.shape[1]} channels are not {groups} groups of one size")
    rest = tuple(x.shape[2:])
    grouped = x.reshape((x.shape[0], groups, x.shape[1] // groups, *rest))
    order = (0, 2, 1, *range(3, 3 + len(rest)))
    return transpose(grouped, order).reshape(tuple(x.shape))


@tensor_method("msort")
def msort(input: Any) -> Any:
    """In order along the first axis."""
    return sort(input, 0)[0]


def sequence_mask(lengths: Any, maxlen: int | None = None) -> Any:
    """For each length, which of ``maxlen`` (None: the longest) places lie within it: Bool (..., maxlen)."""
    longest = int(lengths.asnumpy().max()) if maxlen is None else maxlen
    places = Tensor(np.arange(longest), lengths.dtype)
    return call("Less", places, call("ExpandDims", lengths, -1))


def _triangle(chosen: Any, dtype: Any) -> Tensor:
    return Tensor(np.stack(chosen), dtype)


def tril_indices(row: int, col: int, offset: int = 0, *, dtype: Any = dtypes.int64) -> Any:
    """The rows and the columns (2, n) of the lower triangle."""
    return _triangle(np.tril_indices(row, offset, col), dtype)


def triu_indices(row: int, col: int, offset: int = 0, *, dtype: Any = dtypes.int64) -> Any:
    """The rows and the columns (2, n) of the upper triangle."""
    return _triangle(np.triu_indices(row, offset, col), dtype)
