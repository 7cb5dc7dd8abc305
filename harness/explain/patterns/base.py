"""The base of patterns: small functions that compare two versions of a tensor and propose how one becomes the other."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from harness.explain.claim import UNREADABLE, Check, Claim, holds
from harness.explain.pair import Array, Pair

__all__ = ["PATTERNS", "Array", "Claim", "Finding", "Pair", "find_pattern", "pattern"]


@dataclass(frozen=True, slots=True)
class Finding:
    """A claim of a pattern that held.

    Attributes:
        kind: name of the pattern.
        text: what was checked, in words.
        check: the transformation, and what it gave.
    """

    kind: str
    text: str
    check: Check

    @property
    def exact(self) -> bool:
        """Whether the expected values, changed in this way, have exactly the found bits."""
        return self.check.exact


Proposals = Callable[[Pair], Iterator[Claim]]
Pattern = Callable[[Pair], Iterator[Finding]]

#: patterns in the order they are tried, more specific ones first
PATTERNS: dict[str, Pattern] = {}


def pattern(kind: str) -> Callable[[Proposals], Pattern]:
    """Registers a function under ``kind``. It proposes claims; what they give decides what is told."""

    def register(function: Proposals) -> Pattern:
        def asked(pair: Pair) -> Iterator[Finding]:
            with np.errstate(all="ignore"):
                try:
                    for claim in function(pair):
                        if (held := holds(claim, pair)) is not None:
                            check = Check(claim.transformation, claim.arguments, held.exact, held.stated, held.count)
                            yield Finding(kind, claim.words(held), check)
                except UNREADABLE:
                    return

        PATTERNS[kind] = asked
        return asked

    return register


def find_pattern(pair: Pair, only: str = "") -> Finding | None:
    """The first pattern whose claim gives the run's bits; else the first that gives its values within noise; None if
    none does.

    Args:
        pair: both versions.
        only: the name of a single pattern to try.
    """
    if pair.expected.shape != pair.found.shape or pair.found.size == 0:
        return None
    if pair.found.dtype.kind in "cOSUmM" or pair.found.dtype.names or pair.expected.dtype != pair.found.dtype:
        return None
    if not pair.changed.any():
        return None
    likely: Finding | None = None
    for kind, each in PATTERNS.items():
        for finding in each(pair) if only in ("", kind) else ():
            if finding.exact:
                return finding
            likely = likely or finding
    return likely
