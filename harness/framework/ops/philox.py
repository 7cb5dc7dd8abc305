"""Philox 4x32-10 (Salmon et al., 2011), the counter-based generator of random words."""

from __future__ import annotations

from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]

#: multipliers and key increments
_M0, _M1 = np.uint64(0xD2511F53), np.uint64(0xCD9E8D57)
_W0, _W1 = 0x9E3779B9, 0xBB67AE85
_LOW = np.uint64(0xFFFFFFFF)
_HALF = np.uint64(32)
_ROUNDS = 10


def words(key: int, upper: int, count: int, first: int = 0) -> Array:
    """``count`` words (uint32) of the blocks from number ``first`` on, with this ``key``; a block's counter is its
    number, with ``upper`` above it. All three have 64 bits."""
    blocks = -(-count // 4)
    index = np.arange(blocks, dtype=np.uint64) + np.uint64(first)
    c0, c1 = index & _LOW, index >> _HALF
    c2, c3 = np.full(blocks, upper & 0xFFFFFFFF, np.uint64), np.full(blocks, upper >> 32, np.uint64)
    key0, key1 = key & 0xFFFFFFFF, key >> 32
    for _ in range(_ROUNDS):
        left, right = c0 * _M0, c2 * _M1
        c0, c1, c2, c3 = (
            (right >> _HALF) ^ c1 ^ np.uint64(key0),
            right & _LOW,
            (left >> _HALF) ^ c3 ^ np.uint64(key1),
            left & _LOW,
        )
        key0, key1 = (key0 + _W0) & 0xFFFFFFFF, (key1 + _W1) & 0xFFFFFFFF
    return np.stack([c0, c1, c2, c3], axis=1).reshape(-1)[:count].astype(np.uint32)
