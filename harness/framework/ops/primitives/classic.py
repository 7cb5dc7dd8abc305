"""Older primitives of special functions, matrices, scattering and segments."""

from __future__ import annotations

from typing import Any

from harness import dtypes
from harness.errors import SettingTypeError
from harness.framework.ops.functions import segments, statistics
from harness.framework.ops.primitive import Primitive, plain
from harness.framework.tensor import call

_PLAIN = (
    "Addcdiv", "Addcmul", "BesselI1", "BesselK0", "BesselK0e", "BesselK1", "BesselK1e", "Dense", "Diag", "Erfinv",
    "Gcd", "LeftShift", "Lerp", "LogMatrixDeterminant", "MatrixDeterminant", "NextAfter", "RightShift", "Sinc",
    "TensorScatterAdd", "Trace", "Xlogy", "Zeta",
)  # fmt: skip


def _names(output: str, *inputs: str) -> dict[str, Any]:
    return {"output_names": [output], "input_names": list(inputs)}


_SEGMENT = _names("output", "input_x", "segment_ids") | {"max_length": 1000000}
_COPY = _names("y", "input_x", "indices", "updates")
_NAMED: dict[str, dict[str, Any]] = {
    "BesselI0": {"output_names": "y", "input_names": ["x"]},
    **{name: {"output_names": "output", "input_names": ["x"]} for name in ("BesselI0e", "BesselI1e")},
    **dict.fromkeys(("BesselJ0", "BesselJ1", "BesselY0", "BesselY1"), _names("output", "x")),
    "Digamma": _names("output", "input"),
    **dict.fromkeys(("DivNoNan", "Ger", "Hypot", "Lcm"), _names("y", "x1", "x2")),
    "Heaviside": _names("y", "x", "values"),
    **dict.fromkeys(("Igamma", "Igammac"), _names("z", "a", "x")),
    "Lgamma": _names("y", "x"),
    "MatrixBandPart": _names("y", "x", "lower", "upper"),
    **dict.fromkeys(("MulNoNan", "Xdivy"), _names("output", "x", "y")),
    "Polygamma": _names("y", "a", "x"),
    **dict.fromkeys(("SegmentMax", "SegmentMin", "SegmentSum"), _SEGMENT),
    "SquareSumAll": {"output_names": ["output_x", "output_y"], "input_names": ["x", "y"]},
    **dict.fromkeys(("TensorScatterDiv", "TensorScatterMax", "TensorScatterMin", "TensorScatterMul",
                     "TensorScatterSub"), _COPY),
}  # fmt: skip
_SEGMENTS = ("UnsortedSegmentMax", "UnsortedSegmentMin", "UnsortedSegmentProd")
_OWN = (
    "Cholesky", "CholeskyInverse", "CholeskySolve", "Cross", "Cummax", "Cummin", "FastGelu", "FillDiagonal",
    "Histogram", "InTopK", "Inv", "IsClose", "Logit", "MatrixInverse", "MatrixPower", "Mvlgamma", "NanToNum", "Qr",
    "ReduceStd", "Renorm", "SearchSorted", "TensorAdd", "TrilIndices", "TriuIndices",
)  # fmt: skip

__all__ = [*_PLAIN, *_NAMED, *_SEGMENTS, *_OWN]


def _with(name: str, attrs: dict[str, Any]) -> type[Primitive]:
    def init(self: Primitive) -> None:
        Primitive.__init__(self, attrs=attrs)

    return type(name, (Primitive,), {"__init__": init, "__doc__": f"Primitive ``{name}``.", "__module__": __name__})


def _segment(name: str) -> type[Primitive]:
    function = {
        "UnsortedSegmentMax": segments.unsorted_segment_max, "UnsortedSegmentMin": segments.unsorted_segment_min,
        "UnsortedSegmentProd": segments.unsorted_segment_prod,
    }[name]  # fmt: skip

    def init(self: Primitive) -> None:
        Primitive.__init__(self)

    def run(self: Primitive, x: Any, segment_ids: Any, num_segments: Any) -> Any:
        return function(x, segment_ids, num_segments)

    members = {"__init__": init, "__call__": run, "__doc__": f"Primitive ``{name}``.", "__module__": __name__}
    return type(name, (Primitive,), members)


globals().update(plain(*_PLAIN))
globals().update({name: _with(name, attrs) for name, attrs in _NAMED.items()})
globals().update({name: _segment(name) for name in _SEGMENTS})


