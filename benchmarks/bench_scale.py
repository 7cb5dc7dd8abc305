"""What sharing a comparison costs: CPU seconds of one process beside one and two workers, on two trees on disk.

CPU seconds count the command and its workers. The figures are printed; nothing is asserted.
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

#: Of prctl(2): what descendants leave behind becomes a child of this process.
_SUBREAPER = 36
RANKS, ITERATIONS, TENSORS, ELEMENTS = 2, 2, 9, 1 << 20


def write(tree: Path) -> None:
    """A tree of float32 tensors of 4 MiB."""
    for rank in range(RANKS):
        for iteration in range(ITERATIONS):
            place = tree / f"rank_{rank}" / "Net" / "0" / str(iteration)
            place.mkdir(parents=True)
            random = np.random.default_rng(iteration)
            for number in range(TENSORS):
                values = random.standard_normal(ELEMENTS).astype(np.float32)
                name = f"Add.op{number}.0.0.{1_700_000_000_000_000 + number}.output.0.DefaultFormat.Float32.npy"
                np.save(place / name, values)


def spent() -> float:
    """CPU seconds of processes that ended, those of workers with them, whose parents left them to this process."""
    with suppress(ChildProcessError):
        while True:
            os.wait()
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main() -> int:
    """Prints a line for each number of workers; 1 if an answer is not the serial one."""
    answers = set()
    ctypes.CDLL(None).prctl(_SUBREAPER, 1, 0, 0, 0)
    with tempfile.TemporaryDirectory(prefix="msdump-bench-") as folder:
        for name in ("a", "b"):
            write(Path(folder, name))
        size = 2 * RANKS * ITERATIONS * TENSORS * ELEMENTS * 4 / 1e6
        for workers in (0, 1, 2):
            command = [sys.executable, "-m", "harness.cli", "diff", "a", "b", "--workers", str(workers)]
            before, begun = spent(), time.perf_counter()
            done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
            print(f"{size:.0f} MB, {workers} workers: {spent() - before:.2f} s CPU, "
                  f"{time.perf_counter() - begun:.2f} s in all, exit code {done.returncode}", flush=True)  # fmt: skip
            answers.add((done.returncode, done.stdout))
    return int(len(answers) != 1)


if __name__ == "__main__":
    raise SystemExit(main())
