"""Combinations of the elements of a tensor."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from harness.errors import ShapeError
from harness.framework.tensor import Tensor, call

__all__ = ["combinations"]


def combinations(input: Any, r: int = 2, with_replacement: bool = False) -> Any:
    """Every choice of ``r`` elements of a vector in their order, a row each."""
    if len(input.shape) != 1:
        raise ShapeError(f"combinations: a vector is needed, got {list(input.shape)}")
    choose = itertools.combinations_with_replacement if with_replacement else itertools.combinations
    chosen = np.array(list(choose(range(input.shape[0]), r)), np.int64).reshape(-1, r)
    return call("Gather", input, Tensor(chosen), 0, 0)
