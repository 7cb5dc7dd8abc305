"""Numbers from numbers: element by element, and products of tensors."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy

from harness import dtypes
from harness.errors import SettingError, SettingTypeError
from harness.framework import ops as _ops
from harness.framework.numpy.create import asarray
from harness.framework.numpy.promotion import FLOATS, angle, cast_if, common, full_of, through_float32
from harness.framework.ops.functions.shape import cast
from harness.framework.tensor import Tensor

#: looks its names up when they are used
ops: Any = _ops

#: functions of one tensor, by the function of ``ops`` that gives each
UNARY: dict[str, str] = {
    "deg2rad": "deg2rad", "exp": "exp", "expm1": "expm1", "floor": "floor", "isfinite": "isfinite",
    "isnan": "isnan", "log": "log", "log10": "log10", "log1p": "log1p", "log2": "log2", "logical_not": "logical_not",
    "negative": "neg", "positive": "positive", "rad2deg": "rad2deg", "radians": "deg2rad", "sqrt": "sqrt",
    "square": "square",
}  # fmt: skip
#: trigonometric functions of one tensor
ANGLES: dict[str, str] = {
    "arccosh": "acosh", "arcsinh": "asinh", "arctan": "atan", "arctanh": "atanh", "cos": "cos", "cosh": "cosh",
    "sin": "sin", "sinh": "sinh", "tan": "tan", "tanh": "tanh",
}  # fmt: skip
#: those that make floats of whole numbers
_FLOATING = frozenset({"sqrt"})
#: functions of two tensors
BINARY: dict[str, str] = {
    "add": "add", "bitwise_and": "bitwise_and", "bitwise_or": "bitwise_or",
    "bitwise_xor": "bitwise_xor", "equal": "equal", "floor_divide": "floor_divide", "fmod": "fmod",
    "greater": "greater", "greater_equal": "greater_equal",
    "less": "less", "less_equal": "less_equal", "logical_and": "logical_and",
    "logical_or": "logical_or", "logical_xor": "logical_xor", "matmul": "matmul", "mod": "floor_mod",
    "multiply": "mul", "not_equal": "not_equal", "power": "pow",
    "subtract": "sub",
}  # fmt: skip

__all__ = [
    *sorted({*UNARY, *ANGLES, *BINARY}), "abs", "absolute", "arccos", "arcsin", "arctan2", "around", "array_equal",
    "array_equiv", "bitwise_not", "cbrt", "ceil", "clip", "copysign", "cross", "divide", "divmod", "dot", "exp2",
    "fabs", "fix", "float_power", "heaviside", "hypot", "inner", "invert", "isclose", "isin", "isinf", "isneginf",
    "isposinf", "isscalar", "kron", "logaddexp", "logaddexp2", "maximum", "minimum", "norm", "outer", "reciprocal",
    "rint", "round", "sign", "signbit", "tensordot", "trace", "true_divide", "trunc",
]  # fmt: skip


def _tensor(value: Any) -> Any:
    return value if isinstance(value, (bool, int, float)) else asarray(value)


#: those whose argument is called ``a``, not ``x``
_OF_A = frozenset({"logical_not", "negative", "positive"})


def _unary(name: str, function: Callable[[Any], Any]) -> Callable[..., Any]:
    def of_a(a: Any, dtype: Any = None) -> Any:
        return of_one(a, dtype)

    def of_one(x: Any, dtype: Any = None) -> Any:
        given = asarray(x)
        if name in ANGLES:
            given = angle(given)
        elif name in _FLOATING and given.dtype.kind in "biu":
            given = cast(given, dtypes.float32)
        return cast_if(function(given), dtype)

    found = of_a if name in _OF_A else of_one
    found.__name__ = found.__qualname__ = name
    found.__doc__ = f"``ops.{(UNARY | ANGLES)[name]}`` of each element, as ``dtype`` if one is given."
    return found


def _binary(name: str, function: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    def of_two(x1: Any, x2: Any, dtype: Any = None) -> Any:
        first, second = _tensor(x1), _tensor(x2)
        first = asarray(first) if isinstance(second, (bool, int, float)) else first
        return cast_if(function(first, second), dtype)

    of_two.__name__ = of_two.__qualname__ = name
    of_two.__doc__ = f"``ops.{BINARY[name]}`` of two tensors or numbers, as ``dtype`` if one is given."
    return of_two


for _name, _of in (UNARY | ANGLES).items():
    globals()[_name] = _unary(_name, getattr(ops, _of))
for _name, _of in BINARY.items():
    globals()[_name] = _binary(_name, getattr(ops, _of))


def arcsin(x: Any, dtype: Any = None) -> Any:
    """The angle whose sine is ``x``."""
    return cast_if(ops.asin(angle(asarray(x))), dtype)


def arccos(input: Any, dtype: Any = None) -> Any:
    """The angle whose cosine is ``input``."""
    return cast_if(ops.acos(angle(asarray(input))), dtype)


def arctan2(x1: Any, x2: Any, dtype: Any = None) -> Any:
    """The angle of the point (``x2``, ``x1``)."""
    return cast_if(ops.atan2(angle(asarray(x1)), angle(asarray(x2))), dtype)


def absolute(x: Any, dtype: Any = None) -> Any:
    """Without the sign; in Float32 where there is no kernel."""
    kept = FLOATS | {"Int32", "Float64"} if dtype is None else frozenset({asarray(x).dtype.name})
    return cast_if(through_float32(ops.abs, asarray(x), kept), dtype)


abs = fabs = absolute


def ceil(x: Any, dtype: Any = None) -> Any:
    """Rounded up, as Float32."""
    return cast_if(ops.ceil(cast(asarray(x), dtypes.float32)), dtype)


def rint(x: Any, dtype: Any = None) -> Any:
    """Rounded to the nearest whole number, to the even one of two."""
    given = Tensor(x) if isinstance(x, (bool, int, float, list, tuple)) else asarray(x)
    return cast_if(ops.Rint()(given), dtype)


def exp2(x: Any, dtype: Any = None) -> Any:
    """2 to the power of ``x``, of whole numbers a whole number."""
    return cast_if(ops.pow(2, asarray(x)), dtype)


def reciprocal(x: Any, dtype: Any = None) -> Any:
    """1 over ``x``, of whole numbers a whole number."""
    given = asarray(x)
    if given.dtype.is_floating:
        return cast_if(ops.div(1, given), dtype)
    found = ops.pow(given, -1)
    most = numpy.iinfo(found.dtype.numpy).max  # what a division by 0 gives (measured)
    return cast_if(ops.where(ops.equal(given, 0), full_of(found, most), found), dtype)


def sign(x: Any, dtype: Any = None) -> Any:
    """-1, 0 or 1, of whole numbers as Float32."""
    given = asarray(x)
    if given.dtype.kind != "f":
        return cast_if(ops.sign(given if given.dtype.kind == "b" else cast(given, dtypes.float32)), dtype)
    # The quotient by its size: no infinity and no NaN has a sign.
    return cast_if(ops.where(ops.equal(given, 0), full_of(given, 0), ops.div(given, ops.abs(given))), dtype)


def isinf(x: Any, dtype: Any = None) -> Any:
    """Whether each element is infinite; no whole number is."""
    given = asarray(x)
    whole = given.dtype.kind in "biu"
    return cast_if(full_of(cast(given, dtypes.bool_), False) if whole else ops.isinf(given), dtype)


def divide(x1: Any, x2: Any, dtype: Any = None) -> Any:
    """The quotient; where neither is Float16 or Float32 both are cast to Float32."""
    first, second = asarray(x1), asarray(x2)
    if not {first.dtype.name, second.dtype.name} & FLOATS:
        first, second = cast(first, dtypes.float32), cast(second, dtypes.float32)
    return cast_if(ops.div(first, second), dtype)


true_divide = divide


def hypot(x1: Any, x2: Any, dtype: Any = None) -> Any:
    """The root of the sum of two squares."""
    return cast_if(ops.sqrt(ops.square(asarray(x1)) + ops.square(asarray(x2))), dtype)


def heaviside(x1: Any, x2: Any, dtype: Any = None) -> Any:
    """0 below 0, 1 above, ``x2`` at 0."""
    first, second = asarray(x1), asarray(x2)
    kind = common(first.dtype, second.dtype)
    first, second = (each if each.dtype is kind else cast(each, kind) for each in (first, second))
    below = ops.where(ops.less(first, 0), asarray(0, kind), second)
    return cast_if(ops.where(ops.greater(first, 0), asarray(1, kind), below), dtype)


def fix(x: Any) -> Any:
    """Rounded towards 0, as Float32 unless it is Float16."""
    given = asarray(x)
    return ops.trunc(given if given.dtype.name in FLOATS else cast(given, dtypes.float32))


def trunc(x: Any, dtype: Any = None) -> Any:
    """Rounded towards 0, as ``fix`` does."""
    return cast_if(fix(x), dtype)


def maximum(x1: Any, x2: Any, dtype: Any = None) -> Any:
    """The larger of two, NaN where one of them is; beside a tensor without axes the dtype is the other's."""
    return _larger(ops.maximum, x1, x2, dtype)


