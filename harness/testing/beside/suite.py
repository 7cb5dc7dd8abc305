"""Compares pairs of drawn networks: correct pairs, and pairs with a fault on PyTorch's side."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from harness.backends.align import lay_beside
from harness.capture import Capture
from harness.compare import first_divergence
from harness.compare.origin import Origin
from harness.compare.policy import Judgement, Party, judge
from harness.explain import settle
from harness.testing.beside import cells
from harness.testing.beside.faults import KINDS, Fault, Kind
from harness.testing.beside.twins import Twin, draw

_TRIES = 12


@dataclass(frozen=True)
class Outcome:
    """How a comparison judged a fault.

    Attributes:
        kind: kind of the fault.
        twin: the pair of networks.
        fault: the fault.
        judgement: the judgement under ``noise``.
        origin: the first divergence; None if the fault passed.
    """

    kind: str
    twin: Twin
    fault: Fault
    judgement: Judgement
    origin: Origin | None

    @property
    def passed(self) -> bool:
        """Whether the comparison holds, so that the fault was not seen."""
        return self.judgement.holds

    @property
    def named(self) -> bool:
        """Whether the first divergence is at the fault, or is the changed parameter."""
        if self.passed or self.origin is None:
            return False
        shape = self.fault.shape
        if shape is not None and not any(sorted(slot.shape) == sorted(shape) for slot in self.origin.slots):
            return False
        said = [self.origin.where.operator, self.origin.found_as or ""]
        said += [each.found_from or "" for each in self.origin.inputs]
        return any(re.search(self.fault.where, name) for name in said)


def judged(ours: Capture, theirs: Capture) -> Judgement:
    """Compares PyTorch's run with the harness's, under ``noise``."""
    sides = [Party(each, each.backend, each.mode, each.emulated) for each in (ours, theirs)]
    return judge(sides[0], sides[1], "noise", lay=lay_beside, settle=settle, measured=False)


@lru_cache(maxsize=2)
def _ours(seed: int, family: str) -> Capture:
    return draw(seed, family).ours()


def outcomes(count: int, seed: int) -> Iterator[Outcome]:
    """``count`` faults; families and kinds take turns."""
    families = list(cells.BUILD)
    for made in range(count):
        random = np.random.default_rng([seed, made])
        for attempt in range(_TRIES):
            kind = KINDS[(made if attempt == 0 else int(random.integers(len(KINDS)))) % len(KINDS)]
            outcome = _outcome(kind, draw(int(random.integers(1 << 31)), families[made % len(families)]), random)
            if outcome is not None:
                yield outcome
                break


def _outcome(kind: Kind, twin: Twin, random: np.random.Generator) -> Outcome | None:
    """The outcome; None if the kind does not fit, or changes nothing."""
    fault = kind.make(random, twin)
    if fault is None:
        return None
    right, wrong = twin.theirs(), twin.theirs(fault.change, fault.batches)
    if [each.digest for each in right.records()] == [each.digest for each in wrong.records()]:
        return None
    judgement = judged(_ours(twin.seed, twin.family), wrong)
    return Outcome(kind.name, twin, fault, judgement, first_divergence(judgement.comparison))


def table(every: Iterable[Outcome]) -> list[str]:
    """Lines of a Markdown table, a row for each family and one for all."""
    counts: dict[str, Counter[str]] = {}
    for outcome in every:
        for row in (outcome.twin.family, "all"):
            counted = counts.setdefault(row, Counter())
            counted.update(faults=1, passed=int(outcome.passed), named=int(outcome.named))
    lines = ["| networks | faults | passed | named |", "|---|---|---|---|"]
    for row in (*sorted(counts.keys() - {"all"}), "all"):
        one = counts.get(row, Counter())
        share = f"{100 * one['named'] / one['faults']:.1f} %" if one["faults"] else "-"
        lines.append(f"| {row} | {one['faults']} | {one['passed']} | {share} |")
    return lines
