"""Verdicts on a million slots that nearly all agree, in a few bytes each.

While both sides have the same slots in the same order, all that is kept of a slot that agrees is its digest. What else
its verdict says is kept once for all iterations that look alike, and the verdict is made again each time it is asked
for.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple, overload

from harness.compare.content import Known, both
from harness.compare.verdict import CountedSlots, SlotVerdict, Verdict
from harness.errors import RecordError
from harness.records import Record, SlotKey
from harness.store import describe_key

#: bytes of a digest
_DIGEST = 16
_Where = tuple[int, int, int]
_Place = tuple[str, int, str, int]
#: Makes a ``_Look`` in half the time of its class.
_new = tuple.__new__


class _Look(NamedTuple):
    """What the verdict on a slot that agrees says (see ``SlotVerdict``)."""

    verdict: Verdict
    op_type: str
    dtype: str
    shape: tuple[int, ...]
    source: str | None
    format: str

    def told(self, key: SlotKey) -> SlotVerdict:
        """The verdict."""
        return SlotVerdict(key, *self[:4], source=self.source, format=self.format)


class _Layout(NamedTuple):
    """The slots of an iteration: their places in it, and their looks; None where the verdict itself is kept."""

    places: tuple[_Place, ...]
    looks: tuple[_Look | None, ...]


class Packed(CountedSlots):
    """Verdicts in order; the slots of one iteration of one graph lie side by side."""

    def __init__(self) -> None:
        #: number of each iteration, by rank, graph and label; and the position of its first slot
        self._numbers: dict[_Where, int] = {}
        self._starts: list[int] = []
        self._layouts: list[_Layout] = []
        self._alike: dict[_Layout, _Layout] = {}
        #: the iteration whose slots are added, and these
        self._where: _Where | None = None
        self._open: dict[_Place, _Look | None] = {}
        self._others: dict[int, SlotVerdict] = {}
        self._contents = bytearray()
        self._unmade: dict[int, Known | tuple[Known, Known]] = {}
        self._counts: Counter[Verdict] | None = None
        self._last: tuple[_Layout | None, dict[_Place, int]] = None, {}

    def admits(self, key: SlotKey) -> bool:
        """Whether a slot may come next: not if its iteration came before another one.

        Raises:
            RecordError: it was there before.
        """
        where = key[:3]
        if where == self._where:
            if key[3:] in self._open:
                raise RecordError(f"the capture has two records for {describe_key(key)}")
            return True
        return self._begins(where)

    def _begins(self, where: _Where) -> bool:
        """Begins another iteration; False if it was there before."""
        if where in self._numbers:
            return False
        self.close()
        self._numbers[where] = len(self._starts)
        self._starts.append(len(self))
        self._where = where
        return True

    def agree(self, found: Record, verdict: Verdict, known: Known) -> None:
        """Adds a slot that agrees.

        Args:
            known: its digest, or the record to make it from.
        """
        look = _new(_Look, (verdict, found.op_type, found.dtype, found.shape, found.source, found.format))
        self._add(found.key, look, known)

    def differ(self, verdict: SlotVerdict, expected: bytes | Record, found: Record) -> None:
        """Adds any other slot.

        Args:
            expected: the golden's record, or its digest.
        """
        self._others[len(self)] = verdict
        self._add(found.key, None, (expected, found))

    def _add(self, key: SlotKey, look: _Look | None, known: Known | tuple[Known, Known]) -> None:
        self._open[key[3:]] = look
        if not isinstance(known, bytes):
            self._unmade[len(self)] = known
            known = bytes(_DIGEST)
        self._contents += known

    def close(self) -> None:
        """Ends an iteration."""
        if len(self._layouts) < len(self._starts):
            layout = _Layout(tuple(self._open), tuple(self._open.values()))
            last = self._layouts[-1] if self._layouts else None
            self._layouts.append(last if last == layout else self._alike.setdefault(layout, layout))
            self._open, self._where = {}, None

    def __len__(self) -> int:
        return len(self._contents) // _DIGEST

    def __iter__(self) -> Iterator[SlotVerdict]:
        for where, number in self._numbers.items():
            for at, (place, look) in enumerate(zip(*self._layouts[number], strict=True), self._starts[number]):
                yield self._others[at] if look is None else look.told(SlotKey._make((*where, *place)))

    @overload
    def __getitem__(self, at: int) -> SlotVerdict: ...

    @overload
    def __getitem__(self, at: slice) -> list[SlotVerdict]: ...

    def __getitem__(self, at: int | slice) -> Any:
        if isinstance(at, slice):
            return [self[each] for each in range(*at.indices(len(self)))]
        at = range(len(self))[at]
        if (other := self._others.get(at)) is not None:
            return other
        number = bisect_right(self._starts, at) - 1
        places, looks = self._layouts[number]
        look = looks[at - self._starts[number]]
        assert look is not None
        return look.told(SlotKey._make((*self._wheres[number], *places[at - self._starts[number]])))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence) or len(other) != len(self):
            return False
        return all(one == two for one, two in zip(self, other, strict=True))

    __hash__ = None  # type: ignore[assignment]

    @cached_property
    def _wheres(self) -> list[_Where]:
        return list(self._numbers)

    def keys(self) -> Iterator[SlotKey]:
        """The slots."""
        for where, number in self._numbers.items():
            yield from (SlotKey._make((*where, *place)) for place in self._layouts[number].places)

    def steps(self) -> Iterable[_Where]:
        return self._numbers

    def stretches(self) -> Iterator[tuple[_Where, int, Sequence[_Place], Sequence[bool]]]:
        """Of each step: its rank, graph and label, the position of its first slot, and the place of each slot in it and
        whether it is one of those ``apart``."""
        for where, number in self._numbers.items():
            places, looks = self._layouts[number]
            yield where, self._starts[number], places, [look is None for look in looks]

    def counted(self) -> Counter[Verdict]:
        if self._where is None:  # nothing is added any more
            if self._counts is None:
                self._counts = self._count()
            return self._counts
        return self._count()

    def _count(self) -> Counter[Verdict]:
        found = Counter(slot.verdict for slot in self._others.values())
        times = Counter(map(id, self._layouts))
        for layout in {id(layout): layout for layout in self._layouts}.values():
            for verdict in (look.verdict for look in layout.looks if look is not None):
                found[verdict] += times[id(layout)]
        return found

    def apart(self) -> list[SlotVerdict]:
        return [self._others[at] for at in sorted(self._others)]

    def position(self, key: SlotKey) -> int:
        """The place of a slot; ``KeyError`` if there is none."""
        number = self._numbers[key[:3]]
        layout, places = self._last
        if layout is not self._layouts[number]:
            layout = self._layouts[number]
            places = {place: at for at, place in enumerate(layout.places)}
            self._last = layout, places
        return self._starts[number] + places[key[3:]]

    def content(self, at: int) -> Known | tuple[Known, Known]:
        """The digest of a slot, or what it is made from; of both sides if they differ."""
        known = self._unmade.get(at)
        return bytes(self._contents[at * _DIGEST : (at + 1) * _DIGEST]) if known is None else known


class PackedDigests(Mapping[SlotKey, tuple[bytes | None, bytes | None]]):
    """The digests of both sides, made on request."""

    def __init__(self, slots: Packed) -> None:
        self._slots = slots

    def __getitem__(self, key: SlotKey) -> tuple[bytes | None, bytes | None]:
        return both(self._slots.content(self._slots.position(key)))

    def __iter__(self) -> Iterator[SlotKey]:
        return self._slots.keys()

    def __len__(self) -> int:
        return len(self._slots)
