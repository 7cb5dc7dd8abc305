"""Tensors put together or laid out: stacks, grids, combinations, diagonal blocks."""

from __future__ import annotations

from typing import Any

import numpy as np

from harness import dtypes
from harness.errors import SettingError, SettingTypeError
from harness.framework.ops.functions.join import concat, stack
from harness.framework.ops.functions.shape import reshape
from harness.framework.tensor import Tensor, call

__all__ = [
    "atleast_1d", "atleast_2d", "atleast_3d", "block_diag", "cartesian_prod", "column_stack", "row_stack",
    "tril_indices", "triu_indices",
]  # fmt: skip


def _each(function: Any, inputs: Any) -> Any:
    if isinstance(inputs, (list, tuple)):
        return [function(x) for x in inputs]
    return function(inputs)


def atleast_1d(inputs: Any) -> Any:
    """A tensor without dimensions with one; a list of them as a tuple."""
    return _each(_one, inputs)


def _one(x: Any) -> Any:
    return x if x.shape else call("ExpandDims", x, 0)


def _two(x: Any) -> Any:
    return x if len(x.shape) > 1 else call("ExpandDims", _one(x), 0)


def _row(x: Any) -> Any:
    return x if len(x.shape) > 1 else reshape(x, (1, x.shape[0] if x.shape else 1))


def atleast_2d(inputs: Any) -> Any:
    """Tensors of fewer than two dimensions with new ones in front."""
    return _each(_two, inputs)


def _three(x: Any) -> Any:
    shape = tuple(x.shape)
    if len(shape) > 2:
        return x
    return reshape(x, (*shape, 1) if len(shape) == 2 else (1, *(shape or (1,)), 1))


def atleast_3d(inputs: Any) -> Any:
    """Tensors of fewer than three dimensions: (n) as (1, n, 1), (m, n) as (m, n, 1)."""
    return _each(_three, inputs)


def block_diag(*inputs: Any) -> Any:
    """Matrices along the diagonal of zeros; a vector is a row."""
    blocks = [_two(x) for x in inputs]
    if not blocks or any(len(x.shape) != 2 for x in blocks):
        raise SettingError("block_diag takes tensors of two dimensions at most")
    columns = []
    for at, x in enumerate(blocks):
        shapes = ((each.shape[0], x.shape[1]) for each in blocks)
        parts = [Tensor(np.zeros(shape, x.dtype.numpy), x.dtype) for shape in shapes]
        columns.append(call("Concat", (*parts[:at], x, *parts[at + 1 :]), 0))
    return call("Concat", tuple(columns), 1)


def cartesian_prod(*inputs: Any) -> Any:
    """Every choice of one element of each vector, a row each."""
    if len(inputs) == 1:
        return inputs[0]
    grids = call("Meshgrid", tuple(inputs), 0)
    return reshape(stack(grids, -1), (-1, len(inputs)))


def column_stack(tensors: Any) -> Any:
    """Tensors side by side; a vector is a column."""
    columns = [call("ExpandDims", x if x.shape else reshape(x, (1,)), 1) if len(x.shape) < 2 else x for x in tensors]
    return concat(tuple(columns), 1)


def row_stack(tensors: Any) -> Any:
    """Tensors below each other; a vector is a row."""
    return concat(tuple(_row(x) for x in tensors), 0)


def _indices(op: str, row: int, col: int, offset: int, dtype: Any) -> Any:
    if dtype not in (dtypes.int32, dtypes.int64):
        raise SettingTypeError(f"{op}: dtype must be int32 or int64, got {dtype}")
    settings: dict[str, Any] = {"input_names": [], "offset": offset, "row": row, "output_names": ["y"]}
    return call(op, col=col, **settings, dtype=dtype)


def tril_indices(row: int, col: int, offset: int = 0, *, dtype: Any = dtypes.int64) -> Any:
    """Rows and columns of the elements on and below a diagonal (2, n)."""
    return _indices("TrilIndices", row, col, offset, dtype)


def triu_indices(row: int, col: int, offset: int = 0, *, dtype: Any = dtypes.int64) -> Any:
    """Rows and columns of the elements on and above a diagonal (2, n)."""
    return _indices("TriuIndices", row, col, offset, dtype)
