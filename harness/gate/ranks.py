"""What a failure says about ranks: which left first and why; and slots that must be equal on all of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from harness.capture import Capture
from harness.compare.policy import Judgement
from harness.records import Record, SlotKey
from harness.store import StoredRun

#: lines of a failure about its ranks
_MOST = 9
#: slots of a side whose digests workers send to one process, about 1 GB there
_MOST_SLOTS = 500_000


def told(
    expected: Capture | StoredRun,
    found: Capture | StoredRun,
    judgement: Judgement,
    records: Sequence[Record] | None = None,
    whole: Callable[[Capture | StoredRun], Capture | StoredRun | None] | None = None,
) -> list[str]:
    """Which rank left its golden first, and why, in a few lines; nothing for a run of one rank.

    Args:
        expected: the golden run, or what is right.
        found: what was held against it.
        judgement: says which slots do not hold; a difference that a tolerance admits is none.
        records: those of ``found``, where they are at hand already.
        whole: gives all slots of a side that workers read, and did not tell; None for a side of one rank.
    """
    differ: set[SlotKey] = {slot.key for slot in judgement.comparison.failures()}
    if not differ or judgement.pairing is not None:
        return []
    if whole is None:
        sides = [expected, found] if len({step[0] for step in judgement.comparison.steps()}) > 1 else []
    else:
        sides = [side for side in (whole(expected), whole(found)) if side is not None]
    if len(sides) < 2:
        return []
    if whole is not None and judgement.comparison.total > _MOST_SLOTS:
        return [f"Ranks: not looked for: more than {_MOST_SLOTS:,} slots; msdump ranks says which left first"]
    from harness.explain.ranks import beside, lines, run_of

    golden, run = run_of(sides[0]), run_of(sides[1], records)
    if golden.ranks != run.ranks or len(run.ranks) < 2:
        return []
    report = beside(golden, run, lambda theirs, _mine: theirs.key not in differ)
    return [] if report.first is None else ["Ranks:", *(f"  {each}" for each in lines(report)[:_MOST])]


def put_in(text: str, ranks: Sequence[str]) -> str:
    """A failure with lines about its ranks behind its title."""
    title, _, rest = text.partition("\n")
    return "\n".join([title, *ranks, *([rest] if rest else [])]) if ranks else text


def unequal(capture: Capture, patterns: Sequence[str]) -> str:
    """What is not equal on all ranks though a pattern says it is; empty if all is.

    Args:
        capture: of all ranks.
        patterns: a parameter's name, or ``OPERATOR:SLOT``; ``*`` for any text.
    """
    from harness.explain.ranks import alone, lines, matches, run_of

    run = run_of(capture)
    if len(run.ranks) < 2:
        return f"msdump: replicated={', '.join(patterns)}: the run has one rank"
    unused = [each for each in patterns if not any(matches(step, [each]) for step in run.timeline[run.ranks[0]])]
    if unused:
        return f"msdump: replicated={', '.join(unused)}: nothing of that name is there"
    report = alone(run, patterns)
    if report.first is None:
        return ""
    return "\n".join(
        ["msdump: ranks differ where they should be equal", *(f"  {each}" for each in lines(report)[:_MOST])]
    )
