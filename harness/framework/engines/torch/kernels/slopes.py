"""Gradients of functions of one tensor, element by element."""

from __future__ import annotations

from typing import Any

import torch

from harness.framework.engines.torch.base import kernel
from harness.framework.ops.base import Call

_aten = torch.ops.aten


@kernel("ACosGrad", wide=True)
def _acos(call: Call, x: Any, dout: Any) -> Any:
    return -dout * torch.rsqrt(1 - x * x)


@kernel("AsinGrad", wide=True)
def _asin(call: Call, x: Any, dout: Any) -> Any:
    return dout * torch.rsqrt(1 - x * x)


@kernel("AtanGrad", wide=True)
def _atan(call: Call, x: Any, dout: Any) -> Any:
    return dout / (1 + x * x)


@kernel("AcoshGrad", wide=True)
def _acosh(call: Call, out: Any, dout: Any) -> Any:
    return dout / torch.sinh(out)


@kernel("AsinhGrad", wide=True)
def _asinh(call: Call, out: Any, dout: Any) -> Any:
    return dout / torch.cosh(out)


@kernel("EluGrad", wide=True)
def _elu(call: Call, dout: Any, out: Any) -> Any:
    return _aten.elu_backward(dout, 1.0, 1.0, 1.0, True, out)


@kernel("FastGeLUGrad", wide=True)
def _fast_gelu(call: Call, dout: Any, x: Any) -> Any:
    gate = torch.sigmoid(1.702 * x)
    return dout * (gate + 1.702 * x * gate * (1 - gate))


@kernel("GeLUGrad", wide=True)
def _gelu(call: Call, dout: Any, x: Any, _out: Any) -> Any:
    return _aten.gelu_backward(dout, x, approximate="tanh")


@kernel("HSwishGrad", wide=True)
def _hard_swish(call: Call, dout: Any, x: Any) -> Any:
    """1 above 3 and 0 below -3, as with MindSpore."""
    inner = (2 * x + 3) / 6
    return dout * torch.where(x < -3, 0.0, torch.where(x > 3, 1.0, inner))


@kernel("HSigmoidGrad", wide=True)
def _hard_sigmoid(call: Call, dout: Any, x: Any) -> Any:
    return torch.where((x <= -3) | (x >= 3), 0.0, dout / 6)


@kernel("HShrinkGrad")
def _hard_shrink(call: Call, dout: Any, x: Any, bound: float) -> Any:
    return _aten.hardshrink_backward(dout, x, float(bound))


@kernel("SoftShrinkGrad")
def _soft_shrink(call: Call, dout: Any, x: Any, bound: float) -> Any:
    return _aten.softshrink_backward(dout, x, float(bound))


@kernel("SoftplusGrad", wide=True)
def _softplus(call: Call, dout: Any, x: Any) -> Any:
    return dout * torch.sigmoid(x)


@kernel("SigmoidGrad", wide=True)
def _sigmoid(call: Call, out: Any, dout: Any) -> Any:
    return dout * out * (1 - out)


@kernel("TanhGrad", wide=True)
def _tanh(call: Call, out: Any, dout: Any) -> Any:
    return dout * (1 - out * out)


@kernel("SqrtGrad", wide=True)
def _sqrt(call: Call, out: Any, dout: Any) -> Any:
    return dout / (2 * out)


@kernel("RsqrtGrad", wide=True)
def _rsqrt(call: Call, out: Any, dout: Any) -> Any:
    return out * out * out * dout / -2


@kernel("ReluGrad")
def _relu(call: Call, dout: Any, out: Any) -> Any:
    return torch.where(out > 0, dout, torch.zeros_like(dout))


@kernel("ReLU6Grad")
def _relu6(call: Call, dout: Any, x: Any) -> Any:
    return torch.where((x > 0) & (x < 6), dout, torch.zeros_like(dout))


@kernel("PReLUGrad", wide=True)
def _prelu(call: Call, dout: Any, x: Any, weight: Any) -> Any:
    slopes = weight.reshape(1, -1, *[1] * (x.ndim - 2)) if x.ndim > 1 else weight
    share = torch.where(x > 0, 0.0, x * dout)
    axes = [a for a in range(x.ndim) if a != 1 or weight.numel() == 1]
    total = share.sum(axes) if axes else share
    return torch.where(x > 0, dout, slopes * dout), total.reshape(weight.shape)


@kernel("DropoutGrad", wide=True)
def _dropout(call: Call, dout: Any, mask: Any) -> Any:
    return dout * mask / call.attrs["keep_prob"]
