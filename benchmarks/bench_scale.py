"""The cost of sharing a comparison: CPU seconds of one process beside one, two and four workers, on two trees on disk.

``python -m benchmarks.bench_scale [RANKS]``: of 151 MB in both trees each, 2 unless said. In one pair all tensors are
equal, in the other all differ within their tolerance. CPU seconds count the command and its workers. Where
``MSDUMP_INTEROP_MSPROBE`` names a Python that has it, msprobe compares rank 0 of the same trees. The figures are
printed; nothing is asserted.
"""

from __future__ import annotations

import ctypes
import os
import resource
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

import numpy as np

from benchmarks import _peers

#: Of prctl(2): what descendants leave behind becomes a child of this process.
_SUBREAPER = 36
RANKS, ITERATIONS, TENSORS, ELEMENTS = 2, 2, 9, 1 << 20
NOISE = np.float32(1e-6)


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


def shared(folder: str, names: tuple[str, str], what: str) -> bool:
    """Prints a line for each number of workers; whether all answers are the serial one."""
    answers, alone = set(), 0.0
    for workers in (0, 1, 2, 4):
        command = [sys.executable, "-m", "harness.cli", "diff", *names, "--workers", str(workers)]
        before, begun = spent(), time.perf_counter()
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        used = spent() - before
        alone = alone or used
        print(f"{what}, {workers} workers: {used:.2f} s CPU ({used / alone - 1:+.0%}), "
              f"{time.perf_counter() - begun:.2f} s in all, exit code {done.returncode}", flush=True)  # fmt: skip
        answers.add((done.returncode, done.stdout))
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    print(f"{what}: the largest process so far had {peak / 1024:.0f} MiB", flush=True)
    return len(answers) == 1


def beside_msprobe(folder: Path, names: tuple[str, str], what: str) -> None:
    """Rank 0 of both trees: bytes that each compares in a CPU second, the starts taken off."""
    tool = _peers.msprobe()
    if tool is None:
        return
    ours, theirs = [], []
    for one, other in (("one", "one"), names):
        before = spent()
        command = [sys.executable, "-m", "harness.cli", "diff", f"{one}/rank_0", f"{other}/rank_0"]
        subprocess.run(command, cwd=folder, capture_output=True, check=False)
        ours.append(spent() - before)
        theirs.append(_peers.msprobe_compare(tool, folder / one, folder / other)[2])
    size = 2 * ITERATIONS * (TENSORS - 1) * ELEMENTS * 4 / 1e9  # beyond the one tensor of an iteration of "one"
    rates = [size / max(1e-3, each[1] - each[0]) for each in (ours, theirs)]
    print(f"{what}: {rates[0]:.2f} GB/s on a core, msprobe {rates[1]:.3f} GB/s: {rates[0] / rates[1]:.0f} times")


def main() -> int:
    """Prints all; 1 if an answer is not the serial one."""
    ranks = int(sys.argv[1]) if len(sys.argv) > 1 else RANKS
    ctypes.CDLL(None).prctl(_SUBREAPER, 1, 0, 0, 0)
    same = True
    with tempfile.TemporaryDirectory(prefix="msdump-bench-") as folder:
        write(Path(folder, "one"), 1, 1)
        for name in ("a", "b", "near"):
            write(Path(folder, name), ranks, noise=name == "near")
        size = 2 * ranks * ITERATIONS * TENSORS * ELEMENTS * 4 / 1e6
        for names, what in ((("a", "b"), "equal"), (("a", "near"), "within the tolerance")):
            same &= shared(folder, names, f"{size:.0f} MB, {what}")
            beside_msprobe(Path(folder), names, what)
    return int(not same)


if __name__ == "__main__":
    raise SystemExit(main())
