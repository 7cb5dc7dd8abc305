"""Reductions: functions and Tensor methods."""

from __future__ import annotations

from typing import Any

from harness.tensor import call, tensor_method

__all__ = ["mean", "reduce_mean", "reduce_sum", "sum"]


def axes_of(axis: Any) -> tuple[int, ...]:
    """The tuple of axes a reduction shows: empty for all of them."""
    return () if axis is None else (axis,) if isinstance(axis, int) else tuple(axis)


def sum(input: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """Sum over ``dim`` (None: all)."""
    return call("SumExt", input, axes_of(dim), keepdim, dtype)


@tensor_method("sum")
def _sum(x: Any, axis: Any = None, keepdims: bool = False, dtype: Any = None) -> Any:
    return call("SumExt", x, axes_of(axis), keepdims, dtype)


def reduce_sum(x: Any, axis: Any = (), keep_dims: bool = False) -> Any:
    """Sum over ``axis`` as one ``ReduceSum``."""
    return call("ReduceSum", x, axes_of(axis), keep_dims, False)


def mean(x: Any, axis: Any = None, keep_dims: bool = False) -> Any:
    """Mean over ``axis`` (None: all)."""
    return call("ReduceMean", x, axes_of(axis), keep_dims)


reduce_mean = mean
tensor_method("mean")(mean)
