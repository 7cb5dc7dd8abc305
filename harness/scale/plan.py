"""The parts of a comparison, made again whenever they are needed: a list would grow with ranks and iterations."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby, islice
from typing import NamedTuple

from harness.compare.tolerances import Tolerances
from harness.scale.keep import Keep
from harness.scale.remote import TASK, RemoteTree
from harness.scale.wire import WHOLE, Part, Side, Work

#: Parts of one task at the most, and tasks that each worker has at the least before parts are put together.
TOGETHER, EACH = 64, 8
#: How many tasks of each worker's what is left would make: the first tasks are larger, so that there are fewer.
LEFT_EACH = 3
#: Tasks of each worker that read the heads of ranks.
HEADS_EACH = 1

#: A part of a tree, or of work, its bytes, and a text that changes with its files.
Sized = tuple[Part, int, str]
Wanted = tuple[Work, int, str]


@dataclass(frozen=True)
class Plan:
    """Parts of work.

    Attributes:
        made: makes them, in order, for a way of keeping.
        count, size: how many, and bytes of all.
        ranks: of which they are.
        whole: whether one holds all graphs of an iteration.
        both: whether each has both sides.
    """

    made: Callable[[Keep], Iterable[Wanted]]
    count: int
    size: int
    ranks: frozenset[int]
    whole: bool = False
    both: bool = False


class _Place(NamedTuple):
    """A part of a tree, and the same of the expected tree, if a worker sees both."""

    tree: RemoteTree
    own: Sized
    mate: Sized | None = None

    @property
    def size(self) -> int:
        """Bytes of both."""
        return self.own[1] + (self.mate[1] if self.mate is not None else 0)


@dataclass(frozen=True)
class Asked:
    """What a comparison's parts have in common; see ``Work``."""

    golden: Side | None = None
    tolerances: Tolerances | None = None
    measured: bool = True


def planned(
    one: RemoteTree | None, other: RemoteTree, beside: Callable[[int], bool] = lambda rank: False,
    asked: Asked = Asked(),
) -> Plan:  # fmt: skip
    """The parts of a comparison: those of both trees side by side where a worker sees both.

    Args:
        one, other: the expected tree, None where there is none, and the found one.
        beside: whether some worker sees a rank of both trees; its answers must not change.
        asked: the golden run in place of the expected tree, and how slots are judged.
    """
    count = size = 0
    ranks: set[int] = set()
    whole, both = False, True
    for place in _places(one, other, beside):
        part = place.own[0]
        count, size = count + 1, size + place.size
        ranks.add(part.rank)
        whole = whole or part.graph == WHOLE
        both = both and (asked.golden is not None or place.mate is not None)
    return Plan(partial(_wanted, one, other, beside, asked), count, size, frozenset(ranks), whole, both)


def listed(wanted: Sequence[Wanted]) -> Plan:
    """Of parts that are known."""
    ranks = frozenset(work.part.rank for work, _, _ in wanted)
    return Plan(lambda keep: wanted, len(wanted), sum(size for _, size, _ in wanted), ranks)


def _places(one: RemoteTree | None, other: RemoteTree, beside: Callable[[int], bool]) -> Iterator[_Place]:
    """The parts of one tree with their mates, then those of the expected tree that have none."""
    expected = {head.rank: head for head in one.heads} if one is not None else {}
    paired = {rank for rank in expected if beside(rank)}
    for head in other.heads:
        mates: dict[tuple[int, ...], Sized] = {}
        if one is not None and head.rank in paired:
            mates = {each[0][:3]: each for each in one.parts_of(expected[head.rank])}
        for own in list(other.parts_of(head)):  # some are divided meanwhile
            mate = mates.get(own[0][:3])
            if one is None or mate is None:
                yield _Place(other, own)
            elif own[0].batch == 0:
                yield from _pairs(one, other, own, mate)
    if one is not None:
        found = {head.rank: head for head in other.heads}
        for head in one.heads:
            there = other.parts_of(found[head.rank]) if head.rank in found and head.rank in paired else ()
            known = {each[0][:3] for each in there}
            yield from (_Place(one, own) for own in one.parts_of(head) if own[0][:3] not in known)


def _pairs(one: RemoteTree, other: RemoteTree, own: Sized, mate: Sized) -> Iterator[_Place]:
    """The parts of an iteration that both trees have, in as many batches as the larger side needs."""
    of = max(own[0].of, mate[0].of)
    one.divide(mate[0], of)
    other.divide(own[0], of)
    sizes = [part.of * size // of for part, size, _ in (own, mate)]
    for batch in range(of):
        yield _Place(other, (own[0]._replace(batch=batch, of=of), sizes[0], own[2]), (mate[0], sizes[1], mate[2]))


def _wanted(
    one: RemoteTree | None, other: RemoteTree, beside: Callable[[int], bool], asked: Asked, keep: Keep
) -> Iterator[Wanted]:
    for place in _places(one, other, beside):
        tree, (part, _, stamp), mate = place
        judged: tuple[Tolerances | None, bool] = asked.tolerances, asked.measured
        expected: Side | None = asked.golden
        found: Side | None = tree.tree
        stamps = ""
        if one is not None and mate is not None:
            expected, stamps = one.tree, mate[2]
        elif expected is not None:
            stamps = str(expected)
        else:
            judged = None, True
            expected, found = (found, None) if tree is one else (None, found)
        yield Work(part, expected, found, *judged, tree.described, keep, tree.only), place.size, f"{stamp} {stamps}"


def together(ranks: Sequence[int], seers: Callable[[int], object], workers: int) -> Iterator[tuple[int, ...]]:
    """Ranks in a row of which one task reads the heads: the same workers see them, and all workers get some."""
    most = max(1, min(TOGETHER, len(ranks) // (HEADS_EACH * max(1, workers))))
    for _, alike in groupby(ranks, key=seers):
        some = iter(alike)
        while group := tuple(islice(some, most)):
            yield group


def grouped(
    wanted: Iterable[Wanted], count: int, workers: int, seers: Callable[[Work], object]
) -> Iterator[list[Wanted]]:
    """Parts that one task does: several whose slots need not travel, unless workers would be idle.

    Args:
        count: how many parts there are.
        seers: tells parts by the workers that see them; a task's are alike.
    """
    workers = max(1, workers)
    least = count // (EACH * workers)
    group: list[Wanted] = []
    size, most = 0, 1
    for done, each in enumerate(wanted):
        work = each[0]
        alike = group and (work.keep, seers(work)) == (group[-1][0].keep, seers(group[-1][0]))
        if group and (not alike or work.keep == "all" or len(group) >= most or size + each[1] > TASK):
            yield group
            group, size = [], 0
        if not group:
            most = min(TOGETHER, max(least, (count - done) // (LEFT_EACH * workers)))
        group.append(each)
        size += each[1]
    if group:
        yield group
