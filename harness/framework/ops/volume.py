"""Windows over the last three axes of (n, c, d, h, w), shared by convolution and pooling of volumes."""

from __future__ import annotations

from collections.abc import Sequence


def same_pads(
    size: Sequence[int], kernel: Sequence[int], stride: Sequence[int], dilation: Sequence[int] = (1, 1, 1)
) -> tuple[int, ...]:
    """Elements before and after each axis under pad mode ``same``; the odd one comes after."""
    pads: list[int] = []
    for n, k, s, d in zip(size, kernel, stride, dilation, strict=True):
        need = max(0, (-(-n // s) - 1) * s + (k - 1) * d + 1 - n)
        pads += [need // 2, need - need // 2]
    return tuple(pads)


def places(
    size: Sequence[int], kernel: Sequence[int], stride: Sequence[int], pads: Sequence[int],
    dilation: Sequence[int] = (1, 1, 1),
) -> tuple[int, ...]:  # fmt: skip
    """Number of windows along each axis; below 1 where one does not fit."""
    axes = zip(size, kernel, stride, pads[::2], pads[1::2], dilation, strict=True)
    return tuple((n + before + after - (k - 1) * d - 1) // s + 1 for n, k, s, before, after, d in axes)


def spread(
    at: Sequence[int], count: Sequence[int], stride: Sequence[int], dilation: Sequence[int] = (1, 1, 1)
) -> tuple[slice, ...]:
    """The index of position ``at`` of every window in the padded input."""
    axes = zip(at, count, stride, dilation, strict=True)
    parts = tuple(slice(i * d, i * d + (n - 1) * s + 1, s) for i, n, s, d in axes)
    return (slice(None), slice(None), *parts)
