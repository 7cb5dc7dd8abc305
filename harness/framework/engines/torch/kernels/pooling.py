"""Pooling and its gradients."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch.nn import functional

from harness.framework.engines.torch.base import NoKernel, kernel
from harness.framework.ops.base import OPERATORS, Call
from harness.framework.ops.operators import avg_pool, avg_pool3d, max_pool
from harness.framework.ops.operators.max_pool_argmax import Pool
from harness.framework.ops.window import Pads, Pair

_aten = torch.ops.aten
_NONE = (0, 0)


def _padded(x: Any, pads: Pads, value: float = 0.0) -> Any:
    top, bottom, left, right = pads
    return functional.pad(x, (left, right, top, bottom), value=value) if any(pads) else x


def _cut(x: Any, pads: Pads) -> Any:
    top, bottom, left, right = pads
    return functional.pad(x, (-left, -right, -top, -bottom)) if any(pads) else x


def _floating(x: Any) -> None:
    if not x.is_floating_point():
        raise NoKernel("no float")


# --- means ---


def _counts(like: Any, pads: Pads, kernel_size: Pair, stride: Pair) -> Any:
    """How many elements of the input each window holds."""
    ones = torch.ones((1, 1, *like.shape[-2:]), dtype=like.dtype, device=like.device)
    return functional.avg_pool2d(_padded(ones, pads), kernel_size, stride, divisor_override=1)


def _sums(x: Any, pads: Pads, kernel_size: Pair, stride: Pair) -> Any:
    return functional.avg_pool2d(_padded(x, pads), kernel_size, stride, divisor_override=1)


def _spread(share: Any, x: Any, pads: Pads, kernel_size: Pair, stride: Pair) -> Any:
    """Adds ``share`` to every element of its window."""
    grown = _padded(x, pads)
    return _cut(_aten.avg_pool2d_backward(share, grown, kernel_size, stride, _NONE, False, False, 1), pads)


@kernel("AvgPool", wide=True)
def _avg_pool(call: Call, x: Any, *_settings: Any) -> Any:
    _floating(x)
    kernel_size, stride, pads = avg_pool.geometry(call, 1)
    if not any(pads):
        return functional.avg_pool2d(x, kernel_size, stride)
    return _sums(x, pads, kernel_size, stride) / _counts(x, pads, kernel_size, stride)


@kernel("AvgPoolGrad", wide=True)
def _avg_pool_grad(call: Call, x: Any, _out: Any, dout: Any, *_settings: Any) -> Any:
    _floating(dout)
    kernel_size, stride, pads = avg_pool.geometry(call, 3)
    return _spread(dout / _counts(x, pads, kernel_size, stride), x, pads, kernel_size, stride)


@kernel("AvgPool3D", wide=True)
def _avg_pool3d(call: Call, x: Any) -> Any:
    _floating(x)
    kernel_size, stride = call.attrs["kernel_size"][2:], call.attrs["strides"][2:]
    pads = avg_pool3d.around(call, x.shape, call.outputs()[0].shape[2:])
    sums = functional.avg_pool3d(_around(x, pads, 1), kernel_size, stride, divisor_override=1)
    return sums / _divisors(call, x, tuple(x.shape), tuple(sums.shape[2:]))


@kernel("AvgPool3DGrad", wide=True)
def _avg_pool3d_grad(call: Call, _shape: Any, dout: Any) -> Any:
    _floating(dout)
    shape, kernel_size, stride = call.outputs()[0].shape, call.attrs["kernel_size"][2:], call.attrs["strides"][2:]
    share = dout / _divisors(call, dout, shape, tuple(dout.shape[2:]))
    pads = avg_pool3d.around(call, shape, dout.shape[2:])
    grown = _around(dout.new_zeros(shape), pads, 1)
    return _around(_aten.avg_pool3d_backward(share, grown, kernel_size, stride, (0, 0, 0), False, False, 1), pads, -1)


def _around(x: Any, pads: Sequence[int], sign: int) -> Any:
    """A volume with its padding (``sign`` 1), or without (-1)."""
    d, d_end, h, h_end, w, w_end = (sign * n for n in pads)
    return functional.pad(x, (w, w_end, h, h_end, d, d_end)) if any(pads) else x


def _divisors(call: Call, like: Any, shape: tuple[int, ...], out: tuple[int, ...]) -> Any:
    found = avg_pool3d.divisors(call, shape, out)
    return found if isinstance(found, (int, float)) else torch.from_numpy(found).to(like.device, like.dtype)


@kernel("AdaptiveAvgPool2D", wide=True)
def _adaptive(call: Call, x: Any) -> Any:
    return functional.adaptive_avg_pool2d(x, tuple(call.attrs["output_size"]))


@kernel("AdaptiveAvgPool2DGrad", wide=True)
def _adaptive_grad(call: Call, dout: Any, _shape: Any) -> Any:
    return _aten._adaptive_avg_pool2d_backward(dout, dout.new_zeros(call.outputs()[0].shape))


# --- maxima ---


@kernel("MaxPool", wide=True)
def _max_pool(call: Call, x: Any) -> Any:
    """Ignores NaN unless it stands last, as MindSpore does: such a tensor is pooled place by place."""
    _floating(x)
    kernel_size, stride, pads = max_pool.geometry(call, call.attrs)
    grown = _padded(x, pads, -torch.inf)
    if not bool(x.isnan().any()):
        return functional.max_pool2d(grown, kernel_size, stride)
    view = grown.unfold(2, kernel_size[0], stride[0]).unfold(3, kernel_size[1], stride[1])
    best = view[..., 0, 0]
    for i in range(kernel_size[0]):
        for j in range(kernel_size[1]):
            best = torch.where(best > view[..., i, j], best, view[..., i, j])
    return best


@kernel("MaxPoolGrad", wide=True)
def _max_pool_grad(call: Call, x: Any, _out: Any, dout: Any) -> Any:
    _floating(dout)
    kernel_size, stride, pads = max_pool.geometry(call, call.attrs)
    grown = _padded(torch.where(x.isnan(), -torch.inf, x), pads, -torch.inf)
    _, at = functional.max_pool2d(grown, kernel_size, stride, return_indices=True)
    return _cut(_put(dout, at, grown), pads)


@kernel("MaxPoolWithArgmaxV2", wide=True)
def _max_pool_with_places(call: Call, x: Any) -> Any:
    operator = OPERATORS.get(call.op)
    assert isinstance(operator, Pool)
    return _best_and_places(x, *operator.geometry(call))


def _best_and_places(x: Any, kernel_size: Any, stride: Any, pads: Any, dilation: Any) -> Any:
    """The largest values of windows over the last two axes, and their places."""
    _floating(x)
    image = x.flatten(0, -3).unsqueeze(1)
    grown = _padded(image, pads, -torch.inf)
    best, at = functional.max_pool2d(grown, kernel_size, stride, 0, dilation, return_indices=True)
    rows, columns = at // grown.shape[-1] - pads[0], at % grown.shape[-1] - pads[2]
    shape = (*x.shape[:-2], *best.shape[-2:])
    return best.reshape(shape), (rows * x.shape[-1] + columns).reshape(shape)


def _flat(x: Any) -> None:
    """``NoKernel`` for volumes of more than one image."""
    if x.shape[2] != 1:
        raise NoKernel("volumes")


@kernel("MaxPool3DWithArgmax", wide=True)
def _max_pool_of_volumes(call: Call, x: Any) -> Any:
    """Volumes of depth 1: images."""
    _flat(x)
    if call.attrs["ksize"][0] != 1 or call.attrs["pads"][0] or call.attrs["ceil_mode"]:
        raise NoKernel("windows of volumes")
    kernel_size, stride, dilation = (call.attrs[name][1:] for name in ("ksize", "strides", "dilation"))
    pads = call.attrs["pads"]
    return _best_and_places(x, kernel_size, stride, (pads[1], pads[1], pads[2], pads[2]), dilation)


@kernel("MaxPoolGradWithArgmaxV2", wide=True)
def _max_pool_with_places_grad(call: Call, x: Any, dout: Any, places: Any) -> Any:
    return _put(dout, places, x)


@kernel("MaxPool3DGradWithArgmax", wide=True)
def _max_pool_of_volumes_grad(call: Call, x: Any, dout: Any, places: Any) -> Any:
    _flat(x)
    return _put(dout, places, x)


def _put(dout: Any, places: Any, like: Any) -> Any:
    """``dout`` added at the flat places of the last two axes of what is ``like``; the same on every device each time,
    which PyTorch's own backward is not on CUDA."""
    size = like.shape[-1] * like.shape[-2]
    lead = like.numel() // max(1, size)
    rows = torch.arange(lead, device=like.device)[:, None] * size
    flat = (rows + places.reshape(lead, -1).to(torch.int64)).reshape(-1)
    out = torch.zeros(like.numel(), dtype=dout.dtype, device=dout.device)
    return out.index_put_((flat,), dout.reshape(-1), accumulate=True).reshape(like.shape)
