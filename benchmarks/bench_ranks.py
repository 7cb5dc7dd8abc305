"""Goldens of many ranks: one store for all, beside one store per rank; and which of 64 ranks left first, and why.

Half of each rank's tensors are replicated (equal on all ranks), half are its own. CPU seconds of the commands without
their start, and bytes on disk. The figures are printed; nothing is asserted.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

import numpy as np

from harness.cli import main as msdump
from harness.explain.ranks import Run, beside
from tests.explain.ranks.trainings import drawn

RANKS, ITERATIONS, TENSORS, ELEMENTS = 16, 2, 200, 2048


def write(tree: Path) -> None:
    """The tree."""
    for rank in range(RANKS):
        for iteration in range(ITERATIONS):
            place = tree / f"rank_{rank}" / "Net" / "0" / str(iteration)
            place.mkdir(parents=True)
            for number in range(TENSORS):
                own = rank if number % 2 else RANKS
                values = np.random.default_rng([own, iteration, number]).standard_normal(ELEMENTS, np.float32)
                name = f"Add.op{number}.0.0.{1_700_000_000_000_000 + number}.output.0.DefaultFormat.Float32.npy"
                np.save(place / name, values)


def timed(work: Callable[[], None]) -> float:
    """CPU seconds."""
    before = time.process_time()
    with redirect_stdout(StringIO()):
        work()
    return time.process_time() - before


def run(*words: str) -> None:
    """A command that succeeds."""
    if msdump(list(words)):
        raise AssertionError(words)


def each_alone(tree: Path, stores: Path, command: str) -> None:
    """A store for each rank."""
    for rank in range(RANKS):
        run(command, str(tree), str(stores / f"rank_{rank}.h5"), "--rank", str(rank))


def explained() -> None:
    """Prints what the explanation of one fault among 64 ranks costs."""
    right, wrong = (drawn(64, 64, kind).run() for kind in ("", "bit in a reduction"))
    seconds = timed(lambda: print(beside(Run(right), Run(wrong)).first))
    print(f"64 ranks, {len(right)} slots: which left first, and why, in {seconds:.2f} s CPU", flush=True)


def main() -> int:
    """Prints a line for each layout, and one for the explanation."""
    explained()
    with tempfile.TemporaryDirectory(prefix="msdump-bench-") as name:
        folder = Path(name)
        tree, one, many = folder / "tree", folder / "one", folder / "many"
        write(tree)
        one.mkdir()
        many.mkdir()
        for what, stores, work in (
            ("one store", one, lambda command: run(command, str(tree), str(one / "all.h5"))),
            ("one store a rank", many, lambda command: each_alone(tree, many, command)),
        ):
            imported, checked = timed(lambda work=work: work("import")), timed(lambda work=work: work("check"))  # type: ignore[misc]
            size = sum(path.stat().st_size for path in stores.rglob("*.h5"))
            print(f"{RANKS} ranks x {ITERATIONS * TENSORS} tensors of {ELEMENTS * 4} bytes, {what}: import "
                  f"{imported:.2f} s CPU, check {checked:.2f} s CPU, {size / 1e6:.1f} MB", flush=True)  # fmt: skip
    return 0


if __name__ == "__main__":
    sys.exit(main())
