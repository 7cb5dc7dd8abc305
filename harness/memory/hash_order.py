"""The order in which MindSpore lists the tensors of a solver: that of the hash table it keeps them in.

The table probes linearly through a power of two of places, and the key that lies further from home goes first ("robin
hood" hashing). This module keeps only what decides the order. Checked against the ``somas_solver_*.ir`` of MindSpore
2.10.0.
"""

from __future__ import annotations

from collections.abc import Iterable

_WORD = (1 << 64) - 1
#: one byte describes a place: the distance from home + 1 in the high bits, a piece of the hash below
_BYTE = 0xFF
_HASH_BITS = 5


def hash_order(keys: Iterable[int]) -> list[int]:
    """``keys`` (at least 0, each once) as the table lists them after they were put in, in the order given."""
    table = _Table(8)
    for key in keys:
        while not table.put(key):
            table = table.larger()
    return table.keys()


def _mixed(key: int) -> int:
    """64-bit hash of a whole number: two rounds of multiplying and folding."""
    value = key
    for factor in (0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53):
        value = (value ^ value >> 33) * factor & _WORD
    return value ^ value >> 33


class _Table:
    """The places of one size of the table.

    Args:
        places: number of homes, a power of two. Four of five may be taken; some places lie after the last home.
    """

    def __init__(self, places: int) -> None:
        self._homes = places
        self._most = places * 80 // 100
        self._key = [-1] * (places + min(self._most, _BYTE) + 1)
        self._byte = [0] * len(self._key)
        self._bits = _HASH_BITS
        self._count = 0
        self._crowded = False

    def keys(self) -> list[int]:
        """The keys of the table, from the first place on."""
        return [key for key in self._key if key >= 0]

    def larger(self) -> _Table:
        """A table of twice the size with the same keys."""
        table = _Table(self._homes * 2)
        for key in self.keys():
            while not table.put(key):  # pragma: no cover - half empty as it is, it always has room
                table = table.larger()
        return table

    def put(self, key: int) -> bool:
        """Puts a key in; False where the table must grow first."""
        if self._count >= self._most or (self._crowded and not self._coarsen()):
            return False
        value = _mixed(key)
        step = 1 << self._bits
        place = value >> _HASH_BITS & self._homes - 1
        byte = step + ((value & (1 << _HASH_BITS) - 1) >> _HASH_BITS - self._bits)
        while byte <= self._byte[place]:
            place, byte = place + 1, byte + step
        end = self._byte.index(0, place)
        moved = [b + step for b in self._byte[place:end]]
        self._key[place : end + 1] = [key, *self._key[place:end]]
        self._byte[place : end + 1] = [byte, *moved]
        self._crowded = any(b + step > _BYTE for b in (byte, *moved))
        self._count += 1
        return True

    def _coarsen(self) -> bool:
        """Keeps a bit less of each hash, so that greater distances fit; False where none is left."""
        if self._bits <= 1:
            return False
        self._bits -= 1
        self._byte = [b >> 1 for b in self._byte]
        self._crowded = False
        return True
