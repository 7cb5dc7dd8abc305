"""Shapes, parts and places."""

from __future__ import annotations

import functools
import itertools
from typing import Any

import numpy as np

from harness import dtypes
from harness.errors import SettingError, SettingTypeError, UnsupportedError
from harness.framework import ops as _ops
from harness.framework.numpy.create import asarray
from harness.framework.numpy.promotion import KNOWN, common, of_name, through_float32
from harness.framework.ops.functions.cells import made_at_each_call
from harness.framework.ops.functions.shape import cast
from harness.framework.tensor import Tensor

#: looks its names up when they are used
ops: Any = _ops

__all__ = [
    "append", "argwhere", "array_split", "array_str", "atleast_1d", "atleast_2d", "atleast_3d", "broadcast_arrays",
    "broadcast_to", "column_stack", "concatenate", "diagonal", "dsplit", "dstack", "expand_dims", "flip", "fliplr",
    "flipud", "hsplit", "hstack", "moveaxis", "pad", "promote_types", "ravel", "repeat", "reshape", "result_type",
    "roll", "rollaxis", "rot90", "select", "split", "squeeze", "stack", "swapaxes", "take", "take_along_axis", "tile",
    "transpose", "unique", "vsplit", "vstack", "where",
]  # fmt: skip


def expand_dims(a: Any, axis: Any) -> Any:
    """An axis of length 1 more, or several."""
    given = asarray(a)
    if isinstance(axis, int):
        return ops.expand_dims(given, axis)
    rank = len(given.shape) + len(axis)
    for at in sorted(each % rank for each in axis):
        given = ops.expand_dims(given, at)
    return given


def squeeze(a: Any, axis: Any = None) -> Any:
    """Without axes of length 1."""
    given = asarray(a)
    return ops.squeeze(given) if axis is None else ops.squeeze(given, axis)


def transpose(a: Any, axes: Any = None) -> Any:
    """With its axes in another order (None: turned round)."""
    given = asarray(a)
    return ops.transpose(given, tuple(reversed(range(len(given.shape)))) if axes is None else tuple(axes))


def swapaxes(x: Any, axis1: int, axis2: int) -> Any:
    """With two axes exchanged."""
    return ops.swapaxes(asarray(x), axis1, axis2)


def moveaxis(a: Any, source: Any, destination: Any) -> Any:
    """With axes at other places."""
    return ops.moveaxis(asarray(a), source, destination)


def rollaxis(x: Any, axis: int, start: int = 0) -> Any:
    """With ``axis`` in front of what is at ``start``."""
    given = asarray(x)
    rank = len(given.shape)
    at, to = axis % rank, start if start >= 0 else start + rank
    order = [each for each in range(rank) if each != at]
    order.insert(to - 1 if at < to else to, at)
    return ops.transpose(given, tuple(order))


def reshape(x: Any, new_shape: Any) -> Any:
    """In another shape."""
    return ops.reshape(asarray(x), (new_shape,) if isinstance(new_shape, int) else tuple(new_shape))


def ravel(x: Any) -> Any:
    """In one axis."""
    return ops.reshape(asarray(x), (-1,))


def _all(arrays: Any, name: str) -> list[Any]:
    if isinstance(arrays, Tensor):
        return [arrays[at] for at in range(arrays.shape[0])]
    if not isinstance(arrays, (tuple, list)) or not arrays:
        raise SettingTypeError(f"numpy.{name} takes a tuple or list of tensors, got {arrays!r}")
    given = [asarray(each) for each in arrays]
    wanted = functools.reduce(common, (each.dtype for each in given))
    return [each if each.dtype is wanted else cast(each, wanted) for each in given]


def promote_types(type1: Any, type2: Any) -> Any:
    """The dtype of what is computed from tensors of two dtypes."""
    return common(of_name(type1), of_name(type2))


def result_type(*arrays_and_dtypes: Any) -> Any:
    """The dtype of what is computed from all of these."""
    return functools.reduce(
        common,
        (asarray(e).dtype if isinstance(e, (Tensor, bool, int, float, list, tuple)) else of_name(e)
         for e in arrays_and_dtypes),
    )  # fmt: skip


def concatenate(arrays: Any, axis: int | None = 0) -> Any:
    """One behind the other along ``axis``; None: all in one axis."""
    given = _all(arrays, "concatenate")
    return ops.concat([ravel(each) for each in given], 0) if axis is None else ops.concat(given, axis)


def append(arr: Any, values: Any, axis: int | None = None) -> Any:
    """``values`` behind ``arr``."""
    return concatenate((arr, values), axis)


def stack(arrays: Any, axis: int = 0) -> Any:
    """One behind the other along a new axis."""
    return ops.stack(_all(arrays, "stack"), axis)


def atleast_1d(*arys: Any) -> Any:
    """With one axis at least."""
    return _grown(arys, lambda x: x if x.shape else x.reshape((1,)))


def atleast_2d(*arys: Any) -> Any:
    """With two axes at least."""
    return _grown(arys, lambda x: x if len(x.shape) > 1 else x.reshape((1, -1)))


