"""How costs grow with size: ``python -m benchmarks.bench_growth [FILES ...]``; up to a million if asked for.

Trees of small tensors (64 bytes; a thousand to an iteration) checked against an equal tree, and operators paired under
other names. CPU seconds and peak memory are those of whole processes, less those of one with the smallest size's
imports: what stays the same from row to row is linear in time, or flat in memory.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

import numpy as np

from benchmarks import _trees
from benchmarks._measure import child, peak_memory
from benchmarks._pages import put

FILES = (1_000, 10_000, 100_000)
#: files of one iteration
EACH = 1_000
CHECK = """
import sys
from harness.capture import read_tree
from harness.compare import check
if len(sys.argv) > 1:
    assert check(read_tree(sys.argv[1]), read_tree(sys.argv[2]), "default", measured=False).holds
else:
    import harness.compare.check
"""
#: The calls of the system that no reading of files spares, and the digest of their bytes.
READ = """
import os, sys
import xxhash
buffer = bytearray(4096)
view = memoryview(buffer)
for root in sys.argv[1:]:
    for directory, _, names in os.walk(root):
        for name in names:
            descriptor = os.open(f"{directory}/{name}", os.O_RDONLY | os.O_CLOEXEC)
            xxhash.xxh3_128_digest(view[: os.readv(descriptor, [buffer])])
            os.close(descriptor)
"""
PAIR = """
import sys
from harness.compare.pairing import pair
from harness.records import Record, SlotKey
count = int(sys.argv[1]) if len(sys.argv) > 1 else 3
def run(scope, seed):
    last = b"x"
    for at in range(count // 3):
        name = f"Default/{scope}{at}-Cell/{('MatMul', 'ReLU')[at % 2]}-op{at}"
        made, weight = (f"{seed}{kind}{at}".encode().ljust(16) for kind in "yw")
        for io, slot, content in (("input", 0, last), ("input", 1, weight), ("output", 0, made)):
            key = SlotKey(0, 0, 0, name, 0, io, slot)
            yield Record(key, ("MatMul", "ReLU")[at % 2], "Float32", (2, 3), digest=content)
        last = made
paired = sum(pair(list(run("a", 0)), list(run("b", 1))).counts().values())
assert count == 3 or paired == count // 3, paired
"""


def write(path: Path, count: int) -> None:
    """A tree of ``count`` tensors of 16 numbers; those of further iterations are links to those of the first."""
    data = _trees.equal_sizes(EACH, 64)
    first: list[str] = []
    for iteration in range(-(-count // EACH)):
        directory = path / "rank_0" / "Net" / "0" / str(iteration)
        directory.mkdir(parents=True)
        for at, array in enumerate(data[: count - iteration * EACH]):
            name = _trees.operator(at).replace("/", "_")
            time = 1_700_000_000_000_000 + iteration * EACH + at
            file = f"{directory}/MatMul.{name}.0.0.{time}.output.0.DefaultFormat.Float32.npy"
            if iteration:
                os.link(first[at], file)
            else:
                np.save(file, array)
                first.append(file)


def figures(code: str, arguments: list[str], count: int, bare: tuple[float, int]) -> tuple[float, float]:
    """Microseconds of CPU for each of ``count``, and megabytes, both beyond ``bare``."""
    status, seconds = child([sys.executable, "-c", code, *arguments])
    if status:
        raise AssertionError(f"the program ended with {status}")
    return (seconds - bare[0]) / count * 1e6, (peak_memory(code, arguments) - bare[1]) / 1e6


def bare_of(code: str) -> tuple[float, int]:
    """CPU seconds and peak bytes of the imports."""
    return child([sys.executable, "-c", code])[1], peak_memory(code)


def main() -> int:
    sizes = tuple(map(int, sys.argv[1:])) or FILES
    lines = [
        "| files, or slots | check of a tree, us a pair of files | MB | listing, reading, xxh3 alone, us | "
        "pairing, us a slot | MB |",
        "|---|---|---|---|---|---|",
    ]
    bare = bare_of(CHECK), bare_of(PAIR), bare_of(READ)
    for size in sizes:
        with tempfile.TemporaryDirectory() as name:
            for side in ("golden", "found"):
                write(Path(name) / side, size)
            sides = [f"{name}/golden", f"{name}/found"]
            tree, read = figures(CHECK, sides, size, bare[0]), figures(READ, sides, size, bare[2])
        pairs = figures(PAIR, [str(size)], size, bare[1]) if size <= 100_000 else None
        cells = [f"{value:.0f}" for value in (*tree, read[0], *(pairs or ()))]
        lines.append(f"| {size:,} | {' | '.join(cells + ['-'] * (5 - len(cells)))} |")
        print(lines[-1], flush=True)
    return 0 if put("performance.md", "growth", "\n".join(lines) + "\n") else 1


if __name__ == "__main__":
    sys.exit(main())
