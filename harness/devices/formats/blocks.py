"""What the block formats share: C0 by dtype, rank padding, products with unknown dimensions, padding of axes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import ml_dtypes
import numpy as np

from harness import dtypes
from harness.dtypes import DType
from harness.errors import DtypeError, ShapeError

Array = np.ndarray[Any, np.dtype[Any]]

#: rows and columns of a block ("NiSize")
N0 = M0 = 16
#: C0 of MindSpore's transfer between host and device, where it is not 16; bool and the wide types are 16 there
_C0 = {"int4": 64, "int8": 32, "uint8": 32}
#: C0 of the formats with ``_C04`` in their name
C04 = 4

POISON = "poison"

NCHW = "NCHW"
NCDHW = "NCDHW"
#: which axes a host tensor of fewer dimensions has, if nothing else is said
_DEFAULT_AXES = {4: ("", "C", "CH", "CHW", NCHW), 5: ("", "C", "CD", "CDH", "CDHW", NCDHW)}


def cube_size(dtype: DType | np.dtype[Any] | str) -> int:
    """C0 of ``dtype`` (a ``DType``, a numpy dtype, or a name; ``"int4"`` too)."""
    if isinstance(dtype, str):
        name = dtype.lower() if dtype.lower() == "int4" else dtypes.by_name(dtype).lower
    else:
        name = dtype.lower if isinstance(dtype, DType) else np.dtype(dtype).name
    return _C0.get(name, 16)


def ceil_div(size: int, block: int) -> int:
    """Blocks that hold ``size``; -1 stays -1."""
    return -1 if size == -1 else -(-size // block)


def product(*factors: int) -> int:
    """Product; -1 if a factor is -1."""
    out = 1
    for factor in factors:
        if factor == -1:
            return -1
        out *= factor
    return out


def pad_rank(shape: Sequence[int], rank: int, name: str, axes: str | None = None) -> tuple[int, ...]:
    """``shape`` as a shape of ``rank`` (0: as it is).

    Args:
        shape: host shape; -1 for an unknown dimension.
        rank: 4 (NCHW) or 5 (NCDHW); a shape of fewer dimensions is filled with 1. Of any other rank the ones stand in
            front.
        name: format, for errors.
        axes: the axes ``shape`` stands for, in any order (``"NC"``); None: C, then the axes behind it.

    Raises:
        ShapeError: a dimension below -1, too many dimensions, or ``axes`` that do not fit.
    """
    given = tuple(int(d) for d in shape)
    if any(d < -1 for d in given):
        raise ShapeError(f"{name}: a dimension is at least 0, or -1 where it is not known; got {list(given)}")
    if rank == 0:
        return given
    letters = {4: NCHW, 5: NCDHW}.get(rank, "")
    if len(given) > rank:
        of = f" ({letters})" if letters else ""
        raise ShapeError(f"{name}: a host shape has at most {rank} dimensions{of}, got {list(given)}")
    if not letters:
        if axes is not None:
            raise ShapeError(f"{name}: axes are named in formats of 4 or 5 dimensions; this one has {rank}")
        return (1,) * (rank - len(given)) + given
    named = _DEFAULT_AXES[rank][len(given)] if axes is None else axes
    if len(named) != len(given) or len(set(named)) != len(named) or not set(named) <= set(letters):
        raise ShapeError(f"{name}: axes {named!r} (of {letters}) do not fit the shape {list(given)}")
    at = dict(zip(named, given, strict=True))
    return tuple(at.get(letter, 1) for letter in letters)


def widen(array: Array, axis: int, multiple: int, fill: Any = 0) -> Array:
    """``array`` with ``axis`` (from 0) padded at its end to a multiple of ``multiple``."""
    return extend(array, axis, ceil_div(array.shape[axis], multiple) * multiple, fill)


def extend(array: Array, axis: int, size: int, fill: Any = 0) -> Array:
    """``array`` with ``axis`` (from 0) padded at its end to ``size``."""
    if array.shape[axis] == size:
        return array
    out = np.full((*array.shape[:axis], size, *array.shape[axis + 1 :]), fill, array.dtype)
    out[(slice(None),) * axis + (slice(0, array.shape[axis]),)] = array
    return out


def split(array: Array, axis: int, block: int) -> Array:
    """``array`` with ``axis`` (a multiple of ``block``) as two axes, blocks and places within."""
    shape = array.shape
    return array.reshape(*shape[:axis], shape[axis] // block, block, *shape[axis + 1 :])


def fill_value(pad: float | str, dtype: np.dtype[Any]) -> Any:
    """``pad`` as a scalar of ``dtype``; ``POISON`` is NaN, the largest integer, or True."""
    if pad != POISON:
        if isinstance(pad, str):
            raise DtypeError(f"padding is a number or {POISON!r}, got {pad!r}")
        return np.asarray(pad).astype(dtype)[()]
    if dtype.kind in "fc" or dtype == ml_dtypes.bfloat16:
        return np.asarray(np.nan).astype(dtype)[()]
    return dtype.type(True) if dtype.kind == "b" else dtype.type(np.iinfo(dtype).max)