def atleast_3d(*arys: Any) -> Any:
    """With three axes at least."""
    return _grown(arys, _deep)


def _deep(x: Any) -> Any:
    rank = len(x.shape)
    return x if rank > 2 else x.reshape((*x.shape, 1)) if rank == 2 else x.reshape((1, -1, 1))


def _grown(given: tuple[Any, ...], grow: Any) -> Any:
    made = [grow(asarray(each)) for each in given]
    return made[0] if len(made) == 1 else made


def vstack(tup: Any) -> Any:
    """One below the other."""
    return ops.concat([atleast_2d(each) for each in _all(tup, "vstack")], 0)


def hstack(tup: Any) -> Any:
    """One beside the other."""
    given = [atleast_1d(each) for each in _all(tup, "hstack")]
    return ops.concat(given, 0 if len(given[0].shape) == 1 else 1)


def dstack(tup: Any) -> Any:
    """One behind the other along the third axis."""
    return ops.concat([atleast_3d(each) for each in _all(tup, "dstack")], 2)


def column_stack(tup: Any) -> Any:
    """Vectors as columns, beside matrices."""
    return ops.concat([x if len(x.shape) > 1 else x.reshape((-1, 1)) for x in _all(tup, "column_stack")], 1)


def split(x: Any, indices_or_sections: Any, axis: int = 0) -> Any:
    """Equal parts (an int), or parts that end at indices."""
    given = asarray(x)
    if isinstance(indices_or_sections, int) and given.shape[axis] % indices_or_sections:
        raise SettingError(f"numpy.split: {given.shape[axis]} elements along axis {axis} have no {indices_or_sections} "
                           "equal parts")  # fmt: skip
    return array_split(given, indices_or_sections, axis)


def array_split(x: Any, indices_or_sections: Any, axis: int = 0) -> Any:
    """``split``; parts may differ by one element."""
    given = asarray(x)
    length = given.shape[axis]
    if isinstance(indices_or_sections, int):
        small, more = divmod(length, indices_or_sections)
        sizes = [small + 1] * more + [small] * (indices_or_sections - more)
        ends = [0, *(sum(sizes[: at + 1]) for at in range(len(sizes)))]
        return tuple(ops.narrow(given, axis, a, b - a) for a, b in itertools.pairwise(ends))
    ends = [0, *(min(each if each >= 0 else each + length, length) for each in indices_or_sections), length]
    return [ops.narrow(given, axis, a, b - a) for a, b in itertools.pairwise(ends)]


def hsplit(x: Any, indices_or_sections: Any) -> Any:
    """``split`` along the second axis."""
    return split(x, indices_or_sections, 1)


def vsplit(x: Any, indices_or_sections: Any) -> Any:
    """``split`` along the first axis."""
    return split(x, indices_or_sections, 0)


def tile(a: Any, reps: Any) -> Any:
    """Repeated whole."""
    return ops.tile(asarray(a), (reps,) if isinstance(reps, int) else tuple(reps))


def repeat(a: Any, repeats: Any, axis: int | None = None) -> Any:
    """Each element repeated."""
    given = asarray(a)
    return ops.repeat_interleave(ravel(given) if axis is None else given, repeats, 0 if axis is None else axis)


def broadcast_to(array: Any, shape: Any) -> Any:
    """Repeated to a shape."""
    return ops.broadcast_to(asarray(array), tuple(shape))


def broadcast_arrays(*args: Any) -> Any:
    """All repeated to one shape."""
    given = [asarray(each) for each in args]
    rank = max(len(each.shape) for each in given)
    padded = [(1,) * (rank - len(each.shape)) + each.shape for each in given]
    shape = tuple(max(each[at] for each in padded) for at in range(rank))
    return [ops.broadcast_to(each, shape) for each in given]


#: dtypes that are turned as they are; others pass through Float32
_FLIPPED = KNOWN


def flip(m: Any, axis: Any = None) -> Any:
    """In reverse order along ``axis``."""
    given = asarray(m)
    axes = tuple(range(len(given.shape))) if axis is None else (axis,) if isinstance(axis, int) else tuple(axis)
    return through_float32(lambda x: ops.flip(x, axes), given, _FLIPPED)


def fliplr(m: Any) -> Any:
    """In reverse order along the second axis."""
    return flip(m, 1)


def flipud(m: Any) -> Any:
    """In reverse order along the first axis."""
    return flip(m, 0)


def roll(a: Any, shift: Any, axis: Any = None) -> Any:
    """Moved on along ``axis`` (None: all in a row); what leaves at the end comes in at the begin."""
    given = asarray(a)
    if axis is None:
        return reshape(roll(ravel(given), shift, 0), given.shape)
    lists = [each if isinstance(each, (tuple, list)) else (each,) for each in (shift, axis)]
    for amount, at in np.broadcast(*lists):
        size = given.shape
        nothing = (0,) * len(size)
        if turned := amount % size[at]:
            begin, end = _with(nothing, at, -turned), _with(size, at, -turned)
            parts = [(begin, size), (nothing, end)]
            given = ops.concat(
                [ops.strided_slice(given, *each, (1,) * len(size)) for each in parts], int(at) % len(size)
            )
    return given


