"""Numbers from numbers: element by element, and over axes."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import Any

from harness import dtypes
from harness.framework import ops as _ops
from harness.framework.numpy.create import asarray
from harness.framework.ops.functions.shape import cast

#: looks its names up when they are used
ops: Any = _ops

#: functions of one tensor, by the function of ``ops`` that gives each
UNARY: dict[str, str] = {
    "abs": "abs", "absolute": "abs", "arccosh": "acosh", "arcsinh": "asinh", "arctan": "atan", "arctanh": "atanh",
    "ceil": "ceil", "cos": "cos", "cosh": "cosh", "deg2rad": "deg2rad", "exp": "exp",
    "exp2": "exp2", "expm1": "expm1", "fabs": "abs", "floor": "floor", "isfinite": "isfinite",
    "isinf": "isinf", "isnan": "isnan", "log": "log", "log10": "log10", "log1p": "log1p", "log2": "log2",
    "logical_not": "logical_not", "negative": "neg", "positive": "positive", "rad2deg": "rad2deg",
    "radians": "deg2rad", "reciprocal": "reciprocal", "rint": "round", "sign": "sign", "sin": "sin", "sinh": "sinh",
    "sqrt": "sqrt", "square": "square", "tan": "tan", "tanh": "tanh", "trunc": "trunc",
}  # fmt: skip
#: those that make floats of whole numbers
_FLOATING = frozenset({"sqrt", "tanh"})
#: functions of two tensors
BINARY: dict[str, str] = {
    "add": "add", "arctan2": "atan2", "bitwise_and": "bitwise_and", "bitwise_or": "bitwise_or",
    "bitwise_xor": "bitwise_xor", "equal": "equal", "floor_divide": "floor_divide", "fmod": "fmod",
    "greater": "greater", "greater_equal": "greater_equal", "heaviside": "heaviside", "hypot": "hypot",
    "less": "less", "less_equal": "less_equal", "logaddexp": "logaddexp", "logical_and": "logical_and",
    "logical_or": "logical_or", "logical_xor": "logical_xor", "matmul": "matmul", "maximum": "maximum",
    "minimum": "minimum", "mod": "floor_mod", "multiply": "mul", "not_equal": "not_equal", "power": "pow",
    "remainder": "floor_mod", "subtract": "sub",
}  # fmt: skip

__all__ = [
    *sorted({*UNARY, *BINARY}), "amax", "amin", "arccos", "arcsin", "argmax", "argmin", "array_equal", "average",
    "bitwise_not", "clip", "count_nonzero", "cross", "cumprod", "cumsum", "diff", "divide", "dot", "fix", "inner",
    "invert", "isclose", "isin", "kron", "max", "mean", "min", "nanmax", "nanmean", "nanmin", "nansum", "norm",
    "outer", "ptp", "size", "std", "sum", "tensordot", "trace", "true_divide", "var",
]  # fmt: skip


def _cast(result: Any, dtype: Any) -> Any:
    return result if dtype is None else cast(result, dtype)


def _tensor(value: Any) -> Any:
    return value if isinstance(value, (bool, int, float)) else asarray(value)


def _unary(name: str, function: Callable[[Any], Any]) -> Callable[..., Any]:
    def of_one(x: Any, dtype: Any = None) -> Any:
        given = asarray(x)
        if name in _FLOATING and not given.dtype.is_floating:
            given = cast(given, dtypes.float32)
        return _cast(function(given), dtype)

    of_one.__name__ = of_one.__qualname__ = name
    of_one.__doc__ = f"``ops.{UNARY[name]}`` of each element, as ``dtype`` if one is given."
    return of_one


def _binary(name: str, function: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    def of_two(x1: Any, x2: Any, dtype: Any = None) -> Any:
        first, second = _tensor(x1), _tensor(x2)
        first = asarray(first) if isinstance(second, (bool, int, float)) else first
        return _cast(function(first, second), dtype)

    of_two.__name__ = of_two.__qualname__ = name
    of_two.__doc__ = f"``ops.{BINARY[name]}`` of two tensors or numbers, as ``dtype`` if one is given."
    return of_two


for _name, _of in UNARY.items():
    globals()[_name] = _unary(_name, getattr(ops, _of))
for _name, _of in BINARY.items():
    globals()[_name] = _binary(_name, getattr(ops, _of))


def arcsin(x: Any, dtype: Any = None) -> Any:
    """The angle whose sine is ``x``."""
    return _cast(ops.asin(asarray(x)), dtype)


def arccos(input: Any, dtype: Any = None) -> Any:
    """The angle whose cosine is ``input``."""
    return _cast(ops.acos(asarray(input)), dtype)


def divide(x1: Any, x2: Any, dtype: Any = None) -> Any:
    """The quotient, of whole numbers in Float32."""
    first, second = asarray(x1), _tensor(x2)
    floats = first.dtype.is_floating or isinstance(second, float) or getattr(second, "dtype", first.dtype).is_floating
    return _cast(ops.div(first if floats else cast(first, dtypes.float32), second), dtype)


true_divide = divide


def fix(x: Any) -> Any:
    """Rounded towards 0."""
    return ops.trunc(asarray(x))


def clip(x: Any, xmin: Any, xmax: Any, dtype: Any = None) -> Any:
    """Not below ``xmin``, not above ``xmax``; None for no bound."""
    result = asarray(x)
    result = result if xmin is None else ops.maximum(result, _tensor(xmin))
    return _cast(result if xmax is None else ops.minimum(result, _tensor(xmax)), dtype)


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


def _axes(x: Any, axis: Any) -> tuple[int, ...]:
    if axis is None:
        return tuple(range(len(x.shape)))
    return (axis,) if isinstance(axis, int) else tuple(axis)


def sum(a: Any, axis: Any = None, dtype: Any = None, keepdims: bool = False, initial: Any = None) -> Any:
    """Sums over ``axis`` (None: all axes), of whole numbers and bools in Int64."""
    given = asarray(a)
    wide = given if given.dtype.is_floating else cast(given, dtypes.int64)
    total = wide if not wide.shape else wide.sum(axis=_axes(wide, axis), keepdims=keepdims)
    return _cast(total if initial is None else total + initial, dtype)


def mean(a: Any, axis: Any = None, keepdims: bool = False, dtype: Any = None) -> Any:
    """Means over ``axis``."""
    given = asarray(a)
    return _cast(given if not given.shape else ops.mean(given, _axes(given, axis), keepdims), dtype)


def average(x: Any, axis: Any = None, weights: Any = None, returned: bool = False) -> Any:
    """Means, each element weighted by ``weights``; with ``returned`` the weights' sums, too."""
    given = asarray(x)
    if weights is None:
        result = mean(given, axis)
        total = full_of(result, given.size // result.size)
        return (result, total) if returned else result
    weight = asarray(weights)
    if weight.shape != given.shape:
        shape = tuple(n if at == (axis or 0) % len(given.shape) else 1 for at, n in enumerate(given.shape))
        weight = ops.broadcast_to(weight.reshape(shape), given.shape)
    total = sum(weight, axis)
    result = sum(given * weight, axis) / total
    return (result, total) if returned else result


def full_of(x: Any, value: Any) -> Any:
    """``value`` in the shape and dtype of ``x``."""
    return ops.full_like(x, value)


def amax(a: Any, axis: Any = None, keepdims: bool = False, initial: Any = None, where: Any = True) -> Any:
    """The largest over ``axis``, of those where ``where`` holds and ``initial``."""
    return _extreme(ops.amax, ops.maximum, a, axis, keepdims, initial, where)


def amin(a: Any, axis: Any = None, keepdims: bool = False, initial: Any = None, where: Any = True) -> Any:
    """The smallest over ``axis``, of those where ``where`` holds and ``initial``."""
    return _extreme(ops.amin, ops.minimum, a, axis, keepdims, initial, where)


max, min = amax, amin


def _extreme(over: Any, of_two: Any, a: Any, axis: Any, keepdims: bool, initial: Any, where: Any) -> Any:
    given = asarray(a)
    if where is not True and initial is not None:
        given = ops.where(asarray(where), given, full_of(given, initial))
    result = over(given, _axes(given, axis), keepdims) if given.shape else given
    return result if initial is None else of_two(result, asarray(initial, result.dtype))


def ptp(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """The largest minus the smallest."""
    return amax(x, axis, keepdims) - amin(x, axis, keepdims)


def var(x: Any, axis: Any = None, ddof: int = 0, keepdims: bool = False) -> Any:
    """Mean squares of the distances from the mean; ``ddof`` less in the divisor."""
    given = asarray(x)
    given = given if given.dtype.is_floating else cast(given, dtypes.float32)
    return ops.var(given, _axes(given, axis), ddof, keepdims)


def std(x: Any, axis: Any = None, ddof: int = 0, keepdims: bool = False) -> Any:
    """The root of ``var``."""
    return ops.sqrt(var(x, axis, ddof, keepdims))


def nansum(a: Any, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Any:
    """``sum`` without NaN."""
    given = asarray(a)
    return sum(ops.where(ops.isnan(given), full_of(given, 0), given), axis, dtype, keepdims)


def nanmean(a: Any, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Any:
    """``mean`` without NaN."""
    given = asarray(a)
    count = sum(cast(ops.logical_not(ops.isnan(given)), given.dtype), axis, None, keepdims)
    return _cast(nansum(given, axis, None, keepdims) / count, dtype)


def nanmax(a: Any, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Any:
    """``amax`` without NaN."""
    given = asarray(a)
    return _cast(amax(ops.where(ops.isnan(given), full_of(given, float("-inf")), given), axis, keepdims), dtype)


def nanmin(a: Any, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Any:
    """``amin`` without NaN."""
    given = asarray(a)
    return _cast(amin(ops.where(ops.isnan(given), full_of(given, float("inf")), given), axis, keepdims), dtype)


def kron(a: Any, b: Any) -> Any:
    """Each element of ``a`` times all of ``b``."""
    first, second = asarray(a), asarray(b)
    rank = builtins.max(len(first.shape), len(second.shape))
    x, y = (each.reshape((1,) * (rank - len(each.shape)) + each.shape) for each in (first, second))
    wide = x.reshape(tuple(n for size in x.shape for n in (size, 1)))
    product = wide * y.reshape(tuple(n for size in y.shape for n in (1, size)))
    return product.reshape(tuple(m * n for m, n in zip(x.shape, y.shape, strict=True)))


def isin(element: Any, test_elements: Any, invert: bool = False) -> Any:
    """Whether each element is one of ``test_elements``."""
    given, among = asarray(element), asarray(test_elements).ravel()
    found = ops.equal(given.expand_dims(-1), among).any(axis=-1)
    return ops.logical_not(found) if invert else found


def count_nonzero(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """How many are not 0, as Int32."""
    given = cast(ops.not_equal(asarray(x), 0), dtypes.int32)
    return cast(given.sum(axis=_axes(given, axis), keepdims=keepdims), dtypes.int32)


def argmax(a: Any, axis: int | None = None) -> Any:
    """Where the largest is, as Int64."""
    given = asarray(a)
    return ops.argmax(given.ravel() if axis is None else given, 0 if axis is None else axis)


def argmin(a: Any, axis: int | None = None) -> Any:
    """Where the smallest is, as Int32."""
    given = asarray(a)
    return ops.argmin(given.ravel() if axis is None else given, 0 if axis is None else axis)


def cumsum(a: Any, axis: int | None = None, dtype: Any = None) -> Any:
    """Sums of all up to each element."""
    given = asarray(a)
    return _cast(ops.cumsum(given.ravel() if axis is None else given, axis or 0), dtype)


def cumprod(a: Any, axis: int | None = None, dtype: Any = None) -> Any:
    """Products of all up to each element."""
    given = asarray(a)
    return _cast(ops.cumprod(given.ravel() if axis is None else given, axis or 0), dtype)


def diff(a: Any, n: int = 1, axis: int = -1, prepend: Any = None, append: Any = None) -> Any:
    """Differences of neighbours, ``n`` times."""
    parts = [asarray(each) for each in (prepend, a, append) if each is not None]
    given = parts[0] if len(parts) == 1 else ops.concat(parts, axis)
    for _ in range(n):
        count = given.shape[axis]
        given = ops.narrow(given, axis, 1, count - 1) - ops.narrow(given, axis, 0, count - 1)
    return given


def size(a: Any, axis: int | None = None) -> int:
    """How many elements there are, or how many along ``axis``."""
    given = asarray(a)
    return int(given.size if axis is None else given.shape[axis])


def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    """The root of the sum of squares over ``axis``, or another norm of ``ops.norm``."""
    given = asarray(x)
    given = given if given.dtype.is_floating else cast(given, dtypes.float32)
    return ops.norm(given, ord, axis, keepdims)


def dot(a: Any, b: Any) -> Any:
    """The product of matrices or vectors; with a number, of its elements."""
    first, second = asarray(a), asarray(b)
    if not first.shape or not second.shape:
        return first * second
    if len(second.shape) == 1:
        return ops.matmul(first, second)
    return tensordot(first, second, ((len(first.shape) - 1,), (len(second.shape) - 2,)))


def inner(a: Any, b: Any) -> Any:
    """Sums of products along the last axes."""
    first, second = asarray(a), asarray(b)
    if not first.shape or not second.shape:
        return first * second
    return tensordot(first, second, ((len(first.shape) - 1,), (len(second.shape) - 1,)))


def outer(a: Any, b: Any) -> Any:
    """Products of each with each."""
    return asarray(a).ravel().expand_dims(1) * asarray(b).ravel().expand_dims(0)


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
    from harness.framework.numpy.shapes import diagonal

    return _cast(diagonal(a, offset, axis1, axis2).sum(axis=-1), dtype)


def bitwise_not(x: Any, dtype: Any = None) -> Any:
    """Each bit of whole numbers turned."""
    return _cast(ops.Invert()(asarray(x)), dtype)


invert = bitwise_not
