"""Svd and Eigh: singular values of stacks of matrices, and eigenvalues of symmetric ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from harness.errors import DtypeError, UnsupportedError
from harness.framework.ops import linear, singular
from harness.framework.ops.base import Array, Backward, Call, Operator, operator
from harness.framework.tensor import Tensor
from harness.framework.tensor import call as emit
from harness.graph import Spec, TensorSpec, TupleSpec

_LEAST = 1e-20


def _real(call: Call) -> tuple[int, ...]:
    """The shape of a stack of real matrices."""
    if call.dtype(0).name not in ("Float32", "Float64"):
        raise DtypeError(f"{call.op} takes Float32 and Float64 matrices, got {call.dtype(0)}")
    if len(call.shape(0)) < 2:
        raise call.fail("matrices are needed")
    return call.shape(0)


@operator
class Svd(Operator):
    """x (..., m, n), whether u and v are whole, and whether they are wanted. Gives singular values (..., k), k the
    smaller of m and n, u (..., m, k) or (..., m, m), v (..., n, k) or (..., n, n); one number each if not wanted."""

    name = "Svd"
    tensors = (0,)

    def infer(self, call: Call) -> Spec:
        *lead, m, n = _real(call)
        k, dtype, (_, whole, wanted) = min(m, n), call.dtype(0), call.values
        u, v = ((m, m), (n, n)) if whole else ((m, k), (n, k))
        vectors = [TensorSpec(dtype, (*lead, *shape) if wanted else (1,)) for shape in (u, v)]
        return TupleSpec((TensorSpec(dtype, (*lead, k)), *vectors))

    def kernel(self, call: Call, x: Array, _whole: bool, wanted: bool) -> tuple[Array, Array, Array]:
        shapes = [spec.shape for spec in call.outputs()]
        flat = x.astype(np.longdouble).reshape(-1, *x.shape[-2:])
        parts = [singular.singular(matrix) for matrix in flat]
        values = np.array([part[0] for part in parts], np.longdouble).reshape(shapes[0])
        if not wanted:
            return values, np.zeros(shapes[1]), np.zeros(shapes[2])
        u, v = (
            np.array([part[at][:, : shapes[at][-1]] for part in parts], np.longdouble).reshape(shapes[at])
            for at in (1, 2)
        )
        return values, u, v

    def gradient(self, b: Backward) -> Sequence[Any]:
        x, whole, wanted = b.inputs
        if whole and wanted:
            raise UnsupportedError("the gradient of svd with full_matrices is not supported; take full_matrices=False")
        if wanted:
            return _Slope(x, *b.out, *b.dout).of_x(), None, None
        return _of_values(x, b.dout[0]), None, None


def _turned(x: Any) -> Any:
    axes = tuple(range(len(x.shape)))
    return emit("Transpose", x, (*axes[:-2], axes[-1], axes[-2]))


def _times(x: Any, y: Any) -> Any:
    return emit("MatMul" if len(x.shape) == 2 else "BatchMatMul", x, y, False, False)


def _diagonal(x: Any) -> Any:
    """(..., k) as matrices (..., k, k)."""
    names: dict[str, Any] = {
        "output_names": ("y",), "input_names": ("x", "k", "num_rows", "num_cols", "padding_value"),
        "align": "RIGHT_LEFT",
    }  # fmt: skip
    zero, side = Tensor(np.asarray(0, np.int32)), Tensor(np.asarray(x.shape[-1], np.int32))
    padding = Tensor(np.zeros((), x.dtype.numpy), x.dtype)
    return emit("MatrixDiagV3", x, zero, side, side, padding, **names)


def _reciprocal(x: Any, square: Any) -> Any:
    """1 / x, and 0 where x is 0."""
    return emit("Mul", x, emit("Reciprocal", emit("AddScalar", square, _LEAST, 1)))


def _of_values(x: Any, ds: Any) -> Any:
    """The gradient of x where the singular values alone are used."""
    _, u, v = emit("Svd", x, False, True)
    return _times(u, _times(_diagonal(ds), _turned(v)))


class _Slope:
    """The gradient of x (..., m, n): of its transpose where m > n."""

    def __init__(self, x: Any, s: Any, u: Any, v: Any, ds: Any, du: Any, dv: Any) -> None:
        self.tall = x.shape[-2] > x.shape[-1]
        self.square = x.shape[-2] == x.shape[-1]
        self.s, self.ds = s, ds
        self.u, self.v, self.du, self.dv = (v, u, dv, du) if self.tall else (u, v, du, dv)
        self.count = min(x.shape[-2:])

    def _first(self, x: Any) -> Any:
        """The first columns, as many as there are singular values."""
        end = (*x.shape[:-1], self.count)
        return emit("StridedSlice", x, (0,) * len(end), end, (1,) * len(end), 0, 0, 0, 0, 0)

    def of_x(self) -> Any:
        """See the class."""
        squares = emit("Square", self.s)
        apart = emit("Sub", emit("ExpandDims", squares, -2), emit("ExpandDims", squares, -1))
        factor = _without_diagonal(_reciprocal(apart, emit("Square", apart)))
        middle, ds = _diagonal(self.s), _diagonal(self.ds)
        v, dv = self._first(self.v), self._first(self.dv)
        of_u = emit("Mul", factor, _times(_turned(self.u), self.du))
        of_v = emit("Mul", factor, _times(_turned(v), dv))
        inner = emit("Add", ds, _times(emit("Add", of_u, _turned(of_u)), middle))
        inner = emit("Add", inner, _times(middle, emit("Add", of_v, _turned(of_v))))
        out = _times(self.u, _times(inner, _turned(v)))
        if not self.square:
            turned = _turned(dv)
            rest = emit("Sub", turned, _times(_times(turned, v), _turned(v)))
            inverse = _diagonal(_reciprocal(self.s, squares))
            out = emit("Add", out, _times(_times(self.u, inverse), rest))
        return _turned(out) if self.tall else out


def _without_diagonal(x: Any) -> Any:
    """Matrices with zeros on their diagonal."""
    names: dict[str, Any] = {
        "output_names": ("y",), "input_names": ("x", "diagonal", "k"), "max_length": 200000000, "align": "RIGHT_LEFT",
    }  # fmt: skip
    zeros = Tensor(np.zeros(x.shape[:-1], x.dtype.numpy), x.dtype)
    return emit("MatrixSetDiagV3", x, zeros, Tensor(np.asarray(0, np.int32)), **names)


@operator
class Eigh(Operator):
    """x (..., n, n), of which the lower triangle counts: eigenvalues (..., n), ascending, and vectors."""

    name = "Eigh"
    functional = False
    tensors = (0,)

    def infer(self, call: Call) -> Spec:
        shape = _real(call)
        if shape[-1] != shape[-2]:
            raise call.fail("square matrices are needed")
        return TupleSpec((TensorSpec(call.dtype(0), shape[:-1]), call.tensor(0).tensor))

    def kernel(self, call: Call, x: Array) -> tuple[Array, Array]:
        values = linear.each(lambda matrix: singular.symmetric(matrix)[0], x, x.shape[-1:])
        return values, linear.each(lambda matrix: singular.symmetric(matrix)[1], x, x.shape[-2:])
