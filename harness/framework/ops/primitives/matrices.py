"""Primitives of matrices: inverses, powers, factors, solutions, diagonals."""

from __future__ import annotations

from typing import Any

from harness import dtypes
from harness.errors import SettingError, SettingTypeError
from harness.framework.ops.functions import diagonals
from harness.framework.ops.primitive import Primitive, plain, slot_names

__all__ = [
    "Cholesky", "CholeskyInverse", "CholeskySolve", "Cross", "FillDiagonal", "Lstsq", "LuSolve", "LuUnpack",
    "MatrixDiagPartV3", "MatrixDiagV3", "MatrixInverse", "MatrixPower", "MatrixSetDiagV3", "MatrixSolve", "Qr", "Svd",
    "TrilIndices", "TriuIndices",
]  # fmt: skip


class MatrixInverse(Primitive):
    """The inverses of square matrices, or of their transposes."""

    def __init__(self, adjoint: bool = False) -> None:
        if not isinstance(adjoint, bool):
            raise SettingTypeError(f"MatrixInverse: adjoint must be a bool, got {adjoint!r}")
        super().__init__(attrs={**slot_names("y", "x"), "adjoint": adjoint})


class MatrixPower(Primitive):
    """Square matrices to a whole power."""

    def __init__(self, n: int) -> None:
        if isinstance(n, bool) or not isinstance(n, int):
            raise SettingTypeError(f"MatrixPower: n must be an int, got {n!r}")
        super().__init__(attrs={"n": n})


class Cholesky(Primitive):
    """The triangle whose product with its transpose is a matrix."""

    def __init__(self, upper: bool = False) -> None:
        super().__init__(trailing=(upper,))


class CholeskyInverse(Cholesky):
    """The inverse of a matrix whose triangle is given."""


class CholeskySolve(Primitive):
    """The solution of a system whose matrix has a given triangle."""

    def __init__(self, upper: bool = False) -> None:
        super().__init__(attrs={"output_names": ["y"], "upper": upper, "input_names": ["x1", "x2"]})


class Qr(Primitive):
    """Q and R; ``full_matrices``: a square Q."""

    def __init__(self, full_matrices: bool = False) -> None:
        super().__init__(trailing=(full_matrices,))


class Cross(Primitive):
    """Products of vectors of length 3 along ``dim``."""

    def __init__(self, dim: int = -65530) -> None:
        super().__init__(trailing=(diagonals._band(dim),))


class FillDiagonal(Primitive):
    """A number on the diagonal."""

    def __init__(self, fill_value: float, wrap: bool = False) -> None:
        super().__init__(attrs={**slot_names("y", "input_x"), "wrap": wrap, "fill_value": float(fill_value)})


class TrilIndices(Primitive):
    """Places on and below a diagonal."""

    def __init__(self, row: int, col: int, offset: int = 0, dtype: Any = dtypes.int32) -> None:
        names: dict[str, Any] = {"input_names": [], "offset": offset, "row": row, "output_names": ["y"]}
        super().__init__(attrs={"col": col, **names, "dtype": dtype})


class TriuIndices(TrilIndices):
    """Places on and above a diagonal."""


LuSolve: Any = plain("LuSolve")["LuSolve"]


class Lstsq(Primitive):
    """The nearest solution of a system of equations."""

    def __init__(self, fast: bool = True, l2_regularizer: float = 0.0) -> None:
        if l2_regularizer != 0:
            raise SettingError(f"Lstsq: l2_regularizer must be 0.0 here, got {l2_regularizer!r}")
        super().__init__(attrs={"fast": fast, "l2_regularizer": l2_regularizer})


class LuUnpack(Primitive):
    """The permutation and the triangles of a decomposition."""

    def __init__(self, unpack_data: bool = True, unpack_pivots: bool = True) -> None:
        super().__init__(attrs={"unpack_pivots": unpack_pivots, "unpack_data": unpack_data})


class MatrixDiagPartV3(Primitive):
    """Diagonals of matrices, or bands of them."""

    def __init__(self, align: str = "RIGHT_LEFT") -> None:
        super().__init__(attrs=diagonals.diagonal_names(align))


class MatrixDiagV3(Primitive):
    """Matrices with given diagonals."""

    def __init__(self, align: str = "RIGHT_LEFT") -> None:
        names = {"output_names": ["y"], "input_names": ["x", "k", "num_rows", "num_cols", "padding_value"]}
        super().__init__(attrs={**names, "align": diagonals.aligned(self.name, align)})


class MatrixSetDiagV3(Primitive):
    """Matrices with their diagonals replaced."""

    def __init__(self, align: str = "RIGHT_LEFT") -> None:
        names = {"output_names": ["y"], "input_names": ["x", "diagonal", "k"], "max_length": 200000000}
        super().__init__(attrs={**names, "align": diagonals.aligned(self.name, align)})


class MatrixSolve(Primitive):
    """The solution of a system of equations."""

    def __init__(self, adjoint: bool = False) -> None:
        super().__init__(attrs={"adjoint": adjoint})


class Svd(Primitive):
    """Singular values and vectors."""

    def __init__(self, full_matrices: bool = False, compute_uv: bool = True) -> None:
        super().__init__(trailing=(full_matrices, compute_uv))
