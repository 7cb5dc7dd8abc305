"""Norms of vectors and matrices, written with the operators MindSpore 2.10.0 uses for each (measured)."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from harness.errors import SettingError, SettingTypeError, UnsupportedError
from harness.framework.ops.expansion import cast
from harness.framework.ops.functions.algebra import inverse
from harness.framework.ops.functions.inner import abs_of, sum_of
from harness.framework.ops.functions.math import sqrt, square
from harness.framework.ops.functions.reduction import max as max_with_place
from harness.framework.ops.functions.reduction import min as min_with_place
from harness.framework.ops.functions.shape import axis_of, flatten, transpose
from harness.framework.ops.functions.systems import svd
from harness.framework.ops.primitives.models import LRN
from harness.framework.tensor import Tensor, call, graph_function, is_eager, tensor_method

__all__ = ["lp_norm", "lrn", "matrix_norm", "norm", "vector_norm"]

_square, _sqrt = graph_function("ops.square", square), graph_function("ops.sqrt", sqrt)
_max, _min = graph_function("ops.max", max_with_place), graph_function("ops.min", min_with_place)
_ENDLESS = (math.inf, -math.inf)


def lp_norm(x: Tensor, axis: Any, p: int = 2, keepdims: bool = False) -> Tensor:
    """The p-th root of the sum of p-th powers over ``axis``."""
    axes = (axis,) if isinstance(axis, int) else axis
    return call(  # type: ignore[no-any-return]
        "LpNorm", x, p=p, keep_dims=keepdims, input_names=["input"], axis=axes, epsilon=1e-12, output_names=["output"]
    )


def _axes(axis: Any, rank: int, owner: str) -> tuple[int, ...]:
    """The axes from 0, all for None."""
    if axis is None:
        return tuple(range(rank))
    if isinstance(axis, bool) or not isinstance(axis, (int, tuple)):
        raise SettingTypeError(f"{owner}: the axis must be an int or a tuple of ints, got {axis!r}")
    axes = tuple(axis_of(a, rank, owner) for a in (axis if isinstance(axis, tuple) else (axis,)))
    if len(set(axes)) < len(axes):
        raise SettingError(f"{owner}: the axes {axis} name one twice")
    return axes


def _kept(result: Tensor, x: Tensor, axes: tuple[int, ...]) -> Tensor:
    """``result`` with the axes it was reduced over, of length 1."""
    return result.reshape(tuple(1 if a in axes else n for a, n in enumerate(x.shape)))  # type: ignore[no-any-return]


def _euclidean(x: Tensor, axes: tuple[int, ...], keep: bool) -> Tensor:
    x = cast(abs_of(x), x.dtype) if x.dtype.kind == "c" else x
    return _sqrt(call("ReduceSum", _square(x), axes, keep, False))  # type: ignore[no-any-return]


def _extreme(order: float) -> Callable[..., Any]:
    return _max if order > 0 else _min


def _zeros_left_out(x: Tensor, axes: tuple[int, ...], keep: bool) -> Tensor:
    return call("NotEqual", x, 0).astype(x.dtype).sum(axis=axes, keepdims=keep)  # type: ignore[no-any-return]


def _powers(x: Tensor, order: float, axes: tuple[int, ...], keep: bool) -> Tensor:
    return call("ReduceSum", abs_of(x) ** order, axes, keep, False) ** (1 / order)  # type: ignore[no-any-return]


def vector_norm(x: Tensor, ord: Any = 2, axis: Any = None, keepdims: bool = False, *, dtype: Any = None) -> Tensor:
    """The norm of order ``ord`` (a number, or infinity) of the elements along ``axis`` (all if None).

    Raises:
        SettingError: an order that is no number, or an axis out of range.
    """
    if not isinstance(x, Tensor) and not is_eager():
        raise SettingTypeError(f"vector_norm: a tensor is needed, got {type(x).__name__}")
    axes = _axes(axis, len(x.shape), "vector_norm")
    if isinstance(ord, str) or ord is None:
        raise SettingError(f"vector_norm: ord must be a number, got {ord!r}")
    x = x if dtype is None else cast(x, dtype)
    if ord == 2:
        return _euclidean(x, axes, keepdims)
    if ord in _ENDLESS:
        return _largest(x, _extreme(ord), axes, keepdims)
    return _zeros_left_out(x, axes, keepdims) if ord == 0 else _powers(x, ord, axes, keepdims)


def _largest(x: Tensor, extreme: Callable[..., Any], axes: tuple[int, ...], keep: bool) -> Tensor:
    if len(axes) == 1:
        return extreme(abs_of(x), axes[0], keep)[0]  # type: ignore[no-any-return]
    flat = flatten(x, start_dim=min(axes), end_dim=max(axes))
    found = extreme(abs_of(flat), min(axes))[0]
    return _kept(found, x, axes) if keep else found


def matrix_norm(
    A: Tensor, ord: Any = "fro", axis: Any = (-2, -1), keepdims: bool = False, *, dtype: Any = None
) -> Tensor:
    """The norm of order ``ord`` (``"fro"``, ``"nuc"``, 1, -1, 2, -2, (minus) infinity) of the matrices in two axes.

    Raises:
        SettingError: another order, or axes that are not two.
    """
    if not isinstance(axis, (list, tuple)):
        raise SettingTypeError(f"matrix_norm: axis must be a tuple of two ints, got {axis!r}")
    if len(axis) != 2:
        raise SettingError(f"matrix_norm: axis must be a tuple of two ints, got {axis!r}")
    axes = _axes(tuple(axis), len(A.shape), "matrix_norm")
    A = A if dtype is None else cast(A, dtype)
    found = _of_matrix(A, ord, axes if ord != "fro" else tuple(axis), "matrix_norm")
    return _kept(found, A, axes) if keepdims else found


def _of_matrix(x: Tensor, order: Any, axes: tuple[int, ...], owner: str) -> Tensor:
    row, column = axes
    if order in ("fro", None):
        return _sqrt(call("ReduceSum", _square(x), axes, False, False))  # type: ignore[no-any-return]
    if order in _ENDLESS:
        sums = call("ReduceSum", abs_of(x), (column,), False, False)
        return _extreme(order)(sums, row - (row > column))[0]  # type: ignore[no-any-return]
    if order in (1, -1):
        return _extreme(order)(x.abs().sum(row), column - (column > row))[0]  # type: ignore[no-any-return]
    if order in ("nuc", 2, -2):
        return _of_singular_values(x, order, axes)
    raise SettingError(f"{owner}: ord of a matrix must be 'fro', 'nuc', 1, -1, 2, -2, inf or -inf, got {order!r}")


def condition_number(A: Tensor, p: Any = None) -> Tensor:
    """The condition number of square matrices by the norm of order ``p`` (None: 2)."""
    order, axes = (2 if p is None else p), (len(A.shape) - 2, len(A.shape) - 1)
    return call("Mul", matrix_norm(A, order, axes), matrix_norm(inverse(A), order, axes))  # type: ignore[no-any-return]


def _of_singular_values(x: Tensor, order: Any, axes: tuple[int, ...]) -> Tensor:
    """Their sum, the largest or the smallest."""
    last = (*(axis for axis in range(len(x.shape)) if axis not in axes), *axes)
    values = svd(x if last == tuple(range(len(last))) else transpose(x, last), compute_uv=False)
    if order == "nuc":
        return values.sum(-1)  # type: ignore[no-any-return]
    return call("ReduceMax" if order > 0 else "ReduceMin", values, (-1,), False)  # type: ignore[no-any-return]


@tensor_method("norm")
def norm(A: Tensor, ord: Any = None, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """The norm of order ``ord`` of a tensor as one vector, or of its vectors or matrices (one or two axes ``dim``).

    Raises:
        SettingError: an order that vectors or matrices do not have, or more than two axes.
        UnsupportedError: orders over more than two axes.
    """
    rank = len(A.shape)
    axes = _axes(dim, rank, "norm")
    if dim is not None and len(axes) > 2:
        raise SettingError(f"norm: dim must be one axis or two, got {dim!r}")
    given = axes if dim is None else (dim if isinstance(dim, tuple) else (dim,))  # as the kernels there get them
    A = A if dtype is None else cast(A, dtype)
    ord = _known_order(ord) if len(axes) == 2 else ord
    if dim is None and (ord is None or (ord == "fro" and rank == 2) or (ord == 2 and rank == 1)):
        found = _euclidean(A, axes, False)
        return found.reshape((1,) * rank) if keepdim else found
    if len(axes) == 2:
        found = _of_matrix(A, ord, given if ord in (None, "fro") else axes, "norm")
        return _kept(found, A, axes) if keepdim else found
    if isinstance(ord, str):
        raise SettingTypeError(f"norm: ord of a vector must be a number, got {ord!r}")
    if len(axes) != 1:
        raise UnsupportedError(f"norm: ord {ord!r} over {len(axes)} axes is not supported; name one or two by dim")
    return _of_vector(A, ord, axes if isinstance(ord, int) and ord > 0 else given, keepdim)


def _known_order(order: Any) -> Any:
    """``order``; None, Frobenius' norm, for a constant tensor that matrices have an order of (measured)."""
    if type(order) is not Tensor or order.size != 1:
        return order
    number = order.asnumpy().item()
    if number not in (1, -1, 2, -2, *_ENDLESS):
        raise SettingError(f"norm: ord of a matrix must be 1, -1, 2, -2 or infinite, got {number}")
    return None


def _of_vector(x: Tensor, order: Any, axes: tuple[int, ...], keep: bool) -> Tensor:
    if order is True:
        raise SettingTypeError("norm: ord of a vector must be a number, got True")
    if order is None:
        return _euclidean(x, axes, keep)
    if order == 0:
        return _zeros_left_out(x, axes, keep)
    if order in _ENDLESS:
        return _extreme(order)(abs_of(x), axes[0], keep)[0]  # type: ignore[no-any-return]
    if isinstance(order, int):
        if order > 0:
            return lp_norm(x, axes, order, keep)
        return sum_of(abs_of(x).pow(order), axes, keep, None).pow(1.0 / order)  # type: ignore[no-any-return]
    return _powers(x, order, axes, keep)


def lrn(
    x: Any, depth_radius: int = 5, bias: float = 1.0, alpha: float = 1.0, beta: float = 0.5,
    norm_region: str = "ACROSS_CHANNELS",
) -> Any:  # fmt: skip
    """Local response normalisation of (n, c, h, w) over channels."""
    return LRN(depth_radius, bias, alpha, beta, norm_region)(x)
