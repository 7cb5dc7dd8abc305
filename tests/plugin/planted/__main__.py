"""``python -m tests.plugin.planted [--seed N] [--count N] [--only REPOSITORY] [--show]``: plants faults and prints what
a reader of the gate is told of each. PyTorch's need a Python that has it."""

from __future__ import annotations

import argparse
import random
import tempfile
from collections import Counter
from importlib.util import find_spec
from pathlib import Path

from tests.plugin.planted.planting import Planted
from tests.plugin.planted.repositories import REPOSITORIES


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**6))
    parser.add_argument("--count", type=int, default=50)
    parser.add_argument("--only", choices=REPOSITORIES)
    parser.add_argument("--show", action="store_true", help="print what was told where a cause or a place lacks")
    parser.add_argument("--all", action="store_true", help="print everything that was told")
    given = parser.parse_args()
    names = [name for name in REPOSITORIES if name != "torch" or find_spec("torch") is not None]
    names = [given.only] if given.only else names
    print(f"seed {given.seed}")
    counts: Counter[str] = Counter()
    for at, name in enumerate(names):
        share = given.count // len(names) + (at < given.count % len(names))
        with tempfile.TemporaryDirectory() as folder:
            planted = Planted(name, Path(folder))
            for outcome in planted.drawn(random.Random(f"{given.seed} {name}"), share):
                counts.update(outcome.counts())
                print(f"{name:9} {outcome}", flush=True)
                if given.all or (given.show and not (outcome.place and outcome.cause)):
                    print(outcome.told)
        counts.update(planted.left_out)
    print(", ".join(f"{count} {name}" for name, count in counts.items()))


if __name__ == "__main__":
    main()
