"""Ranks that left, in words: which was first, why, who is right, and what spread."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from harness.capture.normalise import users_place
from harness.compare.ranks import rank_list
from harness.explain.ranks.finding import Finding, RanksReport
from harness.explain.ranks.timeline import Execution
from harness.words import counted

_LISTED = 8
_LONGEST = 40


def lines(report: RanksReport) -> list[str]:
    """The report in words, at most 25 lines."""
    if report.first is None:
        held = f"{counted(len(report.ranks), 'rank')}: no rank left; {counted(report.compared, 'slot')} compared"
        return [held, *report.notes]
    return [*_finding("First", report.first), *_rest(report), *report.notes]


def _rest(report: RanksReport) -> Iterator[str]:
    for each in report.others[:_LISTED]:
        yield from _finding("Also", each)
    for spread in report.spread[:_LISTED]:
        sources, reached = _ranks(spread.sources), _ranks(spread.reached)
        yield f"Spread: {_where(spread.execution)} took it from {sources} to {reached}"
    first = set(report.first.ranks) if report.first is not None else set()
    others = [(rank, place) for rank, place in sorted(report.earliest.items()) if rank not in first]
    for rank, place in others[:_LISTED]:
        yield f"Earliest on rank {rank}: {_where(place)}"
    if len(others) > _LISTED:
        yield f"and {counted(len(others) - _LISTED, 'more rank')}"
    if same := sorted(set(report.ranks) - set(report.earliest)):
        yield f"No difference: {_ranks(same)}"


def _finding(word: str, finding: Finding) -> Iterator[str]:
    place = users_place(finding.execution.source)
    source = f" ({place})" if place else ""
    slot = f" {finding.slot}" if finding.slot else ""
    yield f"{word}: {_ranks(finding.ranks)}, {_where(finding.execution)}{slot}{source}"
    if finding.cause is not None:
        yield f"  Cause: {finding.cause.text}"
        yield f"  Check: {finding.cause.check}"
    if finding.right:
        yield f"  Right: {finding.right}"


def _where(execution: Execution) -> str:
    return f"iteration {execution.iteration}, {execution.operator}"


def _ranks(ranks: Any) -> str:
    listed = rank_list(list(ranks))
    if len(listed) > _LONGEST:
        return f"{counted(len(ranks), 'rank')} ({listed[: listed.rindex(',', 0, _LONGEST)]}, ...)"
    return f"rank{'' if len(ranks) == 1 else 's'} {listed}"


def as_json(report: RanksReport) -> dict[str, Any]:
    """The report for programs."""
    return {
        "ranks": list(report.ranks),
        "compared": report.compared,
        "first": _plain(report.first),
        "also": [_plain(each) for each in report.others],
        "earliest": {str(rank): _place(each) for rank, each in sorted(report.earliest.items())},
        "spread": [
            {**_place(each.execution), "from": list(each.sources), "to": list(each.reached)} for each in report.spread
        ],
        "unread": report.unread,
        "notes": list(report.notes),
    }


def _plain(finding: Finding | None) -> dict[str, Any] | None:
    if finding is None:
        return None
    cause = finding.cause
    told = None if cause is None else {"kind": cause.name, "text": cause.text, "checked": cause.check}
    return {"ranks": list(finding.ranks), **_place(finding.execution), "slot": finding.slot, "cause": told,
            "right": finding.right}  # fmt: skip


def _place(execution: Execution) -> dict[str, Any]:
    return {"graph": execution.place[0], "iteration": execution.iteration, "operator": execution.operator}
