"""Functions of matrices, and sums of products along named axes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from harness import dtypes
from harness.errors import DtypeError, SettingError, ShapeError, UnsupportedError
from harness.framework.ops.functions.inner import add_of
from harness.framework.ops.functions.shape import transpose
from harness.framework.tensor import Tensor, call, tensor_method

__all__ = [
    "addmm", "baddbmm", "bias_add", "bmm", "dense", "dot", "einsum", "inner", "matmul", "mm", "mv", "outer",
    "tensor_dot",
]  # fmt: skip


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


def mv(mat: Any, vec: Any) -> Any:
    """A matrix times a vector."""
    return matmul(mat, vec.reshape((-1, 1))).reshape((mat.shape[0],))


def tensor_dot(x1: Any, x2: Any, axes: Any) -> Any:
    """Sums products over ``axes``: so many of the last of ``x1`` and the first of ``x2``, or those listed of each."""
    if isinstance(axes, int):
        first, second = list(range(len(x1.shape) - axes, len(x1.shape))), list(range(axes))
    else:
        first, second = ([a] if isinstance(a, int) else list(a) for a in axes)
    first, second = [a % len(x1.shape) for a in first], [a % len(x2.shape) for a in second]
    left = [a for a in range(len(x1.shape)) if a not in first]
    right = [a for a in range(len(x2.shape)) if a not in second]
    common = math.prod(x1.shape[a] for a in first)
    if [x1.shape[a] for a in first] != [x2.shape[a] for a in second]:
        raise SettingError(f"tensor_dot: axes {first} of {x1.shape} and {second} of {x2.shape} differ in length")
    a = transpose(x1, (*left, *first)).reshape((-1, common))
    b = transpose(x2, (*second, *right)).reshape((common, -1))
    return call("MatMul", a, b, False, False).reshape((*(x1.shape[n] for n in left), *(x2.shape[n] for n in right)))


def moved(x: Any, order: Sequence[int]) -> Any:
    """Axes in another order; the same tensor where that is theirs."""
    return x if list(order) == sorted(order) else transpose(x, tuple(order))


def einsum(equation: str, *operands: Any) -> Any:
    """Sums of products by Einstein's notation (``"bij,bjk->bik"``); each letter at most once in an operand.

    Raises ``SettingError`` for an equation that does not fit, ``UnsupportedError`` for ``...`` and diagonals.
    """
    given = operands[0] if len(operands) == 1 and isinstance(operands[0], (tuple, list)) else operands
    if "." in equation:
        raise UnsupportedError(f"einsum: '...' in {equation!r} is not supported; name every axis")
    inputs, arrow, output = equation.replace(" ", "").partition("->")
    labels = inputs.split(",")
    if not arrow:
        joined = inputs.replace(",", "")
        output = "".join(sorted(c for c in set(joined) if joined.count(c) == 1))
    if len(labels) != len(given) or any(len(n) != len(x.shape) for n, x in zip(labels, given, strict=False)):
        raise SettingError(f"einsum: {equation!r} does not fit operands of {[len(x.shape) for x in given]} dimensions")
    if any(len(set(n)) != len(n) for n in labels):
        raise UnsupportedError(f"einsum: a letter stands twice for one operand in {equation!r}, which is not supported")
    names, value = labels[0], given[0]
    for at in range(1, len(given)):
        later = set(output).union(*labels[at + 1 :])
        names, value = _joined(names, value, labels[at], given[at], later)
    names, value = _summed(names, value, set(output))
    return moved(value, [names.index(c) for c in output])


def _summed(names: str, value: Any, kept: set[str]) -> tuple[str, Any]:
    away = tuple(at for at, name in enumerate(names) if name not in kept)
    return "".join(n for n in names if n in kept), value.sum(away) if away else value


def _joined(first: str, a: Any, second: str, b: Any, later: set[str]) -> tuple[str, Any]:
    """The product of two operands, summed over letters of both that no later part has."""
    first, a = _summed(first, a, later | set(second))
    second, b = _summed(second, b, later | set(first))
    both = [n for n in first if n in second]
    batch, common = [n for n in both if n in later], [n for n in both if n not in later]
    left, right = [n for n in first if n not in both], [n for n in second if n not in both]
    size = dict(zip(first, a.shape, strict=True)) | dict(zip(second, b.shape, strict=True))

    def shape(*groups: list[str]) -> tuple[int, ...]:
        return tuple(math.prod(size[n] for n in group) for group in groups)

    a = moved(a, [first.index(n) for n in (*batch, *left, *common)]).reshape(shape(batch, left, common))
    b = moved(b, [second.index(n) for n in (*batch, *common, *right)]).reshape(shape(batch, common, right))
    names = [*batch, *left, *right]
    return "".join(names), matmul(a, b).reshape(tuple(size[n] for n in names))
