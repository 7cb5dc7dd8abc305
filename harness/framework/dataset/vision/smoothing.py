"""Images blurred or sharpened, with OpenCV's arithmetic.

Source: the published definitions of OpenCV 4.11, which MindSpore 2.10.0 calls; equal bit for bit as measured
(``tests/interop/vision_facts.py``).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from harness.framework.dataset.vision.arithmetic import Array, fused, mixed, saturated

_F32 = np.float32


def bell(size: int, sigma: float) -> Array:
    """The weights (size,) of a Gaussian, float64."""
    at = np.arange(1 - size, size, 2, dtype=np.float64)
    made = np.array([math.exp(x * x * (-0.125 / (sigma * sigma))) for x in at])
    half = size // 2
    total = 2 * sum(made[:half].tolist()) + float(made[half])
    return np.asarray(made * (1 / total))


def usual_sigma(size: int) -> float:
    """MindSpore's sigma for a size, where none is given."""
    return float(_F32(size) * _F32(0.15) + _F32(0.35))


def _whole_weights(weights: Array, bits: int) -> Array:
    """Weights in units of 2**-bits that add up to 1: what rounding leaves goes to the next one."""
    half, left = len(weights) // 2, 0.0
    made = np.zeros(len(weights), np.int64)
    for at in range(half):
        exact = float(weights[at]) * (1 << bits) + left
        made[at] = made[-1 - at] = round(exact)
        left = exact - made[at]
    made[half] = (1 << bits) - 2 * made[:half].sum()
    return made


def blurred(image: Array, size: tuple[int, int], sigma: tuple[float, float]) -> Array:
    """``image`` (H, W[, C]) under a Gaussian of ``size`` and ``sigma`` (across, down).

    Of float images the last bits differ from MindSpore's (docs/differences.md).
    """
    across, down = bell(size[0], sigma[0]), bell(size[1], sigma[1])
    edges = ((size[1] // 2,) * 2, (size[0] // 2,) * 2, (0, 0))[: image.ndim]
    wide = np.pad(image, edges, "reflect")
    high, broad = image.shape[:2]
    if image.dtype in (np.uint8, np.uint16):
        bits = 8 * image.itemsize
        row, column = _whole_weights(across, bits), _whole_weights(down, bits)
        lines: Any = sum(wide[:, at : at + broad].astype(np.int64) * row[at] for at in range(size[0]))
        total = np.asarray(sum(lines[at : at + high] * column[at] for at in range(size[1])))
        return np.asarray((total + (1 << (2 * bits - 1))) >> (2 * bits), image.dtype)
    kind: Any = np.float64 if image.dtype == np.float64 else _F32
    lines = _folded(np.moveaxis(wide, 1, 0).astype(kind), across.astype(kind), broad)
    made = _folded(np.moveaxis(lines, 1, 0), down.astype(kind), high)
    return saturated(made, image.dtype)


def _folded(lines: Array, weights: Array, count: int) -> Array:
    """Sums along the first axis, the middle first, then pairs of neighbours."""
    half = len(weights) // 2
    total: Array = lines[half : half + count] * weights[half]
    for at in range(1, half + 1):
        pair = lines[half - at : half - at + count] + lines[half + at : half + at + count]
        total = fused(pair, weights[half + at], total) if total.dtype == _F32 else total + pair * weights[half + at]
    return total


def sharpened(image: Array, factor: float) -> Array:
    """``image * factor`` and the rest of a mean over neighbours (the middle counts five times); its edge stays."""
    made = image.copy()
    high, wide = image.shape[:2]
    if high > 2 and wide > 2:
        kind: Any = np.float64 if image.dtype == np.float64 else _F32
        weights = np.full(9, 1 / 13, _F32)
        weights[4] = _F32(5) / _F32(13)
        total = np.zeros((high - 2, wide - 2, *image.shape[2:]), kind)
        for at, weight in enumerate(weights):
            down, across = divmod(at, 3)
            part = image[down : down + high - 2, across : across + wide - 2]
            total = fused(part.astype(_F32), weight, total) if kind is _F32 else total + part * kind(weight)
        made[1:-1, 1:-1] = saturated(total, image.dtype)
    return mixed(image, factor, made, 1.0 - factor)
