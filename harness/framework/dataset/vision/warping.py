"""Images turned, sheared or seen from the side, with OpenCV's arithmetic.

Source: the published definitions of OpenCV 4.11, which MindSpore 2.10.0 calls; equal bit for bit as measured
(``tests/interop/vision_facts.py``). Places are counted in whole pixels for nearest neighbours,
else in 1/32 of one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from harness.errors import StateError
from harness.framework.dataset.vision.arithmetic import Array, saturated
from harness.framework.dataset.vision.resizing import cubic_weights
from harness.framework.dataset.vision.utils import Inter

_F32 = np.float32
_LARGEST = 2**31 - 1


def rotation(center: tuple[float, float], degrees: float) -> Array:
    """The matrix (2, 3) that turns around ``center`` (x, y), counter-clockwise."""
    angle = degrees * math.pi / 180
    along, up = math.cos(angle), math.sin(angle)
    x, y = center
    return np.array([[along, up, (1 - along) * x - up * y], [-up, along, up * x + (1 - along) * y]])


def warped(image: Array, matrix: Array, size: tuple[int, int], mode: Inter, fill: Sequence[float], owner: str) -> Array:
    """``image`` (H, W[, C]) moved by ``matrix`` (2, 3), as (height, width[, C]); ``fill`` is what lies outside."""
    inverse = _inverse(np.asarray(matrix, np.float64))
    _refuse(image, mode, owner)
    bits = 10 if mode is Inter.NEAREST else 5
    rows, columns = np.arange(size[0], dtype=np.float64), np.arange(size[1], dtype=np.float64)
    places = []
    for at in (0, 1):
        step = _whole(inverse[at, 0] * columns * 1024)
        start = _whole((inverse[at, 1] * rows + inverse[at, 2]) * 1024) + (1 << (bits - 1))
        places.append((start[:, None] + step[None]) >> bits)
    return _moved(image, places[0], places[1], mode, fill)


def _inverse(matrix: Array) -> Array:
    (a, b, c), (d, e, f) = matrix
    span = a * e - b * d
    span = 1 / span if span else 0.0
    a, b, d, e = e * span, -b * span, -d * span, a * span
    return np.array([[a, b, -a * c - b * f], [d, e, -d * c - e * f]])


def _refuse(image: Array, mode: Inter, owner: str) -> None:
    """``StateError`` for a dtype that can only be moved by whole pixels."""
    if mode is not Inter.NEAREST and image.dtype not in (np.uint8, np.uint16, np.int16, np.float32, np.float64):
        raise StateError(f"{owner}: Inter.{mode.name} is not there for images of {image.dtype}")


def _whole(values: Array) -> Array:
    return np.clip(np.rint(values), -_LARGEST - 1, _LARGEST).astype(np.int64)


def _picked(image: Array, x: Array, y: Array, fill: Sequence[float]) -> Array:
    high, wide = image.shape[:2]
    inside = (x >= 0) & (x < wide) & (y >= 0) & (y < high)
    made = image[np.where(inside, y, 0), np.where(inside, x, 0)]
    return np.where(inside if image.ndim == 2 else inside[..., None], made, _outside(image, fill))


def _outside(image: Array, fill: Sequence[float]) -> Array:
    """What a pixel outside is: the values of ``fill`` in turn, 0 for the fourth channel."""
    if image.ndim == 2:
        return saturated(np.asarray(fill[0], np.float64), image.dtype)
    return saturated(np.resize(np.array([*fill, 0.0][:4]), image.shape[2]), image.dtype)


def _moved(image: Array, x: Array, y: Array, mode: Inter, fill: Sequence[float]) -> Array:
    """The pixels at places (x, y), in pixels or in 1/32 of one."""
    if mode is Inter.NEAREST:
        return _picked(image, x, y, fill)
    flat = image.ndim == 2
    weights, before = _weights(mode is Inter.BICUBIC, image.dtype == np.uint8)
    count = weights.shape[-1]
    weights = weights[y & 31, x & 31][:, :, None]
    left, top = (np.clip(place >> 5, -(2**15), 2**15 - 1) - before for place in (x, y))
    wide: Any = np.int64 if image.dtype == np.uint8 else np.float64 if image.dtype == np.float64 else _F32
    image = image[:, :, None] if flat else image
    outside = _outside(image, fill).astype(wide)
    parts, around = [], np.broadcast_to(outside, (*x.shape, image.shape[2]))
    for down, right in np.ndindex(count, count):
        found = _picked(image, left + right, top + down, fill).astype(wide)
        parts.append(found * weights[..., down, right])
        around = around + (found - outside) * weights[..., down, right]
    total = _added(parts, count)
    if count == 4 and wide is not np.int64:  # near an edge the differences from what lies outside are added
        within = (left >= 0) & (left < image.shape[1] - 3) & (top >= 0) & (top < image.shape[0] - 3)
        total = np.where(within[..., None], total, around)
    made = np.clip((total + (1 << 14)) >> 15, 0, 255) if wide is np.int64 else saturated(total, image.dtype)
    made = made.astype(image.dtype)
    return made[..., 0] if flat else made


def _added(parts: Sequence[Array], count: int) -> Array:
    """The sum of products: of two rows of two one by one, of four rows of four row by row."""
    if count == 2:
        return parts[0] + parts[1] + parts[2] + parts[3]
    total = parts[0] + parts[1] + parts[2] + parts[3]
    for at in (4, 8, 12):
        total = total + (parts[at] + parts[at + 1] + parts[at + 2] + parts[at + 3])
    return total


@lru_cache(4)
def _weights(cubic: bool, whole: bool) -> tuple[Array, int]:
    """(weights (32, 32, n, n) of n * n pixels for each 32nd down and across, how many pixels lie before the place).

    ``whole``: of 2**15, as ints that add up to it.
    """
    at = np.arange(32, dtype=_F32) * _F32(1 / 32)
    line = cubic_weights(at) if cubic else np.stack([_F32(1) - at, at], 1)
    made = (line[:, None, :, None] * line[None, :, None, :]).astype(_F32)
    if not whole:
        return made, 1 if cubic else 0
    ints = np.rint(made * _F32(1 << 15)).astype(np.int64)
    for down, across in np.argwhere(ints.sum((2, 3)) != 1 << 15):
        _balanced(ints[down, across])
    return ints, 1 if cubic else 0


def _balanced(weights: Array) -> None:
    """Makes weights add up to 2**15: the largest or the smallest of those in the middle takes the rest."""
    rest = int(weights.sum()) - (1 << 15)
    middle = [(down, across) for down in (2, 3) for across in (2, 3)]
    most = least = middle[0]
    for place in middle:
        if weights[place] < weights[least]:
            least = place
        elif weights[place] > weights[most]:
            most = place
    weights[most if rest < 0 else least] -= rest


def seen(points: Sequence[Any], places: Sequence[Any]) -> Array:
    """The matrix (3, 3) of a perspective that moves four points (x, y) to four places."""
    rows, right = [], []
    for at in (0, 1):
        for (x, y), place in zip(points, places, strict=True):
            head = [x, y, 1, 0, 0, 0] if at == 0 else [0, 0, 0, x, y, 1]
            rows.append([*head, -x * place[at], -y * place[at]])
            right.append(place[at])
    return np.array([*_solved(np.array(rows, np.float64), np.array(right, np.float64)), 1.0]).reshape(3, 3)


def _solved(matrix: Array, right: Array) -> Array:
    """Elimination with the largest of a column; zeros where there is no answer."""
    count = len(right)
    matrix, right = matrix.copy(), right.copy()
    for at in range(count):
        pivot = at
        for row in range(at + 1, count):
            if abs(matrix[row, at]) > abs(matrix[pivot, at]):
                pivot = row
        if abs(matrix[pivot, at]) < np.finfo(np.float64).eps * 100:
            return np.zeros(count)
        matrix[[at, pivot]], right[[at, pivot]] = matrix[[pivot, at]], right[[pivot, at]]
        step = -1 / matrix[at, at]
        for row in range(at + 1, count):
            factor = matrix[row, at] * step
            matrix[row, at + 1 :] += factor * matrix[at, at + 1 :]
            right[row] += factor * right[at]
    for at in range(count - 1, -1, -1):
        total = right[at]
        for column in range(at + 1, count):
            total -= matrix[at, column] * right[column]
        right[at] = total / matrix[at, at]
    return right


def _inverse3(matrix: Array) -> Array:
    (a, b, c), (d, e, f), (g, h, i) = matrix
    span = a * (e * i - f * h) - b * (d * i - f * g) + c * (d * h - e * g)
    if not span:
        return np.zeros((3, 3))
    span = 1 / span
    return np.array([
        [(e * i - f * h) * span, (c * h - b * i) * span, (b * f - c * e) * span],
        [(f * g - d * i) * span, (a * i - c * g) * span, (c * d - a * f) * span],
        [(d * h - e * g) * span, (b * g - a * h) * span, (a * e - b * d) * span],
    ])  # fmt: skip


def projected(image: Array, matrix: Array, mode: Inter, owner: str) -> Array:
    """``image`` (H, W[, C]) moved by the perspective ``matrix`` (3, 3); 0 lies outside."""
    inverse, fill = _inverse3(np.asarray(matrix, np.float64)), (0.0, 0.0, 0.0)
    high, wide = image.shape[:2]
    rows, columns = np.arange(high, dtype=np.float64)[:, None], np.arange(wide, dtype=np.float64)[None]
    _refuse(image, mode, owner)
    block = 1024 // min(16, high)  # columns that are counted from the same one
    base = columns // block * block
    x, y, depth = (line[0] * base + line[1] * rows + line[2] + line[0] * (columns - base) for line in inverse)
    with np.errstate(divide="ignore"):
        depth = np.where(depth == 0, 0, (1 if mode is Inter.NEAREST else 32) / depth)
    return _moved(image, _whole(x * depth), _whole(y * depth), mode, fill)
