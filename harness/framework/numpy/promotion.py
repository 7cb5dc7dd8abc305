"""Which dtype ``mindspore.numpy`` computes in, and which it makes of a dtype's name.

Source: MindSpore 2.10.0 CPU, measured: every pair of dtypes (``tests/differential/library.py`` draws them).
"""

from __future__ import annotations

from typing import Any

import numpy

from harness import dtypes
from harness.dtypes import DType
from harness.errors import DtypeError
from harness.framework import ops as _ops
from harness.framework.ops.functions.shape import asked_dtype, cast

#: the dtypes it knows
KNOWN = frozenset({"Bool", "Int8", "Int16", "Int32", "Int64", "UInt8", "UInt16", "UInt32", "UInt64", "Float16",
                   "Float32", "Float64"})  # fmt: skip
#: Python's types, which are narrow here
_NARROW = {int: dtypes.int32, float: dtypes.float32, "int": dtypes.int32, "float": dtypes.float32}
#: whole numbers whose sines and the like are Float16
_SHORT = frozenset({"Bool", "Int8", "UInt8"})
#: what counts as floating where others are computed in Float32
FLOATS = frozenset({"Float16", "Float32"})


def of_name(dtype: Any) -> DType:
    """The dtype that is meant: Python's ``int`` is Int32, its ``float`` Float32."""
    return _NARROW[dtype] if isinstance(dtype, (type, str)) and dtype in _NARROW else asked_dtype(dtype)


def common(first: DType, second: DType) -> DType:
    """The dtype of what is computed from two dtypes: a float wins over any whole number.

    Raises:
        DtypeError: one is BFloat16 or complex, beside another.
    """
    if first is second:
        return first
    if not {first.name, second.name} <= KNOWN:
        raise DtypeError(f"numpy: {first.name} and {second.name} have no common dtype; cast them (ops.cast)")
    if {first.name, second.name} == {"UInt16", "Float64"}:
        return dtypes.float32
    floats = [each for each in (first, second) if each.is_floating]
    if len(floats) == 1:
        return floats[0]
    return dtypes.from_numpy(numpy.promote_types(first.numpy, second.numpy))


def angle(given: Any) -> Any:
    """What trigonometric functions are computed of: short whole numbers as Float16, others as Float32.

    Raises:
        DtypeError: BFloat16 or complex numbers.
    """
    if given.dtype.name not in KNOWN:
        raise DtypeError(f"numpy: trigonometric functions take whole and floating numbers, got {given.dtype.name}")
    if given.dtype.is_floating:
        return given
    return cast(given, dtypes.float16 if given.dtype.name in _SHORT else dtypes.float32)


def through_float32(function: Any, given: Any, kept: frozenset[str]) -> Any:
    """``function`` of a tensor, computed in Float32 and cast back unless its dtype is one of ``kept``."""
    if given.dtype.name in kept:
        return function(given)
    return cast(function(cast(given, dtypes.float32)), given.dtype)


def cast_if(result: Any, dtype: Any) -> Any:
    """``result`` as ``dtype``, unless that is None."""
    return result if dtype is None else cast(result, dtype)


def full_of(x: Any, value: Any) -> Any:
    """``value`` in the shape and dtype of ``x``."""
    return _ops.full_like(x, value)  # type: ignore[operator]
