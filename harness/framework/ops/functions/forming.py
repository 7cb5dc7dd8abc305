"""Functions that form tensors out of others: combinations, shuffled channels."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from harness.errors import SettingError, ShapeError
from harness.framework.ops.functions.shape import transpose
from harness.framework.tensor import Tensor, call

__all__ = ["channel_shuffle", "combinations"]


def combinations(input: Any, r: int = 2, with_replacement: bool = False) -> Any:
    """Every choice of ``r`` elements of a vector in their order, a row each."""
    if len(input.shape) != 1:
        raise ShapeError(f"combinations: a vector is needed, got {list(input.shape)}")
    choose = itertools.combinations_with_replacement if with_replacement else itertools.combinations
    chosen = np.array(list(choose(range(input.shape[0]), r)), np.int64).reshape(-1, r)
    return call("Gather", input, Tensor(chosen), 0, 0)


def channel_shuffle(x: Any, groups: int) -> Any:
    """The channels (axis 1) of ``groups`` groups in turn."""
    if x.shape[1] % groups:
        raise SettingError(f"channel_shuffle: {x.shape[1]} channels are not {groups} groups of one size")
    rest = tuple(x.shape[2:])
    grouped = x.reshape((x.shape[0], groups, x.shape[1] // groups, *rest))
    order = (0, 2, 1, *range(3, 3 + len(rest)))
    return transpose(grouped, order).reshape(tuple(x.shape))
