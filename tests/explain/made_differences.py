"""Tensors with known differences, for tests of patterns."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np

from harness.explain.patterns import Pair

Array = np.ndarray[Any, np.dtype[Any]]
Random = np.random.Generator
Made = Callable[[Random, Array], Pair]

SHAPES = [(5, 7), (4, 6, 3), (2, 3, 8, 8), (24,)]


def tensor(random: Random, shape: tuple[int, ...]) -> Array:
    """Values as an operator gives them."""
    return np.asarray(random.normal(size=shape) * random.choice([1e-3, 1, 40.0]), np.float32)


def _of(change: Callable[[Random, Array], Array], op: str = "Mul") -> Made:
    return lambda random, e: Pair(e, np.asarray(change(random, e), e.dtype), {}, op)


def _skipped(random: Random, e: Array) -> Pair:
    x = tensor(random, e.shape)
    return Pair(e, x, {"input.0": x}, "ReLU")


def _not_added(random: Random, e: Array) -> Pair:
    bias = tensor(random, e.shape[-1:])
    summed = (e.astype(np.float64) + bias).astype(np.float32)
    return Pair(summed, e, {"input.0": e * 2, "input.1": bias}, "Add")


def _nan(random: Random, e: Array) -> Pair:
    f = e.copy()
    f.reshape(-1)[int(random.integers(f.size))] = np.nan
    return Pair(e, f, {"input.0": e}, "Log")


def _zeroed(random: Random, e: Array) -> Array:
    f = e.copy()
    f[:, int(random.integers(f.shape[1]))] = 0
    return f


def _border(random: Random, e: Array) -> Array:
    f = np.asarray(e * 1.01 + random.normal(size=e.shape) * np.abs(e).max(), np.float32)
    f[..., 1:-1, 1:-1] = e[..., 1:-1, 1:-1]
    return f


def _clipped(_random: Random, e: Array) -> Array:
    top = np.float32(np.quantile(np.abs(e), 0.7))
    return np.clip(e, -top, top)


def _flushed(_random: Random, e: Array) -> Array:
    return np.where(np.abs(e) < np.quantile(np.abs(e), 0.3), 0, e)


def _grid(_random: Random, e: Array) -> Array:
    step = np.abs(e).max() / 127
    return np.rint(e / step) * step


def _mask(random: Random, e: Array) -> Pair:
    one, other = (random.random(e.shape) < 0.6 for _ in range(2))
    one.reshape(-1)[:4], other.reshape(-1)[:4] = [True, True, False, True], [True, False, True, True]
    return Pair(np.where(one, e, 0).astype(np.float32), np.where(other, e, 0).astype(np.float32), {}, "Dropout")


def _rounding(random: Random, e: Array) -> Pair:
    noise = random.integers(-1, 2, e.shape)
    noise.reshape(-1)[0] = 1
    return Pair(e, np.asarray(e * (1 + noise * 2.0**-23), np.float32), {}, "MatMul")


def _permuted(random: Random, e: Array) -> Array:
    order = [2, 0, 1, *range(3, len(e))] if len(e) > 2 else None
    if order is None:
        f = e.copy().reshape(-1)
        f[[0, 1, 2]] = f[[1, 2, 0]]
        return f.reshape(e.shape)
    return e[order]


#: pattern -> tensors in which it must be seen
MADE: dict[str, Made] = {
    "skipped": _skipped,
    "NaN source": _nan,
    "zero": _of(lambda _, e: np.zeros_like(e)),
    "uniform": lambda _, e: Pair(np.full_like(e, 0.25), np.full_like(e, 0.75), {}, "Tile"),
    "sign": _of(lambda _, e: -e),
    "factor": _of(lambda random, e: e * np.float32(random.choice([0.5, 2, 0.1, 24, 1 / 6, 0.9]))),
    "offset": _not_added,
    "transposed": _of(lambda _, e: e.transpose(*range(1, e.ndim), 0).reshape(e.shape)),
    "reversed": _of(lambda random, e: np.flip(e, int(random.integers(e.ndim)))),
    "shifted": _of(lambda _, e: np.roll(e, 1, int(np.argmax(e.shape)))),
    "permuted": _of(_permuted),
    "zeroed channel": _of(_zeroed),
    "flushed": _of(_flushed),
    "clipped": _of(_clipped),
    "border only": _of(_border, "Conv2D"),
    "narrower type": _of(
        lambda random, e: e.astype([np.float16, ml_dtypes.bfloat16][int(random.integers(2))]).astype(np.float32)
    ),
    "whole-number grid": _of(_grid),
    "another mask": _mask,
    "rounding": _rounding,
}

#: shapes in which a kind of difference can be made
FITS: dict[str, Callable[[tuple[int, ...]], bool]] = {
    "transposed": lambda shape: len(shape) > 1,
    "zeroed channel": lambda shape: len(shape) > 1 and shape[1] > 2,
    "border only": lambda shape: len(shape) == 4,
    "shifted": lambda shape: max(shape) > 3,
    "permuted": lambda shape: shape[0] > 3,
}
