"""Functions of matrices."""

from __future__ import annotations

from typing import Any

from harness import dtypes
from harness.errors import DtypeError, ShapeError
from harness.framework.ops.functions.inner import add_of
from harness.framework.tensor import Tensor, call, tensor_method

__all__ = ["addmm", "baddbmm", "bias_add", "bmm", "dense", "dot", "inner", "matmul", "mm", "outer"]


@tensor_method("matmul", "__matmul__")
def matmul(input: Tensor, other: Tensor) -> Tensor:
    """``input @ other`` for any ranks above 0; leading axes broadcast."""
    if not isinstance(input, Tensor) or not isinstance(other, Tensor):
        given = f"{type(input).__name__} and {type(other).__name__}"
        raise DtypeError(f"matmul: two tensors are needed, got {given}")
    return call("MatMulExt", input, other)  # type: ignore[no-any-return]


@tensor_method("mm")
def mm(input: Tensor, mat2: Tensor) -> Tensor:
    """Product of two matrices."""
    return call("MatMul", input, mat2, False, False)  # type: ignore[no-any-return]


@tensor_method("bmm")
def bmm(input_x: Tensor, mat2: Tensor) -> Tensor:
    """Products of matrices with equal leading axes."""
    return call("BatchMatMul", input_x, mat2, False, False)  # type: ignore[no-any-return]


@tensor_method("addmm")
def addmm(input: Tensor, mat1: Tensor, mat2: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
    """``beta * input + alpha * (mat1 @ mat2)`` for matrices."""
    return _scaled_sum(input, mm(mat1, mat2), beta, alpha)


@tensor_method("baddbmm")
def baddbmm(input: Tensor, batch1: Tensor, batch2: Tensor, beta: Any = 1, alpha: Any = 1) -> Tensor:
    """``beta * input + alpha * (batch1 @ batch2)`` for batches of matrices."""
    return _scaled_sum(input, bmm(batch1, batch2), beta, alpha)


def _scaled_sum(x: Tensor, product: Tensor, beta: Any, alpha: Any) -> Tensor:
    x = x if beta == 1 else call("Muls", x, beta)
    return add_of(x, product if alpha == 1 else call("Muls", product, alpha))  # type: ignore[no-any-return]


def outer(input: Tensor, vec2: Tensor) -> Tensor:
    """Product of each element of one vector with each of another; other shapes broadcast once the first is a column."""
    return call("Mul", call("Reshape", input, (-1, 1)), vec2)  # type: ignore[no-any-return]


@tensor_method("dot")
def dot(input: Tensor, other: Tensor) -> Tensor:
    """Sum of products along the last axis of ``input`` and the rows of a matrix ``other``."""
    for given in (input, other):
        if not isinstance(given, Tensor):
            raise DtypeError(f"dot takes two tensors, got {type(given).__name__}")
        if given.dtype not in (dtypes.float16, dtypes.float32):
            raise DtypeError(f"dot takes float16 and float32, got {given.dtype}")
    if len(input.shape) < 2 or len(other.shape) < 2:
        raise ShapeError(f"dot: both tensors need at least two axes, got {list(input.shape)} and {list(other.shape)}")
    if len(input.shape) == len(other.shape) == 2:
        return mm(input, other)
    rest = (*input.shape[1:-1], *other.shape[:-2], other.shape[-1])
    if (rank := len(other.shape)) > 2:
        turned = call("Transpose", other, (rank - 2, *range(rank - 2), rank - 1))
        other = call("Reshape", turned, (other.shape[-2], -1))
    flat = mm(call("Reshape", input, (-1, input.shape[-1])), other)
    return call("Reshape", flat, (-1, *rest))  # type: ignore[no-any-return]


@tensor_method("inner")
def inner(input: Tensor, other: Tensor) -> Tensor:
    """Sum of products along the last axes of two tensors; the product with one without axes."""
    if not input.shape or not other.shape:
        return call("Mul", input, other)  # type: ignore[no-any-return]
    if input.shape[-1] != other.shape[-1]:
        raise ShapeError(f"inner: the last axes must be equal, got {list(input.shape)} and {list(other.shape)}")
    if len(input.shape) > 2 or len(other.shape) > 2:
        flat = [call("Reshape", each, (-1, each.shape[-1])) for each in (input, other)]
        products = mm(flat[0], call("Transpose", flat[1], (1, 0)))
        return call("Reshape", products, (*input.shape[:-1], *other.shape[:-1]))  # type: ignore[no-any-return]
    if len(input.shape) == len(other.shape) == 2:
        return mm(input, call("Transpose", other, (1, 0)))
    return matmul(input, other.T)


def dense(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """``input @ weight.T + bias``."""
    return call("Dense", input, weight, bias)  # type: ignore[no-any-return]


def bias_add(input_x: Tensor, bias: Tensor) -> Tensor:
    """``input_x`` with one value added to each channel (axis 1)."""
    return call("BiasAdd", input_x, bias, 0)  # type: ignore[no-any-return]
