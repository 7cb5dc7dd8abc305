"""Makes, moves, joins and cuts tensors without computing."""

from __future__ import annotations

from typing import Any

import torch
from torch.nn import functional

from harness.framework.engines.torch.base import kernel
from harness.framework.engines.torch.values import SIGNED, TORCH, numbers
from harness.framework.ops.base import Call
from harness.framework.ops.constants import ints
from harness.framework.ops.operators.pad import pairs_of, source
from harness.framework.ops.operators.strided_slice import index_of
from harness.framework.ops.operators.tile import aligned


def made_in(call: Call) -> Any:
    """PyTorch's dtype of the result; signed where it has unsigned integers without kernels."""
    dtype = TORCH[call.outputs()[0].dtype]
    return SIGNED.get(dtype, dtype)


@kernel("Reshape", moves=True)
def _reshape(call: Call, x: Any, shape: Any) -> Any:
    return x.reshape(numbers(call.values[1], shape))


@kernel("Flatten", moves=True)
def _flatten(call: Call, x: Any) -> Any:
    return x.reshape(call.outputs()[0].shape)


@kernel("ExpandDims", moves=True)
def _expand_dims(call: Call, x: Any, axis: int) -> Any:
    return x.unsqueeze(int(axis))


@kernel("Squeeze", moves=True)
def _squeeze(call: Call, x: Any, axes: Any) -> Any:
    gone = {a % x.ndim for a in axes} or {a for a, n in enumerate(x.shape) if n == 1}
    return x.reshape([n for a, n in enumerate(x.shape) if a not in gone])


@kernel("Transpose", moves=True)
def _transpose(call: Call, x: Any, order: Any) -> Any:
    return x.permute(numbers(call.values[1], order))


@kernel("BroadcastTo", moves=True)
def _broadcast_to(call: Call, x: Any, shape: Any) -> Any:
    return x.expand(numbers(call.values[1], shape))


@kernel("Tile", moves=True)
def _tile(call: Call, x: Any, times: Any) -> Any:
    shape, times = aligned(tuple(x.shape), numbers(call.values[1], times))
    return x.reshape(shape).repeat(times)


@kernel("ReverseV2", moves=True)
def _reverse(call: Call, x: Any, _axes: Any) -> Any:
    return x.flip(ints(call, 1))


@kernel("ReverseSequence", moves=True)
def _reverse_sequence(call: Call, x: Any, lengths: Any) -> Any:
    time, batch = call.attrs["seq_dim"], call.attrs["batch_dim"]
    rows = x.movedim((batch, time), (0, 1))
    step = torch.arange(rows.shape[1], device=x.device)[None]
    length = lengths.to(torch.int64)[:, None]
    turned = torch.where(step < length, length - 1 - step, step)
    return rows[torch.arange(rows.shape[0], device=x.device)[:, None], turned].movedim((0, 1), (batch, time))


@kernel("Slice", moves=True)
def _slice(call: Call, x: Any, begin: Any, size: Any) -> Any:
    corner, sides = numbers(call.values[1], begin), numbers(call.values[2], size)
    return x[tuple(slice(b, None if n == -1 else b + n) for b, n in zip(corner, sides, strict=True))]


@kernel("SliceGrad", moves=True)
def _slice_grad(call: Call, dout: Any, x: Any, begin: Any, _size: Any) -> Any:
    out = torch.zeros(x.shape, dtype=dout.dtype, device=dout.device)
    corner = numbers(call.values[2], begin)
    out[tuple(slice(b, b + n) for b, n in zip(corner, dout.shape, strict=True))] = dout
    return out


def _taken(x: Any, index: tuple[Any, ...]) -> Any:
    """``x[index]``, with backward slices too, which PyTorch lacks."""
    backwards, at, rank = [], 0, sum(part is not None and part is not Ellipsis for part in index)
    for part in index:
        if part is Ellipsis:
            at += x.ndim - rank
        elif part is not None:
            if isinstance(part, slice) and part.step < 0:
                backwards.append((at, part))
            at += 1
    forwards = {id(part) for _, part in backwards}
    for axis, part in backwards:
        places = range(x.shape[axis])[part]
        x = x.index_select(axis, torch.tensor(list(places), dtype=torch.int64, device=x.device))
    return x[tuple(slice(None) if id(part) in forwards else part for part in index)]


@kernel("StridedSlice", moves=True)
def _strided_slice(call: Call, x: Any, begin: Any, end: Any, strides: Any, *masks: int) -> Any:
    first, last, steps = (numbers(call.values[i], part) for i, part in enumerate((begin, end, strides), 1))
    return _taken(x, index_of(first, last, steps, masks))


