"""Tensors of a ``.safetensors`` file: a JSON header, and raw bytes."""

from __future__ import annotations

import os
from collections.abc import Iterator
from math import prod
from typing import Any, TypeGuard

from harness import dtypes
from harness.capture.torch_files.tensors import Item, StoredTensor
from harness.errors import DtypeError, TreeError
from harness.reading import open_inside, parse_json

_LONGEST_HEADER = 100_000_000
_METADATA = "__metadata__"
NAMES = {
    "F64": "float64", "F32": "float32", "F16": "float16", "BF16": "bfloat16", "I64": "int64", "I32": "int32",
    "I16": "int16", "I8": "int8", "U8": "uint8", "U16": "uint16", "U32": "uint32", "U64": "uint64", "BOOL": "bool",
    "C64": "complex64", "F8_E4M3": "float8_e4m3fn", "F8_E5M2": "float8_e5m2",
    "F8_E4M3FNUZ": "float8_e4m3fnuz", "F8_E5M2FNUZ": "float8_e5m2fnuz",
}  # fmt: skip


def items(path: str) -> Iterator[Item]:
    """The tensors of a file, by their names, in the order of their bytes.

    Raises:
        ValueError: it is no such file, or it is damaged.
        OSError: it cannot be opened.
        TreeError: its header is no JSON.
    """
    descriptor, status = open_inside(path, None, TreeError)
    with open(descriptor, "rb") as file:
        length = int.from_bytes(file.read(8), "little")
        start = 8 + length
        if status.st_size < 10 or length > min(_LONGEST_HEADER, status.st_size - 8):
            raise ValueError("no safetensors file: it says a header longer than the file")
        header = parse_json(file.read(length), path, TreeError)
    if not isinstance(header, dict):
        raise ValueError("its header is no object")
    header.pop(_METADATA, None)
    found = [_tensor(path, name, said, start, status.st_size) for name, said in header.items()]
    yield from sorted(found, key=lambda item: item.value.start if isinstance(item.value, StoredTensor) else 0)


def _tensor(path: str, name: str, said: Any, start: int, end: int) -> Item:
    facts: dict[str, Any] = said if isinstance(said, dict) else {}
    shape, place = facts.get("shape"), facts.get("data_offsets")
    if not _are_numbers(shape) or not _are_numbers(place) or len(place) != 2:
        raise ValueError(f"{name[:80]!r} has no shape and data_offsets")
    kind = str(facts.get("dtype"))
    try:
        dtype = dtypes.by_name(NAMES.get(kind, kind))
    except DtypeError as error:
        raise ValueError(f"{name[:80]!r}: {error}") from None
    size = prod(shape) * dtype.itemsize
    if place[1] - place[0] != size or start + place[1] > end:
        raise ValueError(f"{name[:80]!r} has data_offsets {place}, its shape and dtype make {size} bytes of the file")
    strides = tuple(prod(shape[at + 1 :]) for at in range(len(shape)))
    where = start + place[0]
    return Item(name, StoredTensor(os.fspath(path), None, dtype, tuple(shape), strides, where, size))


def _are_numbers(values: Any) -> TypeGuard[list[int]]:
    return isinstance(values, list) and all(type(each) is int and 0 <= each < 2**62 for each in values)
