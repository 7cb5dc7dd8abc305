"""Normalization and its gradients, softmax, and lengths."""

from __future__ import annotations

from typing import Any

import torch
from torch.nn import functional

from harness.framework.engines.torch.base import kernel
from harness.framework.ops.base import Call
from harness.framework.ops.constants import ints

_aten = torch.ops.aten


# --- over the batch ---


@kernel("BatchNorm", wide=True)
def _batch_norm(call: Call, x: Any, scale: Any, bias: Any, mean: Any, variance: Any, *settings: Any) -> Any:
    training, epsilon, momentum = bool(settings[0]), float(settings[1]), float(settings[2])
    parts = [t.to(x.dtype) for t in (scale, bias)]
    blank = torch.zeros(mean.shape, dtype=x.dtype, device=x.device)
    if not training:
        running = (mean.to(x.dtype), variance.to(x.dtype))
        return _aten.native_batch_norm(x, *parts, *running, False, momentum, epsilon)[0], blank, blank, blank, blank
    out = _aten.native_batch_norm(x, *parts, None, None, True, momentum, epsilon)[0]
    used_variance, used_mean = torch.var_mean(x, dim=[a for a in range(x.ndim) if a != 1], correction=0)
    count = x.numel() // max(1, x.shape[1])
    unbiased = used_variance * (count / (count - 1) if count > 1 else float("inf"))
    for target, new in ((mean, used_mean), (variance, unbiased)):
        target.copy_((1 - momentum) * target.to(x.dtype) + momentum * new)
    return out, blank, blank, used_mean, used_variance


@kernel("BatchNormGrad", wide=True)
def _batch_norm_grad(call: Call, dout: Any, x: Any, scale: Any, mean: Any, variance: Any, *rest: Any) -> Any:
    _reserve, training, epsilon = rest[:3]
    mean, variance, scale = (t.to(x.dtype) for t in (mean, variance, scale))
    inverse = torch.rsqrt(variance + float(epsilon))
    used = (None, None, mean, inverse) if training else (mean, variance, None, None)
    return _aten.native_batch_norm_backward(
        dout, x, scale, *used, bool(training), float(epsilon), [True, True, True]
    )  # fmt: skip


# --- over layers and groups ---


@kernel("LayerNorm", wide=True)
def _layer_norm(call: Call, x: Any, gamma: Any, beta: Any, norm: int, _params: int, epsilon: float) -> Any:
    first = norm % x.ndim
    shape, axes = tuple(x.shape[first:]), list(range(first, x.ndim))
    variance, mean = torch.var_mean(x, dim=axes, correction=0, keepdim=True)
    if tuple(gamma.shape) == shape:
        return functional.layer_norm(x, shape, gamma, beta, float(epsilon)), mean, variance
    return functional.layer_norm(x, shape, None, None, float(epsilon)) * gamma + beta, mean, variance


@kernel("LayerNormGrad", wide=True)
def _layer_norm_grad(
    call: Call, x: Any, dout: Any, variance: Any, mean: Any, gamma: Any, norm: int, params: int
) -> Any:
    first, axes = norm % x.ndim, list(range(params % x.ndim))
    shape = tuple(x.shape[first:])
    scale = torch.rsqrt(variance.to(x.dtype) + call.attrs.get("epsilon", 1e-7))
    mean = mean.to(x.dtype)
    if tuple(gamma.shape) == shape:
        return _aten.native_layer_norm_backward(dout, x, shape, mean, scale, gamma, gamma, [True, True, True])
    weighted = dout * gamma
    dx = _aten.native_layer_norm_backward(weighted, x, shape, mean, scale, None, None, [True, False, False])[0]
    share = dout * (x - mean) * scale
    return (dx, share.sum(axes), dout.sum(axes)) if axes else (dx, share, dout)


def _sizes(x: Any) -> tuple[int, int, int]:
    return x.shape[0], x.shape[1], x.numel() // max(1, x.shape[0] * x.shape[1])


@kernel("GroupNorm", wide=True)
def _group_norm(call: Call, x: Any, groups: int, gamma: Any, beta: Any, epsilon: float) -> Any:
    return _aten.native_group_norm(x.contiguous(), gamma, beta, *_sizes(x), int(groups), float(epsilon))


@kernel("GroupNormGrad", wide=True)
def _group_norm_grad(call: Call, dout: Any, x: Any, mean: Any, scale: Any, gamma: Any, *rest: Any) -> Any:
    given = (dout.contiguous(), x.contiguous(), mean, scale, gamma)
    return _aten.native_group_norm_backward(*given, *_sizes(x), int(rest[0]), [True, True, True])


# --- lengths ---


def _axes(call: Call) -> list[int]:
    axis = call.attrs["axis"]
    return list(axis) if isinstance(axis, (tuple, list)) else [axis]


def _length(call: Call, x: Any) -> Any:
    return torch.sqrt(torch.clamp((x * x).sum(_axes(call), keepdim=True), min=call.attrs["epsilon"]))


@kernel("L2Normalize", wide=True)
def _l2_normalize(call: Call, x: Any) -> Any:
    return x / _length(call, x)


@kernel("L2NormalizeGrad", wide=True)
def _l2_normalize_grad(call: Call, x: Any, out: Any, dout: Any) -> Any:
    return (dout - out * (out * dout).sum(_axes(call), keepdim=True)) / _length(call, x)


# --- softmax ---


def passing(x: Any, out: Any, axis: int, elsewhere: float) -> Any:
    """``out``, the softmax of ``x`` or its logarithm, as MindSpore's CPU gives it beside NaN: NaN stands where ``x``
    has it (or is infinite), ``elsewhere`` in the rest of the row; PyTorch's whole row is NaN."""
    if not x.numel():
        return out
    shifted = x - torch.where(x.isnan(), -torch.inf, x).amax(axis, keepdim=True)
    return torch.where(out.isnan() & ~shifted.isnan(), elsewhere, out)


@kernel("Softmax", wide=True)
def _softmax(call: Call, x: Any, _axes_given: Any) -> Any:
    axis = ints(call, 1)[0]
    if call.dtype(0).name != "Float32" or axis % x.dim() != x.dim() - 1:  # NaN passes into its whole row
        return torch.softmax(x, axis)
    return passing(x, torch.softmax(x, axis), axis, 0.0)


@kernel("LogSoftmax", wide=True)
def _log_softmax(call: Call, x: Any, axis: int) -> Any:
    return passing(x, torch.log_softmax(x, axis), axis, -torch.inf)


@kernel("LogSoftmaxGrad", wide=True)
def _log_softmax_grad(call: Call, out: Any, dout: Any, axis: int) -> Any:
    return _aten._log_softmax_backward_data(dout, out, axis, out.dtype)
