"""Reductions, running sums and products, places of extremes, and order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from harness.framework.engines.torch.base import NoKernel, kernel
from harness.framework.engines.torch.values import COMPUTED, numbers
from harness.framework.ops.base import OPERATORS, Call
from harness.framework.ops.reduce import Reduction, normal_axes, reduced


def _axes(call: Call, given: Any = None) -> tuple[int, ...]:
    operator = OPERATORS.get(call.op)
    assert isinstance(operator, Reduction)
    return operator.axes(call, given)


def _number(call: Call, x: Any) -> Any:
    """``x`` ready to be added up: integers in the result's dtype, so that they wrap as it does."""
    dtype = call.outputs()[0].dtype
    return x if dtype.kind in "fc" else x.to(COMPUTED[dtype])


@kernel("ReduceSum", wide=True, wraps=True)
def _sum(call: Call, x: Any, _axes_given: Any, keep: bool, _skip: bool) -> Any:
    axes = _axes(call)
    if x.dtype == torch.bool:
        return x.any(dim=axes, keepdim=keep) if axes else x
    x = _number(call, x)
    return x.sum(dim=axes, keepdim=keep, dtype=x.dtype) if axes else x


@kernel("ReduceMean", wide=True)
def _mean(call: Call, x: Any, _axes_given: Any, keep: bool) -> Any:
    axes = _axes(call)
    x = x if x.is_floating_point() or x.is_complex() else x.to(torch.float64)
    if not x.numel():
        return x.sum(dim=axes, keepdim=keep) if axes else x
    return x.mean(dim=axes, keepdim=keep) if axes else x


@kernel("ReduceProd", wide=True, wraps=True)
def _prod(call: Call, x: Any, axes_given: Any, keep: bool) -> Any:
    axes = _axes(call, axes_given)
    shape, x = reduced(x.shape, axes, keep), _number(call, x)
    for axis in sorted(axes, reverse=True):
        x = x.prod(dim=axis, dtype=x.dtype)
    return x.reshape(shape)


@kernel("ReduceMax", "ReduceMin")
def _extreme(call: Call, x: Any, _axes_given: Any, keep: bool) -> Any:
    """NaN counts only where it comes first, as with MindSpore."""
    axes, largest = _axes(call), call.op == "ReduceMax"
    reduce: Callable[..., Any] = torch.amax if largest else torch.amin
    if not axes:
        return x
    if not x.is_floating_point():
        return reduce(x, dim=axes, keepdim=keep)
    passed = torch.where(x.isnan(), -torch.inf if largest else torch.inf, x)
    first = x[tuple(slice(0, 1) if a in axes else slice(None) for a in range(x.ndim))]
    out = torch.where(first.isnan(), first, reduce(passed, dim=axes, keepdim=True))
    return out if keep else out.reshape(reduced(x.shape, axes, False))


@kernel("ReduceAll", "ReduceAny", wraps=True)
def _truth(call: Call, x: Any, _axes_given: Any, keep: bool) -> Any:
    axes, holds = _axes(call), x != 0
    if call.op == "ReduceAny" and x.dtype != torch.bool and len(axes) < x.ndim:
        raise NoKernel("other dtypes over some axes")  # MindSpore reads their bytes
    if not axes:
        return holds
    return torch.all(holds, dim=axes, keepdim=keep) if call.op == "ReduceAll" else holds.any(dim=axes, keepdim=keep)


@kernel("ReduceStd", wide=True)
def _std(call: Call, x: Any, axes: Any, unbiased: bool, keep: bool) -> Any:
    over = normal_axes(call, axes, x.ndim)
    if not over:
        raise NoKernel("0 axes")
    return torch.std_mean(x, dim=over, correction=int(bool(unbiased)), keepdim=bool(keep))


@kernel("CumSum", "CumProd", wide=True, wraps=True)
def _cumulative(call: Call, x: Any, axis: int, exclusive: bool, reverse: bool) -> Any:
    x = _number(call, x)
    x = x.flip(axis) if reverse else x
    product = call.op == "CumProd"
    out = torch.cumprod(x, axis, dtype=x.dtype) if product else torch.cumsum(x, axis, dtype=x.dtype)
    if exclusive and x.shape[axis]:
        start = torch.full_like(out.narrow(axis, 0, 1), 1 if product else 0)
        out = torch.cat([start, out.narrow(axis, 0, x.shape[axis] - 1)], axis)
    return out.flip(axis) if reverse else out


# --- places ---


def _place(x: Any, axis: int, largest: bool) -> Any:
    """Index of the first largest or smallest element; NaN counts only where it comes first (axis kept)."""
    if x.dtype == torch.bool:
        x = x.to(torch.uint8)
    find: Callable[..., Any] = torch.argmax if largest else torch.argmin
    if not x.is_floating_point():
        return find(x, dim=axis, keepdim=True)
    best = find(torch.where(x.isnan(), -torch.inf if largest else torch.inf, x), dim=axis, keepdim=True)
    return torch.where(x.narrow(axis, 0, 1).isnan(), 0, best)


@kernel("Argmax", "Argmin")
def _arg(call: Call, x: Any, axis: int, _dtype: int) -> Any:
    if not x.ndim:
        return torch.zeros_like(x, dtype=torch.int64)
    return _place(x, axis, call.op == "Argmax").squeeze(axis)


@kernel("ArgMaxWithValue", "ArgMinWithValue")
def _arg_with_value(call: Call, x: Any, axis: int, keep: bool) -> Any:
    if not x.ndim:
        return torch.zeros_like(x, dtype=torch.int64), x
    at = _place(x, axis, call.op == "ArgMaxWithValue")
    value = torch.gather(x, axis, at)
    return (at, value) if keep else (at.squeeze(axis), value.squeeze(axis))


@kernel("Sort")
def _sort(call: Call, x: Any) -> Any:
    values, order = torch.sort(x, dim=call.attrs["axis"], descending=bool(call.attrs["descending"]), stable=True)
    return values, order


@kernel("TopK")
def _top_k(call: Call, x: Any, k: Any) -> Any:
    """By sorting: of equal ones the first counts, where PyTorch's own leaves it open."""
    (count,) = numbers(call.values[1], k)
    values, order = torch.sort(x, dim=-1, descending=True, stable=True)
    return values[..., :count], order[..., :count]


@kernel("NonZero")
def _non_zero(call: Call, x: Any) -> Any:
    return torch.nonzero(x != 0)
