"""Reads a tensor's content while it exists: values, or statistics without values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from harness import dtypes
from harness.capture.torch.describing import described
from harness.capture.torch.device import PackedStatistics, PinnedCopies
from harness.capture.torch.memo import Memo, place, region
from harness.dtypes import DType
from harness.records import Array, Record
from harness.stats import Statistics, digest

#: a dtype of PyTorch's -> ours; the others (packed, quantised) have none
DTYPES: dict[Any, DType] = {
    getattr(torch, name): dtypes.by_name(name)
    for name in (
        "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64",
        "bfloat16", "complex64", "complex128", *(each.lower for each in dtypes.FLOATS8),
    )
    if hasattr(torch, name)
} | {torch.bool: dtypes.bool_}  # fmt: skip


_PLAIN = torch.Tensor.__torch_dispatch__
_USUAL = frozenset({torch.Tensor, torch.nn.Parameter})


def unreadable(tensor: Any) -> str | None:
    """Says why a tensor's values cannot be read; None if they can."""
    if type(tensor) in _USUAL and tensor.is_cpu and tensor.layout is torch.strided and tensor.dtype in DTYPES:
        return None
    if type(tensor).__torch_dispatch__ is not _PLAIN:
        return f"a {type(tensor).__name__} is not a plain tensor"
    if tensor.layout is not torch.strided:
        return f"its layout is {tensor.layout}"
    if tensor.dtype not in DTYPES:
        return f"its dtype is {tensor.dtype}"
    if tensor.device.type not in ("cpu", "cuda"):
        return f"it lies on device {tensor.device.type}"
    return None


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


def host_array(tensor: Any, dense: Callable[[Any], Any] = dense) -> Array:
    """The values of a tensor on the CPU; a view of its memory if that is in C order, else of a dense copy."""
    plain = dense(tensor)
    known = DTYPES[plain.dtype]
    if known.numpy.isbuiltin != 1:
        array: Array = plain.view(torch.int16 if known.itemsize == 2 else torch.uint8).numpy().view(known.numpy)
        return array
    given: Array = plain.numpy()
    return given


class Keeper:
    """Fills in records.

    Equal tensors are kept and described only once. A tensor on a CUDA device is described there, or copied during the
    computation, and filled in by ``flush``.

    Args:
        statistics: keep statistics (``Record.extra``) and a digest, no values.

    Attributes:
        memo: avoids reading unchanged memory again.
    """

    def __init__(self, statistics: bool) -> None:
        self.memo = Memo()
        self._statistics = statistics
        self._dense = Scratch().dense if statistics else dense
        self._described: dict[bytes, Statistics] = {}
        self._kept: dict[bytes, Array] = {}
        self._packed = PackedStatistics()
        self._copies = PinnedCopies(self._take)

    def fill(self, record: Record, tensor: Any) -> None:
        """Takes the current content of ``tensor``."""
        if tensor.is_cpu:
            self._remembered(record, tensor)
        elif self._statistics:
            self._packed.add(record, dense(tensor))
        else:
            self._copies.add(record, dense(tensor))

    def flush(self) -> None:
        """Fills in the pending records."""
        self._packed.flush()
        self._copies.flush()

    def _remembered(self, record: Record, tensor: Any) -> None:
        known, where = self.memo.of(tensor), place(tensor)
        found = known.get(where)
        if found is None:
            area = region(tensor) if self._statistics else None
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
        array = host_array(tensor, self._dense)
        record.digest = content = digest(array, record.dtype)
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
