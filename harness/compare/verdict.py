"""The verdicts of a comparison on slots and on a run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from itertools import chain
from operator import attrgetter
from typing import Any, NamedTuple

from harness.compare.measurement import Measurement
from harness.compare.tolerances import EXACT, Tolerance
from harness.dtypes import spelled
from harness.lazy import lazy
from harness.records import Record, SlotKey


class Verdict(Enum):
    """The verdicts; every expected and every found slot has exactly one.

    Attributes:
        IDENTICAL: dtype, shape and every bit are equal.
        WITHIN: values differ, but the tolerance admits it.
        STATISTICS: one side kept only statistics, and they agree; values were not compared.
        UNSURE: what was kept cannot tell whether the slot holds; a gate fails.
        DIFFERS: dtype or shape differ, or values do beyond the tolerance.
        MISSING: only the expected side has the slot.
        UNEXPECTED: only the found side has it.
        NOT_COMPARED: a side could not read it; a gate fails unless somebody named it.
        ACCEPTED: likewise, and the marker or the golden names it.

    Examples:
        >>> from harness.compare import Verdict
        >>> [verdict.value for verdict in Verdict][:4]
        ['identical', 'within tolerance', 'statistics agree', 'cannot tell']
        >>> [verdict.value for verdict in Verdict][4:]
        ['differs', 'missing', 'unexpected', 'not compared', 'not compared, accepted']
    """

    IDENTICAL = "identical"
    WITHIN = "within tolerance"
    STATISTICS = "statistics agree"
    UNSURE = "cannot tell"
    DIFFERS = "differs"
    MISSING = "missing"
    UNEXPECTED = "unexpected"
    NOT_COMPARED = "not compared"
    ACCEPTED = "not compared, accepted"

    # Each is there once. The one of ``Enum`` is a function of Python's, and every count asks for it.
    __hash__ = object.__hash__

    @property
    def holds(self) -> bool:
        """Whether a gate lets the slot pass."""
        return self in (Verdict.IDENTICAL, Verdict.WITHIN, Verdict.STATISTICS, Verdict.ACCEPTED)

    @property
    def counted(self) -> str:
        """The word after a number of slots: ``5 differing``, ``2 missing``."""
        return "differing" if self is Verdict.DIFFERS else self.value


_VERDICT = attrgetter("verdict")
#: Verdicts on slots that a side could not read.
GAPS = (Verdict.NOT_COMPARED, Verdict.ACCEPTED)
#: How often each verdict is there if nothing was compared. Going through an ``Enum`` takes longer than most counts.
_NONE = dict.fromkeys(Verdict, 0)


# Not frozen, although nobody changes one: frozen objects take four times as long to make.
@dataclass(slots=True, unsafe_hash=True)
class SlotVerdict:
    """The verdict on one slot.

    Attributes:
        key: the slot.
        verdict: the verdict on it.
        op_type: primitive name, or ``Parameter``.
        dtype: the expected dtype; the found one for an unexpected slot.
        shape: the expected shape; the found one for an unexpected slot.
        reason: why it is not identical, in words; empty if it is.
        source: source line of the operator (the found one's if both are known).
        measurement: how far the values are apart; None if that was not, or could not be, measured.
        tolerance: the tolerance applied.
        by_statistics: whether statistics were compared because values were not kept.
        overwritten: whether this input has, on both sides, the bits of an output of its operator's execution, because
            it was recorded after the operator overwrote it.
        found_as: its name on the found side, if it differs (see ``compare.pairing``).
        format: of the tensor whose ``dtype`` it is; see ``Record.format``.

    Examples:
        >>> from harness.capture import read_tree
        >>> from harness.compare import check
        >>> verdict = check(read_tree("dump"), read_tree("later")).slots[0]
        >>> verdict.key.operator, verdict.key.slot_name, verdict.verdict.value
        ('Default/MatMul-op0', 'input.0', 'identical')
    """

    key: SlotKey
    verdict: Verdict
    op_type: str
    dtype: str
    shape: tuple[int, ...]
    reason: str = ""
    source: str | None = None
    measurement: Measurement | None = None
    tolerance: Tolerance = EXACT
    by_statistics: bool = False
    overwritten: bool = False
    found_as: SlotKey | None = None
    format: str = "DefaultFormat"

    @property
    def dtype_shown(self) -> str:
        """The dtype as people see it: see ``dtypes.spelled``."""
        return spelled(self.dtype, self.format)


@dataclass(frozen=True, slots=True)
class OrderChange:
    """A change in the execution order of operators that both sides have.

    Attributes:
        position: position of the first operator execution out of order, counting only common ones.
        expected: the expected execution there, as (rank, graph, iteration, operator, execution).
        found: the found one.
    """

    position: int
    expected: tuple[int, int, int, str, int]
    found: tuple[int, int, int, str, int]


@dataclass(frozen=True, slots=True)
class Rename:
    """A missing operator that an unexpected one seems to replace.

    Attributes:
        graph: number of the graph.
        iteration: label of the step.
        expected: full name of the missing operator.
        found: full name of the unexpected one.
    """

    graph: int
    iteration: int
    expected: str
    found: str


class Uncompared(NamedTuple):
    """A slot that was left out of a comparison.

    Attributes:
        key: key under the name of the side that has it; for an output, one that no side is known to have written.
        why: why it was left out.
        carries: whether it may carry a difference: more than one number, or something an operator made.
    """

    key: SlotKey
    why: str
    carries: bool = True


class Altered(NamedTuple):
    """An operator that is not what it was, whatever it computed.

    Attributes:
        rank, graph: of the operator.
        operator: its name.
        name: of the attribute, of the input that is a constant, or ``type``.
        expected, found: as texts; ``nothing`` where there is none.
        source: source line, if known.
    """

    rank: int
    graph: int
    operator: str
    name: str
    expected: str
    found: str
    source: str | None = None

    def __str__(self) -> str:
        return f"{self.operator}: {self.name} is {self.found[:80]}, expected {self.expected[:80]}"


@dataclass(frozen=True)
class Unlisted:
    """Ranks whose slots all hold, in the same order on both sides; a comparison lists the slots of the others.

    Attributes:
        ranks: these ranks, ascending.
        counts: the number of their slots with each verdict.
        slots: every slot of one of them, in order.
        reasoned: the slots of one of them that have a reason, in order.
        having: those of them that have a slot, whatever its rank.
    """

    ranks: Sequence[int]
    counts: Mapping[Verdict, int]
    slots: Callable[[int], Iterable[SlotVerdict]]
    reasoned: Callable[[int], Iterable[SlotVerdict]]
    having: Callable[[SlotKey], Iterable[int]]


def _by_rank(
    listed: Sequence[SlotVerdict], ranks: Sequence[int], others: Callable[[int], Iterable[SlotVerdict]]
) -> Iterator[SlotVerdict]:
    """The listed slots, which come rank by rank, and those of ``ranks`` between them."""
    left = iter(ranks)
    coming = next(left, None)
    for slot in listed:
        while coming is not None and coming < slot.key.rank:
            yield from others(coming)
            coming = next(left, None)
        yield slot
    while coming is not None:
        yield from others(coming)
        coming = next(left, None)


class CountedSlots(Sequence[SlotVerdict]):
    """Slots that are counted without making the verdict on each."""

    def counted(self) -> Mapping[Verdict, int]:
        """The number of slots with each verdict that there is."""
        raise NotImplementedError

    def apart(self) -> Iterable[SlotVerdict]:
        """The slots, in order, of which the sides have other contents; all others hold."""
        raise NotImplementedError

    def keys(self) -> Iterable[SlotKey]:
        """The slots' keys, in order."""
        raise NotImplementedError

    def steps(self) -> Iterable[tuple[int, int, int]]:
        """Rank, graph and label of each step that has slots, once."""
        raise NotImplementedError


@dataclass(eq=False)
class Comparison:
    """The verdicts on all slots of a run.

    Attributes:
        slots: expected slots in execution order; unexpected ones stand where they were found.
        order: the first change of execution order, if any.
        renames: operators that seem to have another name now.
        digests: expected and found digest of each slot; None if a side lacks the slot. ``check`` makes them from the
            records on request.
        pairs: both sides' records of each common slot whose digests differ. They load values on request.
        further: by operator execution (the first five fields of a slot's key), slots of others that count as its
            inputs: those of operators fused with it on the found side, and of layouts before it (see
                ``compare.pairing``).
        counterparts: the corresponding found execution, by operator execution, if slots were paired.
        uncompared: slots that were left out and agree with nothing, by operator execution.
        found_order: the slots of the found side in its order, under the expected names; None if it is the order of
            ``slots``.
        unlisted: ranks that hold whole and whose slots are not in ``slots``; None if all are.
        composed: numbers of expected and found operators without a counterpart that correspond as groups, whose ends
            were compared (see ``explain.regions``).
        exchanged: operators of equal content that run in another order, by their names in the golden and in the run
            (see ``compare.renumbering``).
        renamed: operators and parameters that the alignment of operators found under another name, likewise.
        names: the golden's name of each operator and parameter of the run, by step (rank, graph and label) and name,
            where data flow that both sides state told it; empty elsewhere, and where all names are equal.
        gaps: slots that a side could not read; they are not in ``slots``.
        altered: operators whose type, attributes or constants are not those of the expected side.
        described: gives the operators of both sides, by rank, graph and name; none where nobody described them.

    Examples:
        >>> from harness.capture import read_tree
        >>> from harness.compare import check
        >>> comparison = check(read_tree("dump"), read_tree("later"))
        >>> comparison.holds, {verdict.value: count for verdict, count in comparison.counts.items() if count}
        (True, {'identical': 12})
    """

    slots: Sequence[SlotVerdict]
    order: OrderChange | None = None
    renames: list[Rename] = field(default_factory=list)
    digests: Mapping[SlotKey, tuple[bytes | None, bytes | None]] = field(default_factory=dict, repr=False)
    pairs: Mapping[SlotKey, tuple[Record, Record]] = field(default_factory=dict, repr=False)
    further: Mapping[tuple[object, ...], Sequence[SlotKey]] = field(default_factory=dict, repr=False)
    counterparts: Mapping[tuple[object, ...], Sequence[str]] = field(default_factory=dict, repr=False)
    uncompared: Mapping[tuple[object, ...], Sequence[Uncompared]] = field(default_factory=dict, repr=False)
    found_order: Sequence[SlotKey] | None = field(default=None, repr=False)
    composed: tuple[int, int] = (0, 0)
    exchanged: tuple[tuple[str, str], ...] = ()
    renamed: tuple[tuple[str, str], ...] = ()
    names: Mapping[tuple[int, int, int, str], str] = field(default_factory=dict, repr=False)
    unlisted: Unlisted | None = field(default=None, repr=False)
    gaps: Sequence[SlotVerdict] = ()
    altered: Sequence[Altered] = ()
    described: tuple[Callable[[], Mapping[Any, Any]], Callable[[], Mapping[Any, Any]]] = field(
        default=(dict, dict), repr=False
    )

    @lazy
    def counts(self) -> dict[Verdict, int]:
        """The number of slots with each verdict; every verdict is a key."""
        counted = dict(_NONE)
        if isinstance(self.slots, CountedSlots):
            counted.update(self.slots.counted())
        else:
            for slot in self.slots:
                counted[slot.verdict] += 1
        for verdict, count in self.unlisted.counts.items() if self.unlisted is not None else ():
            counted[verdict] += count
        for gap in self.gaps:
            counted[gap.verdict] += 1
        return counted

    @property
    def total(self) -> int:
        """The number of slots, unlisted ones and gaps included."""
        return self.compared + len(self.gaps)

    @property
    def compared(self) -> int:
        """The number of slots that were compared, unlisted ones included."""
        return len(self.slots) + (sum(self.unlisted.counts.values()) if self.unlisted is not None else 0)

    def every(self) -> Iterable[SlotVerdict]:
        """All slots in order, unlisted ones included, then the gaps."""
        left = self.unlisted
        listed = self.slots if left is None else _by_rank(self.slots, left.ranks, left.slots)
        return chain(listed, self.gaps) if self.gaps else listed

    def reasoned(self) -> Iterable[SlotVerdict]:
        """The slots that have a reason, in order, unlisted ones included, then the gaps."""
        left = self.unlisted
        every = self.slots if left is None else _by_rank(self.slots, left.ranks, left.reasoned)
        return (slot for slot in chain(every, self.gaps) if slot.reason)

    @property
    def holds(self) -> bool:
        """Whether a gate lets the run pass: something was compared, every slot holds, gaps are named, the order is the
        same, and operators are what they were."""
        if not self.compared or self.order is not None or self.altered or self.unnamed:
            return False
        if isinstance(self.slots, CountedSlots):
            return all(verdict.holds for verdict in self.slots.counted())
        return all(verdict.holds for verdict in set(map(_VERDICT, self.slots)))

    def apart(self) -> Iterable[SlotVerdict]:
        """The listed slots, in order, that may not hold; there are few where nearly all agree."""
        return self.slots.apart() if isinstance(self.slots, CountedSlots) else self.slots

    def listed(self) -> Iterable[SlotKey]:
        """The keys of the listed slots, in order."""
        return self.slots.keys() if isinstance(self.slots, CountedSlots) else (slot.key for slot in self.slots)

    def steps(self) -> set[tuple[int, int, int]]:
        """Rank, graph and label of each step that has listed slots."""
        listed = self.slots
        return set(listed.steps() if isinstance(listed, CountedSlots) else (slot.key[:3] for slot in listed))

    @property
    def unnamed(self) -> list[SlotVerdict]:
        """The gaps that nobody named."""
        return [gap for gap in self.gaps if not gap.verdict.holds]

    def forget_counts(self) -> None:
        """Call this after removing slots."""
        self.__dict__.pop("counts", None)

    def failures(self) -> list[SlotVerdict]:
        """Slots that were compared and do not hold, in order."""
        return [slot for slot in self.apart() if not slot.verdict.holds]
