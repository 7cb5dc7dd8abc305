"""``python -m tests.differential``: grows programs, runs each here and under the real MindSpore, and prints the rate.

The seed is fresh each time and printed; every program that differs is shrunk and kept.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections import Counter
from pathlib import Path

from tests.differential.grow import grown
from tests.differential.program import Program, Shrinker
from tests.differential.sides import Difference, Pair


def main() -> int:
    """Runs; gives 0 if the rate is reached."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=int.from_bytes(os.urandom(4), "big"))
    parser.add_argument("--rate", type=float, default=0.98)
    parser.add_argument("--out", type=Path, default=None, help="where programs that differ are written")
    parser.add_argument("--no-shrink", action="store_true")
    given = parser.parse_args()
    kinds: Counter[str] = Counter()
    begun = time.monotonic()
    with Pair(os.environ["MSDUMP_INTEROP_MINDSPORE"]) as pair:
        for number in range(given.count):
            program = grown(given.seed + number)
            found = pair.difference(program.source())
            kinds[found.kind] += 1
            if not found:
                continue
            if not given.no_shrink:
                program, found = shrunk(pair, program, found)
            report(given.seed + number, program, found, given.out)
    total = sum(kinds.values())
    agree = kinds["agree"] + kinds["refused"]
    seconds = time.monotonic() - begun
    print(f"seed {given.seed}: {agree} of {total} agree ({agree / total:.2%}), {kinds['refused']} of them refused by "
          f"both, {seconds:.0f} s; {dict(kinds)}")  # fmt: skip
    return 0 if agree >= given.rate * total else 1


def shrunk(pair: Pair, program: Program, found: Difference) -> tuple[Program, Difference]:
    """The smallest program that differs in the same way."""

    def fails(candidate: Program) -> bool:
        return pair.difference(candidate.source()).kind == found.kind

    small = Shrinker(fails).shrink(program)
    return small, pair.difference(small.source())


def report(seed: int, program: Program, found: Difference, out: Path | None) -> None:
    """Prints a difference, and writes the program to a file."""
    print(f"-- seed {seed}: {found.kind}")
    for line in found.details[:12]:
        print("  ", line[:300])
    print(program.source().partition("class ")[2], flush=True)
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
        (out / f"{found.kind}-{seed}.py").write_text(program.source())


if __name__ == "__main__":
    sys.exit(main())
