"""What workers do with parts: read one side or both, judge what differs, and leave out what holds."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import xxhash

from harness.compare import Comparison, SlotVerdict, Verdict, check
from harness.compare.judge import SlotJudge
from harness.compare.tolerances import Tolerances
from harness.records import Record
from harness.scale.goldens import is_of
from harness.scale.wire import (
    Done,
    Folded,
    Judged,
    Left,
    Look,
    OutOfReach,
    Read,
    ReadExecution,
    Span,
    Tree,
    Work,
    folded,
)
from harness.scale.work import digested, side_records, told

Array = np.ndarray[Any, np.dtype[Any]]

#: Verdicts that ``Left.counts`` counts.
COUNTED = (Verdict.IDENTICAL, Verdict.WITHIN, Verdict.STATISTICS)


class _Noting(SlotJudge):
    """Keeps its verdicts on what differs."""

    def __init__(self, tolerances: Tolerances, measured: bool) -> None:
        super().__init__(tolerances, measured)
        self.found: list[Judged] = []

    def differing(
        self, expected: Record, found: Record, array: Array | None, golden: Array | None = None
    ) -> SlotVerdict:
        verdict = super().differing(expected, found, array, golden)
        self.found.append(Judged(found.key, replace(verdict), expected.digest, found.digest))
        return verdict


@told
def part(*works: Work) -> Folded | OutOfReach:
    """Reads parts of one side or of both, one after the other; what differs is judged where the files are."""
    found = []
    for work in works:
        done = _done(work)
        if done is None:
            return OutOfReach()
        found.append(done)
    return folded(found)


def _done(work: Work) -> Done | None:
    """The result of a part; None if this worker does not see it."""
    if work.expected is None or work.found is None or work.tolerances is None:
        return _read_alone(work)
    noting = _Noting(work.tolerances, work.measured)
    one, other = Read(), Read()
    with side_records(work.expected, work, one) as expected, side_records(work.found, work, other) as found:
        if expected is None or found is None:
            return None
        comparison = check(
            expected, found, work.tolerances, order=False, measured=work.measured, judging=lambda *_: noting
        )
        done = Done(
            one if isinstance(work.expected, Tree) else None,
            other if isinstance(work.found, Tree) else None,
            [each for each in noting.found if is_of(each.key, work.part)],
        )
        return _reduced(done, comparison, work)


def _read_alone(work: Work) -> Done | None:
    done = Done()
    for name in ("expected", "found"):
        side = getattr(work, name)
        if isinstance(side, Tree):
            read = Read()
            with side_records(side, work, read) as records:
                if records is None:
                    return None
                for _ in records:
                    pass
            setattr(done, name, read)
    return done


def _reduced(done: Done, comparison: Comparison, work: Work) -> Done:
    """The result without its slots, if that is wanted and all of them hold."""
    counts = comparison.counts
    batch = work.part.of > 1 and not isinstance(work.expected, Tree)  # the golden's other batches seem missing
    one_sided = counts[Verdict.UNEXPECTED] + (0 if batch else counts[Verdict.MISSING])
    done.aligned = not one_sided and all(a.shape == b.shape for a, b in comparison.pairs.values())
    if work.keep == "looks":
        done.looks = _looks(comparison)
        done.expected = done.found = None
        return done
    moved = comparison.found_order is not None and not batch
    if work.keep == "all" or not done.aligned or moved or counts[Verdict.DIFFERS] or counts[Verdict.UNSURE]:
        return _listed(done)
    spans = (None, None) if work.keep == "counts" else (_span(done.expected), _span(done.found))
    structure = xxhash.xxh3_128_digest(repr(_looks(comparison)).encode("utf-8", "surrogateescape"))
    identical, within, statistics = (counts[each] for each in COUNTED)
    done.left = Left(structure, (identical, within, statistics), *spans)
    done.judged = done.judged if work.keep == "reasoned" else []
    done.expected, done.found = _without_slots(done.expected), _without_slots(done.found)
    return done


def _listed(done: Done) -> Done:
    """The result with the digests of all its slots."""
    one, other = digested(done.expected), digested(done.found)
    done.judged = [
        each._replace(expected=each.expected or one.get(each.key), found=each.found or other.get(each.key))
        for each in done.judged
    ]
    return done


def _looks(comparison: Comparison) -> tuple[Look, ...]:
    return tuple(
        Look(
            slot.key.graph, *slot.key[3:], slot.op_type, slot.dtype, slot.shape, slot.format, slot.source,
            slot.verdict is Verdict.STATISTICS,
        )
        for slot in comparison.slots
        if slot.verdict is not Verdict.MISSING
    )  # fmt: skip


def _span(read: Read | None) -> Span:
    return (read.steps[0].started, read.steps[-1].started) if read is not None and read.steps else None


def _without_slots(read: Read | None) -> Read | None:
    """What was read, without slots: what stays are problems."""
    if read is None:
        return None
    told = [ReadExecution(step.started, [], step.problems) for step in read.steps if step.problems]
    return Read(read.listing, told, read.ending, read.closed)
