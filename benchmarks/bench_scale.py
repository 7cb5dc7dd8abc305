"""The cost of sharing a comparison: CPU seconds of one process beside one, two and four workers, on two trees on disk.

``python -m benchmarks.bench_scale [RANKS ...]``: of 151 MB in both trees each, 2 unless said. In one pair all tensors
are equal, in the other all differ within their tolerance. CPU seconds count the command and its workers. The table goes
to docs/scale.md, if every answer is the serial one.
"""

from __future__ import annotations

import ctypes
import os
import resource
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

import numpy as np

from benchmarks._pages import put

#: Of prctl(2): what descendants leave behind becomes a child of this process.
_SUBREAPER = 36
RANKS, ITERATIONS, TENSORS, ELEMENTS = 2, 2, 9, 1 << 20
NOISE = np.float32(1e-6)
WORKERS = (0, 1, 2, 4)
HEAD = "| trees | 0 workers | 1 | 2 | 4 | largest process, MiB |\n|---|---|---|---|---|---|"


def write(tree: Path, ranks: int, tensors: int = TENSORS, noise: bool = False) -> None:
    """A tree of float32 tensors of 4 MiB."""
    base = np.random.default_rng(0).standard_normal(ELEMENTS + ranks * ITERATIONS * tensors, np.float32)
    base = base * (1 + NOISE) if noise else base
    for rank in range(ranks):
        for iteration in range(ITERATIONS):
            place = tree / f"rank_{rank}" / "Net" / "0" / str(iteration)
            place.mkdir(parents=True)
            for number in range(tensors):
                first = (rank * ITERATIONS + iteration) * tensors + number
                values = base[first : first + ELEMENTS]
                name = f"Add.op{number}.0.0.{1_700_000_000_000_000 + number}.output.0.DefaultFormat.Float32.npy"
                np.save(place / name, values)


def spent() -> float:
    """CPU seconds of processes that ended, those of workers with them, whose parents left them to this process."""
    with suppress(ChildProcessError):
        while True:
            os.wait()
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def shared(folder: str, names: tuple[str, str]) -> tuple[str, bool]:
    """Cells of a row, one for each number of workers and one for the largest process; whether all answers are the
    serial one."""
    answers, alone, cells = set(), 0.0, []
    for workers in WORKERS:
        command = [sys.executable, "-m", "harness.cli", "diff", *names, "--workers", str(workers)]
        before = spent()
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        used = spent() - before
        cells.append(f"{used:.1f} ({used / alone - 1:+.0%})" if alone else f"{used:.1f}")
        alone = alone or used
        answers.add((done.returncode, done.stdout))
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    return " | ".join([*cells, f"{peak / 1024:.0f}"]), len(answers) == 1


def measured(ranks: int) -> tuple[list[str], bool]:
    """Rows for trees of ``ranks`` ranks; whether every answer is the serial one."""
    rows, same = [], True
    with tempfile.TemporaryDirectory(prefix="msdump-bench-") as folder:
        for name in ("a", "b", "near"):
            write(Path(folder, name), ranks, noise=name == "near")
        size = 2 * ranks * ITERATIONS * TENSORS * ELEMENTS * 4 / 1e9
        for names, what in ((("a", "near"), "every tensor differs within its tolerance"), (("a", "b"), "equal")):
            cells, equal = shared(folder, names)
            rows.append(f"| {size:.1f} GB, {what} | {cells} |")
            same &= equal
    return rows, same


def main() -> int:
    """Writes the table; 1 if an answer is not the serial one or the page has no place for it."""
    ctypes.CDLL(None).prctl(_SUBREAPER, 1, 0, 0, 0)
    rows: list[str] = []
    same = True
    for ranks in [int(word) for word in sys.argv[1:]] or [RANKS]:
        found, equal = measured(ranks)
        rows, same = rows + found, same and equal
    if not same:
        print("an answer with workers is not the serial one", file=sys.stderr)
        return 1
    return int(not put("scale.md", "bench_scale", "\n".join([HEAD, *rows, ""])))


if __name__ == "__main__":
    raise SystemExit(main())
