"""``python -m harness.testing.faults [COUNT] [SEED]``: draws faults, explains each, prints the table."""

from __future__ import annotations

import argparse

from harness.explain import block
from harness.testing.faults.roads import ROADS, USUAL
from harness.testing.faults.suite import alarms, run
from harness.testing.faults.table import table, tally
from harness.words import counted


def main() -> int:
    """Runs the suite; 1 where a fault passed."""
    parser = argparse.ArgumentParser(prog="python -m harness.testing.faults", description=__doc__)
    parser.add_argument("count", type=int, nargs="?", default=500, help="how many faults (500)")
    parser.add_argument("seed", type=int, nargs="?", default=0, help="another seed draws other ones (0)")
    parser.add_argument("--road", choices=sorted(ROADS), action="append", help="who names them; else gate and diff")
    parser.add_argument("--clean", type=int, default=0, metavar="N", help="rerun unchanged networks N times instead")
    parser.add_argument("--wrong", action="store_true", help="show each wrong explanation")
    parser.add_argument("--eager", action="store_true", help="train in PyNative mode (by the gate alone)")
    given = parser.parse_args()
    if given.clean:
        alarmed = list(alarms(given.clean, given.seed))
        print(f"{counted(given.clean, 'rerun')} of unchanged networks, {counted(len(alarmed), 'false alarm')}")
        return int(bool(alarmed))
    roads = given.road or (["gate"] if given.eager else USUAL)
    every, families = tally(run(given.count, given.seed, roads, eager=given.eager))
    for outcome in every.wrong if given.wrong else ():
        fault = outcome.fault
        told = block(outcome.explanation) if outcome.explanation is not None else "it passed"
        print(f"{fault.number} {fault.kind} in {fault.network.family}, seed {fault.network.seed}, {outcome.road}")
        print(told, end="\n\n")
    print("\n".join(table(every, families)))
    seconds = sorted(every.seconds)
    if seconds:
        mean, middle = sum(seconds) / len(seconds), seconds[len(seconds) // 2]
        print(
            f"an explanation takes {mean:.3f} s in the mean, {middle:.3f} s in the median, {seconds[-1]:.2f} s at most"
        )
    return int(every.counts["passed"] > 0)


if __name__ == "__main__":
    raise SystemExit(main())
