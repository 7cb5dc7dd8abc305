"""Buffers are reused, but never while somebody reads them."""

from __future__ import annotations

import numpy as np

from harness.capture.buffers import Buffers

SIZE = 1 << 18


def test_free_memory_is_used_again() -> None:
    buffers = Buffers()
    places = set()
    for _ in range(20):
        buffer = buffers.take(SIZE)
        places.add(buffer.ctypes.data)
        del buffer
    assert len(places) == 1


def test_memory_in_use_is_not() -> None:
    buffers = Buffers()
    held = []
    for number in range(12):
        held.append(buffers.take(SIZE)[128:].view(np.float32).reshape(-1, 4)[::2])
        held[-1][...] = number
    assert [float(array.max()) for array in held] == [float(array.min()) for array in held] == list(range(12))


def test_sizes() -> None:
    buffers = Buffers()
    assert [buffers.take(size).shape for size in (0, 7, SIZE, 1 << 27)] == [(0,), (7,), (SIZE,), (1 << 27,)]
