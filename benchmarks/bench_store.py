"""Sizes and writing of golden stores: ``python -m benchmarks.bench_store [DUMP_TREE ...]``.

Without arguments the tree is synthetic: every array three times (as input, output and parameter), as in real dumps.
"""

from __future__ import annotations

import os
import sys
import tempfile
from itertools import count
from pathlib import Path

import numpy as np

from benchmarks import _trees
from benchmarks._measure import Contender, fact, run_and_show
from harness.capture import read_tree
from harness.store import GoldenStore, RunData, RunId, update

RUN = RunId("cpu", "tensor")


def size_of(tree: Path) -> int:
    """Bytes of all files below ``tree``."""
    return sum(os.path.getsize(os.path.join(root, name)) for root, _, names in os.walk(tree) for name in names)


def sizes(tree: Path, directory: Path) -> tuple[int, int, int, int]:
    """Bytes of the tree and of its store: plain, compressed; and of a digest golden."""
    capture = read_tree(tree)
    made = []
    for level, compression in (("tensors", "none"), ("tensors", "gzip"), ("digest", "none")):
        data = RunData(capture.records(), capture.artefacts, level=level)  # type: ignore[arg-type]
        path = directory / f"{level}-{compression}.h5"
        path.unlink(missing_ok=True)
        made.append(update(path, capture.network, {RUN: data}, compression=compression).size)  # type: ignore[arg-type]
    with GoldenStore.open(directory / "digest-none.h5") as store:
        slots = len(store.run(*RUN))
    total = size_of(tree)
    print(f"\n{tree.name}: {slots} slots, {total / 1e6:.2f} MB")
    fact("store / tree", made[0] / total, "", 0.45)
    fact("store / tree, compressed", made[1] / total, "", 0.32)
    fact("digests and statistics", made[2] / slots, "bytes a slot", 300)
    return total, *made


def synthetic(path: Path) -> Path:
    arrays = _trees.mixed(20 * 10**6)
    _trees.write_tree(path, [array for array in arrays for _ in range(3)])
    return path


def writing(directory: Path) -> None:
    """200 arrays of 1 MiB, one store; and one array a store, new ones each round."""
    arrays = _trees.equal_sizes(200, 2**20)
    records = list(_trees.records(arrays))

    def save() -> None:
        for at, array in enumerate(arrays):
            np.save(directory / f"{at}.npy", array)

    def one_store() -> None:
        (directory / "w.h5").unlink(missing_ok=True)
        update(directory / "w.h5", "Net", {RUN: RunData(records)})

    def again() -> None:
        if update(directory / "w.h5", "Net", {RUN: RunData(records)}).changed:
            raise AssertionError("a store changed without a change")

    fresh = count()

    def many_stores() -> None:
        for record in records:
            update(directory / f"{next(fresh)}.h5", "Net", {RUN: RunData([record])})

    run_and_show(
        "Writing 200 arrays of 1 MiB",
        [
            Contender("numpy.save", save),
            Contender("update, one store", one_store),
            Contender("update, nothing changed", again),
            Contender("update, a store each", many_stores, note=lambda s: f"{s:.2f} s of at most 0.6 s"),
        ],
    )


def main(trees: list[str]) -> None:
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        given = [Path(tree) for tree in trees] or [synthetic(directory / "synthetic")]
        rows = [sizes(tree, directory) for tree in given]
        if len(rows) > 1:
            total, plain, packed, _ = (sum(column) for column in zip(*rows, strict=True))
            print(f"\nAll {len(rows)} trees, {total / 1e6:.2f} MB")
            fact("store / tree", plain / total, "", 0.45)
            fact("store / tree, compressed", packed / total, "", 0.32)
        writing(directory)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
