"""How often the right operator and the right cause are named: ``python -m benchmarks faults``.

Runs the suite of ``harness.testing.faults`` (500 faults of seed 0) and writes its table into ``docs/comparison.md``.
"""

from __future__ import annotations

from benchmarks._pages import put
from harness.testing.faults import run
from harness.testing.faults.table import Tally, table, tally

COUNT, SEED = 500, 0


def section(every: Tally, families: dict[str, Tally], count: int, seed: int) -> str:
    """The table for the page."""
    seconds = sorted(every.seconds)
    cost = f"{sum(seconds) / len(seconds):.2f} s in the mean, {seconds[-1]:.2f} s at most" if seconds else "nothing"
    took = f"an explanation took {cost} (shares of causes right: of those stated):"
    head = f"{count} faults of seed {seed}, each by both ways; {took}"
    return "\n".join([head, "", *table(every, families), ""])


def main() -> int:
    """Runs the suite and writes the page; 1 if a fault passed."""
    every, families = tally(run(COUNT, SEED))
    text = section(every, families, COUNT, SEED)
    return int(every.counts["passed"] > 0) if put("comparison.md", "faults", text) else 2


if __name__ == "__main__":
    raise SystemExit(main())
