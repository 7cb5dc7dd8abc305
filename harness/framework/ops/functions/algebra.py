"""Linear algebra: products of matrices and vectors, determinants, inverses and decompositions."""

from __future__ import annotations

from typing import Any

import numpy as np

from harness.errors import DtypeError, KernelError, SettingError, SettingTypeError
from harness.framework.ops.expansion import scalar
from harness.framework.ops.functions.arithmetic import SUB
from harness.framework.ops.functions.matrix import mm, moved
from harness.framework.ops.functions.shape import reshape, swapaxes, transpose
from harness.framework.ops.operators.cross import ANY_AXIS
from harness.framework.tensor import Tensor, call, is_eager, tensor_method
from harness.framework.tensor.tensor import tensor_property

__all__ = [
    "addbmm", "addmv", "addr", "adjoint", "batch_dot", "cholesky", "cholesky_inverse", "cholesky_solve", "cov", "cross",
    "det", "dist", "ger", "inverse", "kron", "log_matrix_determinant", "logdet", "matrix_determinant", "matrix_power",
    "qr", "slogdet", "vander", "vecdot",
]  # fmt: skip

_Y: dict[str, Any] = {"output_names": ["y"], "input_names": ["x"]}


def _times(x: Any, factor: Any) -> Any:
    return x if factor == 1 and not isinstance(factor, bool) else x * factor


@tensor_method("addbmm")
def addbmm(input: Any, batch1: Any, batch2: Any, *, beta: Any = 1, alpha: Any = 1) -> Any:
    """beta * input + alpha * the sum of the products of two stacks of matrices."""
    products = call("BatchMatMul", batch1, batch2, False, False)
    total = call("SumExt", products, (0,), False, None)
    return call("Add", _times(input, beta), _times(total, alpha))


@tensor_method("addmv")
def addmv(input: Any, mat: Any, vec: Any, *, beta: Any = 1, alpha: Any = 1) -> Any:
    """beta * input + alpha * mat times vec."""
    input = _times(input, beta)
    product = mm(mat, reshape(vec, (vec.shape[0], 1)))
    return call("Add", input, _times(transpose(product, (1, 0))[0], alpha))


@tensor_method("addr")
def _addr(self: Any, vec1: Any, vec2: Any, beta: Any = 1, alpha: Any = 1) -> Any:
    return addr(self, vec1, vec2, beta=beta, alpha=alpha)


def addr(x: Any, vec1: Any, vec2: Any, *, beta: Any = 1, alpha: Any = 1) -> Any:
    """beta * x + alpha * each element of ``vec1`` times each of ``vec2``."""
    x = _times(x, beta)
    product = mm(reshape(vec1, (vec1.shape[0], 1)), reshape(vec2, (1, vec2.shape[0])))
    return call("Add", x, _times(product, alpha))


@tensor_method("adjoint")
def adjoint(x: Any) -> Any:
    """Matrices transposed, complex ones conjugated as well."""
    turned = swapaxes(x, -1, -2)
    return call("Conj", turned) if x.dtype.kind == "c" else turned


@tensor_property("H")
def _adjoint_of_matrix(self: Tensor) -> Tensor:
    if len(self.shape) != 2:
        raise SettingError(f"Tensor.H takes a tensor of 2 dimensions, got {len(self.shape)}")
    return adjoint(self)  # type: ignore[no-any-return]


@tensor_property("mH")
def _adjoint_of_matrices(self: Tensor) -> Tensor:
    return adjoint(self)  # type: ignore[no-any-return]


