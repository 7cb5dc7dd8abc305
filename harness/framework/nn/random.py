"""The random numbers of MindSpore's initializers.

Source of the rules: MindSpore 2.10.0, measured (``tests/data/nn/initial_values.json``). One tensor takes one 63-bit
seed from numpy's global generator; a Philox 4x32-10 generator keyed with it gives the words, in order, so the values
depend neither on threads nor on the processor. Arguments are float32; everything is evaluated in
float64 and rounded to float32 once.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from harness.framework.nn.quantile import normal_quantiles
from harness.framework.ops.philox import words

Array = np.ndarray[Any, np.dtype[Any]]
Shape = tuple[int, ...]

#: float32 constants of the Box-Muller step, which is done in float64
_TWO_PI = 2.0 * float(np.float32(3.1415926))
_LEAST = float(np.float32(1e-7))
#: the float32 that stands for the square root of two
_ROOT_TWO = float(np.float32(1.4142135))


def tensor_seed() -> int:
    """The seed of the next tensor, from numpy's global generator: an int in [1, 2**63)."""
    return int(np.random.randint(1, 1 << 63, dtype=np.int64))


def philox(seed: int, count: int) -> Array:
    """The first ``count`` words (uint32) of the Philox generator whose key and upper counter are ``seed``."""
    return words(seed, seed, count)


def _unit(words: Array) -> Array:
    """Words as float64 in [0, 1)."""
    return words.astype(np.float64) / 2.0**32


def uniform(low: float, high: float, shape: Shape) -> Array:
    """float32 values of ``shape``, uniform in [low, high)."""
    low, high = float(np.float32(low)), float(np.float32(high))
    part = _unit(philox(tensor_seed(), math.prod(shape)))
    return ((high - low) * part + low).astype(np.float32).reshape(shape)


def _mantissa(words: Array) -> Array:
    """Float64 in [0, 1) from the low 23 bits of each word, at least ``_LEAST``."""
    bits = (words & np.uint32(0x7FFFFF)) | np.uint32(127 << 23)
    return np.maximum((bits.view(np.float32) - np.float32(1)).astype(np.float64), _LEAST)


def _rounded(function: Any, x: Array) -> Array:
    """``function`` in long double (libm's, whose bits do not depend on SIMD), rounded once to float64."""
    return np.asarray(function(x.astype(np.longdouble)).astype(np.float64))


def normal(mean: float, sigma: float, shape: Shape) -> Array:
    """float32 values of ``shape``, normally distributed (Box-Muller, both values of a pair used)."""
    mean, sigma = float(np.float32(mean)), float(np.float32(sigma))
    count = math.prod(shape)
    drawn = philox(tensor_seed(), count + count % 2)
    u1, u2 = _mantissa(drawn[0::2]), _mantissa(drawn[1::2])
    radius = np.sqrt(-2.0 * _rounded(np.log, u1)) * sigma
    angle = _TWO_PI * u2
    pairs = np.stack([mean + radius * _rounded(np.cos, angle), mean + radius * _rounded(np.sin, angle)], axis=1)
    return pairs.reshape(-1)[:count].astype(np.float32).reshape(shape)


def truncated_normal(low: float, high: float, mean: float, sigma: float, shape: Shape) -> Array:
    """float32 values of ``shape``, normally distributed and cut to [low, high], by the inverse of the distribution."""
    low, high, mean, sigma = (float(np.float32(x)) for x in (low, high, mean, sigma))
    part = _unit(philox(tensor_seed(), math.prod(shape)))
    below = _share_below((low - mean) / sigma)
    shares = np.clip(below + part * (_share_below((high - mean) / sigma) - below), 5e-324, 1 - 2.0**-53)
    standard = normal_quantiles(shares) / math.sqrt(2) * _ROOT_TWO
    return (mean + sigma * standard).astype(np.float32).reshape(shape)


def _share_below(x: float) -> float:
    """Share of the standard normal distribution below ``x``."""
    return 0.5 * math.erfc(-x / _ROOT_TWO)
