"""Reads ``.npy`` files of dump trees: one open, one read, the header by hand.

``numpy.load`` evaluates a Python literal for each file and does not know the bfloat16 of MindSpore's CPU writer
(``<E2``, older releases ``<T2``). Here headers are matched against one pattern, and equal headers are parsed once.
There are no pickles: MindSpore has no object dtype.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from math import prod
from typing import Any, NamedTuple, Self

import numpy as np

from harness import dtypes, portable
from harness.capture.buffers import Buffers
from harness.capture.narrowing import as_dtype
from harness.dtypes import DType
from harness.errors import DtypeError, TreeError
from harness.reading import open_inside
from harness.records import PIECE

Array = np.ndarray[Any, np.dtype[Any]]

MAX_HEADER = 1 << 16
"""Longer headers are refused; MindSpore's are 118 bytes."""
MAX_RANK = 64
UNKNOWN = -1
"""The size in a header that must be computed from the file's size."""
FINISHED_MODE = 0o400
"""Mode of a file MindSpore has finished writing."""

_MAGIC = b"\x93NUMPY"
# Possessive: a long row of digits is tried in only one way.
_TEXT = re.compile(
    rb"\{'descr': '([^'\\]{2,8})', 'fortran_order': (False|True), 'shape': \(((?:-?\d++,? ?)*+)\), ?\}[ \x00]*\n?"
)
_BY_DESCR = {d.descr: d for d in dtypes.ALL} | {"<T2": dtypes.bfloat16, "|b1": dtypes.bool_, "<V2": dtypes.bfloat16}


class Header(NamedTuple):
    """What a header says.

    Attributes:
        dtype: the MindSpore dtype of the bytes that follow.
        shape: as written; ``UNKNOWN`` for a size that the graph did not know at compile time.
        fortran: column-major order.
        offset: offset of the data.
        size: bytes of the whole file; 0 if ``shape`` does not determine it.
        corrected: whether the header stated another dtype, and the file's size showed that it is this one (see
            ``read``).
    """

    dtype: DType
    shape: tuple[int, ...]
    fortran: bool
    offset: int
    size: int
    corrected: bool = False


class Incomplete(Exception):
    """The file is shorter or longer than its header says, or its mode shows that it was not finished."""


_buffers = Buffers()
_pieces = Buffers(16)
_cache: dict[bytes, Header] = {}
_CACHE_ROWS = 4096


def parse_header(data: bytes) -> Header:
    """Reads a header; ``data`` is at least the whole header, and may hold more.

    Raises:
        Incomplete: ``data`` ends inside the header.
        ValueError: not an ``.npy`` header, or one that MindSpore cannot have written; the message says why.
    """
    if len(data) < 10:
        raise Incomplete(f"{len(data)} bytes, too few for a header")
    if data[:6] != _MAGIC:
        raise ValueError("it does not start like an .npy file")
    start = 10 if data[6] == 1 else 12
    length = int.from_bytes(data[8:start], "little")
    if data[6] not in (1, 2, 3) or length > MAX_HEADER:
        raise ValueError(f"version {data[6]}, header of {length} bytes; versions 1 to 3 up to {MAX_HEADER} are read")
    if len(data) < start + length:
        raise Incomplete(f"{len(data)} bytes, but its header has {start + length}")
    return _parse_text(data[start : start + length], start + length)


def is_written(dtype: dtypes.DType) -> bool:
    """Whether a file that numpy writes of this dtype says so: of the smallest floats it states their size alone."""
    return str(np.lib.format.dtype_to_descr(dtype.numpy)) in _BY_DESCR


