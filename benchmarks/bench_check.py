"""Checking against a golden, beside ``numpy.load`` and ``allclose``: ``python -m benchmarks.bench_check``.

The yardstick loads both trees and compares them, as a script without a golden store would. Everything is unchanged, as
in nearly every run of a regression gate. A capture computes digests when it copies the arrays, while they are in the
cache, so the lines of a capture show what a user pays. The line of arrays without digests shows the cost of the
digests, beside xxh3 alone over the same bytes.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import xxhash

from benchmarks import _trees
from benchmarks._measure import Contender, fact, peak_memory, run_and_show
from benchmarks._pages import printed
from harness.capture import read_tree
from harness.compare import check
from harness.records import Record
from harness.stats import digest
from harness.store import GoldenStore, Level, RunData, RunId, update

Array = np.ndarray[Any, np.dtype[Any]]
RUN = RunId("cpu", "tensor")
MIXED_BYTES = 200 * 10**6


def load_and_compare(golden: Sequence[Path], found: Sequence[Path]) -> None:
    for one, other in zip(golden, found, strict=True):
        if not np.allclose(np.load(one), np.load(other), equal_nan=True):
            raise AssertionError(one)


def check_records(path: Path, records: list[Record]) -> None:
    with GoldenStore.open(path) as store:
        if not check(store.run(*RUN), records).holds:
            raise AssertionError(path)


def check_tree(path: Path, tree: Path) -> None:
    with GoldenStore.open(path) as store:
        if not check(store.run(*RUN), read_tree(tree)).holds:
            raise AssertionError(path)


def stored(directory: Path, name: str, tree: Path, level: Level = "tensors") -> Path:
    path = directory / f"{name}.h5"
    update(path, "Net", {RUN: RunData(read_tree(tree).records(), level=level)})
    return path


def with_digests(records: list[Record]) -> list[Record]:
    for record in records:
        record.digest = digest(record.values, record.dtype)  # type: ignore[arg-type]
    return records


def read_and_digest(paths: Sequence[Path]) -> None:
    """The calls of the system that no reading of files spares, and the digest of their bytes."""
    buffer = bytearray(max(path.stat().st_size for path in paths))
    view = memoryview(buffer)
    for path in map(str, paths):
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        xxhash.xxh3_128_digest(view[: os.readv(descriptor, [buffer])])
        os.close(descriptor)


def race(directory: Path, name: str, arrays: list[Array], goals: tuple[float | None, float | None]) -> None:
    """One table: a tree on disk, a capture in memory."""
    golden = _trees.write_tree(directory / f"{name}-golden", arrays)
    found = _trees.write_tree(directory / f"{name}-found", arrays)
    tree, size = directory / f"{name}-found", sum(array.nbytes for array in arrays)
    store, bare = stored(directory, name, tree), stored(directory, f"{name}-bare", tree, "digest")
    memory = list(_like_tree(tree, arrays))
    hot = with_digests(list(_like_tree(tree, arrays)))
    count = len(arrays)

    def each(seconds: float) -> str:
        return f"{seconds / count * 1e6:8.1f} us a tensor"

    run_and_show(
        f"{name}: {count} tensors, {size / 1e6:.0f} MB, unchanged",
        [
            Contender("numpy.load + allclose, both trees", lambda: load_and_compare(golden, found), None, each),
            Contender("check of the tree on disk", lambda: check_tree(store, tree), goals[0], each),
            Contender("  open, read, close and xxh3 alone", lambda: read_and_digest(found), None, each),
            Contender("check of a capture in memory", lambda: check_records(store, hot), goals[1], each),
            Contender("  the same, digests only golden", lambda: check_records(bare, hot), goals[1], each),
            Contender("  of arrays without digests yet", lambda: check_records(store, memory), None, each),
            Contender("xxh3 alone, nothing else", lambda: [xxhash.xxh3_128_digest(a.data) for a in arrays], None, each),
        ],
        rounds=7,
    )


def _like_tree(tree: Path, arrays: list[Array]) -> list[Record]:
    """The records of a tree, with arrays in memory."""
    records = list(read_tree(tree).records())
    for record, array in zip(records, arrays, strict=True):
        record.values, record.digest = array, None
    return records


CHECK = """
import sys
from harness.capture import read_tree
from harness.compare import check
from harness.store import GoldenStore
if len(sys.argv) > 1:
    with GoldenStore.open(sys.argv[1]) as store:
        assert len(check(store.run("cpu", "tensor"), read_tree(sys.argv[2]), "default").failures()) == int(sys.argv[3])
"""
UPDATE = """
import sys
from harness.capture import read_tree
from harness.store import RunData, RunId, update
if len(sys.argv) > 1:
    update(sys.argv[1], "Net", {RunId("cpu", "tensor"): RunData(read_tree(sys.argv[2]).records())})
"""


def memory(directory: Path) -> None:
    """Peak memory of whole processes."""
    arrays = [np.full(16 * 2**20, n, np.float32) for n in range(6)]
    tree = directory / "large"
    _trees.write_tree(tree, arrays)
    store = stored(directory, "large", tree)
    changed = directory / "changed"
    _trees.write_tree(changed, [array + 1 for array in arrays])
    largest = arrays[0].nbytes / 2**20
    print(f"\nPeak memory, {len(arrays)} tensors of {largest:.0f} MiB (limit: 100 MB + twice the largest)")
    limit = 100e6 / 2**20 + 2 * largest
    for name, code, arguments in [
        ("imports alone", CHECK, []),
        ("check, unchanged", CHECK, [str(store), str(tree), "0"]),
        ("check, all different", CHECK, [str(store), str(changed), str(len(arrays))]),
        ("update", UPDATE, [str(directory / "new.h5"), str(tree)]),
    ]:
        fact(name, peak_memory(code, arguments) / 2**20, "MiB", limit)


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        race(directory, "mixed", _trees.mixed(MIXED_BYTES), (0.15, 0.03))
        race(directory, "small", _trees.equal_sizes(5000), (None, None))
        memory(directory)


if __name__ == "__main__":
    sys.exit(printed("performance.md", "check", main))
