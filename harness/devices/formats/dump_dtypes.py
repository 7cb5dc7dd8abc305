"""Numbers of element types in dump files of Ascend (``DumpData``).

Source: the table of the installed msaccucmp 26.2.0; MindSpore's own proto stops at 31.
"""

from __future__ import annotations

from harness import dtypes
from harness.dtypes import DType
from harness.errors import DtypeError, UnknownNameError

_IN_ORDER = (
    "UNDEFINED", "FLOAT", "FLOAT16", "INT8", "UINT8", "INT16", "UINT16", "INT32", "INT64", "UINT32", "UINT64", "BOOL",
    "DOUBLE", "STRING", "DUAL_SUB_INT8", "DUAL_SUB_UINT8", "COMPLEX64", "COMPLEX128", "QINT8", "QINT16", "QINT32",
    "QUINT8", "QUINT16", "RESOURCE", "STRING_REF", "DUAL", "VARIANT", "BF16", "INT4", "UINT1", "INT2", "UINT2",
    "COMPLEX32", "HIFLOAT8", "FLOAT8_E5M2", "FLOAT8_E4M3FN", "FLOAT8_E8M0", "FLOAT6_E3M2", "FLOAT6_E2M3",
    "FLOAT4_E2M1", "FLOAT4_E1M2", "HIFLOAT4",
)  # fmt: skip

#: number of each element type, by its name
NUMBERS: dict[str, int] = {name: number for number, name in enumerate(_IN_ORDER)}

#: element type of each dtype a tensor of a network can have
_OF_DTYPE: dict[DType, str] = {
    dtypes.float32: "FLOAT", dtypes.float16: "FLOAT16", dtypes.bfloat16: "BF16", dtypes.float64: "DOUBLE",
    dtypes.int8: "INT8", dtypes.int16: "INT16", dtypes.int32: "INT32", dtypes.int64: "INT64",
    dtypes.uint8: "UINT8", dtypes.uint16: "UINT16", dtypes.uint32: "UINT32", dtypes.uint64: "UINT64",
    dtypes.bool_: "BOOL", dtypes.complex64: "COMPLEX64", dtypes.complex128: "COMPLEX128",
}  # fmt: skip
_BY_NAME = {name: dtype for dtype, name in _OF_DTYPE.items()}


def dtype_number(dtype: DType) -> int:
    """Number of ``dtype``."""
    return NUMBERS[_OF_DTYPE[dtype]]


def dtype_name(number: int) -> str:
    """Name of element type ``number``; ``UnknownNameError`` if there is none."""
    if not 0 <= number < len(_IN_ORDER):
        raise UnknownNameError(f"no element type has number {number}; known are 0 to {len(_IN_ORDER) - 1}")
    return _IN_ORDER[number]


def dtype_of(number: int) -> DType:
    """The dtype of element type ``number``.

    Raises:
        UnknownNameError: there is no such number.
        DtypeError: it is the number of a type that numpy has no array of (``QINT8``, ``INT4``, ...).
    """
    name = dtype_name(number)
    if name not in _BY_NAME:
        raise DtypeError(f"element type {name} ({number}) cannot be read as an array; known are {', '.join(_BY_NAME)}")
    return _BY_NAME[name]
