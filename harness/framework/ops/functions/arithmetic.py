"""Arithmetic: functions and the operators of ``Tensor``.

Most of them treat a Python number beside a tensor in a way of their own (``x * 2`` is ``Muls``, ``2 / x`` is
``Reciprocal`` and ``Muls``), as measured on MindSpore 2.10.0.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from harness import dtypes
from harness.errors import DtypeError, KernelError
from harness.framework.ops.eager import is_number
from harness.framework.ops.functions.inner import of_two
from harness.framework.tensor import Parameter, Tensor, call, graph_function, is_eager, tensor_method

__all__ = [
    "add", "addn", "assign", "assign_add", "assign_sub", "div", "divide", "floor_div", "floor_divide", "floor_mod",
    "fmod", "mul", "multiply", "neg", "negative", "pow", "remainder", "sub", "subtract", "tensor_add", "tensor_div",
    "tensor_floordiv", "tensor_mod", "tensor_mul", "tensor_pow", "tensor_sub", "true_divide", "truncate_div",
    "truncate_mod",
]  # fmt: skip

#: attributes of a Sub made by the primitive or by ``-`` (that of ``ops.sub`` and of gradients has none)
SUB: dict[str, Any] = {"output_names": ["output"], "input_names": ["x", "y"]}


def untyped(value: Any) -> Any:
    """A number beside operands that are not brought to one dtype: a 0-d Int32 (Int64 outside graphs), Float32 or Bool
    tensor."""
    if not is_number(value):
        return value
    kind = np.asarray(value).dtype.kind
    whole = dtypes.int64 if is_eager() else dtypes.int32
    return Tensor(np.asarray(value), {"b": dtypes.bool_, "f": dtypes.float32}.get(kind, whole))


#: in graphs these need a tensor, too (measured)
_NEED_A_TENSOR = frozenset({"equal", "fmod", "less", "truncate_div", "truncate_mod"})


def pair(name: str, x: Any, y: Any) -> None:
    """Raises ``DtypeError`` unless ``x`` and ``y`` are tensors or numbers, and one of them is a tensor, which a graph
    asks of few (measured)."""
    good = all(isinstance(v, Tensor) or is_number(v) for v in (x, y))
    numbers = not is_eager() and name not in _NEED_A_TENSOR
    if not good or not (numbers or isinstance(x, Tensor) or isinstance(y, Tensor)):
        given = f"{type(x).__name__} and {type(y).__name__}"
        raise DtypeError(f"ops.{name} takes a tensor and a tensor or number, got {given}")


def add(input: Any, other: Any) -> Any:
    """input + other."""
    pair("add", input, other)
    return call("Add", input, other)


def sub(input: Any, other: Any) -> Any:
    """input - other."""
    pair("sub", input, other)
    return call("Sub", input, other)


def mul(input: Any, other: Any) -> Any:
    """input * other."""
    pair("mul", input, other)
    return call("Mul", untyped(input), untyped(other))


def div(input: Any, other: Any, *, rounding_mode: str | None = None) -> Any:
    """input / other; ``rounding_mode``: None, ``"floor"`` or ``"trunc"``."""
    pair("div", input, other)
    if rounding_mode is None:
        return call("Div", untyped(input), untyped(other))
    if rounding_mode not in ("floor", "trunc"):
        raise ValueError(f"ops.div: rounding_mode must be None, 'floor' or 'trunc', got {rounding_mode!r}")
    return call("DivMod", untyped(input), untyped(other), rounding_mode)


def divide(input: Any, other: Any, *, rounding_mode: str | None = None) -> Any:
    """input / other."""
    return div(input, other, rounding_mode=rounding_mode)


def true_divide(dividend: Any, divisor: Any) -> Any:
    """dividend / divisor."""
    return div(dividend, divisor)


def floor_divide(input: Any, other: Any) -> Any:
    """floor(input / other)."""
    pair("floor_divide", input, other)
    return call("FloorDiv", input, other)


def floor_mod(x: Any, y: Any) -> Any:
    """x - floor(x / y) * y."""
    pair("floor_mod", x, y)
    return call("FloorMod", x, y)


def remainder(input: Any, other: Any) -> Any:
    """input - floor(input / other) * other, as three operators."""
    pair("remainder", input, other)
    quotient = call("FloorDiv", input, other)
    return call("Sub", input, _times(quotient, other), **SUB)


def fmod(input: Any, other: Any) -> Any:
    """input - trunc(input / other) * other; of two bools in PyNative mode ``input`` where ``other`` is False."""
    pair("fmod", input, other)
    if all(v.dtype.kind == "b" if isinstance(v, Tensor) else isinstance(v, bool) for v in (input, other)):
        if not is_eager():
            raise DtypeError("ops.fmod takes numbers, got two bools; cast one (ops.cast)")
        return call("LogicalAnd", input, call("LogicalNot", other))
    return call("Sub", input, _times(div(input, other, rounding_mode="trunc"), other), **SUB)


def _times(quotient: Any, other: Any) -> Any:
    return call("Muls", quotient, other) if is_number(other) else mul(quotient, other)


def truncate_div(x: Any, y: Any) -> Any:
    """The quotient rounded toward zero."""
    pair("truncate_div", x, y)
    return call("TruncateDiv", x, y, **SUB)


def truncate_mod(x: Any, y: Any) -> Any:
    """The remainder with the sign of ``x``."""
    pair("truncate_mod", x, y)
    return call("TruncateMod", x, y, **SUB)


def pow(input: Any, exponent: Any) -> Any:
    """input ** exponent."""
    pair("pow", input, exponent)
    return call("Pow", input, exponent)


def neg(input: Any) -> Any:
    """-input."""
    return call("Neg", input)


def addn(x: Any) -> Any:
    """The sum of a tuple or list of tensors."""
    members = tuple(x) if isinstance(x, (tuple, list)) else (x,)
    n = len(members)
    names: dict[str, Any] = {"input_names": ["inputs"], "output_names": ["sum"]}
    return call("AddN", members, n=n, **names, dyn_input_sizes=(n,), N=n)


def floor_div(x: Any, y: Any) -> Any:
    """floor(x / y)."""
    return floor_divide(x, y)


def subtract(input: Any, other: Any, *, alpha: Any = 1) -> Any:
    """input - alpha * other."""
    pair("subtract", input, other)
    return call("Sub", input, other if alpha == 1 else alpha * other, **SUB)


def assign(variable: Any, value: Any) -> Any:
    """variable = value, in place."""
    return _assign("Assign", variable, value)


def assign_add(variable: Any, value: Any) -> Any:
    """variable += value, in place."""
    return _assign("AssignAdd", variable, value)


def assign_sub(variable: Any, value: Any) -> Any:
    """variable -= value, in place."""
    return _assign("AssignSub", variable, value)


def _assign(op: str, variable: Any, value: Any) -> Any:
    # ``to_float`` reads a parameter in another dtype; an assignment is to the parameter itself (measured).
    written = getattr(variable, "cast_of", None)
    variable = variable if written is None else written
    # At once any tensor can be assigned to (measured).
    if not isinstance(variable, Tensor if is_eager() else Parameter):
        raise DtypeError(f"{op} changes a Parameter, got {type(variable).__name__}")
    return call(op, variable, value, side_effect_mem=True)


def _tensor_div(x: Any, y: Any) -> Any:
    """x / y as ``RealDiv``."""
    return call("RealDiv", x, y)


def tensor_mod(x: Any, y: Any) -> Any:
    """x - floor(x / y) * y."""
    return call("FloorMod", x, y)


def tensor_sub(*args: Any) -> Any:
    """The first less the second."""
    if len(args) != 2 and (len(args) > 2 or not is_eager()):
        raise KernelError(f"tensor_sub takes two arguments, got {len(args)}")
    return call("Sub", *args, **SUB)


multiply, negative = mul, neg
tensor_add, tensor_mul, tensor_pow = of_two("tensor_add", add), of_two("tensor_mul", mul), of_two("tensor_pow", pow)
tensor_div = of_two("tensor_div", _tensor_div)
tensor_floordiv = of_two("tensor_floordiv", floor_divide)


# -- the operators of Tensor ---------------------------------------------------------------------------------------
def _other(value: Any) -> bool:
    return isinstance(value, Tensor) or is_number(value)


def foreign(value: Any) -> Any:
    """What an operator of ``Tensor`` gives for a value it does not take; ``TypeError`` for a numpy array, which would
    else take the tensor itself."""
    if isinstance(value, np.ndarray):
        raise TypeError("a tensor and a numpy array do not go together; make a Tensor of the array")
    return NotImplemented


def _listed(x: Any, value: Any) -> Any:
    """A list or tuple of numbers, which ``+`` and ``-`` take in the tensor's dtype (measured); others as they are."""
    if isinstance(value, (list, tuple)) and all(map(is_number, value)):
        return Tensor(np.array(value).astype(x.dtype.numpy))
    return value


