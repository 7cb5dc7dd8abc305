"""Comparing two dump trees that differ by rounding: ``python -m benchmarks.bench_compare [MEGABYTES]``.

Two trees of 600 MB (or as many as said), float32, a third of the tensors like the output of a ReLU, the second
perturbed by 2e-7 of each element. ``numpy.load`` and ``allclose`` of both trees is 1. The gate says whether every
tensor is within its tolerance; full measures say of each how far it is, in a dozen ways.

msprobe runs where ``MSDUMP_INTEROP_MSPROBE`` names a Python that has it: counted are CPU seconds of its command with
all its threads and processes, less those of a comparison of one small tensor (its imports). It runs once on each pair
of trees, with as many BLAS threads as it takes, and with one.
"""

from __future__ import annotations

import csv
import shutil
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import _peers, _trees
from benchmarks._measure import Contender, fact, peak_memory, race, run_and_show
from benchmarks._pages import printed
from benchmarks.bench_check import load_and_compare
from harness import dtypes
from harness.capture import read_tree
from harness.compare import check
from harness.compare.floats import dot
from harness.stats.printed import ATTRIBUTES, COLUMNS, host_texts

Array = np.ndarray[Any, np.dtype[Any]]
MEGABYTES = 600
NOISE = 2e-7
GATE, FULL, ROW_MICROSECONDS, TIMES_MSPROBE = 0.40, 1.0, 10.0, 50.0
COMPARE = """
import sys
from harness.capture import read_tree
from harness.compare import check
if len(sys.argv) > 1:
    one, other = (read_tree(path) for path in sys.argv[1:3])
    assert check(one, other, "default", measured=sys.argv[3] == "full").holds
"""


def perturbed(arrays: Sequence[Array]) -> list[Array]:
    """The arrays with an error of about ``NOISE`` of each element."""
    rng = np.random.default_rng(7)
    return [(a * (1 + NOISE * rng.standard_normal(a.shape, np.float32))).astype(np.float32) for a in arrays]


def compare(golden: Path, found: Path, measured: bool) -> None:
    """Two trees, by the table of tolerances by dtype."""
    if not check(read_tree(golden), read_tree(found), "default", measured=measured).holds:
        raise AssertionError(found)


def passes_alone(golden: Sequence[Path], found: Sequence[Path]) -> None:
    """The calls of numpy that full measures need in any order of work, over blocks that stay in the cache: distances in
    units in the last place, errors, relative errors, the largest of each, how many elements differ, and the sums of
    products and errors in float64."""
    size = 1 << 16
    raw, single = np.empty((2, size), np.float32), np.empty((3, size), np.float32)
    steps, wide = np.empty(size, np.int32), np.empty((2, size), np.float64)
    for paths in zip(golden, found, strict=True):
        with paths[0].open("rb", buffering=0) as one, paths[1].open("rb", buffering=0) as other:
            for file in (one, other):
                file.seek(128)  # behind the header
            while count := one.readinto(raw[0]) // 4:
                other.readinto(raw[1, :count])
                _passes(raw[:, :count], single[:, :count], steps[:count], wide[:, :count])


def _passes(raw: Array, single: Array, steps: Array, wide: Array) -> None:
    (expected, found), (size, error, other) = raw, single
    np.abs(expected, out=size)
    np.subtract(found.view(np.int32), expected.view(np.int32), out=steps)
    np.count_nonzero(steps)
    np.abs(steps, out=steps).argmax()
    np.subtract(found, expected, out=other)
    np.abs(other, out=error).argmax()
    np.copyto(wide[0], expected)
    np.copyto(wide[1], other)
    dot(wide[0], wide[0]), dot(wide[0], wide[1]), dot(wide[1], wide[1])
    np.add.reduce(np.abs(wide[1], out=wide[1]))
    np.maximum(size, np.float32(1e-38), out=size)
    np.divide(error, size, out=other).argmax()


def with_torch(golden: Sequence[Path], found: Sequence[Path], torch: Any) -> None:
    """``assert_close`` of two trees, on one thread."""
    for one, other in zip(golden, found, strict=True):
        torch.testing.assert_close(*(torch.from_numpy(np.load(path)) for path in (other, one)), equal_nan=True)


def trees(directory: Path, megabytes: int) -> tuple[list[Path], list[Path]]:
    """Writes both trees; gives their files."""
    arrays = _trees.mixed(megabytes * 10**6)
    golden = _trees.write_tree(directory / "golden", arrays)
    return golden, _trees.write_tree(directory / "found", perturbed(arrays))


def values(directory: Path, megabytes: int) -> None:
    """Gate and full measures, beside numpy, torch and msprobe."""
    files = trees(directory, megabytes)
    golden, found = directory / "golden", directory / "found"
    contenders = [
        Contender("numpy.load + allclose", lambda: load_and_compare(*files)),
        Contender("gate", lambda: compare(golden, found, False), GATE),
        Contender("full measures", lambda: compare(golden, found, True), FULL),
        Contender("  their passes of numpy alone", lambda: passes_alone(*files)),
    ]
    if (torch := _peers.find("torch")) is not None:
        torch.set_num_threads(1)
        contenders.append(Contender("torch assert_close", lambda: with_torch(*files, torch)))
    title = f"Two trees, {len(files[0])} tensors, {megabytes} MB each, perturbed by {NOISE:g}"
    seconds = run_and_show(title, contenders, rounds=3)
    if (tool := _peers.msprobe()) is not None:
        same = directory / "same"
        shutil.copytree(golden, same)
        equal = race([Contender("equal", lambda: compare(golden, same, True))], rounds=3)
        ours = {("found", "gate"): seconds[1], ("found", "full measures"): seconds[2], ("same", "equal"): equal[0]}
        beside_msprobe(directory, tool, ours)


