"""What is said about ranks that differ: each statement with the check that held."""

from __future__ import annotations

from dataclasses import dataclass, field

from harness.explain.ranks.timeline import Execution

#: causes, as programs read them
CAUSES = (
    "replicated", "order", "shape", "missing-collective", "bit-flip", "stale", "mean-for-sum", "sum-for-mean",
    "not-reduced", "group", "reduction", "shard", "batch", "seed", "computed", "data", "structure", "scale",
    "micro-batch", "setting",
)  # fmt: skip


@dataclass(frozen=True)
class Cause:
    """A cause and its check.

    Attributes:
        name: one of ``CAUSES``.
        text: what is the matter, in words.
        check: what held when it was tried.
    """

    name: str
    text: str
    check: str


@dataclass(eq=False)
class Finding:
    """Where a rank left, and why.

    Attributes:
        ranks: the ranks that left there; all of a group if no rank is alone.
        execution: where, on the first of them.
        slot: ``output.0``; empty where it is the call itself.
        cause: None where no check held.
        right: which ranks are right, and who says so; empty if nobody can.
    """

    ranks: tuple[int, ...]
    execution: Execution
    slot: str = ""
    cause: Cause | None = None
    right: str = ""


@dataclass(eq=False)
class Spread:
    """A collective through which a difference reached other ranks.

    Attributes:
        execution: the first call whose output differs, on the first rank that it reached.
        sources: ranks whose inputs differed.
        reached: ranks that differ since.
    """

    execution: Execution
    sources: tuple[int, ...]
    reached: tuple[int, ...]


@dataclass(eq=False)
class RanksReport:
    """What is known of ranks that left.

    Attributes:
        ranks: all ranks of the run.
        first: the rank that left first; None if all agree.
        others: further findings that the first does not explain.
        earliest: each rank's earliest execution that differs.
        spread: the collectives that carried the difference, in order.
        compared: slots that were compared.
        unread: slots whose values were needed and not kept.
        notes: further lines.
    """

    ranks: tuple[int, ...]
    first: Finding | None = None
    others: list[Finding] = field(default_factory=list)
    earliest: dict[int, Execution] = field(default_factory=dict)
    spread: list[Spread] = field(default_factory=list)
    compared: int = 0
    unread: int = 0
    notes: list[str] = field(default_factory=list)


def merged(findings: list[Finding]) -> list[Finding]:
    """Findings of several ranks at one call with one cause become one."""
    made: list[Finding] = []
    for each in findings:
        for known in made:
            same = known.execution.place == each.execution.place and (known.cause and known.cause.name) == (
                each.cause and each.cause.name
            )
            if same:
                known.ranks = tuple(sorted({*known.ranks, *each.ranks}))
                break
        else:
            made.append(each)
    return made
