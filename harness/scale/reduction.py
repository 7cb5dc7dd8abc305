"""What workers left out of their answers, and whether it may stay so: slots that hold are counted, not listed.

A part all of whose slots hold is a few numbers and a digest of its structure. A rank stays unlisted if all its parts do
and their order is known; the slots of every other rank are read, so that what is said of it is what one process says.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from harness.compare import SlotVerdict, Verdict
from harness.compare.judge import SlotJudge
from harness.compare.tolerances import Tolerances
from harness.compare.verdict import Unlisted
from harness.records import Record, SlotKey
from harness.scale.keep import Keep
from harness.scale.parts import COUNTED
from harness.scale.plan import Plan, listed
from harness.scale.wire import WHOLE, Done, Judged, Left, Look, Part, Span, Work
from harness.store import StoredRun

Array = np.ndarray[Any, np.dtype[Any]]

#: Has workers do parts, in a way of keeping.
Performing = Callable[[Plan, Keep, Callable[[Work, Done], None]], None]
#: Asks a worker for the looks of a part.
Asking = Callable[[Work], tuple[Look, ...]]


class Reduction:
    """One comparison that workers reduce.

    Args:
        plan: its parts.
        run: the golden run; None if the expected side is a tree.
        keep: see ``Work``.
        perform, ask: have workers work.
        noise: whether rounding may be found to explain differences, for which all slots are needed.
    """

    def __init__(
        self, plan: Plan, run: StoredRun | None, keep: Keep, perform: Performing, ask: Asking,
        noise: bool = False,
    ) -> None:  # fmt: skip
        self._plan, self._run, self._keep = plan, run, keep
        self._perform, self._ask, self._noise = perform, ask, noise
        self._left: dict[Part, Left] = {}
        self._reasoned: dict[Part, list[Judged]] = {}
        self._judged: dict[Part, list[Judged]] = {}
        self._slots: Counter[tuple[int, ...]] = Counter()
        self._known: dict[Any, Any] = {}
        self._looks: dict[bytes, tuple[Look, ...]] = {}
        #: of each structure a part that has it
        self._example: dict[bytes, Work] = {}
        self._aligned = True

    def unlisted(self, order: bool) -> tuple[Unlisted | None, list[Judged]]:
        """The ranks that stay unlisted (None if nothing may), and the verdicts on slots that differ in the others.

        Args:
            order: whether the order of execution counts.
        """
        ordered = order or self._keep == "reasoned"

        def take(work: Work, done: Done) -> None:
            self._take(work, done, ordered)

        self._perform(self._plan, "ordered" if ordered and self._keep == "counts" else self._keep, take)
        ranks = self._listed(ordered)
        if ranks:
            every = self._plan.made("all")
            again = [each for each in every if each[0].part.rank in ranks and each[0].part in self._left]
            for work, _, _ in again:
                del self._left[work.part]
                self._reasoned.pop(work.part, None)
            self._perform(listed(again), "all", take)
        judged = [each for _, found in sorted(self._judged.items()) for each in found]
        return (self._made() if self._left else None), judged

    def _take(self, work: Work, done: Done, ordered: bool) -> None:
        """Notes the result of a part; equal values are kept once."""
        self._aligned &= done.aligned
        if done.left is None:
            self._judged[work.part] = done.judged
            self._count(work.part, sum(len(step.slots) for step in done.found.steps) if done.found else 0)
            return
        left = self._left[work.part] = done.left if ordered else self._known.setdefault(done.left, done.left)
        self._example.setdefault(left.structure, work)
        self._count(work.part, sum(left.counts))
        if done.judged:
            self._reasoned[work.part] = done.judged

    def _count(self, part: Part, slots: int) -> None:
        if self._run is not None:
            self._slots[_place(part)] += slots

    def _listed(self, ordered: bool) -> set[int]:
        """The ranks whose slots are needed."""
        ranks = set(self._plan.ranks)
        some = {part.rank for part in self._judged}
        if not self._aligned or (self._noise and some) or (self._run is not None and self._rows != +self._slots):
            return ranks
        if ordered:
            parts = self._by_rank
            some |= {rank for rank in ranks - some if self._sequence(rank, parts[rank]) is None}
        return some

    # -- the golden run ----------------------------------------------------------------------------------------------
    @cached_property
    def _places(self) -> Array:
        """Rank, graph and iteration of each row of the golden run."""
        assert self._run is not None  # who asks has one
        rows = self._run.index.rows
        graphs = np.full(len(rows), WHOLE) if self._plan.whole else rows["graph"].view("<u4").astype(np.int64)
        return np.stack([rows["rank"].astype(np.int64), graphs, rows["iteration"].view("<u4").astype(np.int64)], axis=1)

    @property
    def _rows(self) -> Counter[tuple[int, ...]]:
        """How many rows each iteration has in the golden run."""
        found, counts = np.unique(self._places, axis=0, return_counts=True)
        return Counter({tuple(place): count for place, count in zip(found.tolist(), counts.tolist(), strict=True)})

    @cached_property
    def _stretches(self) -> dict[int, list[tuple[int, ...]]]:
        """Of each rank of the golden run, the iterations in its order; one that is interrupted comes several times."""
        places = self._places
        starts = (
            np.flatnonzero(np.concatenate([[True], (places[1:] != places[:-1]).any(axis=1)])) if len(places) else ()
        )
        found: dict[int, list[tuple[int, ...]]] = {}
        for place in places[starts].tolist():
            found.setdefault(place[0], []).append(tuple(place))
        return found

    # -- order -------------------------------------------------------------------------------------------------------
    @cached_property
    def _by_rank(self) -> dict[int, list[Part]]:
        found: dict[int, list[Part]] = {}
        for work, _, _ in self._plan.made(self._keep):
            found.setdefault(work.part.rank, []).append(work.part)
        return found

    def _sequence(self, rank: int, parts: Sequence[Part]) -> list[Part] | None:
        """The parts of a rank in their order; None if both sides differ in it, or executions of several mix."""
        left = [(part, self._left[part]) for part in parts if sum(self._left[part].counts)]
        found = _in_turn([(part, each.found) for part, each in left])
        if found is None or self._run is None:
            expected = _in_turn([(part, each.expected) for part, each in left])
            return found if found == expected else None
        stretches = self._stretches.get(rank, [])
        return found if [_place(part) for part in found] == stretches else None

    # -- what is made of it ------------------------------------------------------------------------------------------
    def _made(self) -> Unlisted:
        counts: Counter[Verdict] = Counter()
        for left in self._left.values():
            counts.update(dict(zip(COUNTED, left.counts, strict=True)))
        ranks = sorted({part.rank for part in self._left})
        return Unlisted(ranks, counts, self._every, self._reasons, self._having)

    def _in_order(self, rank: int) -> list[Part]:
        return self._sequence(rank, self._by_rank[rank]) or []

    def _every(self, rank: int) -> Iterator[SlotVerdict]:
        for part in self._in_order(rank):
            judged = {each.key: each.verdict for each in self._reasoned.get(part, ())}
            for look in self._looks_of(part):
                verdict = Verdict.STATISTICS if look.statistics else Verdict.IDENTICAL
                key = SlotKey(rank, look.graph, part.iteration, *look[1:5])
                slot = SlotVerdict(
                    key, verdict, look.op_type, look.dtype, look.shape, source=look.source, format=look.format
                )
                yield judged.get(key, slot)

    def _reasons(self, rank: int) -> Iterable[SlotVerdict]:
        return (each.verdict for part in self._in_order(rank) for each in self._reasoned.get(part, ()))

    def _having(self, key: SlotKey) -> Iterator[int]:
        for part, left in self._left.items():
            here = part.iteration == key.iteration and part.graph in (key.graph, WHOLE)
            if here and key[1:2] + key[3:] in self._names(left.structure, part):
                yield part.rank

    def _names(self, structure: bytes, part: Part) -> frozenset[tuple[Any, ...]]:
        known: frozenset[tuple[Any, ...]] | None = self._known.get(structure)
        if known is None:
            known = self._known[structure] = frozenset(look[:5] for look in self._looks_of(part))
        return known

    def _looks_of(self, part: Part) -> tuple[Look, ...]:
        """The slots of a part, asked for once for each structure."""
        structure = self._left[part].structure
        if structure not in self._looks:
            self._looks[structure] = self._ask(replace(self._example[structure], keep="looks"))
        return self._looks[structure]


def _place(part: Part) -> tuple[int, ...]:
    return part[:3]


def _in_turn(parts: Sequence[tuple[Part, Span]]) -> list[Part] | None:
    """Parts by their start; None if one starts before another one ends, or nothing is known of it."""
    known = [(span, part) for part, span in parts if span is not None]
    known.sort()
    mixed = any(one[0][1] >= other[0][0] for one, other in pairwise(known))
    return None if mixed or len(known) < len(parts) else [part for _, part in known]


class Verdicts(SlotJudge):
    """Gives the verdicts that workers found; what they did not look at is judged here."""

    def __init__(
        self, tolerances: Tolerances, measured: bool, judged: Iterable[Judged], reduction: Reduction | None = None
    ) -> None:
        super().__init__(tolerances, measured)
        self._judged = {each.key: each for each in judged}
        self._reduction = reduction

    def unlisted(self, order: bool) -> Unlisted | None:
        """See ``SlotJudge``."""
        if self._reduction is None:
            return None
        left, judged = self._reduction.unlisted(order)
        self._judged = {each.key: each for each in judged}
        return left

    def differing(
        self, expected: Record, found: Record, array: Array | None, golden: Array | None = None
    ) -> SlotVerdict:
        known = self._judged.get(found.key)
        same = known is not None and (expected.key, expected.digest, found.digest) == (
            known.key, known.expected, known.found,
        )  # fmt: skip
        return known.verdict if known is not None and same else super().differing(expected, found, array, golden)