def beside_msprobe(directory: Path, tool: Path, ours: dict[tuple[str, str], float]) -> None:
    """msprobe's comparison of the same trees, as it comes and with one thread for its products.

    Args:
        ours: our CPU seconds by tree of the found side and by what was done.
    """
    for name in ("one-golden", "one-found"):
        _trees.write_tree(directory / name, _trees.equal_sizes(1))
    size = 2 * sum(path.stat().st_size for path in (directory / "golden").rglob("*.npy")) / 1e9
    print("\nBeside msprobe, without its start: GB of both trees a CPU second")
    for threads, environ in (("as it comes", {}), ("one BLAS thread", {"OPENBLAS_NUM_THREADS": "1"})):
        start = _of_msprobe(tool, directory / "one-golden", directory / "one-found", environ)
        for pair, what in (("found", "differ by rounding"), ("same", "equal")):
            theirs = _of_msprobe(tool, directory / "golden", directory / pair, environ) - start
            print(f"  trees {what}; msprobe, {threads}: {size / theirs:.3g} ({theirs:.3g} CPU s, {start:.3g} to start)")
            for (tree, how), seconds in ours.items():
                if tree == pair:
                    times = theirs / seconds
                    mark = "ok" if times >= TIMES_MSPROBE else "MISSED"
                    print(f"    {how}: {size / seconds:.3g}, {times:.3g} times (at least {TIMES_MSPROBE:g}: {mark})")


def _of_msprobe(tool: Path, golden: Path, found: Path, environ: dict[str, str]) -> float:
    """CPU seconds of msprobe."""
    status, rows, seconds = _peers.msprobe_compare(tool, golden, found, environ)
    if status or not rows:
        raise AssertionError(f"msprobe ended with {status} and {len(rows)} rows")
    return seconds


def statistics(directory: Path, count: int = 5000) -> None:
    """Two files of statistics."""
    arrays = _trees.equal_sizes(count)
    golden = write_statistics(directory / "golden-rows", arrays)
    found = write_statistics(directory / "found-rows", perturbed(arrays))

    def with_csv() -> None:
        for path in (golden, found):
            with next(path.rglob("statistic.csv")).open(newline="") as file:
                list(csv.reader(file))

    contenders = [
        Contender("csv.reader of both, no comparison", with_csv),
        Contender("comparison", lambda: compare(golden, found, True)),
    ]
    seconds = run_and_show(f"Two files of statistics, {count} rows each", contenders)
    fact("comparison", seconds[1] / count * 1e6, "us a row", ROW_MICROSECONDS)


def write_statistics(path: Path, arrays: Sequence[Array]) -> Path:
    """A dump tree of rows of statistics."""
    directory = path / "rank_0" / "Net" / "0" / "0"
    directory.mkdir(parents=True)
    items = list(ATTRIBUTES)
    with (directory / "statistic.csv").open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        first = [
            "Op Type", "Op Name", "Task ID", "Stream ID", "Timestamp", "IO", "Slot", "Data Size", "Data Type", "Shape",
        ]  # fmt: skip
        writer.writerow(first + [COLUMNS[item] for item in items])
        for at, array in enumerate(arrays):
            where = [f"{_trees.operator(at // 3)}", 0, 0, 1_700_000_000_000_000 + at, "output", at % 3, array.nbytes]
            texts = host_texts(array, dtypes.by_name("Float32"), items)
            writer.writerow(["MatMul", *where, "float32", f"[{array.size}]", *texts])
    return path


def small(directory: Path, count: int = 5000) -> None:
    """Small tensors: what a slot costs besides its values."""
    arrays = _trees.equal_sizes(count)
    pairs = {"agree": arrays, "differ": perturbed(arrays)}
    golden = directory / "golden-small"
    _trees.write_tree(golden, arrays)
    print(f"\nTwo trees of {count} tensors of 4 KB")
    runs: list[tuple[str, Callable[[], None]]] = []
    for name, others in pairs.items():
        found = directory / f"{name}-small"
        _trees.write_tree(found, others)
        runs.append((f"all {name}, gate", lambda found=found: compare(golden, found, False)))  # type: ignore[misc]
        runs.append((f"all {name}, full measures", lambda found=found: compare(golden, found, True)))  # type: ignore[misc]
    for (name, _), seconds in zip(runs, race([Contender(*run) for run in runs], rounds=3), strict=True):
        fact(name, seconds / count * 1e6, "us a pair")


def memory(directory: Path) -> None:
    """Peak memory of a whole process that compares the trees of ``values``."""
    print("\nPeak memory (limit: 100 MB + twice the largest tensor)")
    largest = max(path.stat().st_size for path in (directory / "golden").rglob("*.npy"))
    for how in ("gate", "full"):
        peak = peak_memory(COMPARE, [str(directory / "golden"), str(directory / "found"), how])
        fact(how, peak / 1e6, "MB", (100e6 + 2 * largest) / 1e6)


def main() -> None:
    megabytes = int(sys.argv[1]) if len(sys.argv) > 1 else MEGABYTES
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        values(directory, megabytes)
        memory(directory)
        statistics(directory)
        small(directory)


if __name__ == "__main__":
    sys.exit(printed("performance.md", "compare", main))
