"""MindSpore's dtypes: one row each, with every spelling in use."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np

from harness.errors import DtypeError


@dataclass(frozen=True, slots=True, eq=False)
class DType:
    """A tensor element type.

    Attributes:
        name: CamelCase, as ``.ir``, CPU dump file names and ``str(tensor.dtype)`` print it (``Float32``).
        numpy: the numpy dtype that holds it in memory (``ml_dtypes`` for bfloat16).
        descr: the ``descr`` of an ``.npy`` header, as MindSpore's CPU writer prints it.
        proto: number in the ``DataType`` enum of ``.pb`` files.
        kind: ``b`` bool, ``i`` signed, ``u`` unsigned, ``f`` floating, ``c`` complex.
    """

    name: str
    numpy: np.dtype[Any]
    descr: str
    proto: int
    kind: str

    @property
    def lower(self) -> str:
        """The spelling in lower case, as Ascend file names and ``statistic.csv`` have it (``float32``)."""
        return self.name.lower()

    @property
    def itemsize(self) -> int:
        """Size of one element in bytes."""
        return self.numpy.itemsize

    @property
    def is_floating(self) -> bool:
        return self.kind == "f"

    def __repr__(self) -> str:
        return f"mindspore.{self.lower}"

    def __str__(self) -> str:
        return self.name

    def __reduce__(self) -> tuple[Any, ...]:
        return (by_name, (self.name,))


def _row(name: str, numpy: Any, descr: str, proto: int, kind: str) -> DType:
    return DType(name, np.dtype(numpy), descr, proto, kind)


bool_ = _row("Bool", np.bool_, "|b1", 1, "b")
int8 = _row("Int8", np.int8, "|i1", 2, "i")
int16 = _row("Int16", np.int16, "<i2", 3, "i")
int32 = _row("Int32", np.int32, "<i4", 4, "i")
int64 = _row("Int64", np.int64, "<i8", 5, "i")
uint8 = _row("UInt8", np.uint8, "|u1", 6, "u")
uint16 = _row("UInt16", np.uint16, "<u2", 7, "u")
uint32 = _row("UInt32", np.uint32, "<u4", 8, "u")
uint64 = _row("UInt64", np.uint64, "<u8", 9, "u")
float16 = _row("Float16", np.float16, "<f2", 10, "f")
float32 = _row("Float32", np.float32, "<f4", 11, "f")
float64 = _row("Float64", np.float64, "<f8", 12, "f")
bfloat16 = _row("BFloat16", ml_dtypes.bfloat16, "<E2", 46, "f")
complex64 = _row("Complex64", np.complex64, "<c8", 0, "c")
complex128 = _row("Complex128", np.complex128, "<c16", 0, "c")

ALL = (
    bool_, int8, int16, int32, int64, uint8, uint16, uint32, uint64,
    float16, float32, float64, bfloat16, complex64, complex128,
)  # fmt: skip
#: no kernel accepts it; known by name only, because dumps of real devices name it
int4 = _row("Int4", ml_dtypes.int4, "|i1", 48, "i")
#: 8 bits wide, named as in PyTorch and ml_dtypes: stored and compared, but no kernel accepts them
FLOATS8 = tuple(
    _row(f"F{name[1:]}", getattr(ml_dtypes, name), "|V1", 0, "f")
    for name in (
        "float8_e3m4", "float8_e4m3", "float8_e4m3b11fnuz", "float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2",
        "float8_e5m2fnuz",
    )
    if hasattr(ml_dtypes, name)
)  # fmt: skip
uint4 = _row("UInt4", ml_dtypes.uint4, "|u1", 0, "u")
#: dtypes that a store can keep
STORED = (*ALL, int4, uint4, *FLOATS8)

_BY_NAME = {d.lower: d for d in STORED} | {"bool_": bool_}
#: the layout of a tensor of PyTorch that was captured: it lies in C order, and its dtype has a name of PyTorch's
TORCH_FORMAT = "torch.contiguous_format"
#: the format of an argument that is no tensor: a number, or the bytes of a text
ARGUMENT_FORMAT = "argument"
_ARGUMENTS = {"Bool": "bool", "Int64": "int", "Float64": "float", "UInt8": "text"}
_TORCH = "torch."
_BY_NUMPY = {d.numpy: d for d in ALL}
_STORED_BY_NUMPY = {d.numpy: d for d in STORED}


def spelled(dtype: str, layout: str) -> str:
    """The name of a dtype as people see it: a tensor of PyTorch's has PyTorch's (``torch.float32``), an argument
    Python's (``float``), any other the name it is kept under (``Float32``).

    Args:
        dtype: name it is kept under.
        layout: the tensor's format, see ``records.Record.format``.
    """
    if layout == ARGUMENT_FORMAT:
        return _ARGUMENTS.get(dtype, dtype)
    return f"{_TORCH}{dtype.lower()}" if layout == TORCH_FORMAT else dtype


def by_name(name: str) -> DType:
    """The dtype called ``name`` in any case (``Float32``, ``float32``, ``torch.float32``); ``DtypeError`` if there is
    none."""
    try:
        return _BY_NAME[name.lower().removeprefix(_TORCH)]
    except KeyError:
        raise DtypeError(f"unknown dtype {name!r}; known are {', '.join(sorted(_BY_NAME))}") from None


def from_numpy(dtype: Any, *, stored: bool = False) -> DType:
    """The dtype of a numpy dtype (byte order ignored); ``DtypeError`` if MindSpore has no such dtype, or, with
    ``stored``, if no store can keep it."""
    given, known = np.dtype(dtype), _STORED_BY_NUMPY if stored else _BY_NUMPY
    try:
        return known[given.newbyteorder("=") if given.isnative is False else given]
    except KeyError:
        raise DtypeError(f"numpy dtype {given} has no MindSpore counterpart") from None
