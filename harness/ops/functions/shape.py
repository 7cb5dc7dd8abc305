"""Functions and tensor methods that change shape, order or dtype."""

from __future__ import annotations

from math import prod
from typing import Any

from harness import dtypes
from harness.dtypes import DType
from harness.tensor import Tensor, call, tensor_method

__all__ = ["cast", "flatten", "reshape"]


def as_dtype(given: Any) -> DType:
    """A dtype given as such or by name; ``TypeError`` otherwise."""
    if isinstance(given, DType):
        return given
    if isinstance(given, str):
        return dtypes.by_name(given)
    python = {bool: dtypes.bool_, int: dtypes.int64, float: dtypes.float32}
    if given in python:
        return python[given]
    raise TypeError(f"a dtype is needed, got {given!r}")


def sizes(given: tuple[Any, ...]) -> tuple[int, ...]:
    """Dimensions given as separate ints or as one tuple or list."""
    flat = tuple(given[0]) if len(given) == 1 and isinstance(given[0], (tuple, list)) else given
    return tuple(int(d) for d in flat)


def axis_of(axis: int, rank: int, name: str) -> int:
    """``axis`` counted from the front; ``ValueError`` if it is out of range."""
    if not -rank <= axis < rank:
        raise ValueError(f"{name}: axis {axis} lies outside {-rank}..{rank - 1}")
    return axis % rank


def reshape(input: Tensor, shape: Any) -> Tensor:
    """``input`` with dimensions ``shape`` (one may be -1)."""
    return call("Reshape", input, sizes((shape,)))  # type: ignore[no-any-return]


@tensor_method("reshape", "view")
def _reshape(self: Tensor, *shape: Any) -> Tensor:
    return reshape(self, sizes(shape))


@tensor_method("reshape_as", "view_as")
def _reshape_as(self: Tensor, other: Tensor) -> Tensor:
    return reshape(self, other.shape)


def cast(input: Tensor, dtype: Any) -> Tensor:
    """``input`` in ``dtype``; itself where it already is."""
    target = as_dtype(dtype)
    return input if input.dtype is target else call("Cast", input, target)


@tensor_method("astype")
def _astype(self: Tensor, dtype: Any, copy: bool = True) -> Tensor:
    return cast(self, dtype)


@tensor_method("to")
def _to(self: Tensor, dtype: Any) -> Tensor:
    return cast(self, dtype)


@tensor_method("type_as")
def _type_as(self: Tensor, other: Tensor) -> Tensor:
    return cast(self, other.dtype)


def _attach_casts() -> None:
    names = {
        "float": dtypes.float32, "half": dtypes.float16, "double": dtypes.float64, "bfloat16": dtypes.bfloat16,
        "int": dtypes.int32, "long": dtypes.int64, "short": dtypes.int16, "byte": dtypes.uint8, "bool": dtypes.bool_,
    }  # fmt: skip
    for name, dtype in names.items():

        def method(self: Tensor, _dtype: DType = dtype) -> Tensor:
            return cast(self, _dtype)

        tensor_method(name)(method)


_attach_casts()


def flatten(input: Tensor, order: str = "C", *, start_dim: int = 1, end_dim: int = -1) -> Tensor:
    """Axes ``start_dim`` to ``end_dim`` as one; ``order`` must be ``C``."""
    if order != "C":
        raise ValueError(f"flatten: order must be 'C', got {order!r}")
    rank = len(input.shape)
    if rank == 0:
        return reshape(input, (-1,))
    first, last = axis_of(start_dim, rank, "flatten"), axis_of(end_dim, rank, "flatten")
    if first > last:
        raise ValueError(f"flatten: start_dim {start_dim} lies behind end_dim {end_dim}")
    if (first, last) == (1, rank - 1) or (rank == 1 and first == 0):
        return input if rank <= 1 else call("Flatten", input)
    if first == last:
        return input
    middle = input.shape[first : last + 1]
    return reshape(input, (*input.shape[:first], -1 if -1 in middle else prod(middle), *input.shape[last + 1 :]))


@tensor_method("flatten")
def _flatten(self: Tensor, order: str = "C", *, start_dim: int = 0, end_dim: int = -1) -> Tensor:
    return flatten(self, order, start_dim=start_dim, end_dim=end_dim)


@tensor_method("ravel")
def _ravel(self: Tensor) -> Tensor:
    return reshape(self, (-1,))
