"""Asynchronous dump files: one operator's tensors behind a ``DumpData`` header.

8 bytes (unsigned, little endian): N. N bytes: ``DumpData`` with empty ``data`` fields. Then the bytes of all inputs,
all outputs, all buffers, each exactly its ``size``, without padding. Sources: MindSpore's public proto and reader;
the framing is what msaccucmp's own code reads.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from google.protobuf.message import DecodeError

from harness.devices.formats import FORMATS, dump_dtypes, numbers
from harness.dtypes import DType
from harness.dump.asynchronous.schema import CLASSES
from harness.errors import DtypeError, ShapeError, TreeError, UnknownNameError, UnsupportedError
from harness.reading import open_inside

Array = np.ndarray[Any, np.dtype[Any]]
Shape = tuple[int, ...]
Payload = bytes | memoryview

VERSION = "2.0"
LENGTH = struct.Struct("<Q")
MAX_HEADER = 1 << 24
"""Longer headers are refused; that of an operator with 100 tensors of rank 8 has 10 KB."""
HOST_FORMATS = frozenset({"ND", "NCHW", "NCDHW"})
"""The formats of a tensor in host layout."""
MAX_RANK = 64
MAX_BYTES = 1 << 40
"""Largest size of a file in bytes; larger files are refused."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One tensor of a file, without its bytes.

    Attributes:
        data_type: the element type's number (``devices.formats.dump_dtypes``).
        format: number of the storage format, or a format word (``devices.formats.numbers``).
        shape: shape of the tensor in the file.
        original_shape: shape on the host; empty if it is not stated (or of rank 0).
        size: size in the file in bytes.
        sub_format: groups of a weight's convolution; 0 if it is not stated.
        offset: offset of the first byte in the file; found while reading, not part of the header.
    """

    data_type: int
    format: int
    shape: Shape
    original_shape: Shape
    size: int
    sub_format: int = 0
    offset: int = 0

    @property
    def dtype(self) -> DType:
        """The element type; ``UnknownNameError`` or ``DtypeError`` if no array can have it."""
        return dump_dtypes.dtype_of(self.data_type)

    @property
    def format_name(self) -> str:
        """Name of the primary format; ``UnknownNameError`` for an unknown number."""
        return numbers.format_name(self.format & 0xFF)

    @property
    def is_hole(self) -> bool:
        """Whether it stands for an argument that was not dumped."""
        return self.data_type == 0 and self.size == 0


HOLE = Entry(0, numbers.format_number("ND"), (0,), (0,), 0)
"""The entry of an argument without a tensor, so that the following ones keep their positions."""


@dataclass(frozen=True, slots=True)
class BufferEntry:
    """A scratch buffer: ``buffer_type`` 0 is L1."""

    buffer_type: int
    size: int
    offset: int = 0


@dataclass(frozen=True, slots=True)
class Header:
    """The header of a file.

    Attributes:
        op_name: full name with scope.
        dump_time: microseconds since 1970.
        inputs, outputs: entries by position.
        buffers: scratch buffers.
        version: ``2.0``.
    """

    op_name: str
    dump_time: int
    inputs: tuple[Entry, ...] = ()
    outputs: tuple[Entry, ...] = ()
    buffers: tuple[BufferEntry, ...] = ()
    version: str = VERSION

    @property
    def payload(self) -> int:
        """Number of bytes after the header."""
        return sum(e.size for e in (*self.inputs, *self.outputs)) + sum(b.size for b in self.buffers)


def entry_of(
    array: Array, dtype: DType, format_name: str, original_shape: Sequence[int], groups: int = 0
) -> tuple[Entry, Payload]:
    """Describes an array in device layout.

    Args:
        array: array in the layout of ``format_name``, with elements of ``dtype``.
        dtype: MindSpore dtype.
        format_name: name of the format in ``devices.formats.numbers``.
        original_shape: shape on the host.
        groups: ``sub_format``.

    Returns:
        The entry, and the array's bytes (its own memory if possible).
    """
    if array.dtype.byteorder == ">":
        array = array.astype(array.dtype.newbyteorder("<"))
    payload = np.ascontiguousarray(array).reshape(-1).view(np.uint8).data
    number = dump_dtypes.dtype_number(dtype)
    return (
        Entry(number, numbers.format_number(format_name), array.shape, tuple(original_shape), len(payload), groups),
        payload,
    )


def encode(header: Header) -> bytes:
    """The length and the ``DumpData`` message; in the file, the bytes of every entry follow in order."""
    message = CLASSES["DumpData"](version=header.version, dump_time=header.dump_time, op_name=header.op_name)
    for target, entries in ((message.output, header.outputs), (message.input, header.inputs)):
        for entry in entries:
            item = target.add(
                data_type=entry.data_type, format=entry.format, size=entry.size, sub_format=entry.sub_format
            )
            item.shape.dim.extend(entry.shape)
            item.original_shape.dim.extend(entry.original_shape)
            item.shape.SetInParent()  # msaccucmp needs both, even if empty
            item.original_shape.SetInParent()
    for buffer in header.buffers:
        message.buffer.add(buffer_type=buffer.buffer_type, size=buffer.size)
    content: bytes = message.SerializeToString(deterministic=True)
    return LENGTH.pack(len(content)) + content


def decode(content: bytes, size: int, where: str) -> Header:
    """Reads a ``DumpData`` message.

    Args:
        content: the N bytes after the length.
        size: bytes of the whole file, at least the sum of the entries (later fields have bytes too).
        where: the file, for messages.

    Raises:
        TreeError: it is not such a message, or its entries do not fit.
    """
    try:
        message = CLASSES["DumpData"].FromString(content)
    except DecodeError as error:
        raise TreeError(f"{where}: its header is not a DumpData message ({error})") from None
    if not content and size > LENGTH.size:
        raise TreeError(f"{where}: its header is empty, and {size - LENGTH.size} bytes follow; the file is damaged")
    at = LENGTH.size + len(content)
    inputs, at = _entries(message.input, at, where)
    outputs, at = _entries(message.output, at, where)
    buffers = []
    for buffer in message.buffer:
        buffers.append(BufferEntry(buffer.buffer_type, buffer.size, at))
        at += buffer.size
    if at > size:
        raise TreeError(f"{where}: {size} bytes where its header asks for {at}; the file is damaged or cut off")
    return Header(message.op_name, message.dump_time, inputs, outputs, tuple(buffers), message.version)


def _entries(items: Sequence[Any], at: int, where: str) -> tuple[tuple[Entry, ...], int]:
    """The entries of a list, and the offset after their bytes."""
    found = []
    for item in items:
        shape, original = tuple(item.shape.dim), tuple(item.original_shape.dim)
        if max(len(shape), len(original)) > MAX_RANK or max((0, *shape, *original)) > MAX_BYTES:
            shown = list(shape)[:9], list(original)[:9]
            raise TreeError(
                f"{where}: a tensor of shape {shown[0]}, on the host {shown[1]}; at most {MAX_RANK} dimensions of at "
                f"most {MAX_BYTES} are read"
            )
        found.append(Entry(item.data_type, item.format, shape, original, item.size, item.sub_format, at))
        at += item.size
    return tuple(found), at


class DumpFile:
    """An asynchronous dump file, open for reading; use it as a context manager.

    Attributes:
        path: the path, as given.
        header: the header, read and checked.

    Examples:
        >>> import json
        >>> from pathlib import Path
        >>> import numpy as np
        >>> from harness import instruments
        >>> from harness.dump import DumpFile
        >>> common = {"op_debug_mode": 0, "dump_mode": 0, "net_name": "Net", "iteration": "all", "input_output": 0,
        ...           "saved_data": "tensor", "kernels": [], "support_device": [0], "path": str(Path("raw").resolve())}
        >>> _ = Path("raw.json").write_text(json.dumps({"common_dump_settings": common}))
        >>> environ = {"MINDSPORE_DUMP_CONFIG": "raw.json"}
        >>> with instruments.open("ascend-o2", engine="tinyrt 1.0", environ=environ) as recording:
        ...     graph = recording.eager()
        ...     with recording.step(graph) as step, step.launch(graph.operator("Ones", mutates=())) as launch:
        ...         _ = launch.done(np.ones(2, np.float32))
        >>> with DumpFile(next(path for path in Path("raw").rglob("Ones*"))) as file:
        ...     file.host(file.header.outputs[0])
        array([1., 1.], dtype=float32)
    """

    path: str
    header: Header

    def __init__(
        self, path: str | os.PathLike[str], header: Header | None = None, *, inside: str | None = None
    ) -> None:
        """Opens ``path`` and reads its header, unless it is known.

        Args:
            inside: real path of a directory that no link may leave; by default links may lead anywhere.

        Raises:
            TreeError: it cannot be read, is damaged, or lies outside of ``inside``.
        """
        self.path = os.fspath(path)
        try:
            self._fd, status = open_inside(self.path, inside, TreeError)
        except OSError as error:
            raise TreeError(f"{self.path}: {error.strerror}") from None
        try:
            self.header = self._read_header(status.st_size) if header is None else header
        except OSError as error:
            self.close()
            raise TreeError(f"{self.path}: {error.strerror}") from None
        except BaseException:
            self.close()
            raise

    def _read_header(self, size: int) -> Header:
        if size <= LENGTH.size:
            raise TreeError(f"{self.path}: {size} bytes, too few for a dump file (more than {LENGTH.size})")
        if size > MAX_BYTES:
            raise TreeError(f"{self.path}: {size} bytes; dump files of at most {MAX_BYTES} are read")
        (length,) = LENGTH.unpack(self._bytes(0, LENGTH.size))
        if length > min(size - LENGTH.size, MAX_HEADER):
            raise TreeError(
                f"{self.path}: a header of {length} bytes in a file of {size}; it is not a dump file (headers have at "
                f"most {MAX_HEADER})"
            )
        return decode(self._bytes(LENGTH.size, length), size, self.path)

    def _bytes(self, offset: int, size: int) -> bytes:
        return self._buffer(offset, size).tobytes()

    def _buffer(self, offset: int, size: int) -> Array:
        """Reads ``size`` bytes from ``offset`` on into new memory."""
        buffer = np.empty(size, np.uint8)
        done = 0
        while done < size:
            more = os.preadv(self._fd, [buffer[done:].data], offset + done)
            if not more:
                raise TreeError(f"{self.path}: ends at byte {offset + done} instead of {offset + size}; it was cut off")
            done += more
        return buffer

    def payload(self, entry: Entry | BufferEntry) -> Array:
        """The bytes of ``entry``, uint8 of one dimension."""
        return self._buffer(entry.offset, entry.size)

    def array(self, entry: Entry) -> Array:
        """The tensor in file layout: ``entry.shape`` in ``entry.dtype``.

        Args:
            entry: one of the header's.

        Raises:
            TreeError: the bytes do not fit the element type or the shape.
        """
        try:
            dtype = entry.dtype
        except (UnknownNameError, DtypeError) as error:
            raise TreeError(f"{self.path}: {error}") from None
        needed = prod(entry.shape) * dtype.itemsize
        if needed > entry.size:
            raise TreeError(
                f"{self.path}: shape {list(entry.shape)} of {dtype} needs {needed} bytes, the tensor has {entry.size}"
            )
        try:
            return self._buffer(entry.offset, needed).view(dtype.numpy).reshape(entry.shape)
        except ValueError as error:  # numpy allows fewer dimensions than a file may claim
            raise TreeError(f"{self.path}: shape {list(entry.shape)}: {error}") from None

    def host(self, entry: Entry) -> Array:
        """The tensor in host layout: with ``original_shape``, if the header's differs from ``shape``.

        Args:
            entry: one of the header's.

        Raises:
            TreeError: see ``array``; or its format cannot be converted.
        """
        array = self.array(entry)
        if not entry.original_shape or entry.original_shape == entry.shape:
            return array
        try:
            name, groups = entry.format_name, max(1, entry.sub_format)
            if name in HOST_FORMATS and prod(entry.original_shape) == array.size:
                return array.reshape(entry.original_shape)
            return FORMATS.get(name).to_host(
                array, entry.original_shape, groups=groups, axes=_axes(name, entry.original_shape, array.shape)
            )
        except (UnknownNameError, ShapeError, UnsupportedError) as error:
            raise TreeError(f"{self.path}: {error}") from None

    def close(self) -> None:
        """Closes the file; a second call does nothing."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def __enter__(self) -> DumpFile:
        return self

    def __exit__(self, *_exception: object) -> None:
        self.close()


def _axes(format_name: str, original: Shape, shape: Shape) -> str | None:
    """Rows of features are stored as images of one pixel; only their shape shows this, not the header."""
    is_row = format_name == "NC1HWC0" and len(original) == 2 and shape[:1] == original[:1] and shape[2:4] == (1, 1)
    return "NC" if is_row else None
