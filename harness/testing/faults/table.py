"""The suite's figures, as a table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from harness.testing.faults.suite import Outcome

#: the counts of the table, and their headings
COLUMNS = ("faults", "passed", "origin right", "cause stated", "cause right", "proven")


@dataclass
class Tally:
    """Counts of correct explanations.

    Attributes:
        counts: counts by name in ``COLUMNS``.
        seconds: duration of each explanation.
        wrong: outcomes whose origin or stated cause is wrong.
    """

    counts: Counter[str] = field(default_factory=Counter)
    seconds: list[float] = field(default_factory=list)
    wrong: list[Outcome] = field(default_factory=list)

    def add(self, outcome: Outcome) -> None:
        """Counts an outcome."""
        named = (
            ("faults", True), ("passed", outcome.passed), ("origin right", outcome.named),
            ("cause stated", outcome.stated), ("cause right", outcome.right), ("proven", outcome.proven),
        )  # fmt: skip
        self.counts.update({name: 1 for name, is_so in named if is_so})
        if outcome.explanation is not None:
            self.seconds.append(outcome.explanation.seconds)
        if outcome.passed or not outcome.named or (outcome.stated and not outcome.right):
            self.wrong.append(outcome)

    def share(self, name: str, of: str = "faults") -> float:
        """Part of one count in another, between 0 and 1."""
        return self.counts[name] / self.counts[of] if self.counts[of] else 0.0


def tally(outcomes: Iterable[Outcome]) -> tuple[Tally, dict[str, Tally]]:
    """The tallies of all outcomes: by family of network, then by the way they were found (``by gate``, ``by diff``)."""
    every = Tally()
    families: dict[str, Tally] = {}
    roads: dict[str, Tally] = {}
    for outcome in outcomes:
        every.add(outcome)
        families.setdefault(outcome.fault.network.family, Tally()).add(outcome)
        roads.setdefault(f"by {outcome.road}", Tally()).add(outcome)
    return every, {**dict(sorted(families.items())), **roads}


def table(every: Tally, families: dict[str, Tally]) -> list[str]:
    """Lines of a Markdown table, a row for each family and one for all."""
    rows: Sequence[tuple[str, Tally]] = [*families.items(), ("all", every)]
    lines = ["| networks | " + " | ".join(COLUMNS) + " |", "|---|" + "---|" * len(COLUMNS)]
    for name, one in rows:
        cells = [str(one.counts["faults"]), str(one.counts["passed"])]
        cells += [_share(one, "origin right"), _share(one, "cause stated")]
        cells += [_share(one, "cause right", "cause stated"), _share(one, "proven")]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return lines


def _share(one: Tally, name: str, of: str = "faults") -> str:
    return f"{100 * one.share(name, of):.1f} %" if one.counts[of] else "-"