def _parse_text(text: bytes, offset: int) -> Header:
    match = _TEXT.fullmatch(text)
    if match is None:
        raise ValueError(f"header {text[:80]!r} is not one MindSpore writes")
    descr, order, sizes = match.groups()
    dtype = _BY_DESCR.get(descr.decode("latin-1"))
    if dtype is None:
        raise ValueError(f"descr {descr.decode('latin-1')!r}; accepted are {', '.join(sorted(_BY_DESCR))}")
    shape = tuple(int(s) for s in sizes.replace(b",", b" ").split())
    if len(shape) > MAX_RANK:
        raise ValueError(f"{len(shape)} axes; at most {MAX_RANK} are read")
    if min(shape, default=0) < UNKNOWN:
        raise ValueError(f"shape {shape}; a size is at least 0, or {UNKNOWN} where it was not known")
    size = 0 if UNKNOWN in shape else offset + prod(shape) * dtype.itemsize
    return Header(dtype, shape, order == b"True", offset, size)


_PREFIX = 128
"""Bytes up to the end of the header in nearly every file."""


def _header(buffer: Array) -> Header:
    """The header at the start of ``buffer`` (uint8), from the cache if an equal one was read before."""
    raw = buffer[:_PREFIX].tobytes()
    found = _cache.get(raw)
    if found is None:
        found = parse_header(buffer[: 12 + MAX_HEADER].tobytes())
        if found.offset <= _PREFIX:
            # Only then do the first bytes determine the header; data behind a shorter header may differ, which costs
            # cache rows only.
            if len(_cache) >= _CACHE_ROWS:
                _cache.clear()
            _cache[raw] = found
    return found


def _fill(descriptor: int, buffer: Array) -> int:
    """Reads up to ``len(buffer)`` bytes; returns how many came."""
    size = buffer.size
    done = os.readv(descriptor, [buffer.data]) if size else 0
    more = done
    while more and done < size:
        more = os.readv(descriptor, [buffer[done:].data])
        done += more
    return done


def read(
    path: str, inside: str | None = None, *, modes: bool = False, limit: int | None = None, device: DType | None = None
) -> tuple[Header, Array | None]:
    """Reads one file; see ``NpyFile`` and its ``begin``."""
    with NpyFile(path, inside) as file:
        return file.begin(modes=modes, limit=limit, device=device)


_HEAD = 1 << 17
"""Files up to this size are read at once."""
_LOOK = 1 << 12
"""Bytes in which nearly every header ends."""


