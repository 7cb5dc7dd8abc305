"""Functions that join tensors and cut them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import Any

import numpy as np

from harness.errors import KernelError, SettingError, SettingTypeError
from harness.framework.ops.eager import promote
from harness.framework.ops.expansion import cast
from harness.framework.ops.functions.shape import axis_of, expand_dims, repeat_elements, reshape
from harness.framework.tensor import Tensor, call, is_eager, tensor_method

__all__ = [
    "cat", "chunk", "concat", "dsplit", "dstack", "hsplit", "hstack", "narrow", "repeat_interleave", "roll", "split",
    "stack", "tensor_split", "unbind", "unstack", "vsplit", "vstack",
]  # fmt: skip


def _tensors(name: str, tensors: Any) -> tuple[Tensor, ...]:
    if not isinstance(tensors, (tuple, list)) or not tensors or not all(isinstance(t, Tensor) for t in tensors):
        raise TypeError(f"{name}: a tuple or list of tensors is needed, got {type(tensors).__name__}")
    return tuple(tensors)


def concat(tensors: Sequence[Tensor], axis: int = 0) -> Tensor:
    """The tensors behind one another along ``axis``, in their strongest dtype."""
    members = _tensors("concat", tensors)
    target = promote([t.dtype for t in members])
    return call("Concat", tuple(cast(t, target) for t in members), axis)  # type: ignore[no-any-return]


def cat(tensors: Sequence[Tensor], axis: int = 0) -> Tensor:
    """The tensors behind one another along ``axis``."""
    return concat(tensors, axis)


def stack(tensors: Sequence[Tensor], axis: int = 0) -> Tensor:
    """The tensors, all of one shape, along a new axis."""
    members = _tensors("stack", tensors)
    attrs: dict[str, Any] = {"input_names": ["x"], "num": len(members), "axis": axis, "output_names": ["y"]}
    return call("Stack", members, **attrs)  # type: ignore[no-any-return]


def hstack(tensors: Sequence[Tensor]) -> Tensor:
    """The tensors side by side: along axis 1, vectors along axis 0."""
    members = [t if t.shape else t.reshape(1) for t in _tensors("hstack", tensors)]
    return concat(members, 0 if len(members[0].shape) == 1 else 1)


def vstack(inputs: Sequence[Tensor]) -> Tensor:
    """The tensors below one another: along axis 0, vectors as rows."""
    members = [t.reshape(1, t.size) if len(t.shape) < 2 else t for t in _tensors("vstack", inputs)]
    return concat(members, 0)


def dstack(tensors: Sequence[Tensor]) -> Tensor:
    """The tensors behind one another along axis 2."""
    members = []
    for t in _tensors("dstack", tensors):
        t = t if t.shape else t.reshape(1)
        t = expand_dims(t, 0) if len(t.shape) == 1 else t
        members.append(expand_dims(t, 2) if len(t.shape) == 2 else t)
    return concat(members, 2)


@tensor_method("unbind")
def unbind(input: Tensor, dim: int = 0) -> tuple[Tensor, ...]:
    """The slices along ``dim``, without it."""
    return unstack(input, dim)


def unstack(input_x: Tensor, axis: int = 0) -> tuple[Tensor, ...]:
    """The slices along ``axis``, without it."""
    count = input_x.shape[axis_of(axis, len(input_x.shape), "unstack")]
    attrs: dict[str, Any] = {"output_names": ["y"], "input_names": ["x"], "num": count, "axis": axis}
    return call("Unstack", input_x, **attrs)  # type: ignore[no-any-return]


def box(x: Tensor, at: int, begin: int, length: int) -> Tensor:
    """``length`` positions of axis ``at`` from ``begin`` on, by Slice."""
    corner = tuple(begin if a == at else 0 for a in range(len(x.shape)))
    size = tuple(length if a == at else n for a, n in enumerate(x.shape))
    return call("Slice", x, corner, size)  # type: ignore[no-any-return]


def _equal_parts(x: Tensor, axis: int, count: int) -> tuple[Tensor, ...]:
    length = x.shape[axis] // count
    return call("Split", x, axis, count, size_splits=(length,) * count)  # type: ignore[no-any-return]


def split(tensor: Tensor, split_size_or_sections: Any, axis: int = 0) -> tuple[Tensor, ...]:
    """Pieces along ``axis``: of one size (the last may be shorter), or of the sizes listed."""
    at = axis_of(axis, len(tensor.shape), "split")
    if isinstance(split_size_or_sections, (tuple, list)):
        return _sections(tensor, at, [int(s) for s in split_size_or_sections])
    size = split_size_or_sections
    if isinstance(size, bool) or not isinstance(size, int) or size < 1:
        raise ValueError(f"split: the size of a piece must be an int above 0, got {size!r}")
    length = tensor.shape[at]
    if length % size == 0 or size > length:
        return _equal_parts(tensor, at, max(length // size, 1))
    return _pieces(tensor, at, size)


def _pieces(x: Tensor, at: int, size: int) -> tuple[Tensor, ...]:
    """Pieces of ``size`` along axis ``at``, then what remains, each cut out first (also where nothing remains)."""
    count, rest = divmod(x.shape[at], size)
    whole = _equal_parts(box(x, at, 0, count * size), at, count)
    return (*whole, *_equal_parts(box(x, at, count * size, rest), at, 1)) if rest else whole


@tensor_method("split")
def _split(self: Tensor, split_size_or_sections: Any, axis: int = 0, *, ext: bool = False) -> tuple[Tensor, ...]:
    if not ext or is_eager():
        return split(self, split_size_or_sections, axis)
    if isinstance(split_size_or_sections, (tuple, list)):
        sizes = tuple(int(s) for s in split_size_or_sections)
        return call("SplitWithSize", self, sizes, axis)  # type: ignore[no-any-return]
    raise KernelError("Tensor.split(split_size, dim) into pieces of one size has no CPU kernel in a graph; use axis")


@tensor_method("tensor_split")
def tensor_split(input: Tensor, indices_or_sections: Any, axis: int = 0) -> tuple[Tensor, ...]:
    """Pieces along ``axis``: so many, the first ones longer by 1 where they do not come out even; or cut at the
    positions listed."""
    at = axis_of(axis, len(input.shape), "tensor_split")
    length, given = input.shape[at], indices_or_sections
    if isinstance(given, (tuple, list)):
        return tuple(_between(input, at, begin, end) for begin, end in pairwise([0, *map(int, given), length]))
    if isinstance(given, bool) or not isinstance(given, int):
        raise TypeError(f"tensor_split: indices_or_sections must be an int, tuple or list, got {given!r}")
    if given < 1:
        raise ValueError(f"tensor_split: indices_or_sections must be above 0, got {given}")
    size, longer = divmod(length, given)
    if not longer:
        return _equal_parts(input, at, given)
    if not size:
        return *_equal_parts(input, at, longer), *(_between(input, at, length, length) for _ in range(given - longer))
    first = longer * (size + 1)
    parts = _equal_parts(box(input, at, 0, first), at, longer)
    return *parts, *_equal_parts(box(input, at, first, length - first), at, given - longer)


def _between(x: Tensor, at: int, begin: int, end: int) -> Tensor:
    """What lies between two positions of axis ``at``; of equal ones a constant without elements (measured)."""
    if begin == end:
        return Tensor(np.zeros(tuple(0 if a == at else n for a, n in enumerate(x.shape))), x.dtype)
    return _slice(x, at, begin, end)


def _slice(x: Tensor, at: int, begin: int, end: int) -> Tensor:
    first = tuple(begin if a == at else 0 for a in range(len(x.shape)))
    last = tuple(end if a == at else n for a, n in enumerate(x.shape))
    return call("StridedSlice", x, first, last, (1,) * len(first), 0, 0, 0, 0, 0)  # type: ignore[no-any-return]


def _sections(x: Tensor, at: int, lengths: list[int]) -> tuple[Tensor, ...]:
    if sum(lengths) != x.shape[at] or any(n < 0 for n in lengths):
        raise ValueError(f"split: the sizes {lengths} must add up to the axis's {x.shape[at]}")
    ends = list(accumulate(lengths, initial=0))
    return tuple(_slice(x, at, begin, end) for begin, end in pairwise(ends))


@tensor_method("hsplit")
def hsplit(input: Tensor, indices_or_sections: Any) -> tuple[Tensor, ...]:
    """``tensor_split`` along axis 1."""
    return _split_along(input, indices_or_sections, 1)


@tensor_method("vsplit")
def vsplit(input: Tensor, indices_or_sections: Any) -> tuple[Tensor, ...]:
    """``tensor_split`` along axis 0."""
    return _split_along(input, indices_or_sections, 0)


@tensor_method("dsplit")
def dsplit(input: Tensor, indices_or_sections: Any) -> tuple[Tensor, ...]:
    """``tensor_split`` along axis 2."""
    return _split_along(input, indices_or_sections, 2)


def _split_along(x: Tensor, given: Any, axis: int) -> tuple[Tensor, ...]:
    if len(x.shape) <= axis:
        raise ValueError(f"a split along axis {axis} needs {axis + 1} dimensions or more, got {len(x.shape)}")
    return tensor_split(x, given, axis)


@tensor_method("chunk")
def chunk(input: Tensor, chunks: int, axis: int = 0) -> tuple[Tensor, ...]:
    """At most ``chunks`` pieces along ``axis``, all but the last of one size."""
    if isinstance(chunks, bool) or not isinstance(chunks, int) or chunks < 1:
        raise ValueError(f"chunk: the number of pieces must be an int above 0, got {chunks!r}")
    at = axis_of(axis, len(input.shape), "chunk")
    length = input.shape[at]
    if length % chunks == 0 or chunks > length:
        return _equal_parts(input, at, min(chunks, length))
    return _pieces(input, at, -(-length // chunks))


@tensor_method("narrow")
def narrow(input: Tensor, axis: int, start: int, length: int) -> Tensor:
    """``length`` positions of ``axis`` from ``start`` on."""
    return box(input, axis_of(axis, len(input.shape), "narrow"), start, length)


@tensor_method("repeat_interleave")
def repeat_interleave(input: Tensor, repeats: Any, axis: int | None = None) -> Tensor:
    """Each element (of ``axis``, or of the flattened tensor) ``repeats`` times in a row: one number, or one for each.

    Raises:
        SettingTypeError: numbers of repeats that are no ints.
        SettingError: another number of them than of elements, or one below 0.
    """
    several = _repeats(repeats)
    if axis is None:
        input, axis = reshape(input, (-1,)), 0
    if len(several) == 1:
        return repeat_elements(input, several[0], axis)
    count = input.shape[axis_of(axis, len(input.shape), "repeat_interleave")]
    if len(several) != count:
        raise SettingError(f"repeat_interleave: one number for each of {count} elements is needed, got {several}")
    if any(each < 0 for each in several) or not any(several):
        raise SettingError(f"repeat_interleave: repeats must be at least 0, and one above it, got {several}")
    parts = zip(_equal_parts(input, axis % len(input.shape), count), several, strict=True)
    return concat([repeat_elements(part, each, axis) for part, each in parts if each], axis)


def _repeats(given: Any) -> list[int]:
    if type(given) is Tensor:
        if not is_eager() and not given.shape:
            raise KernelError("repeat_interleave: in a graph a tensor of repeats has one axis")
        if not is_eager() and len(given.shape) > 1:
            raise SettingError(f"repeat_interleave: a tensor of repeats has one axis, got shape {given.shape}")
        given = given.asnumpy().tolist()
    several = list(given) if isinstance(given, (tuple, list)) else [given]
    for each in several:
        if isinstance(each, bool) is not isinstance(given, bool) or not isinstance(each, int):
            raise SettingTypeError(f"repeat_interleave: repeats must be ints, got {given!r}")
    if several == [0] and isinstance(given, (tuple, list)):
        raise SettingTypeError("repeat_interleave: the one number of repeats must be above 0, got 0")
    return several


@tensor_method("roll")
def roll(input: Any, shifts: Any, dims: Any = None) -> Any:
    """Elements moved along ``dims`` (None: all in a row); what leaves at one end comes in at the other."""
    if dims is None:
        return roll(input.reshape((-1,)), shifts, 0).reshape(tuple(input.shape))
    amounts = shifts if isinstance(shifts, (tuple, list)) else (shifts,)
    axes = dims if isinstance(dims, (tuple, list)) else (dims,)
    if len(amounts) != len(axes):
        raise SettingError(f"roll: {len(amounts)} shifts for {len(axes)} dims")
    for amount, axis in zip(amounts, axes, strict=True):
        length = input.shape[axis]
        at = (length - amount) % length if length else 0
        if at:
            input = concat((input.narrow(axis, at, length - at), input.narrow(axis, 0, at)), axis)
    return input
