"""How often the right operator and the right cause are named: ``python -m benchmarks faults``.

Runs the suite of ``harness.testing.faults`` (500 faults of seed 0) and writes its table into ``docs/comparison.md``.
``python -m benchmarks.bench_faults 100 7`` runs 100 of seed 7 and writes nothing.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

from benchmarks._pages import put
from harness.explain import block
from harness.testing.faults import Outcome, run
from harness.testing.faults.table import Tally, table, tally

COUNT, SEED = 500, 0


def section(every: Tally, families: dict[str, Tally], count: int, seed: int) -> str:
    """The table for the page."""
    seconds = sorted(every.seconds)
    cost = f"{sum(seconds) / len(seconds):.2f} s in the mean, {seconds[-1]:.2f} s at most" if seconds else "nothing"
    took = f"an explanation took {cost} (shares of causes right: of those stated):"
    head = f"{count} faults of seed {seed}, each by both ways; {took}"
    return "\n".join([head, "", *table(every, families), ""])


def outcomes(count: int, seed: int) -> Iterator[Outcome]:
    """The suite's outcomes; each that is not right is printed at once."""
    for outcome in run(count, seed):
        if outcome.passed or not outcome.named or not outcome.right:
            fault = outcome.fault
            told = block(outcome.explanation) if outcome.explanation is not None else "it passed"
            where = f"{fault.network.family}, seed {fault.network.seed}, by {outcome.road}"
            print(f"{fault.number} {fault.kind} in {where}\n{told}\n", flush=True)
        yield outcome


def main() -> int:
    """Runs the suite and writes the page (not where another count and seed are given); 1 if a fault passed."""
    given = [int(each) for each in sys.argv[1:3]]
    count, seed = given if len(given) == 2 else (COUNT, SEED)
    every, families = tally(outcomes(count, seed))
    text = section(every, families, count, seed)
    if given:
        print(text)
        return int(every.counts["passed"] > 0)
    return int(every.counts["passed"] > 0) if put("comparison.md", "faults", text) else 2


if __name__ == "__main__":
    raise SystemExit(main())
