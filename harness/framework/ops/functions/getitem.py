"""``tensor[index]``.

Source: which operators each kind of index is made of: MindSpore 2.10.0 CPU graphs, measured.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from harness import dtypes
from harness.errors import UnsupportedError
from harness.framework.ops.expansion import cast, scalar
from harness.framework.ops.functions.indices import check_items, check_mask, outside, refused, together, too_many
from harness.framework.ops.functions.inner import add_of, gather_of, select_of
from harness.framework.tensor import Tensor, call, reference, tensor_method

__all__: list[str] = []

#: attributes of the nodes that indexing by a tuple or slice makes
_SLICE: dict[str, Any] = {
    "output_names": ("output",),
    "input_names": (
        "x", "begin", "end", "strides", "begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask",
    ),
}  # fmt: skip
_EXPAND: dict[str, Any] = {"output_names": ("output",), "input_names": ("x", "axis")}
#: begin and end mask of ``x[i]``: MindSpore sets the bits of every axis an index may have but the first two
_ROW_MASK = 252


@tensor_method("__getitem__")
def getitem(x: Tensor, index: Any) -> Tensor:
    """``x[index]``: ints, slices, ``...``, None, tensors of ints or bools, lists, and tuples of them.

    Raises ``IndexError`` for an index that does not fit, ``TypeError`` for anything that is not an index,
    ``UnsupportedError`` for combinations that are not supported.
    """
    if isinstance(index, list):
        index = from_list(index)
        if isinstance(index, Tensor) and x.shape and x.shape[0] != -1:
            check_items(index, x.shape[0])
    if index is Ellipsis:
        return x
    if index is None or index is True:
        return call("ExpandDims", x, 0)  # type: ignore[no-any-return]
    if isinstance(index, tuple):
        return _by_tuple(x, index)
    if isinstance(index, Tensor):
        return _by_tensor(x, index)
    if isinstance(index, slice):
        return _sliced(x, (index,))
    at = position(index, x.shape, 0)
    return call("StridedSlice", x, (at,), (at + 1,), (1,), _ROW_MASK, _ROW_MASK, 0, 0, 1)  # type: ignore[no-any-return]


def from_list(items: list[Any]) -> Any:
    """A list as an index: a tuple if it holds anything but numbers, else a tensor."""
    if any(isinstance(i, (slice, list, tuple, Tensor)) or i is None or i is Ellipsis for i in items):
        return tuple(items)
    return Tensor(np.array(items, bool if all(isinstance(i, bool) for i in items) else np.int64))


def position(index: Any, shape: tuple[int, ...], axis: int) -> int:
    """``index`` as an int that fits into ``axis``."""
    if isinstance(index, (bool, float, str, np.generic, np.ndarray)) or not hasattr(index, "__index__"):
        raise refused(index)
    if axis >= len(shape):
        raise too_many(len(shape))
    at = int(index.__index__())
    if shape[axis] != -1 and not -shape[axis] <= at < shape[axis]:
        raise outside(at, shape[axis])
    return at


def _by_tuple(x: Tensor, index: tuple[Any, ...]) -> Tensor:
    index = tuple(from_list(list(i)) if isinstance(i, (list, tuple)) else i for i in index)
    index = tuple(None if i is True else i for i in index)
    if not index:
        return x
    if not any(isinstance(i, Tensor) for i in index):
        return _sliced(x, index)
    if any(i is False for i in index):
        raise refused(False)
    if len(index) == 1 and _is_mask(index[0]):
        return _by_tensor(x, index[0])
    index = without_masks(index, x.shape)
    index = spelled_out(index, len(x.shape))
    for axis, part in enumerate(index):
        if part is None:
            x = call("ExpandDims", x, axis, **_EXPAND)
    return by_coordinates(x, tuple(slice(0, 1) if part is None else part for part in index))


def without_masks(index: tuple[Any, ...], shape: tuple[int, ...]) -> tuple[Any, ...]:
    """``index`` with the coordinates of what holds in place of each mask.

    Raises:
        ValueError: a mask does not fit ``shape``.
        UnsupportedError: a mask's values are not known while a graph is made.
    """
    plain: list[Any] = []
    widths = [i.ndim if _is_mask(i) else int(i is not None and i is not Ellipsis) for i in index]
    for at, part in enumerate(index):
        if not _is_mask(part):
            plain.append(part)
            continue
        if type(part) is not Tensor:
            raise UnsupportedError("an index of a mask and others is not supported in a graph; index in two steps")
        axis = len(shape) - sum(widths[at:]) if any(i is Ellipsis for i in index[:at]) else sum(widths[:at])
        check_mask(part.shape, shape, axis)
        plain.extend(map(Tensor, np.nonzero(part.asnumpy())))
    return tuple(plain)


def _is_mask(part: Any) -> bool:
    return isinstance(part, Tensor) and part.dtype.kind == "b"


def spelled_out(index: tuple[Any, ...], rank: int) -> tuple[Any, ...]:
    """``index`` with ``...`` replaced by the slices it stands for."""
    dots = [at for at, i in enumerate(index) if i is Ellipsis]
    named = sum(i is not None and i is not Ellipsis for i in index)
    if len(dots) > 1:
        raise IndexError("an index may hold one ... only")
    if named > rank:
        raise too_many(rank)
    if not dots:
        return index
    return (*index[: dots[0]], *[Ellipsis] * (rank - named), *index[dots[0] + 1 :])


@dataclass(slots=True)
class _Bounds:
    """Arguments of StridedSlice as they grow entry by entry; the masks hold bits."""

    begin: list[int]
    end: list[int]
    strides: list[int]
    begin_mask: int = 0
    end_mask: int = 0
    shrink: int = 0

    def add(self, begin: int, end: int, stride: int = 1, *, from_start: bool, to_end: bool, single: bool) -> None:
        bit = 1 << len(self.begin)
        self.begin.append(begin)
        self.end.append(end)
        self.strides.append(stride)
        self.begin_mask |= bit * from_start
        self.end_mask |= bit * to_end
        self.shrink |= bit * single


def _sliced(x: Tensor, index: tuple[Any, ...]) -> Tensor:
    """Ints, slices, ``...`` and None: new axes first, then one StridedSlice."""
    index = spelled_out(index, len(x.shape))
    for axis, part in enumerate(index):
        if part is None:
            x = call("ExpandDims", x, axis, **_EXPAND)
    bounds = _Bounds([], [], [])
    for axis, part in enumerate(index):
        if part is None:
            bounds.add(0, 1, from_start=False, to_end=False, single=False)
        elif part is Ellipsis:
            bounds.add(0, x.shape[axis], from_start=True, to_end=True, single=False)
        elif isinstance(part, slice):
            _add_slice(bounds, part)
        else:
            at = position(part, x.shape, axis)
            bounds.add(at, at + 1, from_start=False, to_end=False, single=True)
    masks = bounds.begin_mask, bounds.end_mask, 0, 0, bounds.shrink
    arguments = tuple(bounds.begin), tuple(bounds.end), tuple(bounds.strides), *masks
    # A slice of a parameter is a view of it, not of what was read from it (measured).
    source = reference(x) if any(isinstance(part, slice) for part in index) else x
    return call("StridedSlice", source, *arguments, **_SLICE)  # type: ignore[no-any-return]


def _add_slice(bounds: _Bounds, part: slice) -> None:
    for value in (part.start, part.stop, part.step):
        if value is not None and not hasattr(value, "__index__"):
            raise TypeError(f"a slice of a tensor takes ints, got {value!r}")
    start, stop = part.start, part.stop
    step = 1 if part.step is None else int(part.step)
    if step == 0:
        raise ValueError("a slice's step must not be 0")
    begin, end = 0 if start is None else int(start), 0 if stop is None else int(stop)
    bounds.add(begin, end, step, from_start=start is None, to_end=stop is None, single=False)


def _by_tensor(x: Tensor, index: Tensor) -> Tensor:
    if not x.shape:
        raise IndexError("a tensor without axes cannot be indexed")
    if index.dtype.kind == "b":
        check_mask(index.shape, x.shape)
        return call("GatherNd", x, call("NonZero", index))  # type: ignore[no-any-return]
    if index.dtype.kind not in "iu":
        raise refused(index)
    length = x.shape[0]
    if type(index) is Tensor:
        negative: Any = Tensor(index.asnumpy() < 0)
    else:
        negative = call("LessScalar", index, 0)
    return gather_of(x, _from_front(index, negative, length), 0, 0, batch_dims=0)  # type: ignore[no-any-return]


def _from_front(index: Any, negative: Any, length: int) -> Any:
    """Places counted from the front, of those that are ``negative`` from the end."""
    return select_of(negative, add_of(index, scalar(length, index.dtype)), index)


def by_coordinates(x: Tensor, index: tuple[Any, ...]) -> Tensor:
    """Tensors of ints beside ints and slices, by their coordinates."""
    return call("GatherNd", x, coordinates(x, index, "getitem")[0])  # type: ignore[no-any-return]


def coordinates(x: Tensor, index: tuple[Any, ...], action: str) -> tuple[Tensor, tuple[int, ...]]:
    """The coordinates of what tensors of ints beside ints and slices name, and their shape without the last axis;
    ``action`` as for ``together``."""
    used = max(at for at, part in enumerate(index) if part is not Ellipsis and part != slice(None)) + 1
    index = index[:used]
    places = [at for at, part in enumerate(index) if not isinstance(part, slice) and part is not Ellipsis]
    picks = [i for i in index if isinstance(i, Tensor)]
    block = together([tuple(p.shape) for p in picks], action)
    spans = [
        np.arange(x.shape[at])[slice(None) if part is Ellipsis else part]
        for at, part in enumerate(index)
        if isinstance(part, slice) or part is Ellipsis
    ]
    # As numpy has it: where a slice stands between them, what the tensors give comes first.
    before = places[0] if places == list(range(places[0], places[-1] + 1)) else 0
    final = (*(len(s) for s in spans[:before]), *block, *(len(s) for s in spans[before:]))
    parts: list[Any] = []
    passed = 0
    for at, part in enumerate(index):
        if isinstance(part, Tensor):
            column = _spread(part, x.shape[at], block, before, final)
        elif at in places:
            column = Tensor(np.full(final, position(part, x.shape, at) % x.shape[at], np.int64))
        else:
            span = passed if passed < before else passed + len(block)
            order = spans[passed]
            passed += 1
            column = Tensor(np.broadcast_to(order.reshape([-1 if a == span else 1 for a in range(len(final))]), final))
        parts.append(call("ExpandDims", column, -1, **_EXPAND))
    return call("Concat", tuple(parts), -1), final


def _spread(index: Tensor, length: int, block: tuple[int, ...], before: int, final: tuple[int, ...]) -> Any:
    """A tensor index over the whole block of coordinates."""
    if index.dtype.kind not in "iu":
        raise refused(index)
    if type(index) is Tensor:
        values = np.where(index.asnumpy() < 0, index.asnumpy() + length, index.asnumpy()).astype(np.int64)
        after = len(final) - before - len(block)
        wide = np.broadcast_to(values, block).reshape((1,) * before + block + (1,) * after)
        return Tensor(np.broadcast_to(wide, final))
    column: Any = cast(index, dtypes.int64)
    if not block:  # numbers may be negative there; what has axes may not (measured)
        column = _from_front(column, call("LessScalar", column, 0), length)
    column = call("BroadcastTo", column, block)
    shape = (1,) * before + block + (1,) * (len(final) - before - len(block))
    if shape != block:
        column = call("Reshape", column, shape)
    return call("BroadcastTo", column, final)