@kernel("StridedSliceGrad", moves=True)
def _strided_slice_grad(call: Call, dout: Any, _shape: Any, begin: Any, end: Any, strides: Any) -> Any:
    shape = call.outputs()[0].shape
    masks = [int(call.attrs[f"{m}_mask"]) for m in ("begin", "end", "ellipsis", "new_axis", "shrink_axis")]
    count = 1
    for n in shape:
        count *= n
    places = torch.arange(count, device=dout.device).reshape(shape)
    out = torch.zeros(count, dtype=dout.dtype, device=dout.device)
    first, last, steps = (numbers(call.values[i], part) for i, part in enumerate((begin, end, strides), 2))
    out[_taken(places, index_of(first, last, steps, masks)).reshape(-1)] = dout.reshape(-1)
    return out.reshape(shape)


@kernel("TensorCopySlices", moves=True)
def _copy_slices(call: Call, x: Any, value: Any, begin: Any, end: Any, strides: Any) -> Any:
    bounds = (numbers(call.values[i], part) for i, part in enumerate((begin, end, strides), 2))
    places = torch.arange(x.numel(), device=x.device).reshape(x.shape)
    out = x.reshape(-1).clone()
    out[_taken(places, tuple(slice(*each) for each in zip(*bounds, strict=True))).reshape(-1)] = value.reshape(-1)
    return out.reshape(x.shape)


# --- joining and taking apart ---


@kernel("Concat", moves=True)
def _concat(call: Call, tensors: Any, axis: int) -> Any:
    return torch.cat([t.to(made_in(call)) for t in tensors], axis)


@kernel("Stack", moves=True)
def _stack(call: Call, tensors: Any) -> Any:
    return torch.stack(tuple(tensors), call.attrs["axis"])


@kernel("Unstack", moves=True)
def _unstack(call: Call, x: Any) -> Any:
    return tuple(torch.unbind(x, call.attrs["axis"]))


@kernel("Split", moves=True)
def _split(call: Call, x: Any, axis: int, count: int) -> Any:
    return tuple(torch.tensor_split(x, count, axis))


@kernel("Meshgrid", moves=True)
def _meshgrid(call: Call, vectors: Any, _order: Any) -> Any:
    return tuple(torch.meshgrid(*vectors, indexing="xy" if ints(call, 1)[0] == 1 else "ij"))


@kernel("Diag", moves=True)
def _diag(call: Call, x: Any) -> Any:
    return torch.diag(x)


@kernel("Tril", moves=True)
def _tril(call: Call, x: Any) -> Any:
    return torch.tril(x, call.attrs["diagonal"])


@kernel("Triu", moves=True)
def _triu(call: Call, x: Any, _diagonal: Any) -> Any:
    return torch.triu(x, ints(call, 1)[0])


# --- padding ---


def _grown(x: Any, pairs: Any, value: Any) -> Any:
    """``x`` with ``value`` around it; negative numbers cut."""
    flat = [n for pair in reversed(list(pairs)) for n in pair]
    return functional.pad(x, flat, value=value) if any(flat) else x


@kernel("Pad", moves=True)
def _pad(call: Call, x: Any) -> Any:
    return _grown(x, call.attrs["paddings"], 0)


@kernel("PadV3", moves=True)
def _pad_v3(call: Call, x: Any, _paddings: Any, value: Any) -> Any:
    pairs = pairs_of(call, x.ndim)
    if call.attrs["mode"] == "constant":
        return _grown(x, pairs, 0 if value is None else torch.as_tensor(value).reshape(()).to(x.dtype).item())
    grow = [(max(0, before), max(0, after)) for before, after in pairs]
    for axis, places in enumerate(source(tuple(x.shape), grow, call.attrs["mode"])):
        x = x.index_select(axis, torch.from_numpy(places).to(x.device))
    return x


@kernel("PadV3Grad", wide=True)
def _pad_v3_grad(call: Call, dout: Any, _paddings: Any) -> Any:
    shape = call.outputs()[0].shape
    for axis, places in enumerate(source(shape, pairs_of(call, dout.ndim), call.attrs["mode"])):
        smaller = [n if a != axis else shape[axis] for a, n in enumerate(dout.shape)]
        out = torch.zeros(smaller, dtype=dout.dtype, device=dout.device)
        dout = out.index_add_(axis, torch.from_numpy(places).to(dout.device), dout)
    return dout
