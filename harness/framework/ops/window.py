"""Sliding windows over the last two axes, shared by convolution and pooling.

Shapes are (..., height, width); windows come as (..., kernel_h, kernel_w, out_h, out_w).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]
Pair = tuple[int, int]
Pads = tuple[int, int, int, int]


def same_padding(size: int, kernel: int, stride: int, dilation: int = 1) -> Pair:
    """Zeros before and after one axis under pad mode ``same``; the odd one comes after."""
    out = -(-size // stride)
    need = max(0, (out - 1) * stride + (kernel - 1) * dilation + 1 - size)
    return need // 2, need - need // 2


def same_pads(size: Pair, kernel: Pair, stride: Pair, dilation: Pair = (1, 1)) -> Pads:
    """Top, bottom, left, right under pad mode ``same``."""
    top, bottom = same_padding(size[0], kernel[0], stride[0], dilation[0])
    left, right = same_padding(size[1], kernel[1], stride[1], dilation[1])
    return top, bottom, left, right


def out_size(size: Pair, kernel: Pair, stride: Pair, pads: Pads, dilation: Pair = (1, 1)) -> Pair:
    """Number of windows along each axis (rounded down); below 1 where a window does not fit."""
    height = (size[0] + pads[0] + pads[1] - (kernel[0] - 1) * dilation[0] - 1) // stride[0] + 1
    width = (size[1] + pads[2] + pads[3] - (kernel[1] - 1) * dilation[1] - 1) // stride[1] + 1
    return height, width


def pad(x: Array, pads: Pads, fill: float = 0) -> Array:
    """``x`` with ``pads`` (top, bottom, left, right) filled with ``fill``; negative pads cut."""
    if not any(pads):
        return x
    lead = [(0, 0)] * (x.ndim - 2)
    grown = np.pad(
        x, [*lead, (max(pads[0], 0), max(pads[1], 0)), (max(pads[2], 0), max(pads[3], 0))], constant_values=fill
    )
    height, width = grown.shape[-2:]
    return grown[..., max(-pads[0], 0) : height - max(-pads[1], 0), max(-pads[2], 0) : width - max(-pads[3], 0)]


def windows(x: Array, kernel: Pair, stride: Pair, dilation: Pair = (1, 1)) -> Array:
    """All windows of a padded ``x`` as a read-only view."""
    span = ((kernel[0] - 1) * dilation[0] + 1, (kernel[1] - 1) * dilation[1] + 1)
    view = np.lib.stride_tricks.sliding_window_view(x, span, axis=(-2, -1))
    view = view[..., :: stride[0], :: stride[1], :: dilation[0], :: dilation[1]]
    return np.moveaxis(view, (-2, -1), (-4, -3))


def unwindow(parts: Array, size: Pair, stride: Pair, pads: Pads, dilation: Pair = (1, 1)) -> Array:
    """Sums overlapping windows back into (..., height, width), kernel position by kernel position (a fixed order)."""
    each = (parts[..., i, j, :, :] for i, j in np.ndindex(parts.shape[-4:-2]))
    return put_back(each, parts.shape, size, stride, pads, dilation)


def put_back(
    parts: Iterable[Array], shape: tuple[int, ...], size: Pair, stride: Pair, pads: Pads, dilation: Pair = (1, 1)
) -> Array:
    """``unwindow`` of the kernel positions one after the other, float64.

    Args:
        shape: of all windows.
    """
    *lead, kh, kw, oh, ow = shape
    out: Array | None = None
    for (i, j), part in zip(np.ndindex(kh, kw), parts, strict=True):
        if out is None:
            out = np.zeros((*lead, size[0] + pads[0] + pads[1], size[1] + pads[2] + pads[3]), part.dtype)
        top, left = i * dilation[0], j * dilation[1]
        rows = slice(top, top + (oh - 1) * stride[0] + 1, stride[0])
        cols = slice(left, left + (ow - 1) * stride[1] + 1, stride[1])
        out[..., rows, cols] += part
    assert out is not None  # a window has at least one place
    return out[..., pads[0] : pads[0] + size[0], pads[2] : pads[2] + size[1]]