#: what ``Add`` and ``Sub`` have no kernel for, but ``AddExt`` and ``SubExt`` have, which ``+`` and ``-`` are at once
_EXTENDED = frozenset({dtypes.bool_, dtypes.uint32, dtypes.uint64})


def _extended(op: str, x: Any, y: Any, **attributes: Any) -> Any:
    """``x + y`` or ``x - y`` as a graph has it; outside graphs for bools, too (measured)."""
    if is_eager() and isinstance(x, Tensor) and x.dtype in _EXTENDED:
        other = Tensor(np.asarray(y)) if isinstance(y, bool) else y
        if isinstance(other, Tensor) and other.dtype is x.dtype:
            return call(f"{op}Ext", x, other, Tensor(np.asarray(1)))
    return call(op, x, y, **attributes)


@tensor_method("__add__")
def _add(x: Any, y: Any) -> Any:
    """x + y."""
    y = _listed(x, y)
    return _extended("Add", x, y) if _other(y) else foreign(y)


@tensor_method("__radd__")
def _radd(x: Any, y: Any) -> Any:
    y = _listed(x, y)
    if isinstance(y, bool):
        return _extended("Add", x, y)
    return call("Add", y, x) if _other(y) else foreign(y)


@tensor_method("__sub__")
def _sub(x: Any, y: Any) -> Any:
    """x - y."""
    y = _listed(x, y)
    return _extended("Sub", x, y, **SUB) if _other(y) else foreign(y)


