"""numpy dtypes as HDF5 datatype messages (format specification, IV.A.2.d)."""

from __future__ import annotations

import struct
from typing import Any

import numpy as np

from harness.errors import StoreError

#: Versions of the message: 3 packs compounds and enumerations tightly; simple types are the same in all.
_VERSION_1, _VERSION_3 = 0x10, 0x30

_INTEGER, _FLOAT, _STRING, _OPAQUE, _COMPOUND, _ENUM = 0, 1, 3, 5, 6, 8

#: By size in bytes: sign bit, exponent location and size, mantissa location and size, exponent bias.
_FLOATS = {2: (15, 10, 5, 0, 10, 15), 4: (31, 23, 8, 0, 23, 127), 8: (63, 52, 11, 0, 52, 1023)}


def datatype(dtype: np.dtype[Any], *, utf8: bool = False) -> bytes:
    """The datatype message of a numpy dtype; numbers are little-endian.

    bool becomes the enumeration FALSE, TRUE and a complex number the compound r, i, as h5py has them; kind ``S``
    becomes a string padded with NULs, kind ``V`` without fields an opaque type. An integer with h5py's enumeration
    metadata becomes that enumeration.

    Args:
        dtype: numpy dtype.
        utf8: mark a string as UTF-8.

    Raises:
        StoreError: a dtype a store has no use for.
    """
    if dtype.names is not None:
        return _named(dtype)
    names = dict(dtype.metadata or {}).get("enum")
    if dtype.kind == "b":
        return _enumeration(_integer(1, signed=True), {"FALSE": 0, "TRUE": 1}, 1)
    if dtype.kind in "iu":
        base = _integer(dtype.itemsize, signed=dtype.kind == "i")
        return base if names is None else _enumeration(base, names, dtype.itemsize)
    if dtype.kind == "f" and dtype.itemsize in _FLOATS:
        return _floating(dtype.itemsize)
    if dtype.kind == "c":
        half = dtype.itemsize // 2
        return _compound([("r", 0, _floating(half)), ("i", half, _floating(half))], dtype.itemsize)
    if dtype.kind == "S":
        return _head(_STRING, _VERSION_1, 0x01 | (0x10 if utf8 else 0), dtype.itemsize)
    if dtype.kind == "V":
        return _head(_OPAQUE, _VERSION_1, 0, dtype.itemsize)
    raise StoreError(f"a golden store holds no arrays of numpy dtype {dtype}")


#: Compounds by the id of their dtype, which is kept: equal dtypes may differ in metadata. There are few.
_compounds: dict[int, tuple[np.dtype[Any], bytes]] = {}


def _named(dtype: np.dtype[Any]) -> bytes:
    """The message of a dtype with fields."""
    known = _compounds.get(id(dtype))
    if known is None:
        if len(_compounds) >= 64:
            _compounds.clear()
        fields = [(name, *_field(dtype, name)) for name in dtype.names or ()]
        known = _compounds[id(dtype)] = dtype, _compound(fields, dtype.itemsize)
    return known[1]


def _field(dtype: np.dtype[Any], name: str) -> tuple[int, bytes]:
    kind, offset = dtype.fields[name][:2]  # type: ignore[index]
    return offset, datatype(kind)


def _head(kind: int, version: int, bits: int, size: int) -> bytes:
    return struct.pack("<I", version | kind | bits << 8) + struct.pack("<I", size)


def _integer(size: int, *, signed: bool) -> bytes:
    return _head(_INTEGER, _VERSION_1, 0x08 if signed else 0, size) + struct.pack("<HH", 0, 8 * size)


def _floating(size: int) -> bytes:
    sign, *parts, bias = _FLOATS[size]
    # 0x20: the mantissa's leading 1 is not stored.
    return _head(_FLOAT, _VERSION_1, 0x20 | sign << 8, size) + struct.pack("<HH4BI", 0, 8 * size, *parts, bias)


def _compound(members: list[tuple[str, int, bytes]], size: int) -> bytes:
    # An offset takes as many bytes as the compound's size needs.
    width = (size.bit_length() + 7) // 8
    parts = [name.encode() + b"\0" + offset.to_bytes(width, "little") + kind for name, offset, kind in members]
    return _head(_COMPOUND, _VERSION_3, len(members), size) + b"".join(parts)


def _enumeration(base: bytes, names: dict[str, int], size: int) -> bytes:
    texts = b"".join(name.encode() + b"\0" for name in names)
    values = b"".join(value.to_bytes(size, "little", signed=value < 0) for value in names.values())
    return _head(_ENUM, _VERSION_3, len(names), size) + base + texts + values
