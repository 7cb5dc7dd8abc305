"""The cost of sharing a comparison: CPU seconds of one process beside one, two and four workers, on two trees on disk.

``python -m benchmarks.bench_scale [RANKS ...]``: of 151 MB in both trees each, 2 unless said. In one pair all tensors
are equal, in the other all differ within their tolerance. CPU seconds count the command and its workers; what a command
takes on trees of one tensor is its start, and counted apart. Trees are in the page cache. Each figure is the least of
two runs. The table goes to docs/scale.md, if every answer is the serial one.
"""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from benchmarks._measure import child
from benchmarks._pages import put

#: Of prctl(2): what descendants leave behind becomes a child of this process.
_SUBREAPER = 36
RANKS, ITERATIONS, TENSORS, ELEMENTS = 2, 2, 9, 1 << 20
NOISE = np.float32(1e-6)
WORKERS = (0, 1, 2, 4)
ROUNDS = 2
#: Overhead of one worker that is promised.
GOAL = 0.10
PAIRS = {"near": "every tensor differs within its tolerance", "equal": "equal"}
#: What every command imports, and what Dask adds.
IMPORTS = "import harness.cli.diff", "import harness.cli.diff, distributed.nanny"


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


def trees(folder: str, ranks: int, tensors: int) -> None:
    """Writes a golden tree and its pairs, in a process that ends: peaks of memory are inherited."""
    process = os.fork()
    if not process:
        for name in ("golden", *PAIRS):
            write(Path(folder, name), ranks, tensors, noise=name == "near")
        os._exit(0)
    if os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]):
        raise OSError(f"{folder}: the trees cannot be written")


@dataclass
class Cost:
    """Least CPU seconds of a command with its workers, and the most MiB of a worker."""

    seconds: float = float("inf")
    worker: float = 0.0
    answers: set[tuple[int, bytes]] = field(default_factory=set)

    def take(self, folder: str, name: str, workers: int) -> None:
        """Runs the command once."""
        command = [sys.executable, "-m", "harness.cli", "diff", "golden", name, "--workers", str(workers)]
        with tempfile.TemporaryFile() as out:
            started = subprocess.Popen(command, cwd=folder, stdout=out, stderr=subprocess.DEVNULL)
            used, status = 0.0, 0
            while True:
                try:
                    process, ended, usage = os.wait4(-1, 0)
                except ChildProcessError:
                    break
                used += usage.ru_utime + usage.ru_stime
                if process == started.pid:
                    started.returncode = status = os.waitstatus_to_exitcode(ended)
                else:
                    self.worker = max(self.worker, usage.ru_maxrss / 1024)
            out.seek(0)
            self.answers.add((status, out.read()))
        self.seconds = min(self.seconds, used)


def costs(folder: str, name: str) -> list[Cost]:
    """What the comparison costs with each number of workers.

    Raises:
        ValueError: an answer with workers is not the serial one.
    """
    found = [Cost() for _ in WORKERS]
    for _ in range(ROUNDS):
        for workers, cost in zip(WORKERS, found, strict=True):
            cost.take(folder, name, workers)
    if len(set().union(*(cost.answers for cost in found))) > 1:
        raise ValueError("an answer with workers is not the serial one")
    return found


def cells(found: Sequence[Cost]) -> str:
    """CPU seconds, and how much more than those of no worker."""
    alone, *others = (cost.seconds for cost in found)
    more = (f"{each:.2f} ({each / alone - 1:+.0%})" for each in others)
    return " | ".join([f"{alone:.2f}", *more, f"{max(cost.worker for cost in found):.0f}"])


def rows(ranks: int, start: Sequence[Cost]) -> tuple[list[str], list[str]]:
    """Rows of both pairs, whole commands and without their start; what they say of the goal."""
    made, goals = [], []
    with tempfile.TemporaryDirectory(prefix="msdump-bench-") as folder:
        trees(folder, ranks, TENSORS)
        size = 2 * ranks * ITERATIONS * TENSORS * ELEMENTS * 4 / 1e9
        for name, what in PAIRS.items():
            found = costs(folder, name)
            made.append(f"| {size:.1f} GB, {what} | {cells(found)} |")
            rest = [Cost(max(0.01, c.seconds - s.seconds), c.worker) for c, s in zip(found, start, strict=True)]
            made.append(f"| without the start | {cells(rest)} |")
            for label, each in (("with its start", found), ("without", rest)):
                more = each[1].seconds / each[0].seconds - 1
                goals.append(f"{size:.1f} GB, {what}, {label}: {more:+.0%}, {'met' if more <= GOAL else 'missed'}")
    return made, goals


def main() -> int:
    """Writes the table; 1 if an answer is not the serial one or the page has no place for it."""
    ctypes.CDLL(None).prctl(_SUBREAPER, 1, 0, 0, 0)
    imports = [min(child([sys.executable, "-c", code])[1] for _ in range(5)) for code in IMPORTS]
    with tempfile.TemporaryDirectory(prefix="msdump-bench-") as folder:
        trees(folder, 1, 1)
        start = costs(folder, "equal")
    lines = [
        "| trees | 0 workers | 1 | 2 | 4 | largest worker, MiB |",
        "|---|---|---|---|---|---|",
        f"| the start: one tensor | {cells(start)} |",
    ]
    goals: list[str] = []
    try:
        for ranks in [int(word) for word in sys.argv[1:]] or [RANKS]:
            more, said = rows(ranks, start)
            lines, goals = lines + more, goals + said
    except ValueError as error:
        print(error, file=sys.stderr)
        return 1
    lines += [
        "",
        f"Imports alone: {imports[0]:.2f} CPU s of any `msdump diff`, {imports[1]:.2f} with Dask's, so that no command "
        f"with workers starts for less than {imports[1] - imports[0]:.2f} s more.",
        "",
        f"The goal, at most {GOAL:+.0%} with one worker: {'; '.join(goals)}.",
        "",
    ]
    return int(not put("scale.md", "bench_scale", "\n".join(lines)))


if __name__ == "__main__":
    raise SystemExit(main())
