"""Comparisons, logic, bit operations and selection: functions and the operators of ``Tensor``.

Only ``==`` and ``<`` have a separate form for a number beside a tensor (measured on MindSpore 2.10.0).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from harness import dtypes
from harness.errors import DtypeError, SettingTypeError
from harness.framework.ops.eager import is_number
from harness.framework.ops.functions.arithmetic import foreign, pair, untyped
from harness.framework.tensor import Tensor, call, is_eager, tensor_method

__all__ = [
    "approximate_equal", "bitwise_and", "bitwise_or", "bitwise_xor", "eq", "equal", "ge", "greater", "greater_equal",
    "gt", "invert", "isclose", "isfinite", "isinf", "isnan", "le", "less", "less_equal", "logical_and", "logical_not",
    "logical_or", "logical_xor", "lt", "ne", "not_equal", "population_count", "select", "where",
]  # fmt: skip

BITWISE: dict[str, Any] = {"output_names": ["y"], "input_names": ["x1", "x2"]}


def equal(input: Any, other: Any) -> Any:
    """input == other."""
    pair("equal", input, other)
    return call("Equal", untyped(input), untyped(other))


def not_equal(input: Any, other: Any) -> Any:
    """input != other."""
    pair("not_equal", input, other)
    return call("NotEqual", input, other)


def less(input: Any, other: Any) -> Any:
    """input < other."""
    pair("less", input, other)
    if is_number(other):
        return call("LessScalar", input, other)
    return call("Less", untyped(input), other)


def less_equal(input: Any, other: Any) -> Any:
    """input <= other."""
    pair("less_equal", input, other)
    return call("LessEqual", input, other)


def greater(input: Any, other: Any) -> Any:
    """input > other."""
    pair("greater", input, other)
    return call("Greater", input, other)


def greater_equal(input: Any, other: Any) -> Any:
    """input >= other."""
    pair("greater_equal", input, other)
    return call("GreaterEqual", input, other)


eq, ne, lt, le, gt, ge = equal, not_equal, less, less_equal, greater, greater_equal


def logical_and(input: Any, other: Any) -> Any:
    """Both hold."""
    return call("LogicalAnd", input, other)


def logical_or(input: Any, other: Any) -> Any:
    """One of them holds."""
    return call("LogicalOr", input, other)


def logical_xor(input: Any, other: Any) -> Any:
    """Just one of them holds."""
    return call("LogicalXor", input, other)


def logical_not(input: Any) -> Any:
    """The opposite."""
    return call("LogicalNot", input)


def bitwise_and(input: Any, other: Any) -> Any:
    """input & other."""
    return call("BitwiseAnd", input, other, **BITWISE)


def bitwise_or(input: Any, other: Any) -> Any:
    """input | other."""
    return call("BitwiseOr", input, other, **BITWISE)


def bitwise_xor(input: Any, other: Any) -> Any:
    """input ^ other."""
    return call("BitwiseXor", input, other, **BITWISE)


def select(condition: Any, input: Any, other: Any) -> Any:
    """``input`` where ``condition`` holds, else ``other``."""
    if is_number(input) and is_number(other):
        mixed = isinstance(input, float) or isinstance(other, float)
        input, other = (untyped(float(v) if mixed else v) for v in (input, other))
    return call("Select", condition, input, other)


def where(condition: Any, input: Any, other: Any) -> Any:
    """``input`` where ``condition`` holds, else ``other``."""
    return select(condition, input, other)


def isnan(input: Any) -> Any:
    """True where an element is NaN."""
    return call("IsNan", input, output_names=["output"], input_names=["x"])


def isinf(input: Any) -> Any:
    """True where an element is infinite."""
    return call("IsInf", input)


def isfinite(input: Any) -> Any:
    """True where an element is neither NaN nor infinite."""
    return call("IsFinite", input)


def _known(value: Any) -> bool:
    return isinstance(value, Tensor) or is_number(value)


@tensor_method("__eq__")
def _written_eq(x: Any, y: Any) -> Any:
    return False if _is_numpy(y) else _eq(x, y)


def _eq(x: Any, y: Any) -> Any:
    if is_number(y):
        return call("EqScalar", x, y)
    return call("Equal", x, y) if isinstance(y, Tensor) else False


@tensor_method("__ne__")
def _ne(x: Any, y: Any) -> Any:
    return call("NotEqual", x, y) if _known(y) and not _is_numpy(y) else True


def _is_numpy(value: Any) -> bool:
    """Whether a value is a number of numpy's, outside a graph: to ``==`` and ``!=`` it is no number (measured)."""
    return is_eager() and isinstance(value, np.generic) and not isinstance(value, float)