@tensor_method("__rsub__")
def _rsub(x: Any, y: Any) -> Any:
    y = _listed(x, y)
    return call("Sub", y, x, **SUB) if _other(y) else foreign(y)


def _mul(x: Any, y: Any) -> Any:
    """x * y."""
    if is_number(y):
        return call("Muls", x, y)
    return call("Mul", x, y) if isinstance(y, Tensor) else foreign(y)


#: the product with a number is a separate function, the same for ``x * 2`` and ``2 * x`` (measured)
_times_number = graph_function("Tensor.__mul__ of a number", _mul)


@tensor_method("__mul__", "__rmul__")
def _product(x: Any, y: Any) -> Any:
    """x * y, either way round."""
    return _times_number(x, y) if is_number(y) else _mul(x, y)


@tensor_method("__truediv__")
def _truediv(x: Any, y: Any) -> Any:
    """x / y."""
    if is_number(y):
        return call("Divs", x, y)
    return call("Div", x, y) if isinstance(y, Tensor) else foreign(y)


@tensor_method("__rtruediv__")
def _rtruediv(x: Any, y: Any) -> Any:
    return call("Muls", call("Reciprocal", x), y) if _other(y) else foreign(y)


@tensor_method("__floordiv__")
def _floordiv(x: Any, y: Any) -> Any:
    """x // y."""
    return call("FloorDiv", x, y) if _other(y) else foreign(y)


