"""Functions that are written with other functions: losses, products by index, and repairs of values."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from harness.errors import DtypeError, SettingError, UnsupportedError
from harness.framework.ops.expansion import cast, scalar
from harness.framework.ops.functions.join import concat
from harness.framework.ops.functions.margins import over_all, reduced
from harness.framework.ops.functions.matrix import matmul
from harness.framework.ops.functions.shape import axis_of, transpose
from harness.framework.ops.functions.softmax import softmax
from harness.framework.tensor import Tensor, call, tensor_method

__all__ = [
    "cosine_embedding_loss", "einsum", "fmax", "fmin", "glu", "heaviside", "huber_loss",
    "isclose", "kl_div", "logit", "mv", "nan_to_num", "pixel_shuffle", "roll",
    "soft_margin_loss", "softmin", "tensor_dot", "unique", "xlogy",
]  # fmt: skip


def _select(condition: Any, first: Any, second: Any) -> Any:
    return call("Select", condition, first, second)


def _filled(like: Any, value: float) -> Any:
    return call("Cast", Tensor(np.full(like.shape, value, np.float64)), like.dtype)


def unique(input: Any) -> Any:
    """(each value once, in the order they come; the place of each element's value, in the shape of ``input``)."""
    values, places = call("Unique", call("Reshape", input, (-1,)))
    return values, call("Reshape", places, tuple(input.shape))


@tensor_method("ptp")
def _ptp(self: Any, axis: Any = None, keepdims: bool = False) -> Any:
    given = () if axis is None else axis if isinstance(axis, (tuple, list)) else (axis,)
    axes = tuple(axis_of(each, len(self.shape), "ptp") for each in given)
    return self.amax(axes, keepdims) - self.amin(axes, keepdims)


def huber_loss(input: Any, target: Any, reduction: str = "mean", delta: float = 1.0) -> Any:
    """Half the square of the distance up to ``delta``, a straight line beyond it."""
    if not delta > 0:
        raise SettingError(f"huber_loss: delta must be above 0, got {delta!r}")
    apart = (input - target).abs()
    square = call("Mul", scalar(0.5, apart.dtype), call("Square", apart))
    line = call("Mul", scalar(delta, apart.dtype), apart - 0.5 * delta)
    return over_all(_select(call("Less", apart, delta), square, line), reduction, "huber_loss")


def kl_div(logits: Any, labels: Any, reduction: str = "mean") -> Any:
    """``labels * (log(labels) - logits)``, 0 where a label is 0; ``batchmean`` divides the sum by the first length."""
    if reduction not in ("mean", "batchmean", "sum", "none"):
        raise SettingError(f"kl_div: reduction must be 'mean', 'batchmean', 'sum' or 'none', got {reduction!r}")
    names: dict[str, Any] = {"input_names": ("x", "target"), "output_names": ("y",)}
    kind = "sum" if reduction.endswith("mean") else reduction
    loss = call("KLDivLoss", logits, labels, reduction=kind, **names)
    return loss if kind == reduction else loss / (logits.size if reduction == "mean" else logits.shape[0])


def soft_margin_loss(input: Any, target: Any, reduction: str = "mean") -> Any:
    """log(1 + exp(-target * input))."""
    return reduced(((-target * input).exp() + 1).log(), reduction, "soft_margin_loss")


def cosine_embedding_loss(input1: Any, input2: Any, target: Any, margin: float = 0.0, reduction: str = "mean") -> Any:
    """1 - cosine for a target of 1, max(0, cosine - margin) for -1; along the last axis."""
    products = (input1 * input2).sum(-1)
    cosine = products / (((input1 * input1).sum(-1) + 1e-12) * ((input2 * input2).sum(-1) + 1e-12)).sqrt()
    loss = _select(target == 1, 1 - cosine, call("Maximum", cosine - margin, 0))
    return reduced(loss, reduction, "cosine_embedding_loss")


def softmin(x: Any, axis: int = -1, *, dtype: Any = None) -> Any:
    """``softmax`` of the negative, of ``x`` cast to ``dtype`` first."""
    return softmax((x if dtype is None else cast(x, dtype)) * -1, axis)


def glu(x: Any, axis: int = -1) -> Any:
    """The first half along ``axis``, weighted by the sigmoid of the second."""
    if x.shape[axis_of(axis, len(x.shape), "glu")] % 2:
        raise SettingError(f"glu: axis {axis} of {x.shape} must have an even length")
    first, second = call("Split", x, axis, 2)
    return call("Mul", first, call("Sigmoid", second))


@tensor_method("xlogy")
def xlogy(input: Any, other: Any) -> Any:
    """input * log(other)."""
    return call("Xlogy", input, other)


@tensor_method("heaviside")
def heaviside(input: Any, values: Any) -> Any:
    """0 below 0, 1 above, ``values`` at 0; both of one dtype."""
    if input.dtype is not values.dtype:
        raise DtypeError(f"heaviside takes two tensors of one dtype, got {input.dtype} and {values.dtype}")
    return call("Heaviside", input, values, output_names=["y"], input_names=["x", "values"])


@tensor_method("nan_to_num")
def nan_to_num(input: Any, nan: float | None = None, posinf: float | None = None, neginf: float | None = None) -> Any:
    """NaN becomes ``nan`` (0), the infinities ``posinf`` and ``neginf`` (the largest and the smallest number)."""
    return call("NanToNum", input, nan, posinf, neginf)


@tensor_method("fmax")
def fmax(input: Any, other: Any) -> Any:
    """The larger of two; the other one where one is NaN."""
    return call("Fmax", input, other)


@tensor_method("fmin")
def fmin(input: Any, other: Any) -> Any:
    """The smaller of two; the other one where one is NaN."""
    return -fmax(-input, -other)


@tensor_method("isclose")
def isclose(input: Any, other: Any, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> Any:
    """Whether numbers differ by at most ``atol + rtol * |other|``; equal infinities do not."""
    return call("IsClose", input, other, rtol, atol, equal_nan)


@tensor_method("logit")
def logit(input: Any, eps: float | None = None) -> Any:
    """log(x / (1 - x)), of x within [eps, 1 - eps] where ``eps`` is given."""
    return call("Logit", input, -1.0 if eps is None else float(eps))


@tensor_method("roll")
def roll(input: Any, shifts: Any, dims: Any = None) -> Any:
    """Elements moved along ``dims`` (None: all in a row); what leaves at one end comes in at the other."""
    if dims is None:
        return roll(input.reshape((-1,)), shifts, 0).reshape(tuple(input.shape))
    amounts = shifts if isinstance(shifts, (tuple, list)) else (shifts,)
    axes = dims if isinstance(dims, (tuple, list)) else (dims,)
    if len(amounts) != len(axes):
        raise SettingError(f"roll: {len(amounts)} shifts for {len(axes)} dims")
    for amount, axis in zip(amounts, axes, strict=True):
        length = input.shape[axis]
        at = (length - amount) % length if length else 0
        if at:
            input = concat((input.narrow(axis, at, length - at), input.narrow(axis, 0, at)), axis)
    return input


def pixel_shuffle(input: Any, upscale_factor: int) -> Any:
    """(..., C * r * r, H, W) to (..., C, H * r, W * r)."""
    *outer, channels, height, width = input.shape
    r = upscale_factor
    if r < 1 or channels % (r * r):
        raise SettingError(f"pixel_shuffle: {channels} channels must be a multiple of the square of {r}")
    parts = input.reshape((*outer, channels // (r * r), r, r, height, width))
    n = len(outer)
    parts = transpose(parts, (*range(n), n, n + 3, n + 1, n + 4, n + 2))
    return parts.reshape((*outer, channels // (r * r), height * r, width * r))


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


def _moved(x: Any, order: Sequence[int]) -> Any:
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
    return _moved(value, [names.index(c) for c in output])


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

    a = _moved(a, [first.index(n) for n in (*batch, *left, *common)]).reshape(shape(batch, left, common))
    b = _moved(b, [second.index(n) for n in (*batch, *common, *right)]).reshape(shape(batch, common, right))
    names = [*batch, *left, *right]
    return "".join(names), matmul(a, b).reshape(tuple(size[n] for n in names))
