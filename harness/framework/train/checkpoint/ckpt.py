"""The ``.ckpt`` format: one protobuf message after the other, each with one tensor or a slice of one.

Source: files MindSpore 2.10.0 wrote, and how it reads ours (``tests/interop/test_checkpoints.py``).
"""

from __future__ import annotations

import math
import sys
from binascii import crc32
from collections.abc import Iterator
from itertools import groupby
from typing import Any

import numpy as np
from google.protobuf.message import DecodeError

from harness import dtypes
from harness.errors import CheckpointError, DtypeError
from harness.framework.train.checkpoint.content import Content, Entry
from harness.messages import build

_MESSAGES = build(
    "harness.framework.train.checkpoint",
    {
        "Value": ("tag 1 string", "tensor 2 TensorProto"),
        "TensorProto": ("*dims 1 int64", "tensor_type 2 string", "tensor_content 3 bytes"),
    },
)
#: bytes of one message's content, at most
SLICE = 512 * 1024 * 1024
_VALUE_FIELD = 0x0A
_CRC, _CRC_SIZE = b"crc_num", 10
#: bytes of a character of a text
_CHARACTER = 4


def encode(content: Content, *, crc: bool = False, slice_size: int = SLICE) -> Iterator[bytes]:
    """The pieces of a file that holds ``content``, in its order.

    Args:
        crc: append a checksum.
        slice_size: larger tensors are cut.
    """
    total = 0
    for name, entry in content.items():
        for piece in _slices(entry, slice_size):
            message = _MESSAGES["Value"](tag=name)
            message.tensor.dims.extend((0,) if entry.dtype is None else entry.array.shape)
            message.tensor.tensor_type = "str" if entry.dtype is None else entry.dtype.name
            message.tensor.tensor_content = piece
            encoded = message.SerializeToString()
            framed = bytes((_VALUE_FIELD,)) + _varint(len(encoded)) + encoded
            total = crc32(framed, total)
            yield framed
    if crc:
        yield _CRC + total.to_bytes(_CRC_SIZE, "big")


def _slices(entry: Entry, slice_size: int) -> Iterator[bytes]:
    array = entry.array
    if sys.byteorder == "big":
        array = array.astype(array.dtype.newbyteorder("<"))
    if array.nbytes <= slice_size or not array.ndim:
        yield array.tobytes()
        return
    for part in np.array_split(array, min(len(array), math.ceil(array.nbytes / slice_size))):
        yield part.tobytes()


def _varint(number: int) -> bytes:
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes((*out, number))


def decode(data: bytes, where: str, *, crc: bool = False) -> Content:
    """Reads a file's content.

    Args:
        data: the whole file.
        where: its name, for errors.
        crc: compare the checksum, if there is one.

    Raises:
        CheckpointError: damage.
    """
    at = len(data) - len(_CRC) - _CRC_SIZE
    if at >= 0 and data[at : at + len(_CRC)] == _CRC:
        found, data = int.from_bytes(data[-_CRC_SIZE:], "big"), data[:at]
        if crc and crc32(data) != found:
            raise CheckpointError(f"{where}: the check sum is {crc32(data):#x}, it should be {found:#x}")
    content: Content = {}
    for name, parts in groupby(_values(data, where), lambda value: str(value.tag)):
        tensors = [value.tensor for value in parts]
        content[name] = _entry(tensors[0].tensor_type, list(tensors[0].dims),
                               b"".join(tensor.tensor_content for tensor in tensors), f"{where}: {name!r}")  # fmt: skip
    return content


def _values(data: bytes, where: str) -> Iterator[Any]:
    """The messages of a file, one by one: a file may be larger than protobuf reads at once."""
    at = 0
    while at < len(data):
        if data[at] != _VALUE_FIELD:
            raise CheckpointError(f"{where}: byte {at} starts no tensor; the file is not a checkpoint, or damaged")
        size, start = _read_varint(data, at + 1, where)
        if start + size > len(data):
            raise CheckpointError(f"{where}: a tensor of {size} bytes starts at {start}, the file ends at {len(data)}")
        try:
            value = _MESSAGES["Value"].FromString(data[start : start + size])
        except DecodeError as error:
            raise CheckpointError(f"{where}: the tensor at byte {start} cannot be read: {error}") from None
        for text in (value.tag, value.tensor.tensor_type):
            if isinstance(text, bytes):  # what protobuf gives for a text that is not UTF-8
                raise CheckpointError(f"{where}: a text of the tensor at byte {start} is not UTF-8: {text[:80]!r}")
        yield value
        at = start + size


def _read_varint(data: bytes, at: int, where: str) -> tuple[int, int]:
    number = shift = 0
    while at < len(data) and shift < 63:
        byte = data[at]
        number |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return number, at
    raise CheckpointError(f"{where}: a length is cut off at byte {at}")


def _entry(kind: str, dims: list[int], content: bytes, where: str) -> Entry:
    if kind == "str":
        if len(content) % _CHARACTER:
            raise CheckpointError(f"{where}: a text of {len(content)} bytes is not valid text")
        try:
            return Entry(None, np.array(content.decode("utf-32-le").rstrip("\0")))
        except UnicodeDecodeError as error:
            raise CheckpointError(f"{where}: a text cannot be read: {error}") from None
    try:
        dtype = dtypes.by_name(kind)
    except DtypeError:
        raise CheckpointError(f"{where}: {kind!r} is not a dtype") from None
    if any(size < 0 for size in dims) or math.prod(dims) * dtype.itemsize != len(content):
        raise CheckpointError(f"{where}: {len(content)} bytes cannot be {kind} of shape {tuple(dims)}")
    return Entry.stored(dtype, content, dims, where)