@tensor_method("__rfloordiv__")
def _rfloordiv(x: Any, y: Any) -> Any:
    return call("FloorDiv", y, x) if _other(y) else foreign(y)


@tensor_method("__mod__")
def _mod(x: Any, y: Any) -> Any:
    """x % y."""
    if is_number(y):
        return call("RemainderTensorScalar", x, y)
    return call("RemainderTensorTensor", x, y) if isinstance(y, Tensor) else foreign(y)


@tensor_method("__rmod__")
def _rmod(x: Any, y: Any) -> Any:
    return call("RemainderScalarTensor", y, x) if is_number(y) else foreign(y)


@tensor_method("__pow__")
def _pow(x: Any, y: Any) -> Any:
    """x ** y."""
    return call("Pow", x, y) if _other(y) else foreign(y)


@tensor_method("__rpow__")
def _rpow(x: Any, y: Any) -> Any:
    return call("Pow", y, x) if _other(y) else foreign(y)


@tensor_method("__neg__")
def _negative(x: Any) -> Any:
    return call("Neg", x)


@tensor_method("__pos__")
def _positive(x: Any) -> Any:
    return x


def _div(x: Any, other: Any, *, rounding_mode: str | None = None) -> Any:
    return _truediv(x, other) if rounding_mode is None else div(x, other, rounding_mode=rounding_mode)


def _remainder(x: Any, other: Any, *, ext: bool = False) -> Any:
    if ext:
        return _mod(x, other)
    return call("Sub", x, _mul(call("FloorDiv", x, other), other), **SUB)


def scaled(name: str, x: Any, other: Any, alpha: Any) -> Any:
    """x plus or minus ``alpha * other``: ``AddExt`` or ``SubExt``, ``AddScalar`` or ``SubScalar`` of a number."""
    pair(name.lower(), x, other)
    kinds = {each.dtype.kind for each in (x, other) if isinstance(each, Tensor)}
    if isinstance(alpha, float) and not kinds & {"f", "c"} and not isinstance(other, float):
        raise DtypeError(f"{name.lower()}: alpha must be an int beside integers, got {alpha!r}")
    if is_number(other):
        return call(f"{name}Scalar", x, other, alpha)
    return call(f"{name}Ext", x, other, Tensor(np.asarray(alpha, np.float32 if isinstance(alpha, float) else None)))


def extended(op: str, x: Any, other: Any) -> Any:
    """``Tensor.add`` or ``sub``: of bools outside graphs alone."""
    pair(op.lower(), x, other)
    return _extended(op, x, other)


def _plus(x: Any, other: Any, *, alpha: Any = 1, ext: bool = False) -> Any:
    return scaled("Add", x, other, alpha) if ext else extended("Add", x, _listed(x, other))


def _minus(x: Any, other: Any, *, alpha: Any = 1, ext: bool = False) -> Any:
    return scaled("Sub", x, other, alpha) if ext else extended("Sub", x, _listed(x, other))


def _subtract(x: Any, other: Any, *, alpha: Any = 1) -> Any:
    return scaled("Sub", x, other, alpha)


_METHODS: dict[Callable[..., Any], tuple[str, ...]] = {
    _plus: ("add",), _minus: ("sub",), _subtract: ("subtract",), _mul: ("mul", "multiply"), _div: ("div", "divide"),
    _truediv: ("true_divide",), floor_divide: ("floor_divide", "floor_div"), floor_mod: ("floor_mod",),
    _remainder: ("remainder",), fmod: ("fmod",), pow: ("pow",), neg: ("neg", "negative"),
}  # fmt: skip
for _function, _names in _METHODS.items():
    tensor_method(*_names)(_function)
