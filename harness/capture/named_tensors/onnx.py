"""ONNX's test data: ``test_data_set_N/input_M.pb`` and ``output_M.pb``, a tensor each.

Source: the public ``onnx.proto``. Only the fields of a tensor are read; data in other files is refused.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from math import prod
from typing import Any, NamedTuple

import numpy as np

from harness import dtypes
from harness.capture.capture import Capture, Problem
from harness.dtypes import DType
from harness.errors import TreeError
from harness.reading import is_directory, read_bytes
from harness.records import Array, Record, SlotKey

_LONGEST = 1 << 31
_SET = re.compile(r"test_data_set_(\d{1,9})")
_FILE = re.compile(r"(input|output)_(\d{1,9})\.pb")
_DIMS, _TYPE, _FLOATS, _INTS, _TEXTS, _LONGS, _NAME, _RAW, _DOUBLES, _UNSIGNED, _EXTERNAL, _WHERE = (
    1, 2, 4, 5, 6, 7, 8, 9, 10, 11, 13, 14,
)  # fmt: skip
TYPES = {
    1: dtypes.float32, 2: dtypes.uint8, 3: dtypes.int8, 4: dtypes.uint16, 5: dtypes.int16, 6: dtypes.int32,
    7: dtypes.int64, 9: dtypes.bool_, 10: dtypes.float16, 11: dtypes.float64, 12: dtypes.uint32, 13: dtypes.uint64,
    14: dtypes.complex64, 15: dtypes.complex128, 16: dtypes.bfloat16,
    17: dtypes.by_name("float8_e4m3fn"), 18: dtypes.by_name("float8_e4m3fnuz"), 19: dtypes.by_name("float8_e5m2"),
    20: dtypes.by_name("float8_e5m2fnuz"),
}  # fmt: skip
_HALF = (dtypes.float16, dtypes.bfloat16)
_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5


class Tensor(NamedTuple):
    """A tensor, its name (empty if it has none) and its dtype."""

    name: str
    dtype: DType
    array: Array


def parse(data: bytes) -> Tensor:
    """The tensor of a ``TensorProto``; ``ValueError`` if it is none, damaged, or its data is elsewhere."""
    fields: dict[int, list[Any]] = {}
    for number, value in _fields(data):
        fields.setdefault(number, []).append(value)
    if _EXTERNAL in fields or fields.get(_WHERE, [0])[-1] == 1:
        raise ValueError("its data is in another file, which is not read")
    dtype = TYPES.get(fields.get(_TYPE, [0])[-1])
    if dtype is None or _TEXTS in fields:
        raise ValueError(f"no tensor of numbers (data_type {str(fields.get(_TYPE, [0])[-1])[:20]})")
    shape = tuple(_numbers(fields.get(_DIMS, [])))
    count = prod(shape)
    if any(size < 0 for size in shape) or count * dtype.itemsize > len(data) * 8:
        raise ValueError(f"shape {shape[:8]} does not fit its {len(data)} bytes")
    flat = _elements(fields, dtype)
    if flat.size != count:
        raise ValueError(f"{flat.size} elements, shape {shape} has {count}")
    named = fields.get(_NAME, [b""])[-1]
    return Tensor(named.decode("utf-8", "replace") if isinstance(named, bytes) else "", dtype, flat.reshape(shape))


def _elements(fields: dict[int, list[Any]], dtype: DType) -> Array:
    """The elements, wherever they stand."""
    if _RAW in fields:
        raw = fields[_RAW][-1]
        if not isinstance(raw, bytes) or len(raw) % dtype.itemsize:
            raise ValueError("raw_data does not hold whole elements")
        return np.frombuffer(raw, dtype.numpy)
    packed = {_FLOATS: "<f4", _DOUBLES: "<f8"}
    for number, kind in packed.items():
        if number in fields:
            parts = [_fixed(each, kind) for each in fields[number]]
            return np.concatenate(parts).view(dtype.numpy).reshape(-1)
    values = next((_numbers(fields[number]) for number in (_INTS, _LONGS, _UNSIGNED) if number in fields), [])
    if dtype in _HALF:  # their bits, as whole numbers
        return np.array([value & 0xFFFF for value in values], np.uint16).view(dtype.numpy)
    bits = dtype.itemsize * 8
    wrapped = [value & (2**bits - 1) for value in values]
    return np.array(wrapped, f"u{dtype.itemsize}").view(dtype.numpy)


def _fixed(value: Any, kind: str) -> Array:
    """Numbers of 4 or 8 bytes: packed, or one."""
    raw = value if isinstance(value, bytes) else b""
    if len(raw) % np.dtype(kind).itemsize:
        raise ValueError("a list of numbers that is cut")
    return np.frombuffer(raw, kind)


def _numbers(values: list[Any]) -> list[int]:
    """Whole numbers with a sign: packed, or one by one."""
    found: list[int] = []
    for value in values:
        if isinstance(value, bytes):
            at = 0
            while at < len(value):
                number, at = _varint(value, at)
                found.append(number)
        else:
            found.append(value)
    return [number - 2**64 if number >= 2**63 else number for number in found]


def _fields(data: bytes) -> Iterator[tuple[int, Any]]:
    """The fields of a message: numbers as they are, all others as bytes."""
    at = 0
    while at < len(data):
        tag, at = _varint(data, at)
        number, kind = tag >> 3, tag & 7
        if kind == _VARINT:
            value: Any
            value, at = _varint(data, at)
        else:
            if kind == _BYTES:
                length, at = _varint(data, at)
            elif kind in (_FIXED64, _FIXED32):
                length = 8 if kind == _FIXED64 else 4
            else:
                raise ValueError("no message of ONNX: a field of an unknown kind")
            value = data[at : at + length]
            at += length
            if at > len(data) or len(value) != length:
                raise ValueError("no message of ONNX, or it is cut")
        yield number, value


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        if at >= len(data) or shift > 63:
            raise ValueError("no message of ONNX, or it is cut")
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value & (2**64 - 1), at
        shift += 7


def read_test_data(path: str, backend: str | None = None) -> Capture | None:
    """The data sets below ``path``, or ``path`` itself as one; None if there is none.

    A data set is an iteration; its tensors are slots of one operator, ``test_data``.
    """
    root = os.path.realpath(path)
    own = _SET.fullmatch(os.path.basename(root))
    sets = [(int(own[1]), root)] if own else sorted(
        (int(match[1]), os.path.join(root, name))
        for name in (os.listdir(root) if is_directory(root, TreeError) else ())
        if (match := _SET.fullmatch(name)) and is_directory(os.path.join(root, name), TreeError)
    )  # fmt: skip
    if not sets:
        return None
    problems: list[Problem] = []

    def records() -> Iterator[Record]:
        problems.clear()
        for number, folder in sets:
            files = [(match[1], int(match[2]), name) for name in os.listdir(folder) if (match := _FILE.fullmatch(name))]
            for io, slot, name in sorted(files):
                try:
                    found = parse(read_bytes(os.path.join(folder, name), _LONGEST, TreeError, inside=root))
                except ValueError as error:
                    place = os.path.relpath(os.path.join(folder, name), root)
                    problems.append(Problem(place, "damaged", str(error)))
                    continue
                key = SlotKey(0, 0, number, "test_data", 0, io, slot)
                yield Record(key, "test_data", found.dtype.name, found.array.shape, values=found.array)

    return Capture("onnx", backend or "onnx", False, records, "tensor", problems=problems)
