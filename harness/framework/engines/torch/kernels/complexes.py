"""Complex numbers."""

from __future__ import annotations

from typing import Any

import torch

from harness.framework.engines.torch.base import kernel
from harness.framework.ops.base import Call


@kernel("Complex")
def _complex(call: Call, real: Any, imag: Any) -> Any:
    return torch.complex(*torch.broadcast_tensors(real, imag))


@kernel("Real", moves=True)
def _real(call: Call, x: Any) -> Any:
    return x.real.clone() if x.is_complex() else x.clone()


@kernel("Imag", moves=True)
def _imag(call: Call, x: Any) -> Any:
    return x.imag.clone() if x.is_complex() else torch.zeros_like(x)


@kernel("Conj")
def _conj(call: Call, x: Any) -> Any:
    return torch.conj(x).resolve_conj().clone()


@kernel("Angle")
def _angle(call: Call, x: Any) -> Any:
    return torch.angle(x)


@kernel("ComplexAbs")
def _absolute(call: Call, x: Any) -> Any:
    return torch.abs(x)