def minimum(x1: Any, x2: Any, dtype: Any = None) -> Any:
    """The smaller of two, NaN where one of them is; beside a tensor without axes the dtype is the other's."""
    return _larger(ops.minimum, x1, x2, dtype)


def _larger(function: Callable[[Any, Any], Any], x1: Any, x2: Any, dtype: Any) -> Any:
    first, second = asarray(x1), asarray(x2)
    if bool(first.shape) != bool(second.shape):
        dtype = first.dtype if first.shape else second.dtype
    found = function(first, second)
    if found.dtype.is_floating:
        unknown = ops.logical_or(ops.not_equal(first, first), ops.not_equal(second, second))
        found = ops.where(unknown, full_of(found, float("nan")), found)
    return cast_if(found, dtype)


def clip(x: Any, xmin: Any, xmax: Any, dtype: Any = None) -> Any:
    """Not below ``xmin``, not above ``xmax``; None for no bound."""
    if xmin is None and xmax is None:
        raise SettingError("numpy.clip: one of xmin and xmax must be given")
    result = asarray(x)
    result = result if xmin is None else maximum(result, xmin, dtype)
    return result if xmax is None else minimum(result, xmax, dtype)


def isclose(a: Any, b: Any, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> Any:
    """Whether elements are equal but for a tolerance."""
    return ops.isclose(asarray(a), asarray(b), rtol, atol, equal_nan)


def array_equal(a1: Any, a2: Any, equal_nan: bool = False) -> Any:
    """Whether shapes and all elements are equal."""
    first, second = asarray(a1), asarray(a2)
    if first.shape != second.shape:
        return asarray(False)
    same = ops.equal(first, second)
    return (ops.logical_or(same, ops.logical_and(ops.isnan(first), ops.isnan(second))) if equal_nan else same).all()


def kron(a: Any, b: Any) -> Any:
    """Each element of ``a`` times all of ``b``."""
    first, second = asarray(a), asarray(b)
    rank = max(len(first.shape), len(second.shape))
    x, y = ((1,) * (rank - len(each.shape)) + tuple(each.shape) for each in (first, second))
    tall = ops.tile(first.reshape((*x, *(1,) * rank)), ((1,) * rank + y))
    tall = ops.transpose(tall, tuple(at for axis in range(rank) for at in (axis, axis + rank)))
    wide = second if tuple(second.shape) == y else second.reshape(y)
    return tall.reshape(tuple(m * n for m, n in zip(x, y, strict=True))) * ops.tile(wide, x)


def isin(element: Any, test_elements: Any, invert: bool = False) -> Any:
    """Whether each element is one of ``test_elements``."""
    given, among = asarray(element), asarray(test_elements).ravel()
    found = ops.equal(given.expand_dims(-1), among).any(axis=-1)
    return ops.logical_not(found) if invert else found


def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    """The root of the sum of squares over ``axis``, or another norm of ``ops.norm``."""
    given = asarray(x)
    given = given if given.dtype.name in ("Float32", "Float64") else cast(given, dtypes.float32)
    return ops.norm(given, ord, axis, keepdims)


def dot(a: Any, b: Any) -> Any:
    """The product of matrices or vectors; with a number, of its elements."""
    first, second = asarray(a), asarray(b)
    if not first.shape or not second.shape:
        return first * second
    if len(second.shape) > 1:
        second = ops.transpose(second, (*range(len(second.shape) - 2), len(second.shape) - 1, len(second.shape) - 2))
    return _by_rows(first, second)


def _by_rows(first: Any, second: Any, *counts: int) -> Any:
    """Sums of products of each row of ``first`` with each of ``second``: one MatMul of matrices, of ``counts`` rows
    where these are given (recorded)."""
    if first.shape[-1] != second.shape[-1]:
        raise SettingError(f"numpy: rows of {first.shape} and {second.shape} differ in length")
    rows = (each.reshape((n, each.shape[-1])) for each, n in zip((first, second), counts or (-1, -1), strict=True))
    return ops.MatMul(False, True)(*rows).reshape((*first.shape[:-1], *second.shape[:-1]))


def inner(a: Any, b: Any) -> Any:
    """Sums of products along the last axes."""
    first, second = asarray(a), asarray(b)
    if not first.shape or not second.shape:
        return first * second
    return _by_rows(first, second, *(math.prod(each.shape[:-1]) for each in (first, second)))


def outer(a: Any, b: Any) -> Any:
    """Products of each with each."""
    first, second = asarray(a), asarray(b)
    return ops.MatMul()(*(x.reshape(shape) for x, shape in ((first, (first.size, 1)), (second, (1, second.size)))))


def tensordot(a: Any, b: Any, axes: Any = 2) -> Any:
    """Sums of products over ``axes``."""
    return ops.tensor_dot(asarray(a), asarray(b), axes)


def cross(a: Any, b: Any, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: int | None = None) -> Any:
    """The cross product of vectors of three elements."""
    first, second = (ops.moveaxis(asarray(x), at if axis is None else axis, -1) for x, at in ((a, axisa), (b, axisb)))
    x1, y1, z1 = (first[..., at] for at in range(3))
    x2, y2, z2 = (second[..., at] for at in range(3))
    made = ops.stack([y1 * z2 - z1 * y2, z1 * x2 - x1 * z2, x1 * y2 - y1 * x2], -1)
    return ops.moveaxis(made, -1, axisc if axis is None else axis)


def trace(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None) -> Any:
    """The sum of a diagonal."""
    return asarray(a).trace(offset, axis1, axis2, dtype)


def bitwise_not(x: Any, dtype: Any = None) -> Any:
    """Each bit of whole numbers turned."""
    return cast_if(ops.Invert()(asarray(x)), dtype)


invert = bitwise_not


def around(a: Any, decimals: int = 0) -> Any:
    """``a`` rounded to ``decimals`` digits after the point."""
    given = asarray(a)
    if isinstance(decimals, bool) or not isinstance(decimals, int):
        raise SettingTypeError(f"numpy.around: decimals must be an int, got {decimals!r}")
    if decimals < 0:
        raise SettingError(f"numpy.around: decimals must be at least 0, got {decimals}")
    return ops.round(given) if not decimals else ops.round(given * 10**decimals) / 10**decimals


round = around


def cbrt(x: Any, dtype: Any = None) -> Any:
    """The third root."""
    given = asarray(x)
    wide = given if given.dtype is dtypes.float64 else cast(given, dtypes.float32)
    size = ops.abs(wide)
    return cast_if(size / wide * ops.pow(size, 1.0 / 3.0), dtype)


def copysign(x1: Any, x2: Any, dtype: Any = None) -> Any:
    """The size of ``x1`` with the sign of ``x2``; no sign is negative 0's."""
    first, second = asarray(x1), asarray(x2)
    if "b" in (first.dtype.kind, second.dtype.kind):
        raise SettingTypeError("numpy.copysign: Bool has no sign")
    size = ops.abs(first)
    return cast_if(ops.where(second < 0, -size, size), dtype)


def signbit(x: Any, dtype: Any = None) -> Any:
    """Whether each element is below 0."""
    if dtype not in (None, dtypes.bool_):
        raise SettingTypeError(f"numpy.signbit: the result is Bool, not {dtype!r}")
    return asarray(x) < 0


def isneginf(x: Any) -> Any:
    """Whether each element is minus infinity."""
    given = asarray(x)
    return ops.logical_and(ops.isinf(given), given < 0)


def isposinf(x: Any) -> Any:
    """Whether each element is infinity."""
    given = asarray(x)
    return ops.logical_and(ops.isinf(given), given > 0)


def isscalar(element: Any) -> bool:
    """Whether it is a number or a text of Python's."""
    return isinstance(element, (int, float, bool, str))


def logaddexp(x1: Any, x2: Any, dtype: Any = None) -> Any:
    """log(e ** x1 + e ** x2), which is infinite where a power is."""
    return cast_if(ops.log(ops.exp(asarray(x1)) + ops.exp(asarray(x2))), dtype)


def logaddexp2(x1: Any, x2: Any, dtype: Any = None) -> Any:
    """log2(2 ** x1 + 2 ** x2)."""
    return cast_if(ops.log2(ops.pow(2, asarray(x1)) + ops.pow(2, asarray(x2))), dtype)


def divmod(x1: Any, x2: Any, dtype: Any = None) -> tuple[Any, Any]:
    """The whole quotient, and the rest."""
    first, second = asarray(x1), asarray(x2)
    return cast_if(ops.floor_divide(first, second), dtype), cast_if(ops.floor_mod(first, second), dtype)


def array_equiv(a1: Any, a2: Any) -> Any:
    """Whether two are of one shape, or the one broadcast to the other, and all elements are equal."""
    first, second = asarray(a1), asarray(a2)
    pairs = zip(reversed(first.shape), reversed(second.shape), strict=False)
    if any(n != m and 1 not in (n, m) for n, m in pairs):
        return asarray(False)
    return ops.equal(first, second).all()


def float_power(x1: Any, x2: Any, dtype: Any = None) -> Any:
    """``x1`` to the power of ``x2``, Float32 at least."""
    if not isinstance(x1, Tensor) or not isinstance(x2, Tensor):
        raise SettingTypeError("numpy.float_power: two tensors are needed")
    wide = [each if each.dtype.kind == "f" else cast(each, dtypes.float32) for each in (x1, x2)]
    return cast_if(ops.pow(*wide), dtype)
