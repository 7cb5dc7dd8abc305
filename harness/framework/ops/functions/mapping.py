"""``vmap``: a function of one example, over all of a batch."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from harness.errors import SettingError, SettingTypeError, StateError
from harness.framework.ops.functions.join import stack, unbind
from harness.framework.tensor import Tensor

__all__ = ["vmap"]


def vmap(fn: Callable[..., Any], in_axes: Any = 0, out_axes: Any = 0) -> Callable[..., Any]:
    """A function that gives what ``fn`` gives for each slice of its arguments, stacked, as ``mindspore.vmap``.

    Each slice is computed by operators of its own (docs/differences.md).

    Args:
        fn: function, cell, or operator.
        in_axes: along which axis each argument is cut: an int for all, or a tuple of one for each, of ints, None (the
            argument is the same for all slices) and tuples for nested arguments.
        out_axes: along which axis results are stacked: an int for all, or a tuple of one for each result; None gives
            the first slice's.

    Raises, when called:
        SettingError: another number of axes than of arguments.
        StateError: axes of different lengths, or none to cut.
    """
    if not callable(fn):
        raise SettingTypeError(f"vmap takes a function, got {type(fn).__name__}")

    @functools.wraps(fn, updated=())
    def mapped(*args: Any) -> Any:
        axes = in_axes if isinstance(in_axes, tuple) else (in_axes,) * len(args)
        if len(axes) != len(args):
            raise SettingError(f"vmap: in_axes has {len(axes)} entries for {len(args)} arguments")
        cut = [_cut(arg, axis) for arg, axis in zip(args, axes, strict=True)]
        lengths = {n for _, found in cut for n in found}
        if len(lengths) != 1:
            raise StateError(f"vmap: one length along the axes of in_axes is needed, got {sorted(lengths)}")
        return _stacked([fn(*(at(i) for at, _ in cut)) for i in range(lengths.pop())], out_axes)

    return mapped


def _cut(value: Any, axis: Any) -> tuple[Callable[[int], Any], list[int]]:
    """What gives one slice of an argument, and the lengths of the axes that are cut."""
    if isinstance(value, (tuple, list)) and axis is not None:
        axes = axis if isinstance(axis, (tuple, list)) else (axis,) * len(value)
        parts = [_cut(each, one) for each, one in zip(value, axes, strict=True)]
        return lambda i: type(value)(at(i) for at, _ in parts), [n for _, found in parts for n in found]
    if axis is None or not isinstance(value, Tensor):
        return lambda i: value, []
    slices = unbind(value, axis)
    return slices.__getitem__, [len(slices)]


def _stacked(results: list[Any], axis: Any) -> Any:
    if isinstance(results[0], (tuple, list)):
        axes = axis if isinstance(axis, (tuple, list)) else (axis,) * len(results[0])
        return tuple(_stacked(list(column), one) for column, one in zip(zip(*results, strict=True), axes, strict=True))
    return results[0] if axis is None else stack(results, axis)
