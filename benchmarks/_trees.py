"""Test data: arrays like those of a network's dump, and dump trees of them."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from harness.records import Record, SlotKey

Array = np.ndarray[Any, np.dtype[Any]]

#: Elements of the smallest and the largest array of ``mixed``: 1.3 KB to 19 MB of float32, as real dumps have them.
SMALLEST, LARGEST = 332, 4_750_000


def mixed(total: int, seed: int = 0) -> list[Array]:
    """float32 arrays of ``total`` bytes together, sizes log-uniform, a third of them with half their elements 0."""
    rng = np.random.default_rng(seed)
    arrays: list[Array] = []
    size = 0
    while size < total:
        count = int(np.exp(rng.uniform(np.log(SMALLEST), np.log(LARGEST))))
        array = rng.standard_normal(count).astype(np.float32)
        arrays.append(np.maximum(array, 0) if len(arrays) % 3 == 0 else array)
        size += arrays[-1].nbytes
    return arrays


def equal_sizes(count: int, nbytes: int = 4096) -> list[Array]:
    """``count`` float32 arrays of ``nbytes`` each."""
    rng = np.random.default_rng(1)
    return [rng.standard_normal(nbytes // 4).astype(np.float32) for _ in range(count)]


def operator(number: int) -> str:
    """Full name of an operator."""
    return f"Default/network-TrainOneStepCell/layer{number}-Dense/MatMul-op{number}"


def records(arrays: Sequence[Array]) -> Iterator[Record]:
    """Each array as an output, three to an operator."""
    for at, array in enumerate(arrays):
        key = SlotKey(0, 0, 0, operator(at // 3), 0, "output", at % 3)
        yield Record(key, "MatMul", "Float32", array.shape, values=array, source=f"network.py:{at % 50}")


def write_tree(path: Path, arrays: Sequence[Array]) -> list[Path]:
    """A dump tree of ``arrays`` as the CPU backend names its files; returns the files, in order."""
    shutil.rmtree(path, ignore_errors=True)
    directory = path / "rank_0" / "Net" / "0" / "0"
    directory.mkdir(parents=True)
    files = []
    for at, array in enumerate(arrays):
        name = operator(at // 3).replace("/", "_").replace("Default_", "Default_", 1)
        time = 1_700_000_000_000_000 + at
        file = directory / f"MatMul.{name}.0.0.{time}.output.{at % 3}.DefaultFormat.Float32.npy"
        np.save(file, array)
        file.chmod(0o400)
        files.append(file)
    return files