def batch_dot(x1: Any, x2: Any, axes: Any = None) -> Any:
    """Products of the members of two batches, summed over one axis of each.

    Args:
        axes: an axis for both, or one for each; None: the last of ``x1`` and the last but one of ``x2``.
    """
    first_rank, second_rank = len(x1.shape), len(x2.shape)
    if axes is None:
        axes = (first_rank - 1, 1 if second_rank == 2 else second_rank - 2)
    pair = (axes, axes) if isinstance(axes, int) else tuple(axes)
    one, two = pair[0] % first_rank, pair[1] % second_rank
    if 0 in (one, two) or x1.shape[0] != x2.shape[0] or x1.shape[one] != x2.shape[two]:
        raise SettingError(f"batch_dot: shapes {x1.shape} and {x2.shape} do not go together at axes {pair}")
    x1 = moved(x1, [*(a for a in range(first_rank) if a != one), one])
    x2 = moved(x2, [0, two, *(a for a in range(1, second_rank) if a != two)])
    outer, inner = x1.shape[:-1], x2.shape[2:]
    x1 = call("ExpandDims", x1, 1) if first_rank == 2 else x1
    x2 = call("ExpandDims", x2, 2) if second_rank == 2 else x2
    flat = len(x1.shape) == 3 and len(x2.shape) == 3
    if not flat:
        x1, x2 = reshape(x1, (x1.shape[0], -1, x1.shape[-1])), reshape(x2, (*x2.shape[:2], -1))
    out = call("BatchMatMul", x1, x2, False, False)
    if not flat:
        return reshape(out, (*outer, *inner))
    # Of two matrices one axis of length 1 stays (measured).
    return call("Squeeze", out, (1,)) if first_rank == 2 else call("Squeeze", out, (2,)) if second_rank == 2 else out


@tensor_method("cholesky")
def cholesky(input_x: Any, upper: bool = False) -> Any:
    """The triangle whose product with its transpose is ``input_x``."""
    return call("Cholesky", input_x, upper)


@tensor_method("cholesky_inverse")
def cholesky_inverse(input_x: Any, upper: bool = False) -> Any:
    """The inverse of the matrix whose triangle of Cholesky is given."""
    return call("CholeskyInverse", input_x, upper)


@tensor_method("cholesky_solve")
def cholesky_solve(input: Any, input2: Any, upper: bool = False) -> Any:
    """The solution of a system with the right side ``input`` and the matrix whose triangle is ``input2``."""
    return call("CholeskySolve", input, input2, output_names=["y"], upper=upper, input_names=["x1", "x2"])


@tensor_method("cov")
def cov(input: Any, *, correction: int = 1, fweights: Any = None, aweights: Any = None) -> Any:
    """The covariances of the rows of a matrix, over its columns: ``fweights`` says how often each stands for one
    (integers), ``aweights`` how much it counts."""
    if len(input.shape) > 2:
        raise SettingError(f"cov takes a matrix, got a tensor of {len(input.shape)} dimensions")
    rows = reshape(input, (1, -1)) if len(input.shape) < 2 else input
    if fweights is not None or aweights is not None:
        return _weighted_cov(rows, correction, fweights, aweights)
    count = rows.shape[1]
    mean = call("Div", call("SumExt", rows, (1,), False, None), scalar(count, rows.dtype))
    apart = call("Sub", rows, call("ExpandDims", mean, 1), **SUB)
    products = mm(apart, transpose(apart, (1, 0)))
    divisor = call("ClampScalar", Tensor(np.asarray(count - correction, np.int64)), 0, None)
    return call("Div", products, call("Cast", divisor, products.dtype)).squeeze()


def _weighted_cov(rows: Any, correction: int, fweights: Any, aweights: Any) -> Any:
    if fweights is not None and fweights.dtype.kind not in "iu":
        raise SettingTypeError(f"cov: fweights must be integers, got {fweights.dtype}")
    weights = fweights if aweights is None else aweights if fweights is None else fweights * aweights
    total = weights.sum()
    apart = rows - call("ExpandDims", (rows * weights).sum(1) / total, 1)
    products = mm(apart, transpose(apart * weights, (1, 0)))
    lost = correction if aweights is None or not correction else correction * (weights * aweights).sum() / total
    divisor = call("ClampScalar", total - lost, 0, None)
    if divisor.dtype is not products.dtype:
        divisor = call("Cast", divisor, products.dtype)
    return call("Div", products, divisor).squeeze()


@tensor_method("cross")
def cross(input: Any, other: Any, dim: int | None = None) -> Any:
    """The products of vectors of length 3 along ``dim`` (None: the first axis of that length)."""
    return call("Cross", input, other, Tensor(np.asarray(ANY_AXIS if dim is None else dim, np.int64)))


@tensor_method("det", "matrix_determinant")
def det(input: Any) -> Any:
    """The determinants of square matrices."""
    return call("MatrixDeterminant", input)


