"""``msdump import`` and ``check`` of a large tree, beside the disk's own sequential read.

``python -m benchmarks import``, or, for other sizes and another disk, ``python -m benchmarks.bench_import
--gigabytes 5 --files 1000000 --directory /somewhere``. Each round drops the tree from the page cache before each
contender (as far as the system takes the hint), and all of them take turns. Wall seconds mean something on a quiet
machine only; CPU seconds are printed beside them. Beside the read stands a copy of the same files into one file,
flushed to the disk as a store is: what the disk can do where tensors are kept.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np

from harness.dump.npy import header

GOAL, MEMORY = 0.7, 500e6
SMALLEST, LARGEST = 300, 16 * 2**20
BUFFER = 2**23

COMMAND = """
import json, os, sys, time
opened = {}
def look(event, args):
    if event == "open" and isinstance(args[0], str) and args[0].endswith(".npy"):
        opened[args[0]] = opened.get(args[0], 0) + 1
if sys.argv[1] == "audit":
    sys.addaudithook(look)
from harness.cli import main
started = time.monotonic()
code = main(sys.argv[2:])
wall = time.monotonic() - started
peak = next(int(line.split()[1]) * 1024 for line in open("/proc/self/status") if line.startswith("VmHWM"))
came = next(int(line.split()[1]) for line in open("/proc/self/io") if line.startswith("rchar"))
cpu = sum(os.times()[:2])
print(json.dumps([code, wall, cpu, peak, came, max(opened.values(), default=0), len(opened)]))
"""


class Figures(NamedTuple):
    """The cost of one run.

    Attributes:
        wall, cpu: seconds.
        peak: resident bytes.
        read: bytes the process read by any call, of its own modules too.
        opened, files: how often the file was opened that was opened most, and how many were; 0 where nobody looked.
    """

    wall: float
    cpu: float
    peak: int = 0
    read: int = 0
    opened: int = 0
    files: int = 0


def large_tree(root: Path, total: int) -> int:
    """A tree of ``total`` bytes of float32 tensors, 1.2 KB to 64 MB, sizes log-uniform; how many files it has."""
    rng, done, count = np.random.default_rng(0), 0, 0
    noise = rng.standard_normal(LARGEST, np.float32)
    directory = root / "rank_0" / "Net" / "0" / "0"
    directory.mkdir(parents=True)
    while done < total:
        size = int(np.exp(rng.uniform(np.log(SMALLEST), np.log(LARGEST))))
        noise[0] = count
        done += _write(directory, count, noise[:size])
        count += 1
    return count


def small_tree(root: Path, count: int) -> int:
    """A tree of ``count`` tensors of 1 KB, 10,000 to an iteration; its bytes."""
    values = np.random.default_rng(1).standard_normal(256, np.float32)
    done = 0
    for at in range(count):
        directory = root / "rank_0" / "Net" / "0" / str(at // 10_000)
        if at % 10_000 == 0:
            directory.mkdir(parents=True)
        values[0] = at
        done += _write(directory, at, values)
    return done


def _write(directory: Path, number: int, array: np.ndarray[tuple[int], np.dtype[np.float32]]) -> int:
    name = f"Default_network-TrainOneStepCell_layer{number // 3 % 3333}-Dense_MatMul-op{number // 3 % 3333}"
    file = f"MatMul.{name}.0.0.{1_700_000_000_000_000 + number}.output.{number % 3}.DefaultFormat.Float32.npy"
    head = header("<f4", array.shape)
    with open(directory / file, "wb") as out:
        out.write(head)
        out.write(array.data)
    return len(head) + array.nbytes


def files_of(tree: Path) -> list[str]:
    return sorted(os.path.join(at, name) for at, _, names in os.walk(tree) for name in names)


def drop(tree: Path) -> None:
    """Asks the system to drop the tree from the page cache."""
    for path in files_of(tree):
        descriptor = os.open(path, os.O_RDONLY)
        os.fdatasync(descriptor)
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
        os.close(descriptor)


def sequential_read(tree: Path, copy: Path | None = None) -> Figures:
    """Every file once, in the order of names, into one buffer; and from there into one flushed file, if asked for."""
    files, buffer = files_of(tree), memoryview(bytearray(BUFFER))
    out = os.open(copy, os.O_WRONLY | os.O_CREAT | os.O_TRUNC) if copy is not None else -1
    started, cpu = time.monotonic(), time.process_time()
    for path in files:
        descriptor = os.open(path, os.O_RDONLY)
        while size := os.readv(descriptor, [buffer]):
            if out >= 0:
                os.write(out, buffer[:size])
        os.close(descriptor)
    if out >= 0:
        os.fsync(out)
        os.close(out)
    return Figures(time.monotonic() - started, time.process_time() - cpu)


def msdump(*arguments: str, audit: bool = False) -> Figures:
    """One run of the command, in a process of its own; its start is in the CPU seconds, and not in the wall's."""
    command = [sys.executable, "-c", COMMAND, "audit" if audit else "-", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=Path(__file__).parents[1])
    if done.returncode:
        raise RuntimeError(done.stderr)
    code, *figures = json.loads(done.stdout.splitlines()[-1])
    if code:
        raise RuntimeError(f"msdump {' '.join(arguments)} ended with {code}: {done.stderr}")
    return Figures(*figures)


