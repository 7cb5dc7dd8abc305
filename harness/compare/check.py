"""Checks a run against a golden, slot by slot."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, count
from typing import Any, Protocol, cast, runtime_checkable

from harness.compare.by_rows import check_rows
from harness.compare.collector import PausedCollector
from harness.compare.content import Digests, agree, content, kept
from harness.compare.divergence import find_order_change, find_renames, mark_overwritten
from harness.compare.judge import SlotJudge
from harness.compare.packed import Packed, PackedDigests
from harness.compare.tolerances import Tolerances
from harness.compare.verdict import Comparison, SlotVerdict
from harness.errors import RecordError
from harness.records import Record, Rows, SlotKey
from harness.store import StoredRun, describe_key

#: Verdicts on more slots than this are made each time they are asked for.
_FEW = 4096
#: Makes the judge of slots under tolerances; the second argument is ``measured`` of ``check``.
Judging = Callable[[Tolerances, bool], SlotJudge]


@runtime_checkable
class HasRecords(Protocol):
    """A capture, or anything else that yields its records in execution order."""

    def records(self) -> Iterable[Record]: ...


@runtime_checkable
class HasRows(Protocol):
    """A capture that may consist only of rows of statistics."""

    def as_rows(self) -> Rows | None: ...


def check(
    expected: StoredRun | HasRecords | Iterable[Record],
    found: HasRecords | Iterable[Record],
    tolerances: Tolerances | Any = None,
    *,
    order: bool = True,
    measured: bool = True,
    judging: Judging = SlotJudge,
) -> Comparison:
    """Judges every expected and every found slot.

    Slots are paired by their key. Bits are compared first, by digest if one side has it; values are measured only if
    the bits differ. Each side has one tensor in memory at a time; large tensors of files are read in blocks.

    Args:
        expected: a stored run, a capture, or records.
        found: a capture, a stored run, or records in execution order; consumed once.
        tolerances: ``Tolerances``, or anything ``Tolerances.parse`` takes.
        order: whether another execution order of the same operators fails.
        measured: whether to measure slots within their tolerance as well; a gate does not need that.
        judging: makes the judge of a slot, for example one that uses earlier measurements.

    Raises:
        ToleranceError: ``tolerances`` cannot be read.
        RecordError: a side has a slot twice, or a record has neither values nor a digest.

    Examples:
        >>> from harness.capture import read_tree
        >>> from harness.compare import check
        >>> from harness.store import GoldenStore
        >>> with GoldenStore.open("golden/net.h5") as store:
        ...     comparison = check(store.run("first", "tensor"), read_tree("later"), {"default": 1e-5})
        >>> comparison.holds, len(comparison.slots)
        (True, 12)
    """
    judge = judging(Tolerances.parse(tolerances), measured)
    left = judge.unlisted(order)
    with PausedCollector():
        if left is not None and left.ranks:
            listed = _one_by_one(_Golden(expected, frozenset(left.ranks)), _records(found), judge, order)
            listed.unlisted = left
            return listed
        rows, others = _as_rows(expected), _as_rows(found)
        quick = None if rows is None or others is None else check_rows(rows, others, judge)
    if quick is not None:
        return quick
    coming = _records(found) if others is None else others.records()
    if isinstance(expected, StoredRun) and isinstance(coming, (list, tuple)) and _is_the_same(expected, coming):
        return _identical(expected, coming, judge)
    return _one_by_one(_Golden(expected if rows is None else rows.records()), coming, judge, order)


def _is_the_same(expected: StoredRun, found: Sequence[Record]) -> bool:
    """Whether a run has all slots of the golden in its order, with the digests the golden has. Most have."""
    index = expected.index
    return len(index.position) == len(found) and all(
        record.digest == digest and record.key == key
        for key, digest, record in zip(index.keys, index.digests, found, strict=True)
    )


def _identical(expected: StoredRun, found: Sequence[Record], judge: SlotJudge) -> Comparison:
    """What ``_one_by_one`` gives of such a run."""
    digests = Digests(zip(expected.index.keys, expected.index.digests, strict=True))
    return Comparison([judge.identical(record.key, record) for record in found], digests=digests)


def _one_by_one(golden: _Golden, found: Iterable[Record], judge: SlotJudge, order: bool) -> Comparison:
    """Judges record after record; see ``check``."""
    found, packed = iter(found), Packed()
    pairs: dict[SlotKey, tuple[Record, Record]] = {}
    further = _in_step(golden, found, judge, packed, pairs)
    packed.close()
    if further is None and golden.ends_with(packed):
        slots, digests = packed if len(packed) > _FEW else list(packed), PackedDigests(packed)
        return Comparison(mark_overwritten(slots, digests) if pairs else slots, digests=digests, pairs=pairs)
    rest = found if further is None else chain([further], found)
    return _apart(golden, rest, judge, order, packed, pairs)


def _in_step(
    golden: _Golden, found: Iterator[Record], judge: SlotJudge, packed: Packed, pairs: dict[SlotKey, Any]
) -> Record | None:
    """Judges while both sides have the same slots in the same order; returns the first record that has another slot."""
    for record in found:
        key = record.key
        if not packed.admits(key) or (known := golden.next(key)) is None:
            return record
        same, one, other = (True, None, None) if known is record and record.numbers else agree(known, record)
        if same:
            packed.agree(record, judge.agreed(record), kept(known, one))
        else:
            wanted = known if isinstance(known, Record) else golden.record(key)
            pairs[key] = wanted, record
            packed.differ(judge.differing(wanted, record, other, one), known, record)
    return None


def _apart(
    golden: _Golden,
    found: Iterable[Record],
    judge: SlotJudge,
    order: bool,
    packed: Packed,
    pairs: dict[SlotKey, tuple[Record, Record]],
) -> Comparison:
    """Judges what is left from the first slot on that the sides do not share, or do not have in the same order."""
    verdicts = {slot.key: slot for slot in packed}
    digests = Digests(zip(verdicts, map(packed.content, count()), strict=False))
    golden.took(verdicts)
    for record in found:
        key = record.key
        if key in verdicts:
            raise RecordError(f"the capture has two records for {describe_key(key)}")
        known = golden.find(key)
        if known is None:
            verdicts[key] = judge.unexpected(record)
            digests.put(key, None, content(record))
            continue
        key = known.key if isinstance(known, Record) else key
        same, one, other = agree(known, record)
        if same:
            verdicts[key] = judge.identical(key, record)
            digests.put_same(key, kept(known, one))
            golden.forget(key)
        else:
            pairs[key] = golden.record(key), record
            verdicts[key] = judge.differing(*pairs[key], other, one)
            digests.put(key, known, record)
    placed, wanted = list(verdicts), golden.keys()
    for record in (golden.record(key) for key in wanted if key not in verdicts):
        verdicts[record.key] = judge.missing(record)
        digests.put(record.key, content(record), None)
    slots = [verdicts[key] for key in _merged(wanted, placed)]
    change = find_order_change(wanted, placed) if order else None
    moved = None if wanted == placed else placed
    marked, renames = mark_overwritten(slots, digests), find_renames(slots, digests)
    return Comparison(marked, change, renames, digests, pairs, found_order=moved)


def _as_rows(side: Any) -> Rows | None:
    """A side as columns; None if it cannot be read so."""
    # Not by ``isinstance``, which takes tens of microseconds for a protocol.
    reader: Callable[[], Rows | None] | None = getattr(side, "as_rows", None)
    return None if reader is None else reader()


def _records(side: HasRecords | Iterable[Record]) -> Iterable[Record]:
    reader: Callable[[], Iterable[Record]] | None = getattr(side, "records", None)
    return cast(Iterable[Record], side) if reader is None else reader()


class _Golden:
    """The expected side: digests in memory, records on request.

    Records outside a store are read in step with the found ones while both sides have the same slots, so that each
    tensor is read once; from the first slot they do not share, all are read at once.

    Args:
        but: ranks of a run that are left out; other sides give no records of them.
    """

    def __init__(self, expected: StoredRun | HasRecords | Iterable[Record], but: frozenset[int] = frozenset()) -> None:
        self._run = expected if isinstance(expected, StoredRun) else None
        self._digests: dict[SlotKey, bytes] = {}
        self._records: dict[SlotKey, Record | None] = {}
        self._coming: Iterator[Record] = iter(())
        #: slots of a run that ``next`` did not give yet
        self._keys: Iterator[SlotKey] = iter(())
        if isinstance(expected, StoredRun):
            index = expected.index
            self._digests = dict(zip(index.position, index.digests, strict=True))
            if but:
                self._digests = {key: found for key, found in self._digests.items() if key.rank not in but}
            self._keys = iter(self._digests)
        else:
            self._coming = iter(_records(expected))

    def find(self, key: SlotKey) -> bytes | Record | None:
        """The digest of ``key``, or its record; None if there is none."""
        if self._run is not None:
            return self._digests.get(key)
        record = self._records.get(key)
        if record is None and (record := next(self._coming, None)) is not None:
            self._take(record)
            if record.key != key:
                self._read_on()
                return self._records.get(key)
        return record

    def next(self, key: SlotKey) -> bytes | Record | None:
        """The next record, or its digest, if it is that of ``key``."""
        if self._run is not None:
            return self._digests[key] if next(self._keys, None) == key else None
        record = next(self._coming, None)
        if record is not None and record.key != key:
            self._take(record)
            return None
        return record

    def ends_with(self, slots: Sequence[SlotVerdict]) -> bool:
        """Whether there is nothing but these slots, which ``next`` gave."""
        if self._run is not None:
            return next(self._keys, None) is None
        self._read_on()
        return not self._records

    def took(self, keys: Iterable[SlotKey]) -> None:
        """Notes the slots that ``next`` gave, which nobody will ask for again."""
        if self._run is not None:
            return
        further, self._records = self._records, dict.fromkeys(keys)
        for record in further.values():
            assert record is not None
            self._take(record)

    def keys(self) -> list[SlotKey]:
        """All slots, in order."""
        self._read_on()
        return list(self._digests if self._run is not None else self._records)

    def _read_on(self) -> None:
        for record in self._coming:
            self._take(record)

    def _take(self, record: Record) -> None:
        if record.key in self._records:
            raise RecordError(f"the expected side has two records for {describe_key(record.key)}")
        self._records[record.key] = record

    def record(self, key: SlotKey) -> Record:
        """The expected record of a slot."""
        if self._run is not None:
            return self._run.record(self._run.index.position[key])
        record = self._records[key]
        assert record is not None
        return record

    def forget(self, key: SlotKey) -> None:
        """Keeps no more than the key of a slot that nobody will ask for again: there may be a million."""
        if self._run is None:
            self._records[key] = None


def _merged(expected: list[SlotKey], found: list[SlotKey]) -> Iterator[SlotKey]:
    """All keys: expected ones in their order, each unexpected one right after its predecessor on the found side."""
    if expected == found:
        yield from expected
        return
    known = set(expected)
    after: dict[SlotKey | None, list[SlotKey]] = {}
    last: SlotKey | None = None
    for key in found:
        if key in known:
            last = key
        else:
            after.setdefault(last, []).append(key)
    yield from after.get(None, ())
    for key in expected:
        yield key
        yield from after.get(key, ())
