"""The ``.safetensors`` format: a JSON header of names, dtypes, shapes and places, then the data.

Source: the format's public description, and files MindSpore 2.10.0 wrote (``tests/interop/test_checkpoints.py``).
"""

from __future__ import annotations

import json
import math
import struct
import sys
from collections.abc import Iterator, Mapping
from typing import Any

from harness import dtypes
from harness.errors import CheckpointError, DtypeError
from harness.framework.train.checkpoint.content import Content, Entry

#: our dtypes by the format's names, in the order in which the format stores them
_DTYPES = {
    "U64": dtypes.uint64, "I64": dtypes.int64, "F64": dtypes.float64, "C64": dtypes.complex64, "F32": dtypes.float32,
    "U32": dtypes.uint32, "I32": dtypes.int32, "BF16": dtypes.bfloat16, "F16": dtypes.float16, "U16": dtypes.uint16,
    "I16": dtypes.int16, "I8": dtypes.int8, "U8": dtypes.uint8, "BOOL": dtypes.bool_,
}  # fmt: skip
_NAMES = {dtype: name for name, dtype in _DTYPES.items()}
_METADATA = "__metadata__"
#: the format's limit for its header
HEADER_LIMIT = 100_000_000


def encode(content: Content, metadata: Mapping[str, str]) -> Iterator[bytes]:
    """The pieces of a file that holds ``content``; ``DtypeError`` for texts and dtypes the format lacks."""
    for name, entry in content.items():
        if entry.dtype not in _NAMES:
            what = "a text" if entry.dtype is None else str(entry.dtype)
            raise DtypeError(f"{name!r} is {what}, which the safetensors format cannot hold")
    order = list(_NAMES.values())
    kinds = {name: _NAMES[entry.dtype] for name, entry in content.items() if entry.dtype is not None}
    names = sorted(content, key=lambda name: (order.index(kinds[name]), name))
    header: dict[str, Any] = {_METADATA: dict(metadata)}
    at = 0
    for name in names:
        entry = content[name]
        end = at + entry.array.nbytes
        header[name] = {"dtype": kinds[name], "shape": list(entry.array.shape), "data_offsets": [at, end]}
        at = end
    text = json.dumps(header, separators=(",", ":"), ensure_ascii=False).encode()
    text += b" " * (-len(text) % 8)
    yield struct.pack("<Q", len(text)) + text
    for name in names:
        array = content[name].array
        yield (array.astype(array.dtype.newbyteorder("<")) if sys.byteorder == "big" else array).tobytes()


def decode(data: bytes, where: str) -> tuple[Content, dict[str, str]]:
    """The content of a file, in the order of its names, and its metadata; ``CheckpointError`` for damage."""
    if len(data) < 8:
        raise CheckpointError(f"{where}: {len(data)} bytes are no safetensors file")
    (size,) = struct.unpack_from("<Q", data)
    if size > min(HEADER_LIMIT, len(data) - 8):
        raise CheckpointError(f"{where}: a header of {size} bytes in a file of {len(data)}")
    try:
        header = json.loads(data[8 : 8 + size].decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise CheckpointError(f"{where}: the header cannot be read: {error}") from None
    if not isinstance(header, dict):
        raise CheckpointError(f"{where}: the header is not an object")
    metadata = header.pop(_METADATA, None) or {}
    if not isinstance(metadata, dict) or not all(isinstance(value, str) for value in metadata.values()):
        raise CheckpointError(f"{where}: the metadata must be texts by name")
    body = memoryview(data)[8 + size :]
    content = {name: _entry(header[name], body, f"{where}: {name!r}") for name in sorted(header)}
    if sum(entry.array.nbytes for entry in content.values()) != len(body):
        raise CheckpointError(f"{where}: the tensors do not fill the file's {len(body)} bytes")
    return content, metadata


def _entry(row: Any, body: memoryview, where: str) -> Entry:
    try:
        dtype, shape = _DTYPES[row["dtype"]], [int(each) for each in row["shape"]]
        start, end = (int(each) for each in row["data_offsets"])
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise CheckpointError(f"{where}: its row of the header cannot be read: {error!r}") from None
    if not 0 <= start <= end <= len(body) or min(shape, default=0) < 0:
        raise CheckpointError(f"{where}: shape {shape} at {start}..{end} does not lie in the file")
    if math.prod(shape) * dtype.itemsize != end - start:
        raise CheckpointError(f"{where}: {end - start} bytes cannot be {dtype} of shape {tuple(shape)}")
    return Entry.stored(dtype, body[start:end], shape, where)