def race(directory: Path, tree: Path, rounds: int, cold: bool) -> None:
    """A table; of each contender the round with the least wall time."""
    stores = {name: str(directory / f"{name}.h5") for name in ("tensors", "digest")}

    def fresh(level: str) -> Figures:
        Path(stores[level]).unlink(missing_ok=True)
        return msdump("import", str(tree), stores[level], "--run", "bench", "--level", level)

    contenders: dict[str, Callable[[], Figures]] = {
        "sequential read": lambda: sequential_read(tree),
        "copy into one flushed file": lambda: sequential_read(tree, directory / "copy"),
        "import": lambda: fresh("tensors"),
        "import --level digest": lambda: fresh("digest"),
        "check": lambda: msdump("check", str(tree), stores["tensors"], "--run", "bench"),
        "check against digests": lambda: msdump("check", str(tree), stores["digest"], "--run", "bench"),
    }
    best: dict[str, Figures] = {}
    for _ in range(rounds):
        for name, run in contenders.items():
            if cold:
                drop(tree)
            best[name] = min(best.get(name, Figures(1e9, 0)), run())
    (directory / "copy").unlink()
    read = best["sequential read"].wall
    print(f"  {'':28} {'wall s':>8} {'of read':>8} {'CPU s':>8} {'peak MB':>8}")
    for name, found in best.items():
        mark = ""
        if found.peak:
            mark = f"  memory {'ok' if found.peak < MEMORY else 'MISSED'}"
            if cold:
                mark += f", speed {'ok' if read / found.wall >= GOAL else 'below ' + str(GOAL)}"
        print(f"  {name:28} {found.wall:8.2f} {read / found.wall:8.2f} {found.cpu:8.2f} {found.peak / 1e6:8.0f}{mark}")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--gigabytes", type=float, default=1.0, help="size of the tree of mixed tensors")
    parser.add_argument("--files", type=int, default=100_000, help="files of the tree of small tensors")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--directory", default=None, help="where the trees are made")
    given = parser.parse_args()
    directory = Path(tempfile.mkdtemp(prefix="msdump-bench-", dir=given.directory))
    try:
        if given.gigabytes:
            mixed(directory, given.gigabytes, given.rounds)
        if given.files:
            small(directory, given.files)
    finally:
        shutil.rmtree(directory)


def mixed(directory: Path, gigabytes: float, rounds: int) -> None:
    """The large tree."""
    tree = directory / "mixed"
    count = large_tree(tree, int(gigabytes * 1e9))
    size = sum(os.path.getsize(path) for path in files_of(tree))
    for cold in (True, False):
        where = "in the page cache" if not cold else "not in the page cache"
        print(f"\n{size / 1e9:.2f} GB in {count} files, {where}; the machine's load is {os.getloadavg()[0]:.1f}")
        race(directory, tree, rounds, cold)
    audited = msdump("import", str(tree), str(directory / "audited.h5"), audit=True)
    print(f"  a file was opened {audited.opened} times at most, {audited.files} of {count} files were")
    print(f"  the process read {audited.read / size:.3f} of the tree's bytes, its own modules included")
    shutil.rmtree(tree)


def small(directory: Path, files: int) -> None:
    """The tree of small files."""
    tree = directory / "small"
    small_tree(tree, files)
    print(f"\n{files} files of 1 KB, in the page cache")
    read = sequential_read(tree)
    print(
        f"  {'sequential read':28} {read.wall:8.2f} s, CPU {read.cpu:8.2f} s, {read.cpu / files * 1e6:6.1f} us a file"
    )
    for name, arguments in {
        "import": ("import", str(tree), str(directory / "small.h5"), "--run", "bench"),
        "import --level digest": ("import", str(tree), str(directory / "d.h5"), "--run", "bench", "--level", "digest"),
        "check": ("check", str(tree), str(directory / "small.h5"), "--run", "bench"),
    }.items():
        found = msdump(*arguments)
        each, memory = found.cpu / files * 1e6, found.peak / files
        print(
            f"  {name:28} {found.wall:8.2f} s, CPU {found.cpu:8.2f} s, {each:6.1f} us a file, peak"
            f" {found.peak / 1e6:.0f} MB ({memory:.0f} bytes a file)"
        )


if __name__ == "__main__":
    main()
