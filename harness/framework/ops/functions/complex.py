"""Functions of complex tensors."""

from __future__ import annotations

from typing import Any

from harness.errors import DtypeError, SettingError
from harness.framework.ops.functions.join import stack
from harness.framework.ops.operators.complex import PARTS
from harness.framework.tensor import Tensor, call, tensor_method

__all__ = ["angle", "conj", "imag", "is_complex", "polar", "real", "view_as_real"]


@tensor_method("real")
def real(input: Tensor) -> Any:
    """The real part, of the dtype of one part."""
    return call("Real", input)


@tensor_method("imag")
def imag(input: Tensor) -> Any:
    """The imaginary part, of the dtype of one part; zeros of a real tensor."""
    return call("Imag", input)


@tensor_method("conj")
def conj(input: Tensor) -> Any:
    """The complex conjugate."""
    return call("Conj", input)


@tensor_method("angle")
def angle(input: Tensor) -> Any:
    """The angle of each complex number, in (-pi, pi]; ``DtypeError`` for a real tensor, as in MindSpore."""
    return call("Angle", input)


@tensor_method("is_complex")
def is_complex(input: Tensor) -> bool:
    """Whether ``input`` is of a complex dtype."""
    if not isinstance(input, Tensor):
        raise TypeError("The input must be Tensor!")
    return input.dtype in PARTS


def polar(abs: Tensor, angle: Tensor) -> Any:
    """Complex numbers of given absolute values and angles, of one shape."""
    if abs.shape != angle.shape:
        raise SettingError(f"polar takes two tensors of one shape, got {list(abs.shape)} and {list(angle.shape)}")
    return call("Complex", call("Mul", abs, call("Cos", angle)), call("Mul", abs, call("Sin", angle)))


def view_as_real(input: Tensor) -> Any:
    """Both parts, along a new last axis of 2."""
    if input.dtype not in PARTS:
        raise DtypeError(f"view_as_real takes a complex tensor, got {input.dtype}")
    return stack((call("Real", input), call("Imag", input)), -1)
