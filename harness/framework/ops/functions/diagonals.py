"""Diagonals of tensors: taken, made, filled and added up."""

from __future__ import annotations

from typing import Any

import numpy as np

from harness.errors import SettingError
from harness.framework.ops.functions.create import constant, diag
from harness.framework.ops.functions.join import concat
from harness.framework.ops.functions.shape import as_dtype, reshape
from harness.framework.tensor import Tensor, call, tensor_method

__all__ = ["diagflat", "diagonal", "matrix_band_part", "matrix_diag", "matrix_diag_part", "matrix_set_diag", "trace"]


@tensor_method("diagonal")
def _diagonal(self: Tensor, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Tensor:
    return diagonal(self, offset, axis1, axis2)


def diagonal(input: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
    """The diagonal of the axes ``dim1`` and ``dim2``, as the last axis."""
    return call("Diagonal", input, offset, dim1, dim2)  # type: ignore[no-any-return]


@tensor_method("diagflat")
def diagflat(input: Tensor, offset: int = 0) -> Tensor:
    """The elements on diagonal number ``offset`` of a matrix of zeros."""
    flat = input if len(input.shape) == 1 else reshape(input, (-1,))
    made, length, away = diag(flat), int(np.prod(input.shape)), abs(offset)
    if not offset:
        return made
    rows = constant(0, (away, length), input.dtype)
    columns = constant(0, (length + away, away), input.dtype)
    return concat((columns, concat((made, rows), 0)) if offset > 0 else (concat((rows, made), 0), columns), 1)


def trace(input: Tensor) -> Tensor:
    """The sum of a matrix's diagonal."""
    return call("Trace", input)  # type: ignore[no-any-return]


@tensor_method("trace")
def _trace(self: Tensor, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None) -> Tensor:
    numbers = [Tensor(np.asarray(n, np.int64)) for n in (offset, axis1, axis2)]
    return call("TraceV2", self, *numbers, None if dtype is None else as_dtype(dtype))  # type: ignore[no-any-return]


@tensor_method("fill_diagonal")
def _fill_diagonal(self: Any, fill_value: float, wrap: bool = False) -> Any:
    """A copy with ``fill_value`` on the diagonal."""
    names: dict[str, Any] = {"output_names": ["y"], "input_names": ["input_x"]}
    return call("FillDiagonal", self, **names, wrap=wrap, fill_value=float(fill_value))


def _band(number: Any) -> Tensor:
    return number if isinstance(number, Tensor) else Tensor(np.asarray(number, np.int64))


def matrix_band_part(x: Any, lower: Any, upper: Any) -> Any:
    """Matrices with ``lower`` diagonals below and ``upper`` above the main one kept (below 0: all), zeros elsewhere."""
    names: dict[str, Any] = {"output_names": ["y"], "input_names": ["x", "lower", "upper"]}
    return call("MatrixBandPart", x, _band(lower), _band(upper), **names)


def _whole(number: Any) -> Tensor:
    return number if isinstance(number, Tensor) else Tensor(np.asarray(number, np.int32))


def matrix_diag(
    x: Any, k: Any = 0, num_rows: Any = -1, num_cols: Any = -1, padding_value: Any = 0, align: str = "RIGHT_LEFT"
) -> Any:
    """The last axis of ``x`` on diagonal ``k`` of new matrices of ``padding_value``."""
    padding = padding_value if isinstance(padding_value, Tensor) else Tensor(np.asarray(padding_value), x.dtype)
    names: dict[str, Any] = {"output_names": ["y"], "input_names": ["x", "k", "num_rows", "num_cols", "padding_value"]}
    return call("MatrixDiagV3", x, _whole(k), _whole(num_rows), _whole(num_cols), padding, **names, align=align)


def diagonal_names(align: str) -> dict[str, Any]:
    """Attributes of MatrixDiagPartV3.

    Raises:
        SettingError: ``align`` is none of the four.
    """
    return {
        "output_names": ["y"], "input_names": ["x", "k", "padding_value"], "max_length": 200000000,
        "align": aligned("MatrixDiagPartV3", align),
    }  # fmt: skip


def aligned(owner: str, align: str) -> str:
    """``align``, if it is one of the four ways to align short diagonals; else ``SettingError``."""
    if align not in ("LEFT_RIGHT", "RIGHT_LEFT", "LEFT_LEFT", "RIGHT_RIGHT"):
        raise SettingError(f"{owner}: align must be LEFT or RIGHT for those above and below, got {align!r}")
    return align


def matrix_diag_part(x: Any, k: Any, padding_value: Any, align: str = "RIGHT_LEFT") -> Any:
    """Diagonal ``k`` of matrices ``x`` (..., m, n), or those from ``k[0]`` to ``k[1]``, the highest first, short ones
    filled with ``padding_value``."""
    return call("MatrixDiagPartV3", x, k, padding_value, **diagonal_names(align))


def matrix_set_diag(x: Any, diagonal: Any, k: Any = 0, align: str = "RIGHT_LEFT") -> Any:
    """Matrices with diagonal ``k`` replaced."""
    names: dict[str, Any] = {"output_names": ["y"], "input_names": ["x", "diagonal", "k"], "max_length": 200000000}
    return call("MatrixSetDiagV3", x, diagonal, _whole(k), **names, align=align)
