"""Images in another size, with the integer arithmetic of OpenCV's ``resize`` for uint8.

Source: the published definition of OpenCV 4.11 (weights of 11 bits, sums shifted back), which MindSpore 2.10.0 calls;
equal bit for bit as measured (``tests/data/dataset/facts.json``).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from harness.errors import StateError, UnsupportedError
from harness.framework.dataset.pictures import pillow
from harness.framework.dataset.vision.arithmetic import saturated
from harness.framework.dataset.vision.utils import Inter

Array = np.ndarray[Any, np.dtype[Any]]
_ONE = 2048  # weights are multiples of 1/2048
_SHARPNESS = np.float32(-0.75)


def resized(image: Array, height: int, width: int, mode: Inter) -> Array:
    """``image`` (H, W[, C]) as (height, width[, C]).

    Raises:
        StateError: the size is more than 1000 times the image's, or the mode is not there for its dtype.
    """
    high, wide = image.shape[:2]
    if not high or not wide:
        raise StateError(f"Resize: the image is empty, its shape is {image.shape}")
    if height > 1000 * high or width > 1000 * wide:
        raise StateError(f"Resize: {(height, width)} is more than 1000 times as large as the image {(high, wide)}")
    if (height, width) == (high, wide):
        return image.copy()
    if mode is Inter.NEAREST:
        rows, columns = _nearest(high, height), _nearest(wide, width)
        return np.ascontiguousarray(image[rows][:, columns])
    if mode is Inter.PILCUBIC:
        return _as_pillow(image, height, width)
    if image.dtype in (np.uint16, np.int16):
        return saturated(resized(image.astype(np.float32), height, width, mode), image.dtype)
    if image.dtype not in (np.uint8, np.float32, np.float64):
        raise StateError(f"Resize: {mode.name} is there for uint8, float32 and float64 images, got {image.dtype}")
    halved = (high, wide) == (2 * height, 2 * width)
    if mode is Inter.AREA or (mode is Inter.LINEAR and halved):
        if height <= high and width <= wide:
            return _mean(image, height, width)
        down, across = _grown(high, height), _grown(wide, width)
    elif mode is Inter.LINEAR:
        down, across = _linear(high, height), _linear(wide, width)
    else:
        return _weighted(image, _cubic(high, height), _cubic(wide, width))
    return _weighted(image, _pairs(down, high, across=False), _pairs(across, wide, across=True))


def _as_pillow(image: Array, height: int, width: int) -> Array:
    """Pillow's own bicubic interpolation, of three channels of uint8.

    Raises:
        StateError: the image has other channels.
        UnsupportedError: it has another dtype, of which MindSpore takes the bytes.
    """
    if image.ndim != 3 or image.shape[2] != 3:
        raise StateError(f"Resize: Inter.PILCUBIC is there for images of three channels, got shape {image.shape}")
    if image.dtype != np.uint8:
        raise UnsupportedError(f"Resize: Inter.PILCUBIC of {image.dtype} is not supported; use uint8")
    module = pillow()
    return np.array(module.fromarray(image).resize((width, height), module.Resampling.BICUBIC))


def _scale(source: int, target: int) -> float:
    # The reciprocal is taken twice, as published: the result is not always source / target.
    return 1.0 / (target / source)


def _nearest(source: int, target: int) -> Array:
    places = np.floor(np.arange(target) * _scale(source, target)).astype(np.int64)
    return np.asarray(np.minimum(places, source - 1))


@lru_cache(64)
def _linear(source: int, target: int) -> tuple[Array, Array]:
    """(first place (target,), weight of the next one (target,) float32)."""
    at = ((np.arange(target) + 0.5) * _scale(source, target) - 0.5).astype(np.float32)
    first = np.floor(at).astype(np.int64)
    return first, (at - first.astype(np.float32)).astype(np.float32)


@lru_cache(64)
def _grown(source: int, target: int) -> tuple[Array, Array]:
    """The same for the mean over an area when the image grows."""
    scale, inverse = _scale(source, target), target / source
    first = np.floor(np.arange(target) * scale).astype(np.int64)
    part = ((np.arange(target) + 1) - (first + 1) * inverse).astype(np.float32)
    return first, np.where(part <= 0, np.float32(0), part - np.floor(part)).astype(np.float32)


def _pairs(found: tuple[Array, Array], source: int, *, across: bool) -> tuple[Array, Array]:
    """(places (target, 2), weights (target, 2) float32).

    At a border both places are the same; across, one of them has the whole weight then, which rounds differently.
    """
    first, part = found
    if across:
        part = np.where((first < 0) | (first >= source - 1), np.float32(0), part)
    places = np.clip(np.stack([first, first + 1], 1), 0, source - 1)
    return places, np.stack([np.float32(1) - part, part], 1).astype(np.float32)


@lru_cache(64)
def _cubic(source: int, target: int) -> tuple[Array, Array]:
    """(places (target, 4), weights (target, 4) float32)."""
    at = ((np.arange(target) + 0.5) * _scale(source, target) - 0.5).astype(np.float32)
    first = np.floor(at).astype(np.int64)
    x = (at - first.astype(np.float32)).astype(np.float32)
    weights = cubic_weights(x)
    return np.clip(first[:, None] + np.arange(-1, 3), 0, source - 1), weights


def cubic_weights(x: Array) -> Array:
    """The weights (n, 4) float32 of the pixels around places ``x`` (n,) in [0, 1) behind the second of them."""
    one, a = np.float32(1), _SHARPNESS
    y = one - x
    far = ((a * (x + one) - 5 * a) * (x + one) + 8 * a) * (x + one) - 4 * a
    near = ((a + 2) * x - (a + 3)) * x * x + one
    next_ = ((a + 2) * y - (a + 3)) * y * y + one
    return np.stack([far, near, next_, one - far - near - next_], 1).astype(np.float32)


def _weighted(image: Array, down: tuple[Array, Array], across: tuple[Array, Array]) -> Array:
    """Sums of neighbours, first along rows, then along columns."""
    (rows, row_weights), (columns, column_weights) = down, across
    flat = image.ndim == 2
    image = image[:, :, None] if flat else image
    if image.dtype == np.uint8:
        made = _weighted_bytes(image, rows, _bits(row_weights), columns, _bits(column_weights))
    else:
        wide = image[:, columns[:, 0]] * column_weights[None, :, 0, None]
        for at in range(1, columns.shape[1]):
            wide = wide + image[:, columns[:, at]] * column_weights[None, :, at, None]
        made = _rows_added([wide[rows[:, at]] * row_weights[:, at, None, None] for at in range(rows.shape[1])])
    return np.ascontiguousarray(made[:, :, 0] if flat else made)


def _rows_added(parts: Sequence[Array]) -> Array:
    """The sum of two or four; of four the last first, where vector units (of four float32) do it."""
    if len(parts) == 2:
        return parts[0] + parts[1]
    made = parts[0] + parts[1] + parts[2] + parts[3]
    if made.dtype == np.float32:
        flat = [part.reshape(len(part), -1) for part in parts]
        whole = flat[0].shape[1] // 4 * 4
        turned = flat[0] + (flat[1] + (flat[2] + flat[3]))
        made.reshape(len(made), -1)[:, :whole] = turned[:, :whole]
    return made


def _bits(weights: Array) -> Array:
    return np.rint(weights * np.float32(_ONE)).astype(np.int32)


def _weighted_bytes(image: Array, rows: Array, down: Array, columns: Array, across: Array) -> Array:
    count = columns.shape[1]
    wide = np.zeros((image.shape[0], len(columns), image.shape[2]), np.int32)
    for at in range(count):
        wide += image[:, columns[:, at]].astype(np.int32) * across[None, :, at, None]
    if count == 2:
        high, low = (
            ((wide[rows[:, at]] >> 4) * down[:, at, None, None]) >> 16 for at in range(2)
        )  # products of 16 bits, of which the upper half is kept
        return ((high + low + 2) >> 2).astype(np.uint8)
    return _cubic_bytes(wide, rows, down)


def _cubic_bytes(wide: Array, rows: Array, down: Array) -> Array:
    """Vector units (of eight numbers) add the four rows as float32; the rest of a row is added as ints."""
    parts = [wide[rows[:, at]].reshape(len(rows), -1) for at in range(4)]
    whole = parts[0].shape[1] // 8 * 8
    factors = down.astype(np.float32) * np.float32(1.0 / (_ONE * _ONE))
    real = [part[:, :whole].astype(np.float32) * factors[:, at, None] for at, part in enumerate(parts)]
    rest = sum(part[:, whole:].astype(np.int64) * down[:, at, None] for at, part in enumerate(parts))
    made = np.empty(parts[0].shape, np.uint8)
    made[:, :whole] = np.clip(np.rint(real[0] + (real[1] + (real[2] + real[3]))), 0, 255)
    made[:, whole:] = np.clip((np.asarray(rest) + (1 << 21)) >> 22, 0, 255)
    return made.reshape(len(rows), *wide.shape[1:])


def _mean(image: Array, height: int, width: int) -> Array:
    """Means over areas."""
    high, wide = image.shape[:2]
    flat = image.ndim == 2
    image = image[:, :, None] if flat else image
    if high % height == 0 and wide % width == 0:
        made = _mean_of_blocks(image, high // height, wide // width)
    else:
        made = _mean_of_parts(image, height, width)
    return np.ascontiguousarray(made[:, :, 0] if flat else made)


def _mean_of_blocks(image: Array, down: int, across: int) -> Array:
    high, wide, channels = image.shape
    blocks = image.reshape(high // down, down, wide // across, across, channels)
    if image.dtype == np.uint8:
        total = blocks.sum((1, 3), dtype=np.int64)
        if (down, across) == (2, 2):
            return np.asarray((total + 2) >> 2, np.uint8)
        return np.asarray(np.rint(total.astype(np.float32) * np.float32(1.0 / (down * across))), np.uint8)
    kind: Any = image.dtype.type
    total32 = np.zeros((high // down, wide // across, channels), kind)
    for row in range(down):
        for column in range(across):
            total32 += blocks[:, row, :, column]
    return np.asarray(total32 * kind(np.float32(1.0 / (down * across))))


@lru_cache(64)
def _shares(source: int, target: int) -> list[list[tuple[int, np.float32]]]:
    """For each target place the source places it covers and the share each has."""
    scale = _scale(source, target)
    made = []
    for at in range(target):
        start, end = at * scale, (at + 1) * scale
        width = min(scale, source - start)
        first, last = int(np.ceil(start)), int(np.floor(end))
        last = min(last, source - 1)
        first = min(first, last)
        row = []
        if first - start > 1e-3:
            row.append((first - 1, np.float32((first - start) / width)))
        row += [(place, np.float32(1.0 / width)) for place in range(first, last)]
        if end - last > 1e-3:
            row.append((last, np.float32(min(min(end - last, 1.0), width) / width)))
        made.append(row)
    return made


def _mean_of_parts(image: Array, height: int, width: int) -> Array:
    high, wide, channels = image.shape
    kind: Any = np.float64 if image.dtype == np.float64 else np.float32
    across = np.zeros((high, width, channels), kind)
    for at, row in enumerate(_shares(wide, width)):
        for place, share in row:
            across[:, at] += image[:, place].astype(kind) * share
    made = np.zeros((height, width, channels), kind)
    for at, row in enumerate(_shares(high, height)):
        for number, (place, share) in enumerate(row):
            made[at] = across[place] * share if not number else made[at] + across[place] * share
    return np.clip(np.rint(made), 0, 255).astype(np.uint8) if image.dtype == np.uint8 else made