class MatrixInverse(Primitive):
    """The inverses of square matrices, or of their transposes."""

    def __init__(self, adjoint: bool = False) -> None:
        if not isinstance(adjoint, bool):
            raise SettingTypeError(f"MatrixInverse: adjoint must be a bool, got {adjoint!r}")
        super().__init__(attrs={**_names("y", "x"), "adjoint": adjoint})


class MatrixPower(Primitive):
    """Square matrices to a whole power."""

    def __init__(self, n: int) -> None:
        if isinstance(n, bool) or not isinstance(n, int):
            raise SettingTypeError(f"MatrixPower: n must be an int, got {n!r}")
        super().__init__(attrs={"n": n})


class Inv(Primitive):
    """1 / x."""

    def __init__(self) -> None:
        super().__init__()


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
        super().__init__(trailing=(statistics._band(dim),))


class IsClose(Primitive):
    """Whether numbers differ by little."""

    def __init__(self, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> None:
        super().__init__(trailing=(rtol, atol, equal_nan))


class NanToNum(Primitive):
    """NaN and infinities replaced."""

    def __init__(self, nan: Any = None, posinf: Any = None, neginf: Any = None) -> None:
        super().__init__(trailing=(nan, posinf, neginf))


class ReduceStd(Primitive):
    """Deviation and mean."""

    def __init__(self, axis: Any = (), unbiased: bool = True, keep_dims: bool = False) -> None:
        super().__init__(trailing=((axis,) if isinstance(axis, int) else tuple(axis), unbiased, keep_dims))


class Logit(Primitive):
    """log(x / (1 - x))."""

    def __init__(self, eps: float = -1.0) -> None:
        super().__init__(trailing=(float(eps),))


class FastGelu(Primitive):
    """``FastGeLU`` under its older name."""

    op = "FastGeLU"

    def __init__(self) -> None:
        super().__init__(attrs=_names("output", "x"))


class TensorAdd(Primitive):
    """``Add`` under its older name."""

    op = "Add"

    def __init__(self) -> None:
        super().__init__(attrs=_names("output", "x", "y"))


class Cummax(Primitive):
    """The largest so far, and its place."""

    def __init__(self, axis: int) -> None:
        super().__init__(trailing=(axis,))


class Cummin(Cummax):
    """The smallest so far, and its place."""


class FillDiagonal(Primitive):
    """A number on the diagonal."""

    def __init__(self, fill_value: float, wrap: bool = False) -> None:
        super().__init__(attrs={**_names("y", "input_x"), "wrap": wrap, "fill_value": float(fill_value)})


class Histogram(Primitive):
    """How many elements lie in each of equal parts."""

    def __init__(self, bins: int = 100, min: float = 0.0, max: float = 0.0) -> None:
        settings = {"input_names": ["x"], "max": float(max), "min": float(min), "output_names": ["y"]}
        super().__init__(attrs={"bins": bins, **settings})


class InTopK(Primitive):
    """Whether an element of each row is among the row's ``k`` largest."""

    def __init__(self, k: int) -> None:
        super().__init__(attrs={"output_names": ["y"], "k": k, "input_names": ["x1", "x2", "k"]})


class Mvlgamma(Primitive):
    """The logarithm of the gamma function of ``p`` dimensions."""

    def __init__(self, p: int) -> None:
        super().__init__(attrs={"output_names": ["y"], "p": p, "input_names": ["x"]})


class Renorm(Primitive):
    """Slices brought down to a norm."""

    def __init__(self, p: int, dim: int, maxnorm: float) -> None:
        names = {"input_names": ["x"], "output_names": ["y"], "dim": dim}
        super().__init__(attrs={"p": float(p), "maxnorm": float(maxnorm), **names})


class SearchSorted(Primitive):
    """Where values would stand in rows in order."""

    def __init__(self, dtype: Any = dtypes.int64, right: bool = False) -> None:
        self.settings = 34 if dtype is dtypes.int32 else 35, right
        super().__init__()

    def __call__(self, sorted_sequence: Any, values: Any, sorter: Any = None) -> Any:
        return call("SearchSorted", sorted_sequence, values, sorter, *self.settings, **self.marks)


class TrilIndices(Primitive):
    """Places on and below a diagonal."""

    def __init__(self, row: int, col: int, offset: int = 0, dtype: Any = dtypes.int32) -> None:
        names: dict[str, Any] = {"input_names": [], "offset": offset, "row": row, "output_names": ["y"]}
        super().__init__(attrs={"col": col, **names, "dtype": dtype})


class TriuIndices(TrilIndices):
    """Places on and above a diagonal."""
