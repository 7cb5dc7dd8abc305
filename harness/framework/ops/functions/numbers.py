"""Signs, counts, repairs of numbers, and the step of a dtype."""

from __future__ import annotations

from typing import Any

from harness import dtypes
from harness.errors import DtypeError, SettingError, SettingTypeError
from harness.framework.ops.eager import is_number
from harness.framework.ops.expansion import cast
from harness.framework.ops.functions.math import abs
from harness.framework.tensor import call, tensor_method

__all__ = ["bincount", "copysign", "eps", "nan_to_num"]


@tensor_method("bincount")
def bincount(input: Any, weights: Any = None, minlength: int = 0) -> Any:
    """Float32 counts of the whole numbers in ``input`` (one axis), or sums of their ``weights``; ``minlength`` of them
    at least.

    Raises:
        SettingError: ``minlength`` or a number is negative.
    """
    if isinstance(minlength, bool) or not isinstance(minlength, int):
        raise SettingTypeError(f"bincount: minlength must be an int, got {minlength!r}")
    if minlength < 0:
        raise SettingError(f"bincount: minlength must be 0 or above, got {minlength}")
    if len(input.shape) != 1:
        raise SettingError(f"bincount: a line is needed, got {input.shape}")
    return call("Bincount", input, minlength, weights)


@tensor_method("copysign")
def copysign(x: Any, other: Any) -> Any:
    """The size of ``x``, negative where ``other`` (a tensor or a number) is; whole numbers become Float32."""
    if x.dtype.kind in "bc":
        raise DtypeError(f"copysign takes whole and floating tensors, got {x.dtype}")
    size = abs(x if x.dtype.kind == "f" else cast(x, dtypes.float32))
    if is_number(other):
        return call("Neg", size) if other < 0 else size
    return call("Select", call("Less", other, 0), call("Neg", size), size)


def eps(x: Any) -> Any:
    """The distance from 1 to the next number of the dtype of ``x``, in its shape."""
    return call("Eps", x, output_names=["y"], input_names=["x"])


@tensor_method("nan_to_num")
def nan_to_num(input: Any, nan: float | None = None, posinf: float | None = None, neginf: float | None = None) -> Any:
    """NaN becomes ``nan`` (0), the infinities ``posinf`` and ``neginf`` (the largest and the smallest number)."""
    return call("NanToNum", input, nan, posinf, neginf)
