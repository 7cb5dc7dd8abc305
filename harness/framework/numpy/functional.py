"""Functions called along axes, or on what a condition takes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness.errors import SettingError, SettingTypeError
from harness.framework import ops as _ops
from harness.framework.numpy.create import asarray
from harness.framework.numpy.shapes import stack
from harness.framework.tensor import Tensor

#: looks its names up when they are used
ops: Any = _ops

__all__ = ["apply_along_axis", "apply_over_axes", "piecewise"]


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
