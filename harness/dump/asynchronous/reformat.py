"""Converts tensors of asynchronous dump files between storage formats, as msaccucmp does.

msaccucmp knows 18 pairs of formats, listed in ``PAIRS``; any other is refused. It converts the whole device tensor and
then cuts the padding off by comparing dimensions with the header's ``original_shape``, whatever the order of the axes;
if that makes no sense, nothing is cut. Source: msaccucmp 26.2.0, run beside this code.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import numpy as np

from harness.devices.formats import FORMATS
from harness.errors import ConvertError

Array = np.ndarray[Any, np.dtype[Any]]
Shape = tuple[int, ...]

PARAMETER, DATA, FORMAT, SHAPE, FUNCTION = 6, 11, 22, 23, 26
"""Exit codes of msaccucmp: a bad argument, damaged data, an unknown format, a bad shape, a conversion that fails."""

_FOUR = frozenset({"NCHW", "NHWC", "HWCN"})
_C0 = 16
"""The C0 that msaccucmp uses for FRACTAL_Z with every dtype."""


def real_format(name: str, shape: Sequence[int]) -> str:
    """``name``, but ND if it requires four dimensions and the tensor has another number."""
    return "ND" if name in _FOUR and len(shape) != 4 else name


def convert(array: Array, source: str, target: str, shape: Shape, wanted: Shape, groups: int) -> Array:
    """Converts a tensor to another format.

    Args:
        array: array of one dimension.
        source: its format, from ``real_format``.
        target: the target format.
        shape: its shape in ``source``.
        wanted: shape on the host, which shows what is padding; may be empty.
        groups: groups of a weight's convolution; 0 or 1 for none.

    Returns:
        The tensor, with padding that ``crop`` has to cut.

    Raises:
        ConvertError: the pair is not known (22), the shapes do not fit (6, 11, 26).
    """
    if source == target:
        if prod(shape) != array.size:
            raise ConvertError(DATA, f"{array.size} elements where shape {list(shape)} has {prod(shape)}")
        return array.reshape(shape)
    if source == "FRACTAL_NZ":
        _check_matrix(shape, wanted)
    converter = PAIRS.get((source, target))
    if converter is None:
        raise ConvertError(FORMAT, f"not supported from {source} to {target}")
    if groups > 1 and target != "FRACTAL_Z":
        raise ConvertError(FUNCTION, f"{source} to {target} knows no groups, the tensor has {groups}")
    try:
        return converter(array, shape, wanted, groups)
    except (ValueError, IndexError, ZeroDivisionError, OverflowError) as error:
        text = f"{source} {list(shape)} to {target} {list(wanted)} failed: {error}"
        raise ConvertError(FUNCTION, text) from error


def crop(array: Array, wanted: Shape) -> Array:
    """``array`` without its padding.

    Args:
        array: any shape.
        wanted: the host's shape; compared dimension by dimension, ones added at the end.

    Raises:
        ConvertError: a dimension is too small (23).
    """
    if array.ndim < len(wanted):
        if [d for d in array.shape if d != 1] != [d for d in wanted if d != 1]:
            raise ConvertError(SHAPE, f"shape {list(array.shape)} cannot be cut to {list(wanted)}")
        return array
    shape = array.shape + (1,) * (4 - array.ndim)
    target = tuple(wanted) + (1,) * (len(shape) - len(wanted))
    if prod(target) == array.size and array.shape.count(1) >= array.ndim - 1:
        return array
    for have, want in zip(shape, target, strict=True):
        if have < want:
            raise ConvertError(SHAPE, f"shape {list(array.shape)} cannot be cut to {list(wanted)}")
        if have > want:
            break
    else:
        return array
    if len(shape) > 5:
        return array
    return array.reshape(shape)[tuple(slice(d) for d in target)]


def _check_matrix(shape: Shape, wanted: Shape) -> None:
    """FRACTAL_NZ: the wanted shape must be that of the blocks without their padding."""
    if len(shape) < 4 or not wanted:
        raise ConvertError(PARAMETER, f"FRACTAL_NZ {list(shape)} needs a shape to be brought to; given: {list(wanted)}")
    w1, h1, m0, c0 = shape[-4:]
    whole = (*shape[:-4], h1 * m0, w1 * c0)
    fits = len(wanted) == len(whole) and wanted[:-2] == whole[:-2]
    if not fits or not (whole[-2] - m0 < wanted[-2] <= whole[-2] and whole[-1] - c0 < wanted[-1] <= whole[-1]):
        raise ConvertError(
            PARAMETER, f"FRACTAL_NZ {list(shape)} cannot be of shape {list(wanted)}; recommended: {list(whole)}"
        )


def _axes(array: Array, source: str, target: str) -> Array:
    return array.transpose([source.index(axis) for axis in target])


def _permuted(source: str, target: str) -> Callable[[Array, Shape, Shape, int], Array]:
    return lambda array, shape, wanted, groups: _axes(array.reshape(shape), source, target)


def _features_to(target: str) -> Callable[[Array, Shape, Shape, int], Array]:
    def converted(array: Array, shape: Shape, wanted: Shape, groups: int) -> Array:
        n, c1, h, w, c0 = shape[:5]
        whole = array.reshape(n, c1, h, w, c0).transpose(0, 1, 4, 2, 3).reshape(n, c1 * c0, h, w)
        return _axes(whole, "NCHW", target)

    return converted


def _volumes(array: Array, shape: Shape, wanted: Shape, groups: int) -> Array:
    n, d, c1, h, w, c0 = shape
    whole = array.reshape(shape).transpose(0, 2, 5, 1, 3, 4).reshape(n, c1 * c0, d, h, w)
    return whole[:, : wanted[1]] if len(wanted) == 5 else whole


def _weights_to(target: str) -> Callable[[Array, Shape, Shape, int], Array]:
    def converted(array: Array, shape: Shape, wanted: Shape, groups: int) -> Array:
        n, c, h, w = (wanted[target.index(axis)] for axis in "NCHW")
        rows, n1, n0, c0 = shape
        c1 = rows // (h * w)
        whole = array.reshape(c1, h, w, n1, n0, c0).transpose(3, 4, 0, 5, 1, 2).reshape(n1 * n0, c1 * c0, h, w)
        return _axes(whole[:n, :c], "NCHW", target)

    return converted


def _matrices(array: Array, shape: Shape, wanted: Shape, groups: int) -> Array:
    w1, h1, m0, c0 = shape[-4:]
    lead = prod(wanted[:-2])
    whole = array.reshape(lead, w1, h1, m0, c0).transpose(0, 2, 3, 1, 4).reshape(lead, h1 * m0, w1 * c0)
    cut = whole[:, : wanted[-2], : wanted[-1]]
    # More than two dimensions stay three, as msaccucmp leaves them.
    return cut.reshape(cut.shape[1:]) if len(wanted) == 2 else cut


def _to_weights(source: str) -> Callable[[Array, Shape, Shape, int], Array]:
    def converted(array: Array, shape: Shape, wanted: Shape, groups: int) -> Array:
        host = np.ascontiguousarray(_axes(array.reshape(shape), source, "NCHW"))
        return FORMATS.get("FRACTAL_Z").to_device(host, groups=max(1, groups), c0=_C0)

    return converted


_ORDERS = (("HWCN", "NCHW"), ("HWCN", "NHWC"), ("NCHW", "NHWC"), ("NHWC", "HWCN"), ("NHWC", "NCHW"))
PAIRS: dict[tuple[str, str], Callable[[Array, Shape, Shape, int], Array]] = {
    **{("FRACTAL_NZ", target): _matrices for target in ("ND", "NCHW", "NHWC")},
    **{("FRACTAL_Z", target): _weights_to(target) for target in ("NCHW", "HWCN")},
    **{("NC1HWC0", target): _features_to(target) for target in ("NCHW", "NHWC", "HWCN")},
    **{("NDC1HWC0", target): _volumes for target in ("NCDHW", "ND")},
    **{(source, "FRACTAL_Z"): _to_weights(source) for source in ("NCHW", "NHWC", "HWCN")},
    **{(source, target): _permuted(source, target) for source, target in _ORDERS},
}
"""Every pair that can be converted: array, shape, host shape and groups -> array."""
