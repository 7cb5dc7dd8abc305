"""Dump trees of many ranks, written by hand: a few operators, a difference where it is wanted."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from harness.capture import msprobe_values, npy, tree_records

#: Operator type and name of what each iteration runs.
OPERATORS = (("MatMul", "Default_fc1-Dense_MatMul-op0"), ("ReLU", "Default_relu-ReLU_ReLU-op0"))


def write_rank(folder: Path, rank: int, iterations: int, changed: tuple[int, int] | None = None) -> None:
    """``rank_N`` with so many iterations; from the second operator's output of ``changed`` on, another value.

    Args:
        changed: rank and iteration that are other than expected.
    """
    for iteration in range(iterations):
        place = folder / f"rank_{rank}" / "Net" / "0" / str(iteration)
        place.mkdir(parents=True)
        random, stamp = np.random.default_rng(iteration), 1_700_000_000_000_000 + iteration * 1000
        value = random.standard_normal((4, 6)).astype(np.float32)
        for number, (kind, name) in enumerate(OPERATORS):
            for io in ("input", "output"):
                if io == "output":
                    value = np.tanh(value)
                    if number and changed == (rank, iteration):
                        value = value + np.float32(0.5)
                stamp += 1
                np.save(place / f"{kind}.{name}.0.0.{stamp}.{io}.0.DefaultFormat.Float32.npy", value)


def write_tree(folder: Path, ranks: range, iterations: int = 4, changed: tuple[int, int] | None = None) -> Path:
    """Some ranks of a tree."""
    for rank in ranks:
        write_rank(folder, rank, iterations, changed)
    return folder


def read_in_blocks(patch: pytest.MonkeyPatch) -> None:
    """Files are read as large ones are: block by block, whenever their values are wanted."""
    patch.setattr(npy, "_HEAD", 140)
    for module in (tree_records, msprobe_values):
        patch.setattr(module, "EAGER_BYTES", 0)
