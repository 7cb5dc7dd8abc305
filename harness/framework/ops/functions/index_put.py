"""Methods of tensors that put values at places, and choose among tensors; rows that are changed in place.

They work at once, where the places are known; in a graph they are refused. Source: MindSpore 2.10.0 CPU, measured.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from harness.dtypes import DType
from harness.errors import IndexRangeError, KernelError, SettingError, SettingTypeError
from harness.framework.ops.eager import is_number
from harness.framework.ops.expansion import cast
from harness.framework.ops.functions.getitem import coordinates
from harness.framework.ops.functions.indexing import tensor_scatter_update
from harness.framework.ops.functions.scattering import tensor_scatter_add
from harness.framework.ops.functions.setitem import with_items
from harness.framework.ops.functions.shape import at_once, reshape
from harness.framework.ops.functions.windows import _Y
from harness.framework.tensor import Tensor, call, is_eager, tensor_method

__all__ = ["index_add", "inplace_add", "inplace_sub", "inplace_update"]


def index_add(x: Any, indices: Any, y: Any, axis: int, use_lock: bool = True, check_index_bound: bool = True) -> Any:
    """``x`` with the slices of ``y`` added at ``indices`` along ``axis``, in place."""
    names: dict[str, Any] = {"input_names": ["input_x", "indices", "input_y"], "output_names": ["output"]}
    names |= {"use_lock": use_lock, "check_index_bound": check_index_bound, "side_effect_mem": True}
    return call("IndexAdd", x, indices, y, axis=axis, **names)


@tensor_method("itemset")
def _itemset(self: Any, *args: Any) -> Any:
    """A copy with one element replaced: ``itemset(value)`` of a tensor of shape (1,), or ``itemset(place, value)`` with
    a place in the flat tensor or one along each axis.

    Raises:
        SettingError: no arguments, or more than two.
        IndexRangeError: a place outside the tensor, or none for a tensor of another shape.
        SettingTypeError: a place that is no int, or a value that is no number.
    """
    if not 1 <= len(args) <= 2:
        raise SettingError(f"Tensor.itemset takes one or two arguments, got {len(args)}")
    shape = tuple(self.shape)
    if len(args) == 1 and shape != (1,):
        raise IndexRangeError(f"Tensor.itemset: a tensor of shape {shape} needs a place")
    place, value = (0, args[0]) if len(args) == 1 else args
    if not isinstance(place, tuple) and type(place) is not int:
        raise SettingTypeError(f"Tensor.itemset: a place is an int or a tuple of them, got {place!r}")
    if not is_number(value) and not isinstance(value, Tensor):
        raise SettingTypeError(f"Tensor.itemset: a number is needed, got {value!r}")
    if not isinstance(place, tuple) and place < -math.prod(shape):
        raise KernelError(f"Tensor.itemset: {place} lies before the first element of {math.prod(shape)}")
    lengths = shape if isinstance(place, tuple) else (math.prod(shape),)
    where = place if isinstance(place, tuple) else (place,)
    if len(where) != len(lengths) or any(not -n <= at < n for at, n in zip(where, lengths, strict=True)):
        raise IndexRangeError(f"Tensor.itemset: {place} is no place of a tensor of shape {shape}")
    flat = self if where is place else reshape(self, (-1,))
    at = Tensor(np.array([[at % n for at, n in zip(where, lengths, strict=True)]], np.int64).reshape(1, -1))
    new = call("Reshape", cast(value, self.dtype), (1,)) if isinstance(value, Tensor) else _one_of(value, self.dtype)
    changed = tensor_scatter_update(flat, at, new) if where else reshape(new, ())
    return changed if where is place else reshape(changed, shape)


def _one_of(number: Any, dtype: DType) -> Tensor:
    return Tensor(np.array([number]).astype(dtype.numpy), dtype)


@tensor_method("index_put")
def _index_put(self: Any, indices: Any, values: Any, accumulate: bool = False) -> Any:
    """A copy with ``values`` at ``indices``, a tuple of tensors of ints; with ``accumulate`` added to what is there."""
    if not isinstance(indices, (tuple, list)) or any(i.dtype.kind not in "iu" for i in indices):
        raise SettingTypeError("index_put: indices must be a tuple or list of tensors of ints")
    at_once("index_put", *indices)
    if not accumulate:
        return with_items(self, tuple(indices), values)
    where, shape = coordinates(self, tuple(indices), "setitem")
    return tensor_scatter_add(self, where, values.broadcast_to((*shape, *self.shape[len(indices) :])))


@tensor_method("masked_scatter")
def _masked_scatter(self: Any, mask: Any, tensor: Any) -> Any:
    """A copy with the elements of ``tensor``, in their order, where ``mask`` holds.

    Raises:
        ValueError: ``tensor`` has fewer elements than there are places.
    """
    at_once("masked_scatter", mask)
    held = np.broadcast_to(mask.asnumpy(), self.shape)
    if int(held.sum()) > tensor.size:
        raise ValueError(f"masked_scatter: {int(held.sum())} elements are needed, got {tensor.size}")
    places = np.where(held, np.cumsum(held).reshape(self.shape) - 1, 0)
    spread = call("Gather", tensor.reshape(-1), Tensor(places.astype(np.int64)), 0, 0, batch_dims=0)
    return call("Select", Tensor(held.copy()), spread, self)


@tensor_method("choose")
def _choose(self: Any, choices: Any, mode: str = "clip") -> Any:
    """For each element the one of ``choices`` that it names; ``mode``: ``"clip"`` or ``"wrap"``."""
    if mode == "raise":
        raise NotImplementedError("choose: mode 'raise' is not implemented; use 'clip' or 'wrap'")
    if mode not in ("clip", "wrap"):
        raise SettingError(f"choose: mode must be 'clip' or 'wrap', got {mode!r}")
    at_once("choose", self)
    plain = not isinstance(choices, Tensor) and not any(isinstance(c, Tensor) for c in choices)
    given = [c if isinstance(c, Tensor) else Tensor(c, self.dtype if plain else None) for c in choices]
    shape = np.broadcast_shapes(tuple(self.shape), *(tuple(c.shape) for c in given))
    index = np.broadcast_to(self.asnumpy(), shape)
    index = np.clip(index, 0, len(given) - 1) if mode == "clip" else index % len(given)
    stacked = call("Stack", tuple(c.broadcast_to(shape) for c in given), axis=0)
    where = np.stack([index, *np.indices(shape)], -1).astype(np.int64)
    return call("GatherNd", stacked, Tensor(where))


@tensor_method("index_add")
def _index_add(self: Any, *args: Any, alpha: Any = None, **kwargs: Any) -> Any:
    """In place: ``index_add(indices, y, axis)`` or ``(dim, index, source)``; it has no kernel in graphs (measured)."""
    if not is_eager():
        raise KernelError("Tensor.index_add has no CPU kernel in a graph; use ops.tensor_scatter_add")
    if kwargs.keys() & {"indices", "y", "axis"} or (args and isinstance(args[0], Tensor)):
        if alpha is not None:
            raise SettingTypeError("Tensor.index_add takes alpha with dim, index and source only")
        return index_add(self, *args, **kwargs)
    return _added(self, *args, alpha=1 if alpha is None else alpha, **kwargs)


def _added(x: Any, dim: int, index: Any, source: Any, *, alpha: Any = 1) -> Any:
    return index_add(x, index, source if alpha == 1 else source * alpha, dim)


def rows(indices: Any, owner: str) -> tuple[int, ...]:
    """The numbers of rows; ``SettingTypeError`` unless an int or a tuple of them."""
    chosen = indices if isinstance(indices, tuple) else (indices,)
    if any(isinstance(row, bool) or not isinstance(row, int) for row in chosen):
        raise SettingTypeError(f"{owner}: indices must be an int or a tuple of them, got {indices!r}")
    return chosen


def _changed(op: str, x: Any, v: Any, indices: Any) -> Any:
    return call(op, x, v, **_Y, input_names=["x", "v"], indices=rows(indices, op))


def inplace_add(x: Any, v: Any, indices: Any) -> Any:
    """``x`` with ``v`` added to the rows ``indices``."""
    return _changed("InplaceAdd", x, v, indices)


def inplace_sub(x: Any, v: Any, indices: Any) -> Any:
    """``x`` with ``v`` taken from the rows ``indices``."""
    return _changed("InplaceSub", x, v, indices)


def inplace_update(x: Any, v: Any, indices: Any) -> Any:
    """``x`` with ``v`` in place of the rows ``indices``."""
    chosen = indices if isinstance(indices, Tensor) else Tensor(np.asarray(indices, np.int64))
    return call("InplaceUpdateV2", x, chosen, v, **_Y, input_names=["x", "indices", "v"])