def _with(sizes: tuple[int, ...], at: int, value: int) -> tuple[int, ...]:
    """``sizes`` with ``value`` at a place."""
    changed = list(sizes)
    changed[at] = int(value)
    return tuple(changed)


def rot90(a: Any, k: int = 1, axes: Any = (0, 1)) -> Any:
    """Turned by ``k`` quarters from the first of ``axes`` to the second."""
    given = asarray(a)
    turns = k % 4
    if turns == 2:
        return flip(given, tuple(axes))
    if turns == 0:
        return given
    return flip(ops.swapaxes(given, *axes), axes[0]) if turns == 1 else ops.swapaxes(flip(given, axes[0]), *axes)


def take(a: Any, indices: Any, axis: int | None = None, mode: str = "clip") -> Any:
    """The elements at ``indices`` along ``axis`` (None: of all in one axis); those out of range count as the last."""
    if mode not in ("clip", "wrap"):
        raise UnsupportedError(f"numpy.take: mode {mode!r} is not supported; 'clip' and 'wrap' are")
    given, where_ = asarray(a), asarray(indices)
    given = ravel(given) if axis is None else given
    length = given.shape[axis or 0]
    where_ = ops.floor_mod(where_, length) if mode == "wrap" else ops.clamp(where_, 0, length - 1)
    return ops.gather(given, where_, axis or 0)


def take_along_axis(arr: Any, indices: Any, axis: int | None) -> Any:
    """For each place of ``indices`` the element there along ``axis``; other axes are those of ``arr`` (measured)."""
    given, places = asarray(arr), asarray(indices)
    if axis is None:
        return ops.gather_elements(ravel(given), 0, places)
    if len(places.shape) == len(given.shape) and -len(given.shape) <= axis < len(given.shape):
        at = axis % len(given.shape)
        whole = (*given.shape[:at], places.shape[at], *given.shape[at + 1 :])
        places = places if places.shape == whole else ops.broadcast_to(places, whole)
    return ops.gather_elements(given, axis, places)


def where(condition: Any, x: Any = None, y: Any = None) -> Any:
    """``x`` where the condition holds, else ``y``."""
    if x is None or y is None:
        raise SettingTypeError("numpy.where needs both x and y")
    given = asarray(condition)
    first, second = _all((x, y), "where")
    return ops.where(given if given.dtype is dtypes.bool_ else cast(given, dtypes.bool_), first, second)


def select(condlist: Any, choicelist: Any, default: Any = 0) -> Any:
    """Of each place the choice whose condition holds first."""
    choices = _all(choicelist, "select")
    result: Any = ops.full_like(choices[0], default) if isinstance(default, (bool, int, float)) else asarray(default)
    for condition, choice in zip(reversed(list(condlist)), reversed(choices), strict=True):
        result = ops.where(asarray(condition), choice, result)
    return result


def argwhere(a: Any) -> Any:
    """Places of what is not 0, a row each."""
    return ops.nonzero(asarray(a))


def unique(x: Any, return_inverse: bool = False) -> Any:
    """Each value once, in the order they come; with ``return_inverse`` the place of each element among them."""
    values, places = _unique(ravel(x))
    return (values, places) if return_inverse else values


@made_at_each_call
def _unique(x: Any) -> Any:
    return ops.unique(x)


def diagonal(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    """The diagonal of two axes, as the last axis."""
    return ops.diagonal(asarray(a), offset, axis1, axis2)


def pad(
    arr: Any,
    pad_width: Any,
    mode: str = "constant",
    stat_length: Any = None,
    constant_values: Any = 0,
    end_values: Any = 0,
    reflect_type: str = "even",
    **kwargs: Any,
) -> Any:
    """With ``constant_values`` around it: ``pad_width`` before and behind, for each axis."""
    if stat_length is not None or end_values != 0 or reflect_type != "even":
        raise UnsupportedError("numpy.pad: stat_length, end_values and reflect_type are of modes not supported")
    if mode != "constant" or not isinstance(constant_values, (int, float)) or kwargs:
        raise UnsupportedError(f"numpy.pad: mode {mode!r} with {constant_values!r} is not supported; 'constant' with a "
                               "number is")  # fmt: skip
    given = asarray(arr)
    rank = len(given.shape)
    widths = [(pad_width, pad_width)] * rank if isinstance(pad_width, int) else [
        (each, each) if isinstance(each, int) else tuple(each) for each in pad_width
    ]  # fmt: skip
    if len(widths) == 1:
        widths *= rank
    flat = [n for width in reversed(widths) for n in width]
    return ops.pad(given, tuple(flat), value=constant_values)


def array_str(a: Any) -> str:
    """The values as text, without commas."""
    return str(asarray(a).asnumpy())


def dsplit(x: Any, indices_or_sections: Any) -> Any:
    """``split`` along the third axis."""
    if not isinstance(x, Tensor):
        raise SettingTypeError(f"numpy.dsplit: a tensor is needed, got {type(x).__name__}")
    if len(x.shape) < 3:
        raise SettingError(f"numpy.dsplit: a third axis is needed, got {x.shape}")
    return split(x, indices_or_sections, 2)
