"""Arithmetic and comparisons of two tensors. Quotients and remainders over zero are MindSpore's, as everywhere here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from harness.framework.engines.torch.base import kernel
from harness.framework.engines.torch.values import COMPUTED, TORCH
from harness.framework.ops.base import Call


def alike(call: Call, *tensors: Any) -> tuple[Any, ...]:
    """The operands in the result's dtype where that is an integer (so that they wrap as it does); else in one floating
    dtype."""
    dtype = call.outputs()[0].dtype
    if dtype.kind in "iub":
        return tuple(t.to(COMPUTED[dtype]) for t in tensors)
    wanted = TORCH[dtype]
    if any(t.dtype == torch.float32 for t in tensors) and wanted in (torch.float16, torch.bfloat16):
        wanted = torch.float32
    return tuple(t.to(wanted) for t in tensors)


def _together(x: Any, y: Any) -> tuple[Any, Any]:
    """Both in a dtype that holds each exactly."""
    if x.dtype == y.dtype:
        return x, y
    if x.is_complex() or y.is_complex():
        return x.to(torch.complex128), y.to(torch.complex128)
    wide = torch.float64 if x.is_floating_point() or y.is_floating_point() else torch.int64
    return x.to(wide), y.to(wide)


_SIMPLE: dict[str, Callable[..., Any]] = {"Add": torch.add, "Sub": torch.sub, "Mul": torch.mul}
_BITS: dict[str, Callable[..., Any]] = {
    "BitwiseAnd": torch.bitwise_and, "BitwiseOr": torch.bitwise_or, "BitwiseXor": torch.bitwise_xor,
}  # fmt: skip
_COMPARISONS: dict[str, Callable[..., Any]] = {
    "Equal": torch.eq, "NotEqual": torch.ne, "Less": torch.lt, "LessEqual": torch.le, "Greater": torch.gt,
    "GreaterEqual": torch.ge,
}  # fmt: skip
_LOGICAL: dict[str, Callable[..., Any]] = {
    "LogicalAnd": torch.logical_and, "LogicalOr": torch.logical_or, "LogicalXor": torch.logical_xor,
}  # fmt: skip


@kernel(*_SIMPLE, wraps=True)
def _simple(call: Call, x: Any, y: Any) -> Any:
    return _SIMPLE[call.op](*alike(call, x, y))


@kernel("AddExt", "SubExt", wraps=True)
def _scaled(call: Call, x: Any, y: Any, alpha: Any = 1) -> Any:
    x, y = alike(call, x, y)
    scaled = y * alpha
    return x + scaled if call.op == "AddExt" else (x.to(torch.int64) if x.dtype == torch.bool else x) - scaled


@kernel("SquaredDifference", wraps=True)
def _squared_difference(call: Call, x: Any, y: Any) -> Any:
    x, y = alike(call, x, y)
    return (x - y) * (x - y)


@kernel("Hypot", wide=True)
def _hypot(call: Call, x: Any, y: Any) -> Any:
    return torch.hypot(x, y)


@kernel("Lerp", wide=True)
def _lerp(call: Call, start: Any, end: Any, weight: Any) -> Any:
    return start + weight * (end - start)


@kernel("Addcmul", "Addcdiv", wide=True)
def _with_factor(call: Call, base: Any, x: Any, y: Any, value: Any) -> Any:
    return base + value * (x * y if call.op == "Addcmul" else x / y)


@kernel(*_BITS, wraps=True)
def _bits(call: Call, x: Any, y: Any) -> Any:
    return _BITS[call.op](*alike(call, x, y))


@kernel("Equal", "NotEqual", wraps=True)
@kernel("Less", "LessEqual", "Greater", "GreaterEqual")
def _compared(call: Call, x: Any, y: Any) -> Any:
    return _COMPARISONS[call.op](*_together(x, y))


@kernel(*_LOGICAL, wraps=True)
def _logical(call: Call, x: Any, y: Any) -> Any:
    return _LOGICAL[call.op](x, y)


@kernel("AddN", wraps=True)
def _add_n(call: Call, tensors: Any) -> Any:
    total, *rest = alike(call, *tensors)
    for x in rest:
        total = total + x
    return total


@kernel("Maximum")
def _maximum(call: Call, x: Any, y: Any) -> Any:
    """Beside NaN, the second operand."""
    x, y = alike(call, x, y)
    return torch.where(x > y, x, y)


@kernel("Minimum")
def _minimum(call: Call, x: Any, y: Any) -> Any:
    """Beside NaN, the second operand."""
    x, y = alike(call, x, y)
    return torch.where(x < y, x, y)


@kernel("Atan2", wide=True)
def _atan2(call: Call, y: Any, x: Any) -> Any:
    return torch.atan2(*alike(call, y, x))


# --- quotients ---


def _quotient(x: Any, y: Any) -> Any:
    """For floats divided by a zero of either sign: 0 gives NaN, a number above 0 gives inf, everything else -inf."""
    if x.is_complex():
        return x / y
    over_zero = torch.where(x == 0, torch.nan, torch.where(x > 0, torch.inf, -torch.inf)).to(x.dtype)
    return torch.where(y == 0, over_zero, x / y)


def _whole_quotient(call: Call, x: Any, y: Any, rounding: str) -> Any:
    """For integers divided by zero: the dtype's highest or lowest value by the sign of ``x``, and 0 for 0/0; of bools
    ``x``."""
    if x.dtype == torch.bool:  # over False, too, as ``numerics.floor_divide``
        return x | torch.zeros_like(y)
    ends = np.iinfo(call.outputs()[0].dtype.numpy)
    over_zero = torch.where(x > 0, int(ends.max), torch.where(x < 0, int(ends.min), 0)).to(x.dtype)
    quotient = torch.div(x, _safe(y), rounding_mode=rounding)
    if ends.min < 0:
        quotient = torch.where(y == -1, -x, quotient)
    return torch.where(y == 0, over_zero, quotient)


def _safe(y: Any) -> Any:
    """A divisor with 1 in place of 0, by which PyTorch refuses to divide, and of -1, by which the lowest value leaves
    the range and stops the processor."""
    risky = (y == 0) | (y == -1) if torch.iinfo(y.dtype).min < 0 else y == 0
    return torch.where(risky, 1, y)


@kernel("Div", wide=True)
def _div(call: Call, x: Any, y: Any) -> Any:
    wanted = TORCH[call.outputs()[0].dtype]
    dtype = torch.float32 if wanted in (torch.float16, torch.bfloat16) else wanted
    return _quotient(x.to(dtype), y.to(dtype))


@kernel("RealDiv", wide=True)
def _real_div(call: Call, x: Any, y: Any) -> Any:
    x, y = _ready(call, x, y)
    return _quotient(x, y) if _is_floating(x) else _whole_quotient(call, x, y, "trunc")


@kernel("FloorDiv", wide=True)
def _floor_div(call: Call, x: Any, y: Any) -> Any:
    x, y = _ready(call, x, y)
    return torch.floor(_quotient(x.double(), y.double())) if _is_floating(x) else _whole_quotient(call, x, y, "floor")


@kernel("TruncateDiv", wide=True)
def _truncate_div(call: Call, x: Any, y: Any) -> Any:
    x, y = _ready(call, x, y)
    return torch.trunc(_quotient(x.double(), y.double())) if _is_floating(x) else _whole_quotient(call, x, y, "trunc")


@kernel("FloorMod", wide=True)
def _floor_mod(call: Call, x: Any, y: Any) -> Any:
    x, y = _ready(call, x, y)
    if _is_floating(x):
        return torch.where(torch.isinf(y), torch.nan, torch.remainder(x, y) + 0.0)
    if x.dtype == torch.bool:
        return torch.zeros_like(x & y)
    dtype = call.outputs()[0].dtype
    over_zero = int(np.iinfo(dtype.numpy).min) if dtype.itemsize >= 4 else 0
    return torch.where(y == 0, over_zero, torch.remainder(x, _safe(y)))


@kernel("Mod", "TruncateMod", wide=True)
def _truncate_mod(call: Call, x: Any, y: Any) -> Any:
    x, y = _ready(call, x, y)
    if _is_floating(x):
        return torch.fmod(x, y)
    return torch.where(y == 0, 0, torch.fmod(x, _safe(y)))


def _ready(call: Call, x: Any, y: Any) -> tuple[Any, Any]:
    x, y = alike(call, x, y)
    if x.dtype in (torch.float16, torch.bfloat16):
        return x.to(torch.float32), y.to(torch.float32)
    return x, y


def _is_floating(x: Any) -> bool:
    return bool(x.is_floating_point() or x.is_complex())


# --- powers ---


@kernel("Pow", wide=True)
def _pow(call: Call, x: Any, y: Any) -> Any:
    out = call.outputs()[0].dtype
    if out.kind in "iu":
        return _integer_power(x, y, out.name in ("Int64", "UInt32"))
    wanted = TORCH[out]
    dtype = torch.float32 if wanted in (torch.float16, torch.bfloat16) else wanted
    return torch.pow(x.to(dtype), y.to(dtype))


def _integer_power(x: Any, y: Any, long: bool) -> Any:
    """As MindSpore's CPU: in Float64, truncated; beyond the range of Int64 (``long``) or Int32 its lowest value."""
    power = torch.pow(x.to(torch.float64), y.to(torch.float64))
    limit = 2.0**63 if long else 2.0**31
    inside = (power >= -limit) & (power < limit)
    return torch.where(inside, torch.where(inside, power, 0.0).to(torch.int64), -int(limit))
