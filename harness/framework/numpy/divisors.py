"""Common divisors and remainders, as compositions of operators.

Source: MindSpore 2.10.0, measured: all pairs of a tensor go on together, until the remainders that were computed before
the last step add up to 0; so a pair beside a slower one may end with another number than its divisor.
"""

from __future__ import annotations

from typing import Any

from harness import dtypes
from harness.framework import ops as _ops
from harness.framework.numpy.create import asarray
from harness.framework.numpy.promotion import cast_if, common
from harness.framework.ops.functions.shape import cast

#: looks its names up when they are used
ops: Any = _ops

__all__ = ["gcd", "lcm", "remainder"]


def remainder(x1: Any, x2: Any, dtype: Any = None) -> Any:
    """``x1`` less the floor of ``x1 / x2`` times ``x2``; of whole numbers 0 where ``x2`` is 0."""
    return cast_if(_remainder(asarray(x1), asarray(x2)), dtype)


def gcd(x1: Any, x2: Any, dtype: Any = None) -> Any:
    """The greatest common divisor."""
    return cast_if(_gcd(asarray(x1), asarray(x2)), dtype)


def lcm(x1: Any, x2: Any, dtype: Any = None) -> Any:
    """The least common multiple."""
    first, second = asarray(x1), asarray(x2)
    divisor, kind = _gcd(first, second), common(first.dtype, second.dtype)
    wide: Any = cast(first, dtypes.float32), cast(second, dtypes.float32)
    found = wide[0] / divisor * (wide[1] / divisor) * divisor
    found = ops.where(ops.equal(wide[0] * wide[1], 0), ops.zeros_like(found), found)
    return cast_if(cast(ops.abs(found), kind), dtype)


def _remainder(first: Any, second: Any) -> Any:
    kind = common(first.dtype, second.dtype)
    if not kind.is_floating:
        first, second = cast(first, dtypes.float32), cast(second, dtypes.float32)
    quotient = ops.floor(ops.div(first, second))
    found = first - second * quotient
    if kind.kind in "iu":
        found = ops.where(ops.equal(second, ops.zeros_like(quotient)), ops.zeros_like(quotient), found)
    return cast(found, kind)


def _gcd(first: Any, second: Any) -> Any:
    kind = common(first.dtype, second.dtype)
    if not kind.is_floating:
        first, second = cast(first, dtypes.float32), cast(second, dtypes.float32)
    first, second = ops.abs(first), ops.abs(second)
    larger = ops.greater_equal(first, second)
    a, b = ops.where(larger, first, second), ops.where(larger, second, first)
    b = ops.where(ops.equal(b, 0), a, b)
    rest = _remainder(a, b)
    while ops.sum(rest).asnumpy() > 0:
        rest = _remainder(a, b)
        ended = ops.equal(rest, 0)
        a, b = ops.where(ended, a, b), ops.where(ended, b, rest)
    return cast(b, kind)
