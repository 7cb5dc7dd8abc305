"""Convolution of images as products of matrices, a few rows of windows at a time.

Beside its operands and its result, a kernel holds one block of windows in float64 (``_BLOCK`` numbers), however large
the images are. Each sum is rounded once from its exact value (``products``).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from harness.dtypes import DType
from harness.framework.ops import numerics, products, window
from harness.framework.ops.window import Pads, Pair

Array = np.ndarray[Any, np.dtype[Any]]
#: stride and dilation
Steps = tuple[Pair, Pair]
#: a block: images, and rows of the result
Block = tuple[slice, slice]

#: numbers in a block of windows: 2 MiB of float64
_BLOCK = 1 << 18


def correlate(x: Array, weight: Array, groups: int, steps: Steps, dtype: DType, signed: bool = True) -> Array:
    """Each window's products with each filter, summed.

    Args:
        x: padded images (n, c, height, width).
        weight: (out, c / groups, kh, kw), of the same dtype.
        steps: stride and dilation.
        signed: a sum of nothing but -0 is -0.

    Returns:
        (n, out, oh, ow) in ``dtype`` (complex or float64 where that is not a floating dtype).
    """
    view = window.windows(x, weight.shape[2:], *steps)
    n, c, kh, kw, oh, ow = view.shape
    filters = numerics.wide(weight).reshape(groups, weight.shape[0] // groups, -1)
    known = numerics.known(x, weight)
    out = np.empty((n, groups, filters.shape[1], oh, ow), _result(x, dtype))
    for images, rows in _blocks(n, oh, c * kh * kw * ow):
        columns = _columns(view, groups, (images, rows))
        sums = numerics.stacked(filters, columns, dtype if dtype.is_floating else None, known, signed)
        shaped = sums.reshape(groups, -1, images.stop - images.start, rows.stop - rows.start, ow)
        out[images, :, :, rows] = shaped.transpose(2, 0, 1, 3, 4)
    return out.reshape(n, weight.shape[0], oh, ow)


def spread(dout: Array, weight: Array, groups: int, dtype: DType, geometry: tuple[Pair, Pair, Pads, Pair]) -> Array:
    """The gradient of ``correlate`` for the images: for each pixel, the sum of the products that it is part of.

    Pixels with the same place modulo the stride meet the same positions of the kernel: one correlation of ``dout`` with
        these positions gives them all.

    Args:
        dout: (n, out, oh, ow).
        weight: (out, c / groups, kh, kw).
        geometry: height and width of the images, stride, padding, dilation.

    Returns:
        (n, c, height, width) in ``dtype``.
    """
    size, stride, pads, dilation = geometry
    turned = weight.reshape(groups, -1, *weight.shape[1:]).swapaxes(1, 2)
    turned = turned.reshape(-1, *turned.shape[2:])
    out = np.zeros((dout.shape[0], turned.shape[0], *size), _result(dout, dtype))
    axes = [
        list(_phases(size[a], dout.shape[2 + a], weight.shape[2 + a], stride[a], pads[2 * a], dilation[a]))
        for a in (0, 1)
    ]
    for rows, tall, (top, bottom), down in axes[0]:
        for columns, broad, (left, right), across in axes[1]:
            taps = turned[:, :, tall][:, :, :, broad]
            padded = window.pad(dout, (top, bottom, left, right))
            steps = (1, 1), (down, across)
            out[:, :, rows, columns] = correlate(padded, taps, groups, steps, dtype, signed=False)
    return out


def _phases(
    size: int, given: int, kernel: int, stride: int, before: int, dilation: int
) -> Iterator[tuple[slice, slice, Pair, int]]:
    """Of one axis, for each remainder modulo the stride that has kernel positions: the pixels, the positions (from the
    last to the first), the padding of the gradient, and the step between its places."""
    for phase in range(stride):
        taps = [i for i in range(kernel) if i * dilation % stride == phase]
        first = -(-(before - phase) // stride)
        count = len(range(phase + stride * first - before, size, stride))
        if not taps or count <= 0:
            continue
        shifts = [(i * dilation - phase) // stride for i in taps]
        step = taps[1] - taps[0] if len(taps) > 1 else 1
        positions = slice(taps[-1], taps[0] - 1 if taps[0] else None, -step)
        pads = (shifts[-1] - first, first + count - shifts[0] - given)
        apart = shifts[1] - shifts[0] if len(shifts) > 1 else 1
        yield slice(phase + stride * first - before, size, stride), positions, pads, apart


def gather(dout: Array, x: Array, shape: tuple[int, ...], groups: int, steps: Steps, dtype: DType) -> Array:
    """The gradient of ``correlate`` for the filters: products of each result's gradient with its window, summed.

    Args:
        dout: (n, out, oh, ow).
        x: padded images (n, c, height, width), of the same dtype.
        shape: of the filters.
        steps: stride and dilation.

    Returns:
        (out, c / groups, kh, kw) in ``dtype`` (complex or float64 where that is not a floating dtype).
    """
    view = window.windows(x, (shape[2], shape[3]), *steps)
    n, c, kh, kw, oh, ow = view.shape
    out, deep = dout.shape[1] // groups, c // groups
    blocks = list(_blocks(n, oh, c * kh * kw * ow))

    def pieces() -> Iterator[tuple[Array, Array]]:
        for images, rows in blocks:
            part = numerics.wide(dout[images, :, rows]).reshape(images.stop - images.start, groups, out, -1)
            left = part.transpose(1, 2, 0, 3).reshape(groups, out, -1)
            yield left, _columns(view, groups, (images, rows)).transpose(0, 2, 1)

    def terms(at: Array) -> tuple[Array, Array]:
        channel, i, j = np.unravel_index(at[:, 2], (deep, kh, kw))
        seen = view[:, at[:, 0] * deep + channel, i, j]
        slope = dout[:, at[:, 0] * out + at[:, 1]]
        left, right = (numerics.wide(v).swapaxes(0, 1).reshape(len(at), -1) for v in (slope, seen))
        return left, right

    known = numerics.known(x, dout)
    if known is None or not dtype.is_floating:
        blocks = [(slice(0, n), slice(0, oh))]
        left, right = next(pieces())
        return numerics.matmul(left, right, dtype if dtype.is_floating else None).reshape(shape)
    sums = products.Sums((groups, out, deep * kh * kw), pieces, terms, n * oh * ow, known)
    return products.with_zero_signs(sums, products.round_once(sums, dtype)).reshape(shape)


def _result(x: Array, dtype: DType) -> Any:
    """The dtype that holds a result before it is rounded to a dtype that is not floating."""
    return dtype.numpy if dtype.is_floating else np.result_type(x.dtype, np.float64)


def _blocks(count: int, rows: int, row: int) -> Iterator[Block]:
    """Whole images, or rows of one, with ``row`` numbers in the windows of one row."""
    if rows * row <= _BLOCK:
        step = max(1, _BLOCK // max(1, rows * row))
        return ((slice(at, min(at + step, count)), slice(0, rows)) for at in range(0, count, step))
    step = max(1, _BLOCK // row)
    return ((slice(n, n + 1), slice(at, min(at + step, rows))) for n in range(count) for at in range(0, rows, step))


def _columns(view: Array, groups: int, block: Block) -> Array:
    """Windows of a block as (groups, c / groups * kh * kw, places) in float64."""
    part = view[block[0], :, :, :, block[1]]
    n, c, kh, kw, oh, ow = part.shape
    out = np.empty((c, kh, kw, n, oh, ow), np.complex128 if view.dtype.kind == "c" else np.float64)
    for i in range(kh):
        for j in range(kw):
            out[:, i, j] = part[:, :, i, j].swapaxes(0, 1)
    return out.reshape(groups, c // groups * kh * kw, n * oh * ow)
