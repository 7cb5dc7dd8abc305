"""Sums and products of several tensors, and functions made of others."""

from __future__ import annotations

from typing import Any

from harness.errors import KernelError, SettingTypeError
from harness.framework.ops.eager import is_number
from harness.framework.ops.functions.arithmetic import div, mul
from harness.framework.ops.functions.comparison import BITWISE
from harness.framework.ops.functions.inner import sum_of
from harness.framework.ops.functions.norms import lp_norm
from harness.framework.ops.functions.shape import flip
from harness.framework.ops.reduce import axes_of
from harness.framework.tensor import Tensor, call, graph_function, held, tensor_method

__all__ = ["addcdiv", "addcmul", "cosine_similarity", "fliplr", "flipud", "hypot", "lerp", "positive", "sgn"]

_lp_norm = graph_function("ops.norm", lp_norm)


def _factor(value: Any, like: Tensor) -> Tensor:
    return Tensor(held(float(value)), like.dtype) if is_number(value) else value


def lerp(input: Tensor, end: Tensor, weight: Any) -> Tensor:
    """input + weight * (end - input)."""
    return call("Lerp", input, end, _factor(weight, input))  # type: ignore[no-any-return]


def addcmul(input: Tensor, tensor1: Tensor, tensor2: Tensor, value: Any = 1) -> Tensor:
    """input + value * tensor1 * tensor2."""
    return call("Addcmul", input, tensor1, tensor2, _factor(value, input))  # type: ignore[no-any-return]


@tensor_method("addcdiv")
def _addcdiv(self: Tensor, tensor1: Tensor, tensor2: Tensor, value: Any = 1) -> Tensor:
    if not isinstance(value, Tensor):
        raise KernelError("Tensor.addcdiv with a number has no CPU kernel (AddcdivExt); use ops.addcdiv")
    return addcdiv(self, tensor1, tensor2, value)


def addcdiv(input: Tensor, tensor1: Tensor, tensor2: Tensor, value: Any = 1) -> Tensor:
    """input + value * tensor1 / tensor2."""
    return call("Addcdiv", input, tensor1, tensor2, _factor(value, input))  # type: ignore[no-any-return]


def hypot(input: Tensor, other: Tensor) -> Tensor:
    """The root of input ** 2 + other ** 2."""
    return call("Hypot", input, other, **BITWISE)  # type: ignore[no-any-return]


@tensor_method("sgn")
def sgn(input: Tensor) -> Tensor:
    """-1, 0 or 1."""
    return call("Sign", input)  # type: ignore[no-any-return]


def positive(input: Tensor) -> Tensor:
    """The tensor itself.

    Raises:
        SettingTypeError: it is a tensor of bools.
    """
    if input.dtype.kind == "b":
        raise SettingTypeError("ops.positive takes a tensor of numbers, got Bool")
    return input


def flipud(input: Tensor) -> Tensor:
    """``input`` with its first axis turned round."""
    return flip(input, (0,))


def fliplr(input: Tensor) -> Tensor:
    """``input`` with its second axis turned round."""
    return flip(input, (1,))


def cosine_similarity(x1: Tensor, x2: Tensor, dim: int = 1, eps: float = 1e-8) -> Tensor:
    """The cosine of the angle between vectors along ``dim``; lengths below ``eps`` together count as ``eps``."""
    total = sum_of(mul(x1, x2), axes_of(dim), False, None)
    norms = [_lp_norm(x, dim) for x in (x1, x2)]
    return div(total, call("ClampScalar", mul(*norms), eps, None, scope="Default"))  # type: ignore[no-any-return]


for _method in (lerp, addcmul, hypot, positive, flipud, fliplr):
    tensor_method(_method.__name__)(_method)