@tensor_method("__lt__")
def _lt(x: Any, y: Any) -> Any:
    return less(x, y) if _known(y) else foreign(y)


@tensor_method("__le__")
def _le(x: Any, y: Any) -> Any:
    return call("LessEqual", x, y) if _known(y) else foreign(y)


@tensor_method("__gt__")
def _gt(x: Any, y: Any) -> Any:
    return call("Greater", x, y) if _known(y) else foreign(y)


@tensor_method("__ge__")
def _ge(x: Any, y: Any) -> Any:
    return call("GreaterEqual", x, y) if _known(y) else foreign(y)


@tensor_method("__and__", "__rand__")
def _and(x: Any, y: Any) -> Any:
    return bitwise_and(x, y) if _known(y) else foreign(y)


@tensor_method("__or__", "__ror__")
def _or(x: Any, y: Any) -> Any:
    return bitwise_or(x, y) if _known(y) else foreign(y)


@tensor_method("__xor__", "__rxor__")
def _xor(x: Any, y: Any) -> Any:
    return bitwise_xor(x, y) if _known(y) else foreign(y)


@tensor_method("__invert__")
def _invert(x: Any) -> Any:
    return call("LogicalNot", x)


_METHODS: dict[Callable[..., Any], tuple[str, ...]] = {
    _eq: ("equal", "eq"), not_equal: ("not_equal", "ne"), less: ("less", "lt"), less_equal: ("less_equal", "le"),
    greater: ("greater", "gt"), greater_equal: ("greater_equal", "ge"), logical_and: ("logical_and",),
    logical_or: ("logical_or",), logical_xor: ("logical_xor",), logical_not: ("logical_not",),
    bitwise_and: ("bitwise_and",), bitwise_or: ("bitwise_or",), bitwise_xor: ("bitwise_xor",), isnan: ("isnan",),
    isinf: ("isinf",), isfinite: ("isfinite",),
}  # fmt: skip
for _function, _names in _METHODS.items():
    tensor_method(*_names)(_function)


@tensor_method("where")
def _where(x: Any, condition: Any, y: Any) -> Any:
    return where(condition, x, y)


@tensor_method("select")
def _select(x: Any, condition: Any, y: Any, *, ext: bool = False) -> Any:
    """``select(condition, y)``: ``x`` where ``condition`` holds, else ``y``; ``select(dim, index)``: a slice."""
    if ext or type(condition) is int:
        return call("SelectExtView", x, condition, y, side_effect_mem=True)
    if is_number(y):
        kind = dtypes.int32 if isinstance(y, int) else dtypes.float32
        if x.dtype is not kind:
            raise DtypeError(f"Tensor.select: for {y!r} the tensor must be of {kind}, it is of {x.dtype}")
        y = call("Add", Tensor(np.zeros(x.shape), x.dtype), y)
    return select(condition, x, y)


@tensor_method("invert")
def invert(x: Any) -> Any:
    """Each bit of whole numbers turned."""
    return call("Invert", x, output_names=["y"], input_names=["x"])


def approximate_equal(x: Any, y: Any, tolerance: float = 1e-5) -> Any:
    """Whether each two elements differ by less than ``tolerance``."""
    if not isinstance(tolerance, float):
        raise SettingTypeError(f"approximate_equal: tolerance must be a float, got {tolerance!r}")
    return call("ApproximateEqual", x, y, tolerance=tolerance)


def population_count(input_x: Any) -> Any:
    """How many bits of each element (a whole number) are 1, as UInt8."""
    return call("PopulationCount", input_x, output_names=["output"], input_names=["input"])


@tensor_method("isclose")
def isclose(input: Any, other: Any, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> Any:
    """Whether numbers differ by at most ``atol + rtol * |other|``; equal infinities do not."""
    return call("IsClose", input, other, rtol, atol, equal_nan)
