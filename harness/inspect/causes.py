"""Which finding explains which: what only follows is told as a note under its cause."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from harness.inspect.finding import Finding, Severity

_NUMBERS = """
dead-units saturated normalisation stale-gradient update-ratio growth exploding vanishing-gradient vanishing-values
no-gradient unchanged constant-activation near-limit underflow cancellation ascent loss
"""
_SPREAD = frozenset(_NUMBERS.split())
_TRAINED = _SPREAD | {"nonfinite"}
#: rule -> rules whose findings can follow from one of its, in the same step or later
EXPLAINS: dict[str, frozenset[str]] = {
    "nonfinite": _SPREAD | {"inputs", "loss-input", "labels", "mask", "softmax-axis"},
    "inputs": _TRAINED | {"normalisation"},
    "labels": frozenset({"loss", "no-gradient", "growth", "update-ratio", "unchanged"}),
    "initialisation": _TRAINED,
    "embedding": _TRAINED,
    "loss-input": frozenset({"loss", "vanishing-gradient", "no-gradient", "unchanged", "update-ratio"}),
    "softmax-axis": frozenset(
        {"loss", "loss-input", "vanishing-gradient", "unchanged", "constant-activation", "no-gradient", "update-ratio"}
    ),
    "mask": frozenset({"loss"}),
    "dead-units": frozenset(
        {"vanishing-gradient", "no-gradient", "unchanged", "constant-activation", "vanishing-values", "loss", "growth",
         "normalisation"}
    ),
    "saturated": frozenset(
        {"vanishing-gradient", "no-gradient", "unchanged", "constant-activation", "loss", "update-ratio", "growth"}
    ),
    "exploding": frozenset({"nonfinite", "growth", "update-ratio", "saturated", "dead-units", "near-limit", "loss"}),
    "vanishing-gradient": frozenset({"unchanged", "update-ratio", "no-gradient", "loss"}),
    "vanishing-values": frozenset({"vanishing-gradient", "unchanged", "update-ratio", "constant-activation", "loss"}),
    "underflow": frozenset({"no-gradient", "vanishing-gradient", "unchanged", "update-ratio", "loss"}),
    "no-gradient": frozenset({"unchanged", "loss"}),
    "update-ratio": frozenset(
        {"growth", "exploding", "saturated", "dead-units", "nonfinite", "constant-activation", "no-gradient", "loss",
         "near-limit", "vanishing-gradient", "ascent"}
    ),
    "growth": frozenset({"exploding", "saturated", "dead-units", "nonfinite", "loss", "near-limit", "no-gradient"}),
    "ascent": frozenset(
        {"growth", "exploding", "nonfinite", "update-ratio", "loss", "saturated", "dead-units", "no-gradient"}
    ),
    "stale-gradient": frozenset({"growth", "exploding", "update-ratio", "loss", "nonfinite"}),
    "constant-activation": frozenset({"no-gradient", "loss", "normalisation"}),
}  # fmt: skip
#: which of two findings of one step is the cause: the rule that stands first
_ORDER = (
    "inputs", "labels", "embedding", "initialisation", "softmax-axis", "loss-input", "mask", "ascent", "stale-gradient",
    "dead-units", "saturated", "exploding", "vanishing-values", "underflow", "update-ratio", "growth", "nonfinite",
    "vanishing-gradient", "constant-activation", "no-gradient", "unchanged", "loss",
)  # fmt: skip
#: NaN and infinity that grow out of large numbers; any other reason stands for itself
_OF_SIZE = ("overflow of", "infinity", "NaN", "exponential overflow", "intermediate overflow")


#: place of a finding's operator among the executions of its step; None for a parameter
Place = Callable[[Finding], int | None]


def folded(findings: Sequence[Finding], place: Place = lambda _: None) -> list[Finding]:
    """The findings, errors that follow from other errors made notes, in order: errors first, by time.

    NaN and infinity out of large numbers follow from what made numbers large before them, not after.
    """
    causes: list[Finding] = []
    kept: list[Finding] = []
    makers = [each for each in findings if each.is_error and "nonfinite" in EXPLAINS.get(each.rule, ())]
    for each in sorted(findings, key=lambda one: _when(one, _is_before(one, makers, place))):
        cause = next((c for c in causes if _explains(c, each)), None)
        if cause is not None:
            told = "; ".join(part for part in (f"follows from {cause.kind} at {cause.operator}", each.folded) if part)
            kept.append(replace(each, severity=Severity.NOTE, folded=told))
            continue
        if each.is_error:
            causes.append(each)
        kept.append(each)
    return sorted(kept, key=lambda each: not each.is_error)


def _of_size(finding: Finding) -> bool:
    """Whether NaN or infinity grew out of large numbers."""
    inside = finding.kind == "log of zero" and finding.reason.startswith("in float64")
    return inside or any(finding.kind.startswith(kind) for kind in _OF_SIZE)


def _is_before(finding: Finding, makers: Sequence[Finding], place: Place) -> bool:
    """Whether NaN or infinity began before everything that could have led to it."""
    mine = place(finding)
    if mine is None:
        return False
    for each in makers:
        other = place(each)
        earlier = each.iteration < finding.iteration
        if each.rank == finding.rank and (earlier or (each.iteration == finding.iteration and (other or 0) < mine)):
            return False
    return True


def _when(finding: Finding, before: bool) -> tuple[int, int]:
    if finding.rule == "nonfinite" and finding.is_error and (before or not _of_size(finding)):
        return finding.iteration, -1
    rank = _ORDER.index(finding.rule) if finding.rule in _ORDER else len(_ORDER)
    return finding.iteration, rank


def _explains(cause: Finding, other: Finding) -> bool:
    if not other.is_error or cause.rank != other.rank or other.rule not in EXPLAINS.get(cause.rule, ()):
        return False
    if other.rule == "nonfinite":
        return _of_size(other)
    return True
