"""``python -m tests.fuzz [INPUTS]``: mutated files for every parser, in forks with limits of memory and time."""

from __future__ import annotations

import sys

from tests.fuzz.engine import fuzz
from tests.fuzz.targets import targets

if __name__ == "__main__":
    count, bad = int(sys.argv[1]) if len(sys.argv) > 1 else 20_000, 0
    for name, target in targets().items():
        found = fuzz(target, count, seed=1)
        bad += len(found)
        print(f"{name}: {count} inputs, {len(found)} findings", *found[:5], sep="\n  ", flush=True)
    sys.exit(bool(bad))
