"""Reads a tensor's content while it exists: values, or statistics without values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from harness.capture.torch.describing import described
from harness.capture.torch.device import PackedStatistics, PinnedCopies
from harness.capture.torch.memo import Looked, Memo, look, region
from harness.capture.torch.parts import DTYPES, Unread
from harness.dtypes import from_numpy
from harness.records import Array, Record
from harness.stats import Statistics, digest
from harness.stats.printed import PrintedStatistics


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


class _Memory:
    """A tensor's memory for numpy. ``tensor.numpy()`` would mark the storage, so that programs could no longer resize
    it."""

    __slots__ = ("__array_interface__", "_tensor")

    def __init__(self, tensor: Any, kind: str) -> None:
        address = tensor.data_ptr()
        if not address and tensor.numel():
            raise Unread("its storage has no memory")
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
        self.take(record, host_array(tensor, self._dense), statistics)

    def take(self, record: Record, array: Array, statistics: Statistics | None = None) -> None:
        """Takes the content of an array in C order."""
        record.digest = content = digest(array, record.dtype)
        if self._digests:
            record.extra.statistics = PrintedStatistics({}, record.dtype)
            return
        if self._statistics:
            found = self._described.get(content)
            if found is None:
                found = self._described[content] = statistics or described(array, record.dtype)
            record.extra.statistics = found
            return
        kept = self._kept.get(content)
        if kept is None:
            kept = self._kept[content] = np.array(array, order="C", copy=True)
            kept.flags.writeable = False
        record.values = kept
