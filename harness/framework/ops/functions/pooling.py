"""Pooling of lines and volumes, adaptive pooling, and its reverse.

Source: which operators each is made of: MindSpore 2.10.0 graphs, measured.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from harness import dtypes
from harness.errors import SettingError, SettingTypeError, ShapeError
from harness.framework.ops.functions.inner import inner
from harness.framework.ops.primitives.convolution import AvgPool3D, MaxPool, MaxPool3DWithArgmax
from harness.framework.tensor import Tensor, call

__all__ = [
    "adaptive_avg_pool1d", "adaptive_avg_pool3d", "adaptive_max_pool1d", "adaptive_max_pool2d", "adaptive_max_pool3d",
    "avg_pool1d", "avg_pool3d", "lp_pool1d", "lp_pool2d", "max_pool3d", "max_unpool1d", "max_unpool2d", "max_unpool3d",
]  # fmt: skip


def _sides(value: Any, rank: int, name: str, owner: str) -> tuple[int, ...]:
    """``rank`` numbers, of one or of as many."""
    sides = (value,) * rank if isinstance(value, int) else tuple(value)
    sides = sides * rank if len(sides) == 1 else sides
    if len(sides) != rank or any(isinstance(n, bool) or not isinstance(n, int) for n in sides):
        raise SettingError(f"{owner}: {name} must be an int or {rank} of them, got {value!r}")
    return sides


def _means(x: Any, kernel: tuple[int, ...], stride: tuple[int, ...], pads: Any, *settings: Any) -> Any:
    """Means of windows along the last axes, as those of a volume; ``pads`` has a pair for each axis."""
    missing = 3 - len(kernel)
    pool = AvgPool3D(
        (1,) * missing + kernel, (1,) * missing + stride, "pad", (0, 0) * missing + pads if missing else pads, *settings
    )
    for _ in range(missing):
        x = call("ExpandDims", x, 2)
    out = pool(x)
    return call("Squeeze", out, tuple(range(2, 2 + missing))) if missing else out


def _pairs(padding: Any, rank: int, owner: str) -> tuple[int, ...]:
    """A pair of numbers for each axis."""
    if not isinstance(padding, int) and len(tuple(padding)) == 2 * rank:
        return tuple(padding)
    return tuple(n for n in _sides(padding, rank, "padding", owner) for _ in (0, 1))


def avg_pool1d(
    input_x: Any,
    kernel_size: int = 1,
    stride: int = 1,
    padding: Any = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
) -> Any:
    """Mean of each window of (n, c, l)."""
    kernel, moved = (_sides(v, 1, n, "avg_pool1d") for v, n in ((kernel_size, "kernel_size"), (stride, "stride")))
    return _means(input_x, kernel, moved, _pairs(padding, 1, "avg_pool1d"), ceil_mode, count_include_pad)


def avg_pool3d(
    input_x: Any,
    kernel_size: Any = 1,
    stride: Any = 1,
    padding: Any = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int = 0,
) -> Any:
    """Mean of each window of (n, c, d, h, w)."""
    kernel, moved = (_sides(v, 3, n, "avg_pool3d") for v, n in ((kernel_size, "kernel_size"), (stride, "stride")))
    pads = padding if isinstance(padding, int) else _pairs(padding, 3, "avg_pool3d")
    return _means(input_x, kernel, moved, pads, ceil_mode, count_include_pad, divisor_override)


def _parts_of_a_line(owner: str, x: Any, count: Any) -> int:
    """The length of ``count`` windows of one length along the last axis."""
    if isinstance(count, bool) or not isinstance(count, int) or count < 1:
        raise SettingError(f"{owner}: output_size must be a positive int, got {count!r}")
    if len(x.shape) not in (2, 3) or x.shape[-1] % count:
        raise ShapeError(f"{owner}: the length of {x.shape} must be divisible by {count}")
    return int(x.shape[-1] // count)


def adaptive_avg_pool1d(input: Any, output_size: int) -> Any:
    """Means of ``output_size`` windows of one length along the last axis."""
    width = _parts_of_a_line("adaptive_avg_pool1d", input, output_size)
    out = call("AvgPool", call("ExpandDims", input, 2), (1, width), (1, width), 2, 0)
    return call("Squeeze", out, (2,))


def adaptive_avg_pool3d(input: Any, output_size: Any) -> Any:
    """Means of as many windows of (..., d, h, w) as ``output_size`` says; None keeps an axis."""
    size = (output_size,) * 3 if isinstance(output_size, int) else tuple(output_size)
    size = tuple(-1 if n is None else n for n in size)
    attrs: dict[str, Any] = {"output_names": ["y"], "output_size": size, "input_names": ["x"]}
    return call("AdaptiveAvgPool3D", input, **attrs)


def adaptive_max_pool1d(input: Any, output_size: int) -> Any:
    """The largest of ``output_size`` windows of one length along the last axis."""
    width = _parts_of_a_line("adaptive_max_pool1d", input, output_size)
    return call("Squeeze", MaxPool((1, width), (1, width))(call("ExpandDims", input, 2)), (2,))


def adaptive_max_pool2d(input: Any, output_size: Any, return_indices: bool = False) -> Any:
    """The largest of as many windows of (..., h, w) as ``output_size`` says; None keeps an axis. With
    ``return_indices`` also their places in an image (int64)."""
    both = (output_size, output_size) if isinstance(output_size, int) else tuple(output_size)
    found = call("AdaptiveMaxPool2D", input, tuple(-1 if n is None else n for n in both))
    return found if return_indices else found[0]


def adaptive_max_pool3d(input: Any, output_size: Any, return_indices: bool = False) -> Any:
    """The largest of as many windows of (..., d, h, w) as ``output_size`` says; None keeps an axis. With
    ``return_indices`` also their places in a volume (int32)."""
    size = (output_size,) * 3 if isinstance(output_size, int) else tuple(output_size)
    size = tuple(given if n is None else n for n, given in zip(size, input.shape[-3:], strict=True))
    names: dict[str, Any] = {"output_names": ["y", "argmax"], "input_names": ["x", "output_size"]}
    found = call("AdaptiveMaxPool3D", input, Tensor(np.array(size, np.int32)), **names)
    return found if return_indices else found[0]


def max_pool3d(
    x: Any,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """The largest of each window of (n, c, d, h, w); with ``return_indices`` also its Int64 place in a volume."""
    for value, name in ((ceil_mode, "ceil_mode"), (return_indices, "return_indices")):
        if not isinstance(value, bool):
            raise SettingTypeError(f"max_pool3d: {name} must be a bool, got {value!r}")
    strides = kernel_size if stride is None else stride
    found = MaxPool3DWithArgmax(kernel_size, strides, padding, dilation, ceil_mode)(x)
    # the kernel gives Int32 places
    return (found[0], call("Cast", found[1], dtypes.int64)) if return_indices else found[0]


_relu = inner("ops.relu", "ReLU")


def _powers(x: Any, norm_type: float, kernel: tuple[int, ...], stride: Any, ceil_mode: bool, owner: str) -> Any:
    """The root of the sum of powers of each window along the last axes."""
    if isinstance(norm_type, bool) or not isinstance(norm_type, (int, float)):
        raise SettingError(f"{owner}: norm_type must be a number, got {norm_type!r}")
    moved = kernel if stride is None else _sides(stride, len(kernel), "stride", owner)
    out = _means(call("Pow", x, norm_type), kernel, moved, (0,) * (2 * len(kernel)), ceil_mode)
    signed = call("Mul", call("Sign", out), _relu(call("Abs", out)))
    return call("Pow", call("Muls", signed, prod(kernel)), 1.0 / norm_type)


def lp_pool1d(x: Any, norm_type: float, kernel_size: int, stride: int | None = None, ceil_mode: bool = False) -> Any:
    """(sum of x ** p) ** (1 / p) of each window of (n, c, l) or (c, l)."""
    if len(x.shape) not in (2, 3):
        raise ShapeError(f"lp_pool1d: 2 or 3 axes are needed, got shape {x.shape}")
    return _powers(x, norm_type, _sides(kernel_size, 1, "kernel_size", "lp_pool1d"), stride, ceil_mode, "lp_pool1d")


def lp_pool2d(x: Any, norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False) -> Any:
    """(sum of x ** p) ** (1 / p) of each window of (n, c, h, w)."""
    if len(x.shape) != 4:
        raise ShapeError(f"lp_pool2d: 4 axes are needed, got shape {x.shape}")
    return _powers(x, norm_type, _sides(kernel_size, 2, "kernel_size", "lp_pool2d"), stride, ceil_mode, "lp_pool2d")


def _unpooled(
    owner: str, x: Any, indices: Any, kernel: tuple[int, ...], stride: Any, padding: Any, shape: tuple[int, ...]
) -> Any:
    moved = kernel if stride in (None, 0) else _sides(stride, len(kernel), "stride", owner)
    pads = _sides(padding, len(kernel), "padding", owner)
    if len(kernel) == 1:
        kernel, moved, pads = (*kernel, 1), (*moved, 1), (*pads, 0)
    return call(f"MaxUnpool{len(kernel)}D", x, indices, **unpool_attrs(kernel, moved, pads, shape))


def unpool_attrs(
    kernel: tuple[int, ...], moved: tuple[int, ...], pads: tuple[int, ...], shape: tuple[int, ...]
) -> dict[str, Any]:
    """Attributes of MaxUnpool2D and MaxUnpool3D."""
    return {
        "strides": (1, 1, *moved), "input_names": ["x", "argmax"], "pads": (1, 1, *pads), "ksize": (1, 1, *kernel),
        "output_names": ["y"], "format": "NCDHW" if len(kernel) == 3 else "NCHW", "output_shape": shape,
    }  # fmt: skip


def max_unpool1d(
    x: Any, indices: Any, kernel_size: int, stride: int | None = None, padding: int = 0, output_size: Any = None
) -> Any:
    """Zeros but for the values of ``x`` ([n,] c, l) at the places ``indices`` (int32 or int64)."""
    kernel = _sides(kernel_size, 1, "kernel_size", "max_unpool1d")
    shape = (*output_size, 1) if output_size else ()
    if len(x.shape) == 2:
        shape = (1, *shape) if shape else ()
        x, indices = call("ExpandDims", x, 0), call("ExpandDims", indices, 0)
        x, indices = call("ExpandDims", x, 3), call("ExpandDims", indices, 3)
        out = _unpooled("max_unpool1d", x, indices, kernel, stride, padding, shape)
        return call("Squeeze", call("Squeeze", out, (3,)), (0,))
    x, indices = call("ExpandDims", x, 3), call("ExpandDims", indices, 3)
    return call("Squeeze", _unpooled("max_unpool1d", x, indices, kernel, stride, padding, shape), (3,))


def max_unpool2d(
    x: Any, indices: Any, kernel_size: Any, stride: Any = None, padding: Any = 0, output_size: Any = None
) -> Any:
    """Zeros but for the values of ``x`` (n, c, h, w) at the places ``indices`` (int32 or int64) of an image."""
    kernel = _sides(kernel_size, 2, "kernel_size", "max_unpool2d")
    return _unpooled("max_unpool2d", x, indices, kernel, stride, padding, tuple(output_size or ()))


def max_unpool3d(
    x: Any, indices: Any, kernel_size: Any, stride: Any = None, padding: Any = 0, output_size: Any = None
) -> Any:
    """Zeros but for the values of ``x`` (n, c, d, h, w) at the places ``indices`` (int32 or int64) of a volume."""
    kernel = _sides(kernel_size, 3, "kernel_size", "max_unpool3d")
    return _unpooled("max_unpool3d", x, indices, kernel, stride, padding, tuple(output_size or ()))