def matrix_determinant(input: Any) -> Any:
    """The determinants of square matrices; in graphs MindSpore refuses this name (measured)."""
    _is_old("matrix_determinant")
    return det(input)


@tensor_method("slogdet")
def slogdet(input: Any) -> Any:
    """(sign, logarithm of the size) of determinants."""
    return call("LogMatrixDeterminant", input)


@tensor_method("log_matrix_determinant")
def log_matrix_determinant(input: Any) -> Any:
    """(sign, logarithm of the size) of determinants; in graphs MindSpore refuses this name (measured)."""
    _is_old("log_matrix_determinant")
    return slogdet(input)


def _is_old(name: str) -> None:
    if not is_eager():
        raise KernelError(f"{name} cannot be compiled in a graph, because it warns that it is old; use its newer name")


def dist(input: Any, other: Any, p: int = 2) -> Any:
    """The p-th root of the sum of the p-th powers of all differences."""
    if not isinstance(p, int):
        raise SettingTypeError(f"dist: p must be an int, got {p!r}")
    apart = reshape(call("Sub", input, other, **SUB), (-1,))
    attrs: dict[str, Any] = {
        "p": p, "keep_dims": False, "input_names": ["input"], "axis": [0], "epsilon": 1e-12, "output_names": ["output"],
    }  # fmt: skip
    return call("LpNorm", apart, **attrs)


@tensor_method("ger")
def ger(input: Any, vec2: Any) -> Any:
    """Each element of a vector times each of another."""
    return call("Ger", input, vec2, output_names=["y"], input_names=["x1", "x2"])


@tensor_method("inverse")
def inverse(input: Any) -> Any:
    """The inverses of square matrices."""
    if input.dtype.kind not in "fc":
        raise DtypeError(f"inverse takes floating tensors, got {input.dtype}")
    return call("MatrixInverse", input, **_Y, adjoint=False)


@tensor_method("logdet")
def logdet(input: Any) -> Any:
    """The logarithm of the determinants."""
    return det(input).log()


@tensor_method("matrix_power")
def matrix_power(input: Any, n: int) -> Any:
    """Square matrices to a whole power."""
    return call("MatrixPower", input, n=n)


def kron(input: Any, other: Any) -> Any:
    """Kronecker's product."""
    rank = max(len(input.shape), len(other.shape))
    first, second = ((1,) * (rank - len(x.shape)) + tuple(x.shape) for x in (input, other))
    tall = reshape(input, tuple(n for length in first for n in (length, 1)))
    wide = reshape(other, tuple(n for length in second for n in (1, length)))
    return reshape(call("Mul", tall, wide), tuple(a * b for a, b in zip(first, second, strict=True)))


@tensor_method("qr")
def _qr(self: Any, some: bool = True) -> Any:
    """``qr``; with ``some`` False the square Q."""
    if not isinstance(some, bool):
        raise SettingTypeError(f"Tensor.qr: some must be a bool, got {type(some).__name__}")
    return qr(self, "reduced" if some else "complete")


def qr(input: Any, mode: str = "reduced") -> Any:
    """(Q, R) of matrices; ``complete``: with a square Q, ``r``: the second alone is of use."""
    if mode not in ("reduced", "complete", "r"):
        raise SettingError(f"qr: mode must be 'reduced', 'complete' or 'r', got {mode!r}")
    q, r = call("Qr", input, mode == "complete")
    return (call("ZerosLike", q), r) if mode == "r" else (q, r)


def vander(x: Any, N: int | None = None) -> Any:
    """The powers N - 1 to 0 of each element of a vector, a row each."""
    if len(x.shape) != 1:
        raise SettingError(f"vander takes a vector, got a tensor of {len(x.shape)} dimensions")
    count = x.shape[0] if N is None else N
    powers = Tensor(np.arange(count - 1, -1, -1, dtype=np.int64))
    columns = call("ExpandDims", x, 1)
    return call("Pow", columns, call("ExpandDims", powers, 0))


def vecdot(x: Any, y: Any, *, axis: int = -1) -> Any:
    """Sums of products along ``axis``."""
    if x.dtype.kind == "c":
        x = call("Conj", x)
    return call("SumExt", x * y, (axis,), False, None)
