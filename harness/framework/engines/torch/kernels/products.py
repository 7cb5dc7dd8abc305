"""Matrix products, convolutions and their gradients. On a CPU halves are multiplied in Float32, as MindSpore does."""

from __future__ import annotations

from typing import Any

import torch
from torch.nn import functional, grad

from harness.framework.engines.torch.base import NoKernel, kernel
from harness.framework.engines.torch.values import HALVES
from harness.framework.ops.base import Call
from harness.framework.ops.operators.conv2d import padding, steps


def _factors(*tensors: Any) -> tuple[Any, ...]:
    return tuple(t.to(torch.float32) if t.dtype in HALVES and t.device.type == "cpu" else t for t in tensors)


def _product(a: Any, b: Any) -> Any:
    if not (a.is_floating_point() or a.is_complex()) and a.device.type != "cpu":
        raise NoKernel(f"integers on {a.device.type}")
    return torch.matmul(a, b)


@kernel("MatMul", "BatchMatMul")
def _matmul(call: Call, a: Any, b: Any, transpose_a: bool, transpose_b: bool) -> Any:
    a, b = _factors(a, b)
    return _product(a.mT if transpose_a else a, b.mT if transpose_b else b)


@kernel("BiasAdd", wide=True)
def _bias_add(call: Call, x: Any, bias: Any, _format: int) -> Any:
    return x + bias.reshape(-1, *[1] * (x.ndim - 2))


@kernel("BiasAddGrad", wide=True)
def _bias_add_grad(call: Call, dout: Any, _format: int) -> Any:
    return dout.sum(dim=[a for a in range(dout.ndim) if a != 1])


def _geometry(call: Call, size: tuple[int, int]) -> tuple[Any, Any, Any, int]:
    """Stride, dilation, padding (left, right, top, bottom) and groups."""
    stride, dilation = steps(call.attrs)
    top, bottom, left, right = padding(call.attrs, size)
    return stride, dilation, (left, right, top, bottom), int(call.attrs["group"])


def _even(pads: Any) -> tuple[int, int] | None:
    """Padding as PyTorch's own kernels take it; None where one side has more, or less than none."""
    left, right, top, bottom = pads
    return (top, left) if left == right >= 0 and top == bottom >= 0 else None


def _floating(x: Any) -> None:
    if not x.is_floating_point():
        raise NoKernel("no float")


@kernel("Conv2D")
def _conv2d(call: Call, x: Any, w: Any) -> Any:
    _floating(x)
    x, w = _factors(x, w)
    stride, dilation, pads, groups = _geometry(call, (x.shape[2], x.shape[3]))
    even = _even(pads)
    if even is None:
        x, even = functional.pad(x, pads), (0, 0)
    return functional.conv2d(x, w, None, stride, even, dilation, groups)


@kernel("Conv2DBackpropInput", "Conv2DTranspose")
def _conv2d_input(call: Call, dout: Any, w: Any, _size: Any) -> Any:
    _floating(dout)
    dout, w = _factors(dout, w)
    n, c, height, width = call.outputs()[0].shape
    stride, dilation, pads, groups = _geometry(call, (height, width))
    even = _even(pads)
    if even is not None:
        return grad.conv2d_input((n, c, height, width), w, dout, stride, even, dilation, groups)
    grown = (n, c, height + pads[2] + pads[3], width + pads[0] + pads[1])
    slope = grad.conv2d_input(grown, w, dout, stride, 0, dilation, groups)
    return functional.pad(slope, [-p for p in pads])


@kernel("Conv2DBackpropFilter")
def _conv2d_filter(call: Call, dout: Any, x: Any, _size: Any) -> Any:
    _floating(dout)
    dout, x = _factors(dout, x)
    stride, dilation, pads, groups = _geometry(call, (x.shape[2], x.shape[3]))
    even = _even(pads)
    if even is None:
        x, even = functional.pad(x, pads), (0, 0)
    return grad.conv2d_weight(x, call.outputs()[0].shape, dout, stride, even, dilation, groups)
