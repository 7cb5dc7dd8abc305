"""Functions of one tensor, element by element."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.nn import functional

from harness.framework.engines.torch.base import NoKernel, kernel
from harness.framework.engines.torch.values import numbers
from harness.framework.ops.base import Call
from harness.framework.ops.operators.selu import ALPHA, SCALE

_FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "ACos": torch.acos, "Acosh": torch.acosh, "Asin": torch.asin, "Asinh": torch.asinh, "Atan": torch.atan,
    "Atanh": torch.atanh, "Cos": torch.cos, "Cosh": torch.cosh, "Erf": torch.erf, "Erfc": torch.erfc,
    "Exp": torch.exp, "Expm1": torch.expm1, "Log": torch.log, "Log1p": torch.log1p, "Reciprocal": torch.reciprocal,
    "Rsqrt": torch.rsqrt, "Sigmoid": torch.sigmoid, "Sin": torch.sin, "Sinh": torch.sinh, "Sqrt": torch.sqrt,
    "Tan": torch.tan, "Tanh": torch.tanh,
}  # fmt: skip
_EXACT: dict[str, Callable[[Any], Any]] = {
    "Abs": torch.abs, "IsNan": torch.isnan, "IsInf": torch.isinf,
    "IsFinite": torch.isfinite, "Floor": torch.floor, "Ceil": torch.ceil, "Trunc": torch.trunc,
}  # fmt: skip


@kernel(*_FUNCTIONS, wide=True)
def _function(call: Call, x: Any) -> Any:
    """Integers are computed in Float32, or Float64 where that is the result's dtype."""
    return _FUNCTIONS[call.op](_real(x) if call.op in ("Erf", "Erfc") else x)


@kernel(*_EXACT)
def _exact(call: Call, x: Any) -> Any:
    return x if call.op == "Abs" and x.dtype == torch.bool else _EXACT[call.op](x)


@kernel("Neg", "Square", wraps=True)
def _wrapping(call: Call, x: Any) -> Any:
    return torch.neg(x) if call.op == "Neg" else x * x


@kernel("Sign")
def _sign(call: Call, x: Any) -> Any:
    if x.is_complex():
        raise NoKernel("complex")
    return torch.where(x.isnan(), 0, torch.sign(x)) if x.is_floating_point() else torch.sign(x)


@kernel("Round")
def _round(call: Call, x: Any, decimals: Any) -> Any:
    (places,) = numbers(call.values[1], decimals)
    if not x.is_floating_point() and places >= 0:
        return x
    return torch.round(x.to(torch.float64), decimals=places)


@kernel("Cast")
def _cast(call: Call, x: Any, _dtype: Any) -> Any:
    kind = call.outputs()[0].dtype.kind
    if kind == "b":
        return x != 0
    return x.real if x.is_complex() and kind != "c" else x


@kernel("LogicalNot", wraps=True)
def _logical_not(call: Call, x: Any) -> Any:
    return x == 0


@kernel("Identity", "ConvertToDynamic", moves=True)
@kernel("TensorMove", moves=True)
def _tensor_move(call: Call, x: Any) -> Any:
    return x.clone()


@kernel("Depend", moves=True)
def _depend(call: Call, x: Any, _after: Any) -> Any:
    return x


@kernel("ZerosLike", moves=True)
def _zeros_like(call: Call, x: Any) -> Any:
    return torch.zeros_like(x)


@kernel("OnesLike", moves=True)
def _ones_like(call: Call, x: Any) -> Any:
    return torch.ones_like(x)


# --- activations ---

_ACTIVATIONS: dict[str, Callable[[Any], Any]] = {
    "GeLU": lambda x: functional.gelu(x, approximate="tanh"),
    "FastGeLU": lambda x: torch.where(x.isinf(), torch.nan, x * torch.sigmoid(1.702 * x)),
    "HSigmoid": functional.hardsigmoid,
    "HSwish": lambda x: torch.where(x <= -3, 0.0, functional.hardswish(x)),
    "Mish": functional.mish,
    "SeLU": lambda x: torch.ops.aten.elu(x, ALPHA, SCALE),
    "Softplus": lambda x: torch.where(x.isnan(), torch.inf, torch.logaddexp(x, torch.zeros_like(x))),
    "Softsign": functional.softsign,
}


#: of whole numbers they give whole numbers, cut off
_WHOLE = frozenset({"HSigmoid", "HSwish", "SeLU"})


def _real(x: Any) -> Any:
    if x.is_complex():
        raise NoKernel("complex")
    return x if x.is_floating_point() else x.to(torch.float32)


@kernel(*_ACTIVATIONS, wide=True)
def _activation(call: Call, x: Any) -> Any:
    if call.op in _WHOLE and not x.is_floating_point():
        raise NoKernel("whole numbers")
    return _ACTIVATIONS[call.op](_real(x))


@kernel("ReLU")
def _relu(call: Call, x: Any) -> Any:
    """NaN gives 0, as with MindSpore; PyTorch's own keeps it."""
    return torch.where(x > 0, x, torch.zeros_like(x))


@kernel("ReLU6")
def _relu6(call: Call, x: Any) -> Any:
    if x.is_complex():
        raise NoKernel("complex")
    return torch.clamp(x, 0, 6)


@kernel("Elu", wide=True)
def _elu(call: Call, x: Any, alpha: float, *_settings: Any) -> Any:
    return functional.elu(_real(x), float(alpha))


@kernel("CeLU", wide=True)
def _celu(call: Call, x: Any, alpha: float, *_settings: Any) -> Any:
    return functional.celu(_real(x), float(alpha))


@kernel("SoftShrink", wide=True)
def _soft_shrink(call: Call, x: Any, bound: float, *_settings: Any) -> Any:
    """NaN gives 0, as everywhere here; PyTorch's own keeps it."""
    return torch.where(x.isnan(), 0.0, functional.softshrink(_real(x), float(bound)))


@kernel("HShrink", wide=True)
def _hard_shrink(call: Call, x: Any, bound: float, *_settings: Any) -> Any:
    return functional.hardshrink(_real(x), float(bound))


@kernel("SoftplusExt", wide=True)
def _softplus_ext(call: Call, x: Any, beta: Any, threshold: Any) -> Any:
    return functional.softplus(x, float(beta), float(threshold))


@kernel("PReLU", wide=True)
def _prelu(call: Call, x: Any, weight: Any) -> Any:
    return functional.prelu(x, weight)
