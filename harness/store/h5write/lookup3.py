"""Jenkins' lookup3 hash: the checksum of HDF5's metadata.

A public-domain algorithm (Bob Jenkins, 2006); HDF5 uses it with an initial value of 0. Many strings of one length are
hashed side by side with numpy, because headers of objects come by the thousand.
"""

from __future__ import annotations

import struct
from collections import defaultdict
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

_START = 0xDEADBEEF
_MASK = 0xFFFFFFFF

#: Bytes up to which a string's checksum is remembered.
_SHORT = 2048

#: From how many strings of one length on numpy pays.
_MANY = 48

# A word is a Python int, or a column of them as uint32. Both stay below 2**32 by the mask (which numpy does not need).
_Word = Any


def checksums(strings: Sequence[bytes]) -> list[int]:
    """The 32-bit checksum of each string."""
    by_length: dict[int, list[int]] = defaultdict(list)
    for number, string in enumerate(strings):
        by_length[len(string)].append(number)
    results = [0] * len(strings)
    for length, numbers in by_length.items():
        if len(numbers) < _MANY:
            single = _known if length <= _SHORT else _single
            sums = [single(strings[number]) for number in numbers]
        else:
            table = _words(b"".join(_padded(strings[number]) for number in numbers)).reshape(len(numbers), -1)
            sums = np.broadcast_to(_hash(list(table.T), length), len(numbers)).tolist()
        for number, found in zip(numbers, sums, strict=True):
            results[number] = found
    return results


def checksum(string: bytes) -> int:
    """The 32-bit checksum of one string."""
    return checksums([string])[0]


def _single(string: bytes) -> int:
    """The checksum of one string."""
    padded = _padded(string)
    found: int = _hash(struct.unpack(f"<{len(padded) // 4}I", padded), len(string))
    return found


# Headers of like stores are mostly the same, and what was just written is read again.
_known = lru_cache(maxsize=2048)(_single)


def _padded(string: bytes) -> bytes:
    return string + bytes(-len(string) % 12)


def _words(string: bytes) -> np.ndarray[Any, np.dtype[np.uint32]]:
    return np.frombuffer(_padded(string), "<u4").astype(np.uint32)


def _hash(words: Sequence[_Word], length: int) -> _Word:
    """lookup3 over words, three at a time; ``length`` in bytes is part of it."""
    a = b = c = (_START + length) & _MASK
    last = len(words) - 3
    # Rotations, and the rounds themselves, are spelled out: a call each would double the time.
    for at in range(0, last, 3):
        a, b, c = (a + words[at]) & _MASK, (b + words[at + 1]) & _MASK, (c + words[at + 2]) & _MASK
        a, c = (a - c ^ (c << 4 | c >> 28)) & _MASK, c + b & _MASK
        b, a = (b - a ^ (a << 6 | a >> 26)) & _MASK, a + c & _MASK
        c, b = (c - b ^ (b << 8 | b >> 24)) & _MASK, b + a & _MASK
        a, c = (a - c ^ (c << 16 | c >> 16)) & _MASK, c + b & _MASK
        b, a = (b - a ^ (a << 19 | a >> 13)) & _MASK, a + c & _MASK
        c, b = (c - b ^ (b << 4 | b >> 28)) & _MASK, b + a & _MASK
    if last < 0:
        return c
    return _final(a + words[last] & _MASK, b + words[last + 1] & _MASK, c + words[last + 2] & _MASK)


def _final(a: _Word, b: _Word, c: _Word) -> _Word:
    c = (c ^ b) - (b << 14 | b >> 18) & _MASK
    a = (a ^ c) - (c << 11 | c >> 21) & _MASK
    b = (b ^ a) - (a << 25 | a >> 7) & _MASK
    c = (c ^ b) - (b << 16 | b >> 16) & _MASK
    a = (a ^ c) - (c << 4 | c >> 28) & _MASK
    b = (b ^ a) - (a << 14 | a >> 18) & _MASK
    return (c ^ b) - (b << 24 | b >> 8) & _MASK
