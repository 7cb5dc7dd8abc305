"""Reads element types of asynchronous dump files as msaccucmp does, including those without a numpy dtype.

bfloat16 becomes float32, bits of one (``UINT1``) become bytes, eight-bit floats become float64; an undefined type is
bytes of the tensor's size. Source: msaccucmp 26.2.0, run beside this code. Its HiFLOAT8 is not read: no definition of
it could be checked.
"""

from __future__ import annotations

from math import prod
from typing import Any, NamedTuple

import ml_dtypes
import numpy as np

from harness import dtypes
from harness.devices.formats import dump_dtypes
from harness.dump.asynchronous.dump_data import DumpFile, Entry
from harness.dump.npy import widen_bfloat16
from harness.errors import ConvertError, DtypeError, UnknownNameError

Array = np.ndarray[Any, np.dtype[Any]]

DATA, DATA_TYPE = 11, 21
"""Exit codes of msaccucmp: damaged data, an unknown element type."""


class Flat(NamedTuple):
    """A tensor, as read.

    Attributes:
        array: its elements.
        shape: their shape in the file.
        dtype: name of the element type in the file (``bfloat16`` if ``array`` is float32).
    """

    array: Array
    shape: tuple[int, ...]
    dtype: str


def flat(file: DumpFile, entry: Entry) -> Flat:
    """Reads a tensor, as an array of one dimension.

    Raises:
        ConvertError: the element type cannot be read (21), or there are too few bytes (11).
    """
    name = _name(file, entry)
    data = file.payload(entry)
    if name == "UNDEFINED" and entry.size:
        return Flat(data.view(np.int8), (entry.size,), "int8")
    count = prod(entry.shape)
    if name == "UINT1":
        return Flat(_enough(file, np.unpackbits(data)[:count], entry), entry.shape, "uint8")
    if name in _SMALL:
        shown, kind = _SMALL[name]
        return Flat(_enough(file, data[:count], entry).view(kind).astype(np.float64), entry.shape, shown)
    dtype = _NUMBERS.get(name) or entry.dtype
    width = dtype.itemsize
    array = _enough(file, data[: count * width], entry, width).view(dtype.numpy)
    return Flat(widen_bfloat16(array) if dtype is dtypes.bfloat16 else array, entry.shape, dtype.lower)


def check(file: DumpFile) -> None:
    """``ConvertError`` (21) if a tensor of the file has an element type that cannot be read."""
    for entry in (*file.header.inputs, *file.header.outputs):
        _name(file, entry)


def _name(file: DumpFile, entry: Entry) -> str:
    try:
        name = dump_dtypes.dtype_name(entry.data_type)
        if name not in (*_NUMBERS, *_SMALL, "UINT1"):
            dump_dtypes.dtype_of(entry.data_type)
    except (UnknownNameError, DtypeError) as error:
        raise ConvertError(DATA_TYPE, f"{file.path}: {error}") from None
    return name


def _enough(file: DumpFile, data: Array, entry: Entry, width: int = 1) -> Array:
    if data.size != prod(entry.shape) * width:
        raise ConvertError(
            DATA, f"{file.path}: a tensor of shape {list(entry.shape)} has {entry.size} bytes, which are too few"
        )
    return data


# Types that are read as another dtype; the rest is what ``dump_dtypes`` says.
_NUMBERS = {"UNDEFINED": dtypes.int8, "RESOURCE": dtypes.int64}
_SMALL: dict[str, tuple[str, Any]] = {
    "FLOAT8_E4M3FN": ("float8_e4m3fn", ml_dtypes.float8_e4m3fn),
    "FLOAT8_E5M2": ("float8_e5m2", ml_dtypes.float8_e5m2),
}
