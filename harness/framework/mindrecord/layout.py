"""MindRecord files: a header of JSON, pages of rows, and an index beside them in SQLite.

Source: files of MindSpore 2.10.0, measured. A row's numbers and strings are a map of MessagePack in a RAW page; its
bytes and arrays stand in a BLOB page, each behind its length if there are several; integers of arrays in as few bytes
as they need.
"""

from __future__ import annotations

import struct
from typing import Any

import numpy as np

from harness.errors import StateError
from harness.suggest import install

HEADER = 16 * 2**20
PAGE = 32 * 2**20
VERSION = "3.0"
#: dtypes of fields; ``bytes`` and ``string`` are none
NUMBERS: dict[str, Any] = {"int32": np.int32, "int64": np.int64, "float32": np.float32, "float64": np.float64}
_WIDTHS = (1, 2, 4, 8)

Array = np.ndarray[Any, np.dtype[Any]]


def msgpack() -> Any:
    """The library for MessagePack; ``StateError`` where it is not installed."""
    try:
        import msgpack
    except ImportError:
        raise StateError(f"MindRecord files need the library msgpack: {install('pytest-msdump[data]')}") from None
    return msgpack


def pack_integers(values: Array) -> bytes:
    """The count, two bits of width for each integer, and each integer in so many bytes."""
    flat = values.reshape(-1)
    codes = [next(c for c, width in enumerate(_WIDTHS) if _fits(int(v), width)) for v in flat]
    padded = codes + [0] * (-len(codes) % 4)
    bits = bytes(a << 6 | b << 4 | c << 2 | d for a, b, c, d in zip(*[iter(padded)] * 4, strict=True))
    body = b"".join(int(v).to_bytes(_WIDTHS[c], "little", signed=True) for v, c in zip(flat, codes, strict=True))
    return struct.pack(">I", len(flat)) + bits + body


def _fits(value: int, width: int) -> bool:
    return -(1 << (8 * width - 1)) <= value < 1 << (8 * width - 1)


def unpack_integers(data: bytes, dtype: Any) -> Array:
    """Unpacks what ``pack_integers`` packed; ``StateError`` for anything else."""
    if len(data) < 4:
        raise StateError("MindRecord: an array of integers is shorter than its own count")
    (count,) = struct.unpack(">I", data[:4])
    at = 4 + -(-count // 4)
    if at > len(data):
        raise StateError(f"MindRecord: an array says it has {count} integers, more than its bytes hold")
    values = np.empty(count, dtype)
    for i in range(count):
        width = _WIDTHS[data[4 + i // 4] >> (6 - 2 * (i % 4)) & 3]
        part = data[at : at + width]
        if len(part) < width:
            raise StateError("MindRecord: an array of integers ends within a number")
        values[i] = np.array(int.from_bytes(part, "little", signed=True)).astype(dtype)
        at += width
    return values


def pack_blob(value: Any, kind: str) -> bytes:
    """The bytes of one field of a BLOB page."""
    if kind == "bytes":
        return bytes(value)
    array = np.asarray(value, NUMBERS[kind])
    return pack_integers(array) if kind.startswith("int") else array.tobytes()


def unpack_blob(data: bytes, field: dict[str, Any]) -> Array:
    """The value of one field of a BLOB page, in its dtype and shape."""
    kind = field["type"]
    if kind == "bytes":
        return np.array([data], f"S{max(1, len(data))}")
    if kind.startswith("int"):
        values = unpack_integers(data, NUMBERS[kind])
    elif len(data) % NUMBERS[kind]().itemsize:
        raise StateError(f"MindRecord: {len(data)} bytes are no array of {kind}")
    else:
        values = np.frombuffer(data, NUMBERS[kind])
    try:
        return values.reshape(field["shape"]).copy()
    except ValueError:
        raise StateError(f"MindRecord: {values.size} values do not fit the shape {field['shape']}") from None
