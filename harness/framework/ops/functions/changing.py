"""Methods that change a tensor in place: ``add_``, ``sub_``, ``mul_``, ``div_`` and their like, ``exp_``, ``copy_``.

In a graph the arithmetic ones are what ``x += y`` is, but for ``sub_`` without ``alpha``, which changes nothing.
Outside a graph only ``copy_`` and ``exp_`` change their tensor (both measured).
"""

from __future__ import annotations

from typing import Any

from harness.errors import DtypeError, KernelError, SettingTypeError
from harness.framework.ops.eager import is_number
from harness.framework.ops.functions.augmented import changed
from harness.framework.tensor import Tensor, call, is_eager, tensor_method

__all__: list[str] = []


def _operand(name: str, other: Any) -> Any:
    if not (isinstance(other, Tensor) or is_number(other)):
        raise SettingTypeError(f"Tensor.{name}: other must be a Tensor or a number, got {type(other).__name__}")
    return other


@tensor_method("add_")
def _add(self: Any, other: Any, *, alpha: Any = 1) -> Any:
    return changed("__iadd__", self, _operand("add_", other), alpha)


@tensor_method("sub_")
def _sub(self: Any, other: Any, *, alpha: Any = None) -> Any:
    _operand("sub_", other)
    return call("Sub", self, other) if alpha is None else changed("__isub__", self, other, alpha)


@tensor_method("mul_")
def _mul(self: Any, other: Any) -> Any:
    return changed("__imul__", self, _operand("mul_", other))


@tensor_method("div_")
def _div(self: Any, other: Any, *, rounding_mode: Any = None) -> Any:
    _operand("div_", other)
    if rounding_mode is None:
        return changed("__itruediv__", self, other)
    if not is_eager():
        raise KernelError("Tensor.div_ with rounding_mode has no CPU kernel in graphs; use Tensor.div")
    return self.div(other, rounding_mode=rounding_mode)


@tensor_method("floor_divide_")
def _floor_divide(self: Any, other: Any) -> Any:
    return changed("__ifloordiv__", self, _operand("floor_divide_", other))


@tensor_method("remainder_")
def _remainder(self: Any, other: Any) -> Any:
    return changed("__imod__", self, _operand("remainder_", other))


@tensor_method("exp_")
def _exp(self: Any) -> Any:
    if not is_eager():
        raise KernelError("Tensor.exp_ has no CPU kernel in graphs; use Tensor.exp")
    if self.dtype.kind not in "fc":
        raise DtypeError(f"Tensor.exp_ takes a floating tensor, got {self.dtype}")
    return call("InplaceCopy", self, call("Exp", self), False, side_effect_mem=True)


@tensor_method("copy_")
def _copy(self: Any, src: Any, non_blocking: bool = False) -> Any:
    if not isinstance(src, Tensor):
        raise SettingTypeError(f"Tensor.copy_: src must be a Tensor, got {type(src).__name__}")
    return call("InplaceCopy", self, src, non_blocking, side_effect_mem=True)
