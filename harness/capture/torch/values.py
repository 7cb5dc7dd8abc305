"""Reads a tensor's content while it exists: values, or statistics without values."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from harness.capture.torch.describing import Bulk, described
from harness.capture.torch.device import PackedStatistics, PinnedCopies
from harness.capture.torch.memo import Looked, Memo, look, region
from harness.capture.torch.parts import DTYPES, Unread
from harness.dtypes import from_numpy
from harness.records import Array, Record
from harness.stats import Statistics, digest, digest_of_bytes
from harness.stats.printed import PrintedStatistics

#: Bytes of a small tensor, which is copied at once: to look at it in place costs more.
_SMALL = 16384
#: dtypes whose numbers are numpy's own
_NUMPYS = {each: known.numpy for each, known in DTYPES.items() if known.numpy.isbuiltin == 1}


def dense(tensor: Any) -> Any:
    """The same values in C order; the tensor itself if it is dense already. Not differentiated."""
    tensor = tensor.detach()
    if tensor.is_conj() or tensor.is_neg():
        tensor = tensor.resolve_conj().resolve_neg()
    return tensor.contiguous()


class Scratch:
    """Reused memory: new memory for each copy costs as much as the copy.

    Attributes:
        LARGEST: largest size in bytes.
    """

    LARGEST = 64 * 2**20

    def __init__(self) -> None:
        self._bytes = torch.empty(0, dtype=torch.uint8)

    def dense(self, tensor: Any) -> Any:
        """``dense``, of a tensor on the CPU, in memory that holds until the next call."""
        size = tensor.numel() * tensor.element_size()
        if tensor.is_contiguous() or tensor.is_conj() or tensor.is_neg() or size > self.LARGEST:
            return dense(tensor)
        if size > self._bytes.numel():
            self._bytes = torch.empty(size, dtype=torch.uint8)
        return self._bytes[:size].view(tensor.dtype).view(tensor.shape).copy_(tensor.detach())


NO_MEMORY = "its storage has no memory"
_LITTLE = sys.byteorder == "little"


class _Memory:
    """A tensor's memory for numpy. ``tensor.numpy()`` would mark the storage, so that programs could no longer resize
    it."""

    __slots__ = ("__array_interface__", "_tensor")

    def __init__(self, tensor: Any, kind: str) -> None:
        address = tensor.data_ptr()
        if not address and tensor.numel():
            raise Unread(NO_MEMORY)
        self.__array_interface__ = {
            "shape": tuple(tensor.shape),
            "typestr": kind,
            "data": (address, False),
            "version": 3,
        }
        self._tensor = tensor


def host_array(tensor: Any, dense: Callable[[Any], Any] = dense) -> Array:
    """The values of a tensor on the CPU; a view of its memory if that is in C order, else of a dense copy.

    Raises:
        Unread: its storage has no memory.
    """
    plain = dense(tensor)
    known = DTYPES[plain.dtype].numpy
    if known.isbuiltin != 1:
        found: Array = np.asarray(_Memory(plain, f"<u{known.itemsize}" if known.itemsize > 1 else "|u1"))
        return found.view(known)
    given: Array = np.asarray(_Memory(plain, known.str))
    return given


class Keeper:
    """Fills in records.

    Equal tensors are kept and described only once. A tensor on a CUDA device is described there, or copied during the
    computation, and filled in by ``flush``.

    Args:
        statistics: keep statistics (``Record.extra``) and a digest, no values.
        digests: keep a digest alone.
        versions: operators are not seen; what a tensor holds is known by PyTorch's own count of writes to it.

    Attributes:
        memo: avoids reading unchanged memory again.
    """

    def __init__(self, statistics: bool, digests: bool = False, versions: bool = False) -> None:
        self.memo = Memo()
        self._digests, self._versions = digests, versions
        self._statistics = statistics = statistics or digests
        self._dense = Scratch().dense if statistics else dense
        self._described: dict[bytes, Statistics] = {}
        self._bulk = Bulk()
        self._kept: dict[bytes, Array] = {}
        self._arguments: dict[Any, Any] = {}
        self._packed = PackedStatistics()
        self._copies = PinnedCopies(self._take)

    def fill(self, record: Record, tensor: Any, looked: Looked | None = None) -> None:
        """Takes the current content of ``tensor``; ``looked``: what ``look`` gave, if that is known."""
        if tensor.is_cpu:
            self._remembered(record, tensor, looked)
        elif self._statistics:
            self._packed.add(record, dense(tensor))
        else:
            self._copies.add(record, dense(tensor))

    def argument(self, record: Record, value: Array | str) -> None:
        """Takes an argument that is no tensor, and sets the record's dtype and shape."""
        known = value if isinstance(value, str) else (value.dtype.char, value.tobytes())
        made = self._arguments.get(known)
        if made is None:
            array = np.frombuffer(value.encode("utf-8", "replace"), np.uint8) if isinstance(value, str) else value
            record.dtype = from_numpy(array.dtype).name
            self.take(record, np.ascontiguousarray(array).reshape(array.shape))
            made = record.dtype, array.shape, record.digest, record.extra.statistics, record.values
            self._arguments[known] = made
        record.dtype, record.shape, record.digest, statistics, record.values = made
        if statistics is not None:
            record.extra.statistics = statistics

    def flush(self) -> None:
        """Fills in the pending records."""
        self._bulk.flush()
        self._packed.flush()
        self._copies.flush()

    def _remembered(self, record: Record, tensor: Any, looked: Looked | None) -> None:
        if self._versions and tensor.is_inference():  # their writes are not counted
            self._take(record, tensor)
            return
        looked = looked or look(tensor)
        known, where = self.memo.of(looked), looked[2]
        if self._versions:
            where = (*where, tensor._version)
        found = known.get(where)
        if found is None:
            area = region(tensor) if self._statistics and not self._versions else None
            self._take(record, tensor, known.get(area) if area is not None else None)
            statistics = record.extra.statistics
            known[where] = record.digest, statistics, record.values
            if area is not None:
                known[area] = statistics
            return
        record.digest, statistics, record.values = found
        if statistics is not None:
            record.extra.statistics = statistics

    def _take(self, record: Record, tensor: Any, statistics: Statistics | None = None) -> None:
        kind = _NUMPYS.get(tensor.dtype)
        if kind is None or not _LITTLE or tensor.numel() * kind.itemsize > _SMALL:
            self.take(record, host_array(tensor, self._dense), statistics)
            return
        if not tensor.is_contiguous() or tensor.is_conj() or tensor.is_neg():
            tensor = self._dense(tensor)
        address, size = tensor.data_ptr(), tensor.numel() * kind.itemsize
        if not address and size:
            raise Unread(NO_MEMORY)
        self._take_bytes(record, ctypes.string_at(address, size), kind, statistics)

    def _take_bytes(self, record: Record, held: bytes, kind: Any, statistics: Statistics | None) -> None:
        """``take`` of a small tensor by its bytes."""
        content = digest_of_bytes(held, kind, record.dtype, record.shape)
        if statistics is None and held and kind == np.float32 and self._statistics and content not in self._described:
            statistics = self._bulk.add(held)
        self._keep(record, content, lambda: np.frombuffer(held, kind).reshape(record.shape), statistics)

    def take(self, record: Record, array: Array, statistics: Statistics | None = None) -> None:
        """Takes the content of an array in C order."""
        self._keep(record, digest(array, record.dtype), lambda: array, statistics)

    def _keep(self, record: Record, content: bytes, array: Callable[[], Array], statistics: Statistics | None) -> None:
        """Fills a record in by its digest; ``array`` gives what is kept where the same was not kept before."""
        record.digest = content
        if self._digests:
            record.extra.statistics = PrintedStatistics({}, record.dtype)
        elif self._statistics:
            found = self._described.get(content)
            if found is None:
                found = self._described[content] = statistics or described(array(), record.dtype)
            record.extra.statistics = found
        else:
            kept = self._kept.get(content)
            if kept is None:
                kept = array()
                if kept.flags.writeable:
                    kept = np.array(kept, order="C", copy=True)
                    kept.flags.writeable = False
                self._kept[content] = kept
            record.values = kept
