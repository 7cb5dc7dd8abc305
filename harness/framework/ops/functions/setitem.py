"""``tensor[index] = value``.

Outside a graph it writes into the tensor's data. In a graph it makes another tensor, which the name stands for from
then on. Source: which operators each kind of index is made of: MindSpore 2.10.0 CPU graphs, measured.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from harness.errors import UnsupportedError
from harness.framework.ops.eager import is_number
from harness.framework.ops.expansion import cast, scalar
from harness.framework.ops.functions.getitem import coordinates, from_list, position, spelled_out, without_masks
from harness.framework.ops.functions.indices import check_items, check_mask, refused, together, unfit
from harness.framework.tensor import Parameter, Tensor, call, current, is_tracing, tensor_method

__all__: list[str] = []

_INTO: dict[str, Any] = {
    "output_names": ["y"], "side_effect_mem": True, "input_names": ["input_x", "indices", "value"], "use_locking": True,
}  # fmt: skip
_SCATTER: dict[str, Any] = {"output_names": ("y",), "input_names": ("input_x", "indices", "value")}


@tensor_method("__setitem__")
def setitem(x: Tensor, index: Any, value: Any) -> None:
    """``x[index] = value``: at once, or as the active dispatcher does it."""
    if is_tracing():
        current().assign_items(x, index, value)  # type: ignore[attr-defined]
        return
    _check(index, value, tuple(x.shape))
    if index is False:
        return
    plain = tuple(map(_array, index)) if isinstance(index, tuple) else _array(index)
    given, data = _array(value), x.asnumpy()
    if isinstance(given, (tuple, list)):
        given = np.array(given)
    if isinstance(given, np.ndarray) and given.ndim:
        shape = data.shape if index is True else np.shape(data[plain])
        if index is Ellipsis:
            given = given.reshape(_without_ones(given.shape, len(shape)))
        if not shape and given.shape == (1,):
            given = given.reshape(())
        elif not _fills(given.shape, shape):
            raise unfit(given.shape, shape)
    with np.errstate(over="ignore"):
        data[plain] = given
    _pass_on(x)


def _without_ones(shape: tuple[int, ...], rank: int) -> tuple[int, ...]:
    """A shape without the ones in front of its last ``rank`` axes."""
    while len(shape) > rank and shape[0] == 1:
        shape = shape[1:]
    return shape


def _fills(shape: tuple[int, ...], target: tuple[int, ...]) -> bool:
    """Whether elements of one shape can be written to those of another."""
    try:
        return np.broadcast_shapes(shape, target) == target
    except ValueError:
        return False


def _check(index: Any, value: Any, shape: tuple[int, ...]) -> None:
    """Raises ``IndexError``, ``ValueError`` or ``TypeError`` for an index or a value that MindSpore does not take."""
    if isinstance(index, list) and isinstance(items := from_list(index), Tensor):
        check_items(items, shape[0])
    parts = index if isinstance(index, tuple) else (index,)
    for part in parts:
        if isinstance(part, (np.generic, np.ndarray, float, str, range, set, dict)):
            raise refused(part)
    if type(index) is int and shape and not -shape[0] <= index < shape[0]:
        raise IndexError(f"Index {index} is out of bounds for axis 0 with size {shape[0]}")
    if not any(isinstance(part, (list, tuple)) for part in parts):
        _check_places(parts, shape)
    if value is None or isinstance(value, np.ndarray):
        raise TypeError(f"only support numbers, Tensor, tuple, list as value, but got {value} with type {type(value)}")
    if not isinstance(value, (Tensor, bool, int, float, tuple, list)):
        raise refused(value)


def _check_places(parts: tuple[Any, ...], shape: tuple[int, ...]) -> None:
    """Raises unless the ints, masks and tensors of an index fit."""
    named = tuple(part for part in parts if part is not None and not isinstance(part, bool))
    for axis, part in enumerate(spelled_out(without_masks(named, shape), len(shape))):
        if isinstance(part, int):
            position(part, shape, axis)
    together([tuple(part.shape) for part in named if isinstance(part, Tensor) and part.dtype.kind != "b"], "setitem")


def _pass_on(x: Tensor) -> None:
    """Writes ``x`` into what it was taken from, although both have memory of their own (measured)."""
    if x.taken_from is None:
        return
    source, place = x.taken_from
    if callable(place):
        part, own = place(source.asnumpy()), x.asnumpy()
        if (
            0 in part.strides and part.size
        ):  # one element of the source stands in several places: what was assigned counts
            assigned = own.view(f"V{own.itemsize}") != np.ascontiguousarray(part).view(f"V{own.itemsize}")
            part[assigned] = own[assigned]
            own[...] = part
        else:
            part[...] = own
        _pass_on(source)
    else:
        setitem(source, place, x)


def _array(value: Any) -> Any:
    return value.asnumpy() if isinstance(value, Tensor) else value


@tensor_method("with_items")
def with_items(x: Tensor, index: Any, value: Any) -> Tensor:
    """``x`` with ``value`` at ``index``: ints, slices, ``...``, None, tensors of ints or bools, and tuples of them.

    Raises ``IndexError`` for an index that does not fit, ``TypeError`` for anything that is not an index, or for a
    value that is neither tensor nor number, ``UnsupportedError`` for combinations that are not supported.
    """
    if isinstance(value, (tuple, list)):
        value = Tensor(value)
    if not isinstance(value, Tensor) and not is_number(value):
        raise TypeError(f"a tensor's elements take a tensor or a number, not {type(value).__name__}")
    if isinstance(index, list):
        index = from_list(index)
    if index is False:
        return x
    if index is Ellipsis or index is True:
        return _spread(value, x.shape, x)
    if isinstance(index, Tensor) and index.dtype.kind == "b":
        return _by_mask(x, index, value)
    if isinstance(index, Tensor):
        return _by_tensor(x, index, value)
    rows = index if isinstance(index, tuple) else (index,)
    if _are_rows(rows, x.ndim):
        return _by_rows(x, rows, value)
    if not isinstance(index, (slice, tuple)) and index is not None:
        at = position(index, x.shape, 0)
        at += x.shape[0] if at < 0 else 0
        return _scattered(x, Tensor(np.array([[at]], np.int64)), (1, *x.shape[1:]), value)
    return _by_tuple(x, index if isinstance(index, tuple) else (index,), value)


def _spread(value: Any, shape: tuple[int, ...], x: Tensor) -> Tensor:
    """A value in the shape and dtype it is written in."""
    if not isinstance(value, Tensor):
        with np.errstate(over="ignore"):
            return Tensor(np.full([*shape], value, x.dtype.numpy), x.dtype)
    whole = _without_ones(tuple(value.shape), len(shape))
    if not _fills(whole, shape):
        raise unfit(value.shape, shape)
    if whole != tuple(value.shape):
        value = call("Reshape", value, whole)
    return call("BroadcastTo", cast(value, x.dtype), shape)  # type: ignore[no-any-return]


def _scattered(x: Tensor, where: Tensor, shape: tuple[int, ...], value: Any, stored: bool = True) -> Tensor:
    """``x`` with a value at places; a parameter of a graph stores it (measured:
    ``tests/data/programs/parameter_items.txt``)."""
    if stored and isinstance(x, Parameter) and is_tracing():
        call("ScatterNdUpdate", x, where, _spread(value, shape, x), **_INTO)
        return x
    return call("TensorScatterUpdate", x, where, _spread(value, shape, x), **_SCATTER)  # type: ignore[no-any-return]


def _by_mask(x: Tensor, mask: Tensor, value: Any) -> Tensor:
    check_mask(mask.shape, x.shape)
    wide = mask if mask.shape == x.shape else call("Reshape", mask, (*mask.shape, *[1] * (x.ndim - mask.ndim)))
    wide = call("BroadcastTo", wide, x.shape)
    if type(value) is Tensor and value.size == 1:
        value = value.asnumpy().item()
    return call("Select", wide, _spread(value, x.shape, x), x)  # type: ignore[no-any-return]


def _by_tensor(x: Tensor, index: Tensor, value: Any) -> Tensor:
    if index.dtype.kind not in "iu":
        raise TypeError(f"a tensor cannot be indexed by a tensor of {index.dtype}")
    if not x.shape:
        raise IndexError("a tensor without axes cannot be indexed")
    constant = type(index) is Tensor
    if not index.shape:
        index = Tensor(index.asnumpy().reshape(1)) if constant else call("ExpandDims", index, -1)
    negative: Any = Tensor(index.asnumpy() < 0) if constant else call("LessScalar", index, 0)
    index = call("Select", negative, call("Add", index, scalar(x.shape[0], index.dtype)), index)
    return _scattered(x, call("ExpandDims", index, -1), (*index.shape, *x.shape[1:]), value)


def _are_rows(index: tuple[Any, ...], rank: int) -> bool:
    """Whether an index is ints, then one slice without a step, then nothing or whole axes; more than a slice must have
    an int in front (measured)."""
    ints = next((at for at, part in enumerate(index) if not _is_int(part)), len(index))
    after = index[ints + 1 :]
    if ints == len(index) or len(index) > rank or (after and not ints):
        return False
    return _is_slice(index[ints]) and all(part == slice(None) for part in after)


def _is_int(part: Any) -> bool:
    return isinstance(part, int) and not isinstance(part, bool)


def _is_slice(part: Any) -> bool:
    return isinstance(part, slice) and part.step in (None, 1)


def _by_rows(x: Tensor, index: tuple[Any, ...], value: Any) -> Tensor:
    while len(index) > 1 and index[-1] == slice(None) and isinstance(index[-2], slice):
        index = index[:-1]
    at = [position(part, x.shape, axis) % x.shape[axis] for axis, part in enumerate(index[:-1])]
    begin, end, _step = index[-1].indices(x.shape[len(at)])
    if end <= begin:
        return x
    value = _spread(value, (end - begin, *x.shape[len(index) :]), x)
    bounds = ([*at, begin], [*(a + 1 for a in at), end], [1] * len(index))
    return call("TensorCopySlices", x, value, *map(tuple, bounds))  # type: ignore[no-any-return]


def _by_tuple(x: Tensor, index: tuple[Any, ...], value: Any) -> Tensor:
    index = tuple(from_list(i) if isinstance(i, list) else i for i in index)
    new = [at for at, i in enumerate(index) if i is None or i is True]
    index = spelled_out(tuple(i for i in index if i is not None and i is not True), x.ndim)
    if not index:
        return _spread(value, x.shape, x)
    if any(i is False or (isinstance(i, Tensor) and i.dtype.kind == "b") for i in index):
        raise UnsupportedError("an assignment by a mask and other indices is not supported; assign in two steps")
    if any(isinstance(i, Tensor) for i in index):
        where, shape = coordinates(x, index, "setitem")
        return _scattered(x, where, (*shape, *x.shape[where.shape[-1] :]), value)
    spans = [
        np.arange(x.shape[at])[slice(None) if part is Ellipsis else part]
        if part is Ellipsis or isinstance(part, slice)
        else np.array(position(part, x.shape, at) % x.shape[at])
        for at, part in enumerate(index)
    ]
    block = tuple(len(s) for s in spans if s.ndim)
    if 0 in block:
        return x
    block = block or (1,) * bool(new or len(index))
    if len(spans) == 1 and spans[0].ndim and not new:
        return _scattered(x, Tensor(spans[0].astype(np.int64).reshape(-1, 1)), (*block, *x.shape[1:]), value, False)
    axes = iter(range(len(block)))
    columns = []
    for span in spans:
        own = next(axes) if span.ndim else -1
        shaped = span.reshape([-1 if a == own else 1 for a in range(len(block))])
        columns.append(
            call("ExpandDims", Tensor(np.ascontiguousarray(np.broadcast_to(shaped, block)).astype(np.int64)), -1)
        )
    return _scattered(x, call("Concat", tuple(columns), -1), (*block, *x.shape[len(index) :]), value)
