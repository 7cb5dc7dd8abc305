"""Batches as blocks of space, and back."""

from __future__ import annotations

from typing import Any

from harness.errors import SettingError
from harness.framework.tensor import call

__all__ = ["batch_to_space_nd", "space_to_batch_nd"]


def block(value: Any, pairs: Any, owner: str) -> tuple[Any, Any]:
    """A block's sizes, and a pair for each of them."""
    sizes = [value] * len(pairs) if isinstance(value, int) else list(value)
    if any(isinstance(n, bool) or not isinstance(n, int) or n < 1 for n in sizes):
        raise SettingError(f"{owner}: block_shape must be ints above 0, got {value!r}")
    rows = [list(pair) for pair in pairs]
    if len(rows) != len(sizes) or any(len(pair) != 2 or min(pair) < 0 for pair in rows):
        raise SettingError(f"{owner}: {len(sizes)} pairs of at least 0 are needed, got {pairs!r}")
    return tuple(sizes) if isinstance(value, int) else sizes, rows


def batch_to_space_nd(input_x: Any, block_shape: Any, crops: Any) -> Any:
    """Entries of a batch put together to blocks of space, whose ends are cut off."""
    sizes, rows = block(block_shape, crops, "batch_to_space_nd")
    return call("BatchToSpaceND", input_x, block_shape=sizes, crops=rows)


def space_to_batch_nd(input_x: Any, block_size: Any, paddings: Any) -> Any:
    """The elements of blocks of padded space as entries of a batch."""
    sizes, rows = block(block_size, paddings, "space_to_batch_nd")
    return call("SpaceToBatchND", input_x, paddings=rows, block_shape=sizes)
