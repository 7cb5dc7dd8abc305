"""Grids, blocks and functions along axes: names that scripts use seldom."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy

from harness import dtypes
from harness.errors import SettingError, SettingTypeError, UnsupportedError
from harness.framework import ops as _ops
from harness.framework.numpy.create import asarray
from harness.framework.numpy.promotion import cast_if, common
from harness.framework.numpy.shapes import broadcast_arrays, split, stack
from harness.framework.numpy.signals import convolve
from harness.framework.ops.functions.shape import cast
from harness.framework.tensor import Tensor

#: looks its names up when they are used
ops: Any = _ops

__all__ = [
    "apply_along_axis", "apply_over_axes", "array_equiv", "choose", "correlate", "dsplit", "float_power", "geomspace",
    "mgrid", "ogrid", "piecewise", "ravel_multi_index",
]  # fmt: skip


def _axis(owner: str, axis: Any, rank: int) -> int:
    if isinstance(axis, bool) or not isinstance(axis, int):
        raise SettingTypeError(f"numpy.{owner}: axis must be an int, got {axis!r}")
    if not -rank <= axis < rank:
        raise SettingError(f"numpy.{owner}: axis {axis} is none of {rank}")
    return axis % rank


def apply_along_axis(func1d: Callable[..., Any], axis: int, arr: Any, *args: Any, **kwargs: Any) -> Any:
    """What ``func1d`` gives for each line of a tensor along ``axis``, in place of the line."""
    if not isinstance(arr, Tensor):
        raise SettingTypeError(f"numpy.apply_along_axis: a tensor is needed, got {type(arr).__name__}")
    rank = len(arr.shape)
    at = _axis("apply_along_axis", axis, rank)
    lead = [n for a, n in enumerate(arr.shape) if a != at]
    lines = ops.transpose(arr, (*(a for a in range(rank) if a != at), at)).reshape((-1, arr.shape[at]))
    made = stack([asarray(func1d(lines[row], *args, **kwargs)) for row in range(lines.shape[0])])
    out = made.reshape((*lead, *made.shape[1:]))
    new = len(out.shape) - len(lead)
    order = (*range(at), *range(len(lead), len(lead) + new), *range(at, len(lead)))
    return ops.transpose(out, order) if new and order != tuple(range(len(order))) else out


def apply_over_axes(func: Callable[..., Any], a: Any, axes: Any) -> Any:
    """``func(a, axis)`` for one axis after the other; an axis that it takes away stays with one element."""
    found = asarray(a)
    for axis in (axes,) if isinstance(axes, int) else axes:
        at = _axis("apply_over_axes", axis, len(found.shape))
        made = func(found, at)
        found = ops.expand_dims(made, at) if len(made.shape) == len(found.shape) - 1 else made
        if len(made.shape) not in (len(found.shape), len(found.shape) - 1):
            raise SettingError("numpy.apply_over_axes: func must keep the axes, or take one away")
    return found


def array_equiv(a1: Any, a2: Any) -> Any:
    """Whether two are of one shape, or the one broadcast to the other, and all elements are equal."""
    first, second = asarray(a1), asarray(a2)
    pairs = zip(reversed(first.shape), reversed(second.shape), strict=False)
    if any(n != m and 1 not in (n, m) for n, m in pairs):
        return asarray(False)
    return ops.equal(first, second).all()


def choose(a: Any, choices: Any, mode: str = "clip") -> Any:
    """Each element of the choice that ``a`` names; numbers beyond the last are ``clip``ped or ``wrap``ped."""
    if mode not in ("raise", "wrap", "clip"):
        raise SettingError(f"numpy.choose: mode must be 'raise', 'wrap' or 'clip', got {mode!r}")
    index = asarray(a)
    if index.dtype.kind not in "iu":
        raise SettingError(f"numpy.choose: whole numbers are needed, got {index.dtype}")
    if mode == "raise":
        raise UnsupportedError("numpy.choose: mode 'raise' is not supported, as in MindSpore")
    given = [asarray(each) for each in (choices if hasattr(choices, "__len__") else (choices,))]
    dtype = given[0].dtype
    for each in given[1:]:
        dtype = common(dtype, each.dtype)
    index, *rows = broadcast_arrays(index, *(cast(each, dtype) for each in given))
    count = len(rows)
    index = index % count if mode == "wrap" else ops.clamp(index, 0, count - 1)
    out = rows[0]
    for at in range(1, count):
        out = ops.where(index == at, rows[at], out)
    return out


def correlate(a: Any, v: Any, mode: str = "valid") -> Any:
    """The correlation of two lines: ``full``, ``same`` (as long as the longer one) or ``valid``."""
    if not isinstance(a, (Tensor, list, tuple)) or not isinstance(v, (Tensor, list, tuple)):
        raise SettingTypeError(f"numpy.correlate: lines are needed, got {a!r} and {v!r}")
    first, second = asarray(a), asarray(v)
    if len(first.shape) != 1 or len(second.shape) != 1:
        raise SettingError(f"numpy.correlate: lines are needed, got {first.shape} and {second.shape}")
    if mode not in ("full", "same", "valid"):
        raise SettingError(f"numpy.correlate: mode must be 'full', 'same' or 'valid', got {mode!r}")
    made = convolve(first, ops.flip(second, (0,)), mode)
    return made if made.dtype.kind == "f" else cast(made, dtypes.float32)


def dsplit(x: Any, indices_or_sections: Any) -> Any:
    """``split`` along the third axis."""
    if not isinstance(x, Tensor):
        raise SettingTypeError(f"numpy.dsplit: a tensor is needed, got {type(x).__name__}")
    if len(x.shape) < 3:
        raise SettingError(f"numpy.dsplit: a third axis is needed, got {x.shape}")
    return split(x, indices_or_sections, 2)


def float_power(x1: Any, x2: Any, dtype: Any = None) -> Any:
    """``x1`` to the power of ``x2``, Float32 at least."""
    if not isinstance(x1, Tensor) or not isinstance(x2, Tensor):
        raise SettingTypeError("numpy.float_power: two tensors are needed")
    wide = [each if each.dtype.kind == "f" else cast(each, dtypes.float32) for each in (x1, x2)]
    return cast_if(ops.pow(*wide), dtype)


def geomspace(start: Any, stop: Any, num: int = 50, endpoint: bool = True, dtype: Any = None, axis: int = 0) -> Any:
    """``num`` numbers, each the same multiple of the one before."""
    if isinstance(num, bool) or not isinstance(num, int):
        raise SettingTypeError(f"numpy.geomspace: num must be an int, got {num!r}")
    if num < 1:
        raise SettingError(f"numpy.geomspace: num must be above 0, got {num}")
    first, last = (numpy.asarray(asarray(each).asnumpy(), numpy.float64) for each in (start, stop))
    with numpy.errstate(all="ignore"):
        share = numpy.linspace(0, 1, num, endpoint).reshape(-1, *(1,) * max(first.ndim, last.ndim))
        values = first * (last / first) ** share
    kind = dtypes.float32 if dtype is None else dtype
    return cast(Tensor(numpy.moveaxis(values, 0, axis).astype(numpy.float32)), kind)


class _Grid:
    """Numbers at the places that slices name: ``grid[0:3, 0:1:5j]``."""

    def __init__(self, whole: bool) -> None:
        self.whole = whole

    def __getitem__(self, key: Any) -> Any:
        slices = key if isinstance(key, tuple) else (key,)
        lines = [_line(each) for each in slices]
        if len(lines) == 1:
            return Tensor(lines[0])
        shapes = [tuple(len(line) if a == at else 1 for a in range(len(lines))) for at, line in enumerate(lines)]
        parts = [line.reshape(shape) for line, shape in zip(lines, shapes, strict=True)]
        if not self.whole:
            return [Tensor(part) for part in parts]
        return Tensor(
            numpy.stack(numpy.broadcast_arrays(*(p.astype(numpy.result_type(*_kinds(parts))) for p in parts)))
        )


def _kinds(parts: list[Any]) -> list[Any]:
    """Float32 where one part has it, else Int32."""
    return [numpy.float32 if any(p.dtype == numpy.float32 for p in parts) else numpy.int32]


def _line(each: Any) -> Any:
    if not isinstance(each, slice) or each.stop is None:
        raise SettingTypeError(f"numpy.mgrid: slices with an end are needed, got {each!r}")
    start, step = 0 if each.start is None else each.start, 1 if each.step is None else each.step
    if not isinstance(start, int) or not isinstance(each.stop, int):
        raise SettingTypeError(f"numpy.mgrid: the ends of slices must be ints, got {each!r}")
    if isinstance(step, complex):
        return numpy.linspace(start, each.stop, int(abs(step))).astype(numpy.float32)
    found = numpy.arange(start, each.stop, step)
    if not found.size:
        raise SettingError(f"numpy.mgrid: {each!r} has no elements")
    return found.astype(numpy.int32 if found.dtype.kind == "i" else numpy.float32)


mgrid, ogrid = _Grid(True), _Grid(False)


def piecewise(x: Any, condlist: Any, funclist: Any, *args: Any, **kw: Any) -> Any:
    """What each function gives where its condition holds, 0 where none does; a number stands for itself."""
    given = asarray(x)
    conditions = list(condlist)
    if len(funclist) != len(conditions):
        raise SettingError(f"numpy.piecewise: {len(conditions)} functions are needed, got {len(funclist)}")
    if len({callable(each) for each in funclist}) > 1:
        raise SettingTypeError("numpy.piecewise: functions and numbers cannot stand beside each other")
    out = ops.zeros_like(given)
    for where, each in zip(conditions, funclist, strict=True):
        made = each(given, *args, **kw) if callable(each) else ops.full_like(given, each)
        out = ops.where(asarray(where), made, out)
    return out


def ravel_multi_index(multi_index: Any, dims: Any, mode: str = "clip", order: str = "C") -> Any:
    """Places (one line for each axis) of a tensor of ``dims`` as numbers in its flat order, Float32."""
    if mode == "raise":
        raise UnsupportedError("numpy.ravel_multi_index: mode 'raise' is not supported, as in MindSpore")
    if mode not in ("clip", "wrap"):
        raise SettingError(f"numpy.ravel_multi_index: mode must be 'clip' or 'wrap', got {mode!r}")
    if order not in ("C", "F"):
        raise SettingError(f"numpy.ravel_multi_index: order must be 'C' or 'F', got {order!r}")
    lines, sides = asarray(multi_index), tuple(dims) if isinstance(dims, (tuple, list)) else (dims,)
    if len(lines) != len(sides):
        raise SettingError(f"numpy.ravel_multi_index: {len(sides)} lines are needed, got {len(lines)}")
    weights = [math.prod(sides[a + 1 :] if order == "C" else sides[:a]) for a in range(len(sides))]
    total: Any = 0.0
    for at, (side, weight) in enumerate(zip(sides, weights, strict=True)):
        row = cast(lines[at], dtypes.float32)
        total = total + (row % side if mode == "wrap" else ops.clamp(row, 0, side - 1)) * weight
    return total
