"""Statistics of tensors on the host, at the speed of PyTorch's vector units where it has the right ones."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch

from harness.records import Array
from harness.stats import Statistics, describe

_ROW = 1024
#: Below, ``describe`` is as fast.
_SMALLEST = 8 * _ROW
#: Largest elements whose squares neither overflow in float32 nor vanish with those beside them.
_LOW, _HIGH = 1e-10, 1e15
#: Largest elements whose sum of 1024 does not overflow in float32.
_HIGHEST = 1e30


def described(array: Array, dtype: str) -> Statistics:
    """Statistics of ``array`` (C order); of many float32 numbers the sums are in float32 within runs of 1024 and in
    float64 beyond, so that mean and norm are ``describe``'s to six digits, all else exactly."""
    if array.dtype == np.float32 and array.size >= _SMALLEST and (found := _single(array.reshape(-1))) is not None:
        return found
    return describe(array, dtype)


def _single(array: Array) -> Statistics | None:
    """For float32 [n]; None where a NaN, an infinity or the range forbids float32 sums."""
    flat = torch.from_numpy(array)
    low, high = (float(each) for each in torch.aminmax(flat))
    largest = max(-low, high)
    if not largest <= _HIGHEST:  # nor is a NaN
        return None
    total, norm = _sums(flat, torch.float32 if _LOW <= largest <= _HIGH else torch.float64)
    signs = int(np.count_nonzero(np.signbit(array)))
    zero = int(np.count_nonzero(array == 0)) if low <= 0 <= high else 0
    negative = signs if not zero else int(np.count_nonzero(array < 0)) if low < 0 else 0
    if low == 0:
        low = -0.0 if signs else 0.0
    if high == 0:
        high = 0.0 if signs < array.size else -0.0
    count = array.size
    return Statistics(high, low, total / count, norm, count, negative, count - negative - zero, zero, 0, 0, 0)


def _sums(flat: Any, wide: Any) -> tuple[float, float]:
    """Sum and norm; squares of a run are added up in ``wide``."""
    whole = flat.numel() - flat.numel() % _ROW
    rows, rest = flat[:whole].view(-1, _ROW), flat[whole:].to(torch.float64)
    total = rows.sum(1).sum(dtype=torch.float64) + rest.sum()
    squares = torch.linalg.vector_norm(rows, dim=1, dtype=wide).to(torch.float64).square().sum() + rest.square().sum()
    return float(total), math.sqrt(float(squares))
