"""Tensors on a CUDA device: described there, or copied to the host beside the computation."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable
from typing import Any

import torch
import xxhash

from harness.records import Record
from harness.stats import Statistics

_WORDS = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}
#: Number of pending copies before we wait for the oldest.
_RING = 32
_NUMBERS = 4


def row(tensor: Any) -> Any:
    """Describes a tensor in int64 [11], on its own device.

    These are the bits of the float64 numbers max, min, sum and sum of squares; counts of elements below zero, zeros,
    NaN, -inf and inf; and two sums over the elements' bits modulo 2^64, which change (almost surely) with any of them.

    Args:
        tensor: dense, in C order, not empty; the parts of a complex tensor form one sequence.
    """
    real = torch.view_as_real(tensor) if tensor.is_complex() else tensor
    wide = real.reshape(-1).to(torch.float64)
    numbers = torch.stack([wide.amax(), wide.amin(), wide.sum(), wide.square().sum()])
    words = real.reshape(-1).view(torch.uint8 if real.dtype is torch.bool else _WORDS[real.element_size()])
    words = words.to(torch.int64)
    weights = torch.arange(1, 2 * words.numel(), 2, device=words.device)
    counts = [wide < 0, wide == 0, wide.isnan(), wide == -math.inf, wide == math.inf]
    sums = [*(each.sum() for each in counts), words.sum(), (words * weights).sum()]
    return torch.cat([numbers.view(torch.int64), torch.stack(sums)])


def statistics_of(numbers: list[float], counts: list[int], count: int) -> Statistics:
    """Statistics from a ``row``'s numbers and counts."""
    high, low, total, squares = numbers
    below, zero, nan, negative_inf, positive_inf = counts
    return Statistics(
        high, low, total / count, math.sqrt(squares), count, below, count - below - zero - nan, zero, nan,
        negative_inf, positive_inf,
    )  # fmt: skip


class PackedStatistics:
    """Describes tensors on their device; the rows of a step come to the host in one transfer."""

    def __init__(self) -> None:
        self._waiting: list[tuple[Record, int, Any]] = []

    def add(self, record: Record, tensor: Any) -> None:
        """Begins to describe ``tensor`` (see ``row``); ``flush`` fills the record in."""
        count = tensor.numel() * (2 if tensor.is_complex() else 1)
        self._waiting.append((record, count, row(tensor)))

    def flush(self) -> None:
        """Fills in the records, in one transfer for each device."""
        waiting, self._waiting = self._waiting, []
        for device in dict.fromkeys(each.device for _, _, each in waiting):
            here = [each for each in waiting if each[2].device == device]
            packed = torch.stack([each for _, _, each in here]).cpu()
            numbers = packed[:, :_NUMBERS].contiguous().view(torch.float64).tolist()
            for (record, count, _), floats, whole in zip(here, numbers, packed.tolist(), strict=True):
                record.extra.statistics = statistics_of(floats, whole[_NUMBERS:-2], count)
                text = f"device row of {record.dtype}{record.shape} {whole}"
                record.digest = xxhash.xxh3_128(text.encode()).digest()


class PinnedCopies:
    """Copies tensors to pinned memory on a separate stream, so that the computation continues meanwhile.

    Args:
        take: called with each record and its tensor on the host, in the order they were added.
    """

    def __init__(self, take: Callable[[Record, Any], None]) -> None:
        self._take = take
        self._streams: dict[Any, Any] = {}
        self._flying: deque[tuple[Record, Any, Any]] = deque()

    def add(self, record: Record, tensor: Any) -> None:
        """Begins to copy the current content of ``tensor``; waits for the oldest copy if too many are pending."""
        stream = self._streams.get(tensor.device)
        if stream is None:
            stream = self._streams[tensor.device] = torch.cuda.Stream(tensor.device)
        taken = tensor.clone()  # the next operator may write into it
        stream.wait_stream(torch.cuda.current_stream(tensor.device))
        host = torch.empty(tensor.shape, dtype=tensor.dtype, pin_memory=True)
        with torch.cuda.stream(stream):
            host.copy_(taken, non_blocking=True)
            taken.record_stream(stream)
            done = stream.record_event()
        self._flying.append((record, host, done))
        if len(self._flying) > _RING:
            self._land()

    def flush(self) -> None:
        """Waits for all copies."""
        while self._flying:
            self._land()

    def _land(self) -> None:
        record, host, done = self._flying.popleft()
        done.synchronize()
        self._take(record, host)