class NpyFile:
    """A file that is open for reading; no byte is read twice.

    Attributes:
        header: the header that ``begin`` found.
        size: bytes of the file.
    """

    __slots__ = ("_descriptor", "_head", "_mode", "header", "size")

    def __init__(self, path: str, inside: str | None = None, opened: tuple[int, os.stat_result] | None = None) -> None:
        """Opens ``path``; links lead out of the real path ``inside`` only if that is None.

        Args:
            opened: its descriptor and what the system knows of it, if it is open.

        Raises:
            OSError: that cannot be done, or it is not a regular file.
            TreeError: the file that was opened lies outside of ``inside``.
        """
        self._descriptor, status = opened or open_inside(path, inside, TreeError)
        self._head: Array | None = None
        self._mode, self.size = status.st_mode, status.st_size

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exception: object) -> None:
        self.close()

    def close(self) -> None:
        """Closes the file; a second call does nothing."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def hint(self, start: int, size: int) -> None:
        """Tells the system that these bytes will be read soon."""
        try:  # not ``suppress``, which costs more than the call
            os.posix_fadvise(self._descriptor, start, size, os.POSIX_FADV_WILLNEED)
        except (OSError, AttributeError):  # not every system accepts hints
            return

    def begin(
        self, *, modes: bool = False, limit: int | None = None, device: DType | None = None
    ) -> tuple[Header, Array | None]:
        """Reads a small file, or the first bytes of a larger one; call it once.

        Args:
            device: dtype of the tensor on its device, according to the graph. MindSpore 2.10 CPU writes kernels that
                run in float32 for float16 under a float16 header (measured): where the size fits this dtype and not the
                header's, the data is of this dtype, and so is the header returned.
            modes: whether the tree keeps file modes, so that a file without ``FINISHED_MODE`` was not finished.
            limit: of a larger file only the header is read, and the size checked.

        Returns:
            The header, and a C-contiguous array of ``header.dtype.numpy`` and ``header.shape`` (None above ``limit``).

        Raises:
            Incomplete: the file was not finished.
            ValueError: it is not an ``.npy`` file of a dump.
            OSError: it cannot be read.
        """
        if modes and self._mode & 0o777 != FINISHED_MODE:
            raise Incomplete(f"mode {self._mode & 0o777:04o}; a finished file has {FINISHED_MODE:04o}")
        size = self.size
        if size <= _HEAD:
            if size > _LOOK:
                return self._small(np.empty(size, np.uint8), 0, device)
            # Memory that Python hands out itself costs less than an array, whose bytes are then looked at one by one.
            small = bytearray(size)
            done = os.readv(self._descriptor, [small])
            header = _cache.get(bytes(small[:_PREFIX]))
            if header is None or header.size != size or done != size or header.fortran:
                return self._small(np.ndarray((size,), np.uint8, small), done, device)
            self.header = header
            return header, np.ndarray(header.shape, header.dtype.numpy, small, header.offset)
        # A look at the head first: junk is not read whole, however large.
        head = np.empty(_HEAD, np.uint8)
        have = _fill(self._descriptor, head[:_LOOK])
        if limit is None or self.size <= limit or int.from_bytes(head[8:10].tobytes(), "little") > _LOOK - 12:
            have += _fill(self._descriptor, head[have:])
        self._head = head[:have]
        self.header = _checked(self._head, self.size, device)
        return self.header, None if limit is not None and self.size > limit else self.rest()

    def _small(self, buffer: Array, done: int, device: DType | None) -> tuple[Header, Array]:
        """What ``begin`` returns of a file that is read at once; ``done`` of its bytes are in ``buffer`` already."""
        done += _fill(self._descriptor, buffer[done:])
        self.header = _checked(buffer if done == buffer.size else buffer[:done], done, device)
        return self.header, _view(buffer, self.header)

    def head(self) -> bytes:
        """The first bytes of the values, as far as ``begin`` read them and ``rest`` or ``pieces`` did not yet."""
        return b"" if self._head is None else self._head[self.header.offset :].tobytes()

    @property
    def streams(self) -> bool:
        """Whether ``pieces`` can give the values that ``begin`` did not read."""
        return self._head is not None and self._descriptor >= 0 and not self.header.fortran

    def rest(self) -> Array:
        """The array of a file of which ``begin`` read the first bytes; ``Incomplete`` if it became shorter."""
        buffer = _buffers.take(self.size)
        self._whole(buffer)
        return _view(buffer, self.header)

    def pieces(self, ahead: int = 0) -> Iterator[Array]:
        """The values of ``rest`` in pieces, see ``Record.pieces``.

        Args:
            ahead: bytes announced by ``hint``; the same amount is announced further on.
        """
        done = self.header.offset
        while done < self.size:
            piece = _pieces.take(PIECE)[: min(PIECE, self.size - done)]
            if ahead and done + ahead < self.size:
                self.hint(done + ahead, PIECE)
            self._whole(piece, self.header.offset if self._head is not None else 0)
            yield piece.view(self.header.dtype.numpy)
            done += piece.size

    def _whole(self, buffer: Array, skipped: int = 0) -> None:
        """Fills ``buffer`` from the current position; ``Incomplete`` if the file ends before."""
        head, self._head = self._head, None
        have = 0
        if head is not None:
            have = min(head.size - skipped, buffer.size)
            buffer[:have] = head[skipped : skipped + have]
        have += _fill(self._descriptor, buffer[have:])
        if have < buffer.size:
            raise Incomplete(f"it became shorter than its {self.size} bytes while it was read")


def _checked(buffer: Array, size: int, device: DType | None) -> Header:
    """The header at the start of ``buffer``; ``Incomplete`` unless it (or ``device``) asks for ``size`` bytes."""
    header = _header(buffer)
    if header.size != size and UNKNOWN in header.shape:
        header = _resolved(header, size)
    if header.size != size:
        if device is not None and header.offset + prod(header.shape) * device.itemsize == size:
            return header._replace(dtype=device, size=size, corrected=True)
        raise Incomplete(f"{size} bytes where header and shape {header.shape} make {header.size}")
    return header


def _resolved(header: Header, size: int) -> Header:
    """``header`` with the shape that a file of ``size`` bytes has; in one dimension if several sizes are unknown, as
    MindSpore 2.7.0 writes them of shapes that the graph does not know (measured).

    Raises:
        Incomplete: no shape fits.
    """
    count, rest = divmod(max(size - header.offset, 0), header.dtype.itemsize)
    known = prod(each for each in header.shape if each != UNKNOWN)
    if rest or not known or count % known:
        raise Incomplete(f"{size} bytes do not make a tensor of shape {header.shape}")
    if header.shape.count(UNKNOWN) > 1:
        return header._replace(shape=(count,), size=size)
    return header._replace(shape=tuple(count // known if each == UNKNOWN else each for each in header.shape), size=size)


def _view(buffer: Array, header: Header) -> Array:
    dtype, shape, fortran, offset, _, _ = header
    if fortran:
        return np.ascontiguousarray(np.ndarray(shape, dtype.numpy, buffer, offset, order="F"))
    return np.ndarray(shape, dtype.numpy, buffer, offset)


def dtype_named(header: Header, named: str | None) -> DType:
    """The dtype of the tensor: what the file name says, else what the header says.

    bfloat16 may be written as float32, so that ``numpy.load`` can read it. A corrected header counts more than the
    name.

    Raises:
        ValueError: the name says a dtype the header contradicts.
    """
    if named is None or named == header.dtype.name:
        return header.dtype
    try:
        wanted = dtypes.by_name(named)
    except DtypeError as error:
        raise ValueError(str(error)) from None
    if header.corrected:
        return header.dtype
    if wanted is header.dtype or (wanted is dtypes.bfloat16 and header.dtype is dtypes.float32):
        return wanted
    raise ValueError(f"its name says {named}, its header {header.dtype.name}")


def blocks(path: str, header: Header, size: int, start: int, inside: str | None) -> Iterator[Array]:
    """The values of a file with a known header in C order, in 1-D arrays of ``size`` elements; the last one may be
    shorter.

    Args:
        start: flat index of the first element.
        inside: see ``NpyFile``.

    Raises:
        TreeError: the file is gone or has changed.
    """
    itemsize = header.dtype.itemsize
    try:
        descriptor, status = open_inside(path, inside, TreeError)
        try:
            if status.st_size != header.size:
                raise TreeError(f"{path}: {status.st_size} bytes where there were {header.size}")
            buffer = _buffers.take(size * itemsize)
            for at in range(header.offset + start * itemsize, header.size, buffer.size):
                part = buffer[: header.size - at]
                if portable.preadv(descriptor, [part.data], at) != part.size:
                    raise TreeError(f"{path}: it became shorter")
                yield part.view(header.dtype.numpy)
        finally:
            os.close(descriptor)
    except OSError as error:
        raise TreeError(f"{path}: {error.strerror}") from None


def load(
    path: str, named: str | None, shape: tuple[int, ...], device: DType | None, opened: NpyFile | None = None,
    inside: str | None = None,
) -> Array:  # fmt: skip
    """Reads one whole file, for values that are requested later.

    Args:
        named: dtype in the file's name.
        shape: logical shape, with as many elements as the file.
        opened: the file, begun and still open; it is read to its end and closed.
        inside: see ``NpyFile``.

    Raises:
        TreeError: the file is damaged, unfinished or gone.
    """
    try:
        if opened is not None:
            with opened:
                header, array = opened.header, opened.rest()
        else:
            header, whole = read(path, inside, device=device)
            assert whole is not None  # no limit was given
            array = whole
        return as_dtype(array, dtype_named(header, named)).reshape(shape)
    except (Incomplete, ValueError, OSError) as error:
        raise TreeError(f"{path}: {error}") from None
