"""What a cause states that was done to the golden's tensor, as functions that do it again.

Each takes a ``Pair`` and plain arguments, and gives the whole tensor in the run's dtype. One that tells only a part of
the elements gives ``Partly``. Numbers are multiplied and added in float64 and rounded once; whole numbers in their own
dtype. ``docs/comparison.md`` lists them for whoever wants to apply them to the two tensors.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from harness import dtypes
from harness.explain.pair import Array, Pair


@dataclass(frozen=True, eq=False)
class Partly:
    """Values that are stated for some elements only.

    Attributes:
        values: the tensor; any number where nothing is stated.
        stated: where something is stated, a bool for each element.
    """

    values: Array
    stated: Array


def _fill(pair: Pair, value: Any) -> Array:
    return np.full(pair.found.shape, _element(pair, value), pair.found.dtype)


def _put(pair: Pair, at: Sequence[Sequence[int]], value: Any) -> Array:
    made = pair.expected.copy()
    made[tuple(np.asarray(at, np.intp).reshape(-1, made.ndim).T)] = _element(pair, value)
    return made


def _take(pair: Pair, input: str) -> Array:
    return pair.inputs[input].reshape(pair.found.shape)


def _negate(pair: Pair, zeros: bool) -> Array:
    made = np.negative(pair.expected)
    return made if zeros else np.where(pair.e == 0, pair.expected, made)


def _multiply(pair: Pair, times: float) -> Array:
    if pair.expected.dtype.kind in "iu":
        return np.asarray(pair.expected * pair.expected.dtype.type(times))
    return _rounded(pair, pair.e * times)


def _add(pair: Pair, plus: float) -> Array:
    if pair.expected.dtype.kind in "iu":
        return np.asarray(pair.expected + np.asarray(plus).astype(pair.expected.dtype))
    return _rounded(pair, pair.e + plus)


def _add_input(pair: Pair, input: str, times: int) -> Array:
    shaped = broadcast(pair.inputs[input].astype(np.float64), pair.found.shape)
    if shaped is None:
        raise ValueError(f"{input} does not fit")
    return _rounded(pair, pair.e + times * shaped)


def _zero_slices(pair: Pair, axis: int, index: Sequence[int], signed: bool) -> Array:
    made = pair.expected.copy()
    place = (slice(None),) * axis + (list(index),)
    made[place] = made[place] * _element(pair, 0) if signed else _element(pair, 0)
    return made


def _flush(pair: Pair, limit: float, signed: bool, zeros: bool) -> Array:
    small = (np.abs(pair.e) <= limit) & ((pair.e != 0) | zeros)
    made = np.copysign(0.0, pair.e) if signed else np.zeros_like(pair.e)
    return np.where(small, made.astype(pair.found.dtype), pair.expected)


def _zeros_as_signed(pair: Pair) -> Array:
    return _rounded(pair, np.copysign(0.0, pair.e))


def _clip(pair: Pair, low: float | None, high: float | None) -> Array:
    made = np.clip(pair.e, low, high)
    return np.where(made != pair.e, _rounded(pair, made), pair.expected)


def _overflow(pair: Pair, limit: float) -> Array:
    infinite = np.copysign(np.inf, pair.e).astype(pair.found.dtype)
    return np.where(np.abs(pair.e) >= limit, infinite, pair.expected)


def _transpose(pair: Pair, axes: Sequence[int]) -> Array:
    return pair.expected.transpose(axes).reshape(pair.found.shape)


def _flip(pair: Pair, axis: int) -> Array:
    return np.flip(pair.expected, axis)


def _roll(pair: Pair, axis: int, by: int) -> Array:
    return np.roll(pair.expected, by, axis)


def _rearrange(pair: Pair, axis: int | None, order: Sequence[int]) -> Array:
    if axis is None:
        return pair.expected.reshape(-1)[np.asarray(order, np.intp)].reshape(pair.found.shape)
    return np.take(pair.expected, np.asarray(order, np.intp), axis)


def _round(pair: Pair, dtype: str) -> Array:
    return pair.expected.astype(dtypes.by_name(dtype).numpy).astype(pair.found.dtype)


def _round_normal(pair: Pair, dtype: str, least: float) -> Partly:
    return Partly(_round(pair, dtype), np.abs(pair.e) >= least)


def _grid(pair: Pair, low: float, step: float) -> Array:
    return _rounded(pair, np.rint((pair.e - low) / step) * step + (low or -0.0) if step else pair.e)


def _nothing(pair: Pair) -> Array:
    return pair.expected


def _shift(pair: Pair, axis: int, by: int) -> Partly:
    stated = np.zeros(pair.found.shape, bool)
    rows = slice(by, None) if by > 0 else slice(None, by)
    stated[(slice(None),) * axis + (rows,)] = True
    return Partly(np.roll(pair.expected, by, axis), stated)


def _keep_inside(pair: Pair) -> Partly:
    stated = np.zeros(pair.found.shape, bool)
    stated[..., 1:-1, 1:-1] = True
    return Partly(pair.expected, stated)


def _keep_where_neither_is_0(pair: Pair) -> Partly:
    return Partly(pair.expected, (pair.e != 0) & (pair.f != 0))


#: each transformation by the name that texts and JSON have
TRANSFORMATIONS: Mapping[str, Callable[..., Array | Partly]] = {
    "fill": _fill, "put": _put, "take input": _take, "negate": _negate, "multiply": _multiply, "add": _add,
    "add input": _add_input, "zero slices": _zero_slices, "flush": _flush, "signed zeros": _zeros_as_signed,
    "clip": _clip, "overflow": _overflow, "transpose": _transpose, "flip": _flip, "roll": _roll,
    "rearrange": _rearrange, "round": _round, "round normal": _round_normal,
    "grid": _grid, "nothing": _nothing, "shift": _shift,
    "keep inside": _keep_inside, "keep where neither is 0": _keep_where_neither_is_0,
}  # fmt: skip


def applied(name: str, pair: Pair, arguments: Mapping[str, Any]) -> Array | Partly:
    """What a transformation makes of the expected tensor.

    Args:
        name: a name of ``TRANSFORMATIONS``.
        pair: both tensors; those that compare with the run use it only for its dtype and shape.
        arguments: the transformation's own.
    """
    return TRANSFORMATIONS[name](pair, **arguments)


def broadcast(array: Array, shape: tuple[int, ...]) -> Array | None:
    """``array`` as it is added to ``shape``: by numpy's rule, or as a bias along axis 1; None if it does not fit."""
    views = [array]
    if array.ndim == 1 and len(shape) > 2:
        views.append(array.reshape(1, -1, *[1] * (len(shape) - 2)))
    for view in views:
        try:
            return np.broadcast_to(view, shape)
        except ValueError:
            continue
    return None


def _rounded(pair: Pair, made: Array) -> Array:
    return np.asarray(made).astype(pair.found.dtype)


def _element(pair: Pair, value: Any) -> Any:
    """A number of the run's dtype, or several; NaN with its own bits where they are given as ``bytes``."""
    if isinstance(value, bytes):
        return np.frombuffer(value, pair.found.dtype)[:1]  # a scalar would lose a NaN's bits
    if isinstance(value, list) and value and isinstance(value[0], bytes):
        return np.frombuffer(b"".join(value), pair.found.dtype)
    return np.asarray(value).astype(pair.found.dtype)
