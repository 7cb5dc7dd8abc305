"""The order in which MindSpore's parser goes through the variables of a block: that of its hash map.

The map is a table of slots, a power of two of them, probed one after the other; an entry nearer to its own slot gives
way to one that is further from its own (Robin Hood hashing). Keys are hashed in words of eight bytes.

Source: the order of values that nothing reads in function graphs of MindSpore 2.10.0, measured; the algorithm is that
of the public robin_hood hash map.
"""

from __future__ import annotations

from collections.abc import Iterable

_WORD = (1 << 64) - 1
_FACTOR, _SEED, _SHIFT = 0xC6A4A7935BD1E995, 0xE17A1465, 47
_SPREAD = 0xC4CEB9FE1A85EC53
#: bits of a hash that order the entries of one slot
_BITS = 5
_FIRST_SIZE, _LOAD = 8, 80


def order_of(names: Iterable[str]) -> list[str]:
    """``names``, which were put into a map in this order, as the map gives them back; each once."""
    table = _Table(_FIRST_SIZE)
    for name in dict.fromkeys(names):
        if len(table) == table.limit:
            larger = _Table(2 * table.size)
            for kept in table.names():
                larger.put(kept)
            table = larger
        table.put(name)
    return table.names()


class _Table:
    """Slots, each with a name and how far it is from its own slot, in steps of ``1 << _BITS`` (0: free)."""

    def __init__(self, size: int) -> None:
        self.size, self.limit = size, size * _LOAD // 100
        self._slots: list[tuple[int, str]] = [(0, "")] * (size + self.limit + 2)
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def names(self) -> list[str]:
        """The names, slot by slot."""
        return [name for far, name in self._slots if far]

    def put(self, name: str) -> None:
        """Adds a name that is not there yet."""
        step = 1 << _BITS
        bits = _hash(name.encode()) * _SPREAD & _WORD
        bits ^= bits >> 33
        at, far = (bits >> _BITS) & (self.size - 1), step + (bits & (step - 1))
        while far <= self._slots[at][0]:
            at, far = at + 1, far + step
        moved = far, name
        while moved[0]:
            self._slots[at], moved = moved, self._slots[at]
            at, moved = at + 1, (moved[0] + step if moved[0] else 0, moved[1])
        self._count += 1


def _hash(text: bytes) -> int:
    found = _SEED ^ (len(text) * _FACTOR & _WORD)
    whole = len(text) - len(text) % 8
    for at in range(0, whole, 8):
        word = int.from_bytes(text[at : at + 8], "little") * _FACTOR & _WORD
        word = (word ^ word >> _SHIFT) * _FACTOR & _WORD
        found = (found ^ word) * _FACTOR & _WORD
    if whole < len(text):
        found = (found ^ int.from_bytes(text[whole:], "little")) * _FACTOR & _WORD
    return found ^ found >> _SHIFT
