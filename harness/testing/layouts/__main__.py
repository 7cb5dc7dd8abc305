"""``python -m harness.testing.layouts [COUNT] [SEED]``: trains layouts, right ones and faulty ones, and judges."""

from __future__ import annotations

import argparse
from collections import Counter

from harness.testing.layouts.plans import faults, judged, layouts


def main() -> int:
    """Runs the suite; 1 where a right layout was alarmed, or a fault passed or was told otherwise than it is."""
    parser = argparse.ArgumentParser(prog="python -m harness.testing.layouts", description=__doc__)
    parser.add_argument("count", type=int, nargs="?", default=100, help="how many faults (100); 0: right layouts alone")
    parser.add_argument("seed", type=int, nargs="?", default=0, help="another seed draws other ones (0)")
    given = parser.parse_args()
    wrong = False
    for name, plans in (("layouts", layouts(given.seed)), ("faults", faults(given.count, given.seed))):
        counts: Counter[str] = Counter()
        for each in judged(plans):
            held = {"origin": each.origin, "rank": each.rank, "cause": each.cause, "false statement": each.false}
            counts += Counter({what: int(right) for what, right in held.items()})
            if each.false or not (each.origin and each.rank and each.cause):
                wrong = True
                print("\n".join(each.lines()))
        if name == "layouts":
            print(f"{len(plans)} right layouts: {counts['origin']} hold")
        else:
            said = ", ".join(f"{what} {counts[what]}" for what in ("origin", "rank", "cause"))
            print(f"{len(plans)} faults: {said} right; {counts['false statement']} false statements")
    return int(wrong)


if __name__ == "__main__":
    raise SystemExit(main())
