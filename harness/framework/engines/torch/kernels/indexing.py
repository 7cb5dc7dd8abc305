"""Reading and writing at indices. An index out of range is an error before anything is read."""

from __future__ import annotations

from math import prod
from typing import Any

import torch

from harness.errors import KernelError
from harness.framework.engines.torch.base import kernel
from harness.framework.ops.base import Call
from harness.framework.ops.operators.gather import axis_and_batch
from harness.framework.ops.operators.scatter import ADD


def checked(indices: Any, low: int, high: int, why: str) -> Any:
    """``indices`` as Int64; ``KernelError`` beginning with ``why`` for one outside ``low..high``."""
    indices = indices.to(torch.int64)
    if indices.numel() and not (low <= int(indices.min()) and int(indices.max()) <= high):
        raise KernelError(f"{why} lies outside {low}..{high}")
    return indices


def _from_front(indices: Any, length: int, why: str) -> Any:
    """Indices counted from the front; below 0 they count from behind."""
    indices = checked(indices, -length, length - 1, why)
    return torch.where(indices < 0, indices + length, indices)


def _grid(index: Any, axis: int, length: int) -> tuple[Any, ...]:
    """The index of the elements meant: every axis its own position, ``axis`` the values of ``index``."""
    axis %= index.ndim
    grid = []
    for a, n in enumerate(index.shape):
        own = torch.arange(n, device=index.device).reshape([-1 if b == a else 1 for b in range(index.ndim)])
        grid.append(own)
    grid[axis] = _from_front(index, length, "an index")
    return tuple(grid)


def _coordinates(call: Call, indices: Any, shape: tuple[int, ...]) -> tuple[Any, ...]:
    parts = indices.to(torch.int64).unbind(-1)
    return tuple(checked(p, 0, n - 1, f"{call.op}: a coordinate") for p, n in zip(parts, shape, strict=False))


@kernel("Gather", moves=True)
def _gather(call: Call, x: Any, indices: Any, _axis: Any, _batch: Any) -> Any:
    at, batch = axis_and_batch(call)
    safe = _from_front(indices, x.shape[at], "Gather: an index")
    shape = call.outputs()[0].shape
    lead = prod(x.shape[:batch])
    if not x.numel() or not lead:
        return x.new_zeros([max(n, 0) for n in shape])
    rows = x.reshape(lead, *x.shape[batch:])
    each = safe.reshape(lead, -1)
    taken = [row.index_select(at - batch, index) for row, index in zip(rows, each, strict=True)]
    return torch.stack(taken).reshape(shape)


@kernel("UnsortedSegmentSum", wide=True)
def _segment_sum(call: Call, x: Any, ids: Any, _count: Any) -> Any:
    count, *rest = call.outputs()[0].shape
    if ids.numel() and int(ids.max()) >= count:
        raise KernelError(f"UnsortedSegmentSum: segment number {int(ids.max())} of {count} segments")
    flat = ids.reshape(-1).to(torch.int64)
    kept = torch.where(flat < 0, count, flat)  # dropped values go to an extra row after the others
    return x.new_zeros((count + 1, *rest)).index_add_(0, kept, x.reshape(flat.numel(), *rest))[:count]


@kernel("GatherD", moves=True)
def _gather_d(call: Call, x: Any, axis: int, index: Any) -> Any:
    return torch.gather(x, axis, _from_front(index, x.shape[axis], "GatherD: an index"))


@kernel("GatherDGradV2", wide=True)
def _gather_d_grad(call: Call, x: Any, axis: int, index: Any, dout: Any) -> Any:
    out = torch.zeros(x.shape, dtype=dout.dtype, device=dout.device)
    return out.index_put_(_grid(index, axis, x.shape[axis]), dout, accumulate=True)


@kernel("GatherNd", moves=True)
def _gather_nd(call: Call, x: Any, indices: Any) -> Any:
    return x[_coordinates(call, indices, tuple(x.shape))]


@kernel("ScatterNd", wide=True)
def _scatter_nd(call: Call, indices: Any, updates: Any, _shape: Any) -> Any:
    shape = call.outputs()[0].shape
    out = updates.new_zeros(shape)
    return out.index_put_(_coordinates(call, indices, shape), updates, accumulate=True)


def _written(x: Any, flat: Any, updates: Any) -> Any:
    """``x`` with rows replaced by those of ``updates`` at the row numbers ``flat``; of equal ones the last counts."""
    order = torch.arange(flat.numel(), device=flat.device)
    latest = torch.full((x.shape[0],), -1, dtype=torch.int64, device=flat.device)
    latest.scatter_reduce_(0, flat, order, "amax", include_self=True)
    if not flat.numel():
        return x.clone()
    new = updates.index_select(0, latest.clamp(min=0))
    return torch.where((latest >= 0).reshape(-1, *[1] * (x.ndim - 1)), new, x)


@kernel("TensorScatterUpdate", moves=True)
def _scatter_update(call: Call, x: Any, indices: Any, updates: Any) -> Any:
    depth = indices.shape[-1]
    parts = _coordinates(call, indices.reshape(-1, depth), tuple(x.shape))
    flat = torch.zeros_like(parts[0])
    for part, n in zip(parts, x.shape, strict=False):
        flat = flat * n + part
    rows = (-1, *x.shape[depth:])
    return _written(x.reshape(rows), flat, updates.reshape(rows)).reshape(x.shape)


@kernel("TensorScatterElements", wide=True)
def _scatter_elements(call: Call, x: Any, indices: Any, updates: Any, axis: int, how: int) -> Any:
    grid = _grid(indices, axis, x.shape[axis])
    updates = updates.to(x.dtype)
    if how == ADD:
        return x.clone().index_put_(grid, updates, accumulate=True)
    flat = torch.zeros_like(indices, dtype=torch.int64)
    for part, n in zip(grid, x.shape, strict=True):
        flat = flat * n + part
    return _written(x.reshape(-1), flat.reshape(-1), updates.reshape(-1)).reshape(x.shape)


@kernel("MaskedFill")
def _masked_fill(call: Call, x: Any, mask: Any, value: Any) -> Any:
    return torch.where(mask != 0, value.to(x.dtype), x)


@kernel("Select", moves=True)
def _select(call: Call, condition: Any, x: Any, y: Any) -> Any:
    return torch.where(condition != 0, x, y)
