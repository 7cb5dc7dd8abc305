"""Operators that the executed graph shows expanded: ``Muls`` becomes ``Expand/_Muls/Mul``.

They are operators of their own while a graph is traced and differentiated (their gradient is not the gradient of their
parts, and its nodes stand in ``Grad_{name}``); ``expand`` replaces each of them afterwards, in scope
``Expand/_{name}``, whichever scope it stood in. Outside a graph they are expanded at once.

Source: MindSpore 2.10.0 CPU graphs, measured.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from harness.dtypes import DType
from harness.errors import TraceError
from harness.framework.ops import taken
from harness.framework.ops.base import OPERATORS, Array, Call, Operator
from harness.framework.ops.eager import number_dtype, plan_arguments, promote
from harness.framework.tensor import Dispatcher, Tensor, using
from harness.framework.tensor import call as emit
from harness.graph import Node, OpaqueSpec, Spec, TensorSpec, TupleSpec, spec_of


class Composite(Operator):
    """An operator described by the operators it is made of."""

    @property
    def expansion_scope(self) -> str:
        """The scope of its parts in the graph."""
        return f"Expand/_{self.name}"

    def expand(self, *args: Any) -> Any:
        """The result, by operator calls; ``args`` are tensors (traced or not) and Python values."""
        raise NotImplementedError

    def finish(self, parts: Sequence[Node], *argument: Any) -> None:
        """Changes the nodes of its parts in a finished graph; ``argument`` is the second argument, if there is one."""

    def infer(self, call: Call) -> Spec:
        args = [_shaped(spec, value) for spec, value in zip(call.inputs, call.values, strict=True)]
        with using(_Shapes()):
            return _spec(self.expand(*args))

    def kernel(self, call: Call, *args: Any) -> Any:
        result = self.expand(*(_wrap(a) for a in args))
        return tuple(r.asnumpy() for r in result) if isinstance(result, tuple) else result.asnumpy()


def beside(x: Any, number: Any) -> tuple[Any, Tensor]:
    """A tensor and a number brought to one dtype: the tensor cast if the number is stronger, the number 0-d."""
    target = promote([x.dtype, number_dtype(number, [x.dtype])])
    return cast(x, target), scalar(number, target)


def scalar(number: Any, dtype: DType) -> Tensor:
    """A number as a 0-d tensor constant."""
    return Tensor(np.asarray(number), dtype)


def constant_value(x: Any) -> Array | None:
    """The data of a tensor known while the graph is made (a constant of it), else None."""
    if type(x) is Tensor:
        return x.asnumpy()
    value = getattr(getattr(x, "operand", None), "value", None)
    return value if isinstance(value, np.ndarray) else None


def number_of(x: Any) -> Any:
    """A number, or that of a 0-d tensor known while the graph is made."""
    known = constant_value(x)
    return x if known is None else known.item()


def cast(x: Any, dtype: DType) -> Any:
    """``x`` in ``dtype``; emits nothing if it is already."""
    return x if x.dtype is dtype else emit("Cast", x, dtype)


class _Shaped(Tensor):
    """A tensor without data: dtype and shape only."""

    def __init__(self, spec: TensorSpec) -> None:
        super().__init__(np.zeros((), spec.dtype.numpy), spec.dtype)
        self._dynamic_shape = spec.shape


class _Shapes(Dispatcher):
    """Runs calls on specs alone."""

    def call(self, op: str, args: tuple[Any, ...], attrs: dict[str, Any], scope: str | None) -> Any:
        operator = OPERATORS.get(op)
        ready = [v if c is None else emit("Cast", v, c) for v, c in plan_arguments(operator, args)]
        values = tuple(_value(v) for v in ready)
        call = Call(op, tuple(_spec(v) for v in ready), values, attrs)
        out = operator.infer(call)
        taken.check_kernel(call)
        return _shaped(out, None)

    def branch(self, *_args: Any) -> Any:
        """Refused: the parts of an operator are known before anything runs."""
        raise TraceError("an operator's expansion cannot branch on values")

    def loop(self, *_args: Any) -> Any:
        """Refused, as ``branch``."""
        raise TraceError("an operator's expansion cannot loop on values")


def _value(argument: Any) -> Any:
    if isinstance(argument, _Shaped):
        return None
    return argument.asnumpy() if isinstance(argument, Tensor) else argument


def _spec(value: Any) -> Spec:
    if isinstance(value, Tensor):
        return TensorSpec(value.dtype, value.shape)
    if isinstance(value, (tuple, list)):
        return TupleSpec(tuple(_spec(v) for v in value))
    return spec_of(value)


def _shaped(spec: Spec, value: Any) -> Any:
    if isinstance(spec, TensorSpec):
        return _Shaped(spec)
    if isinstance(spec, TupleSpec) and any(isinstance(s, TensorSpec) for s in spec.items):
        return tuple(_shaped(s, None) for s in spec.items)
    return None if isinstance(spec, OpaqueSpec) and spec.kind == "None" else value


def _wrap(argument: Any) -> Any:
    return Tensor(argument) if isinstance(argument, np.ndarray) else argument
