"""The cost of sharing a comparison: CPU seconds of one process beside one, two and four workers, on two trees on disk.

``python -m benchmarks.bench_scale [RANKS ...]``: of 151 MB in both trees each, 4 unless said. In one pair all tensors
are equal, in the other all differ within their tolerance. CPU seconds count the command and its workers; what a command
takes on trees of one tensor is its start, and counted apart. Processes that run at one time share caches and the way to
memory, and take more CPU seconds for the same work: how much is measured by as many commands without Dask, each on its
share of the ranks, and only what workers take beyond those is the overhead of distribution. Trees are in the page
cache, and modules are compiled, as they are once installed. Each figure is the least of two runs, in turns. The table
goes to docs/scale.md, if every answer is the serial one.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from benchmarks._measure import child
from benchmarks._pages import put

#: Of prctl(2): what descendants leave behind becomes a child of this process.
_SUBREAPER = 36
RANKS, ITERATIONS, TENSORS, ELEMENTS = 4, 2, 9, 1 << 20
NOISE = np.float32(1e-6)
WORKERS = (0, 1, 2, 4)
ROUNDS = 2
#: Overhead of distribution that is promised.
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


def share(folder: str, ranks: int, processes: int) -> list[str]:
    """Directories with an even share of the ranks of each tree, of the same files."""
    made = []
    for number in range(processes):
        place = Path(folder, f"share-{processes}-{number}")
        for name in ("golden", *PAIRS):
            for rank in range(number * ranks // processes, (number + 1) * ranks // processes):
                branch = f"{name}/rank_{rank}"
                shutil.copytree(Path(folder, branch), place / branch, copy_function=os.link)
        made.append(str(place))
    return made


@dataclass
class Cost:
    """Least CPU seconds of commands that run at a time, with their workers, and the most MiB of a worker."""

    seconds: float = float("inf")
    worker: float = 0.0
    answers: set[tuple[int, bytes]] = field(default_factory=set)

    def take(self, folders: Sequence[str], name: str, workers: int) -> None:
        """Runs the command once in each folder."""
        command = [sys.executable, "-m", "harness.cli", "diff", "golden", name, "--workers", str(workers)]
        with ExitStack() as stack:
            started = {}
            for folder in folders:
                out = stack.enter_context(tempfile.TemporaryFile())
                process = subprocess.Popen(command, cwd=folder, stdout=out, stderr=subprocess.DEVNULL)
                started[process.pid] = process, out
            used = 0.0
            while True:
                try:
                    ended, status, usage = os.wait4(-1, 0)
                except ChildProcessError:
                    break
                used += usage.ru_utime + usage.ru_stime
                if ended in started:
                    process, out = started[ended]
                    process.returncode = os.waitstatus_to_exitcode(status)
                    out.seek(0)
                    self.answers.add((process.returncode, out.read()))
                else:
                    self.worker = max(self.worker, usage.ru_maxrss / 1024)
        self.seconds = min(self.seconds, used)


def costs(folder: str, name: str, ranks: int = 0) -> tuple[list[Cost], list[Cost]]:
    """What the comparison costs with each number of workers, and in as many commands of a share of the ranks each.

    Args:
        ranks: of the trees; 0 to leave the second out.

    Raises:
        ValueError: an answer with workers is not the serial one, or a command of a share fails.
    """
    found, apart = [Cost() for _ in WORKERS], [Cost() for _ in WORKERS]
    shares = [share(folder, ranks, count) if ranks and count > 1 else [] for count in WORKERS]
    for _ in range(ROUNDS):
        for workers, own, cost, other in zip(WORKERS, shares, found, apart, strict=True):
            cost.take([folder], name, workers)
            if own:
                other.take(own, name, 0)
    if len(set().union(*(cost.answers for cost in found))) > 1:
        raise ValueError("an answer with workers is not the serial one")
    if {status for cost in (found[0], *apart) for status, _ in cost.answers} != {0}:
        raise ValueError("a comparison failed")
    for own in shares:
        for place in own:
            shutil.rmtree(place)
    return found, apart


def cells(seconds: Sequence[float], worker: str = "") -> str:
    """CPU seconds, and how much more than those of no worker."""
    alone, *others = seconds
    more = (f"{each:.2f} ({each / alone - 1:+.0%})" for each in others)
    return " | ".join([f"{alone:.2f}", *more, worker])


def rows(ranks: int, start: Sequence[Cost]) -> tuple[list[str], list[str]]:
    """Rows of both pairs, whole commands and without their start; rows of the overhead of distribution."""
    made, overheads = [], []
    begun = [cost.seconds for cost in start]
    with tempfile.TemporaryDirectory(prefix="msdump-bench-") as folder:
        trees(folder, ranks, TENSORS)
        size = 2 * ranks * ITERATIONS * TENSORS * ELEMENTS * 4 / 1e9
        for name, what in PAIRS.items():
            found, other = costs(folder, name, ranks)
            whole = [cost.seconds for cost in found]
            # One start of all those of separate commands is counted.
            apart = [
                whole[0],
                whole[0],
                *(c.seconds - (n - 1) * begun[0] for c, n in zip(other, WORKERS, strict=True) if n > 1),
            ]
            label, worker = f"{size:.1f} GB, {what}", f"{max(cost.worker for cost in found):.0f}"
            rest, others = [max(0.01, w - b) for w, b in zip(whole, begun, strict=True)], [a - begun[0] for a in apart]
            made += [
                f"| {label} | {cells(whole, worker)} |", f"| as many commands without Dask | {cells(apart)} |",
                f"| without the start | {cells(rest, worker)} |",
                f"| as many commands without Dask | {cells(others)} |",
            ]  # fmt: skip
            for part, ours, theirs in ((label, whole, apart), ("without the start", rest, others)):
                more = [one / two - 1 for one, two in zip(ours, theirs, strict=True)][1:]
                said = " | ".join(f"{each:+.0%} {'met' if each <= GOAL else 'missed'}" for each in more)
                overheads.append(f"| {part} | {said} |")
    return made, overheads


def main() -> int:
    """Writes the table; 1 if an answer is not the serial one or the page has no place for it."""
    ctypes.CDLL(None).prctl(_SUBREAPER, 1, 0, 0, 0)
    with tempfile.TemporaryDirectory(prefix="msdump-bench-") as compiled:
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
        os.environ["PYTHONPYCACHEPREFIX"] = compiled
        imports = [min(child([sys.executable, "-c", code])[1] for _ in range(5)) for code in IMPORTS]
        try:
            lines = _table([int(word) for word in sys.argv[1:]] or [RANKS])
        except ValueError as error:
            print(error, file=sys.stderr)
            return 1
    lines += [
        "",
        f"Imports alone: {imports[0]:.2f} CPU s of any `msdump diff`, {imports[1]:.2f} with Dask's, so that no command "
        f"with workers starts for less than {imports[1] - imports[0]:.2f} s more.",
        "",
    ]
    return int(not put("scale.md", "bench_scale", "\n".join(lines)))


def _table(sizes: Sequence[int]) -> list[str]:
    with tempfile.TemporaryDirectory(prefix="msdump-bench-") as folder:
        trees(folder, 1, 1)
        start, _ = costs(folder, "equal")
    began, worker = [cost.seconds for cost in start], f"{max(cost.worker for cost in start):.0f}"
    lines = [
        "| trees | 0 workers | 1 | 2 | 4 | largest worker, MiB |",
        "|---|---|---|---|---|---|",
        f"| the start: one tensor | {cells(began, worker)} |",
    ]
    goals: list[str] = []
    for ranks in sizes:
        more, said = rows(ranks, start)
        lines, goals = lines + more, goals + said
    return [
        *lines, "",
        f"The overhead of distribution, which is what workers take beyond as many commands without Dask, beside the "
        f"goal of {GOAL:+.0%}:",
        "", "| trees | 1 worker | 2 | 4 |", "|---|---|---|---|", *goals,
    ]  # fmt: skip


if __name__ == "__main__":
    raise SystemExit(main())
