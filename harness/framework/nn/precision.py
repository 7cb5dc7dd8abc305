"""The casts ``Cell.to_float`` asks for.

Source: MindSpore 2.10.0, measured: a cell casts its floating-point arguments when it is called and its floating-point
parameters where it uses them; operators that write to a parameter get the parameter itself.
"""

from __future__ import annotations

from typing import Any

from harness.dtypes import DType
from harness.framework.tensor import Tensor, call


def cast(value: Tensor, dtype: DType) -> Tensor:
    """``value`` in ``dtype`` if it is floating and of another dtype, else ``value``."""
    if not value.dtype.is_floating or value.dtype is dtype:
        return value
    cast_value: Tensor = call("Cast", value, dtype)
    return cast_value


def cast_all(value: Any, dtype: DType) -> Any:
    """The same for every tensor of (nested) tuples and lists; anything else unchanged."""
    if isinstance(value, Tensor):
        return cast(value, dtype)
    if isinstance(value, (tuple, list)):
        return type(value)(cast_all(member, dtype) for member in value)
    return value
