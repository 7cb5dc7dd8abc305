"""Primitives of arithmetic, comparison, logic and reduction."""

from __future__ import annotations

from typing import Any

from harness.ops.functions.arithmetic import SUB, untyped
from harness.ops.functions.comparison import BITWISE
from harness.ops.functions.reduction import axes_of
from harness.ops.primitive import Primitive, plain
from harness.tensor import call

__all__ = [
    "Abs", "Add", "AddN", "Assign", "AssignAdd", "AssignSub", "BitwiseAnd", "BitwiseOr", "BitwiseXor", "Cos", "Cosh", "Div",
    "Equal", "Exp", "Expm1", "FloorDiv", "FloorMod", "Greater", "GreaterEqual", "Less", "LessEqual", "Log", "Log1p",
    "LogicalAnd", "LogicalNot", "LogicalOr", "LogicalXor", "Mod", "Mul", "Neg", "NotEqual", "Pow", "RealDiv", "Reciprocal",
    "ReduceMean", "ReduceSum", "Rsqrt", "Select", "Sigmoid", "Sign", "Sin", "Sinh", "Sqrt", "Square", "Sub", "Tan", "Tanh",
    "TruncateDiv", "TruncateMod",
]  # fmt: skip

globals().update(
    plain(
        "Abs", "Add", "Assign", "AssignAdd", "AssignSub", "Cos", "Cosh", "Exp", "Expm1", "FloorDiv", "FloorMod", "Greater",
        "GreaterEqual", "LessEqual", "Log1p", "LogicalAnd", "LogicalNot", "LogicalOr", "LogicalXor", "Neg", "NotEqual",
        "Pow", "RealDiv", "Reciprocal", "Rsqrt", "Select", "Sigmoid", "Sign", "Sin", "Sinh", "Sqrt", "Square", "Tan", "Tanh",
    )
)  # fmt: skip


def _untyped(*names: str) -> dict[str, type[Primitive]]:
    """Primitives that take operands of two dtypes as they are."""

    def run(self: Primitive, x: Any, y: Any) -> Any:
        return call(self.name, untyped(x), untyped(y), **self.attrs, **self.marks)

    return {name: type(name, (kind,), {"__call__": run, "__module__": __name__}) for name, kind in plain(*names).items()}


globals().update(_untyped("Mul", "Div", "Equal", "Less"))


def _named(names: dict[str, Any], *operators: str) -> dict[str, type[Primitive]]:
    """Primitives whose node shows the names of its arguments."""

    def init(self: Primitive) -> None:
        Primitive.__init__(self, attrs=names)

    return {
        name: type(name, (Primitive,), {"__init__": init, "__module__": __name__, "__doc__": f"Primitive ``{name}``."})
        for name in operators
    }


globals().update(_named(SUB, "Sub", "Mod", "TruncateDiv", "TruncateMod"))
globals().update(_named(BITWISE, "BitwiseAnd", "BitwiseOr", "BitwiseXor"))


class Log(Primitive):
    """Natural logarithm."""

    def __init__(self) -> None:
        super().__init__(attrs={"shift": 0.0, "scale": 1.0, "cust_aicpu": "Log", "base": -1.0})


class AddN(Primitive):
    """The sum of a tuple of tensors."""

    def __call__(self, x: Any) -> Any:
        members = tuple(x) if isinstance(x, (tuple, list)) else (x,)
        n = len(members)
        names = {"input_names": ["inputs"], "output_names": ["sum"]}
        return call("AddN", members, n=n, **names, dyn_input_sizes=(n,), N=n, **self.marks)


class _Reduce(Primitive):
    def __init__(self, keep_dims: bool = False) -> None:
        super().__init__()
        self.keep_dims = keep_dims

    def __call__(self, x: Any, axis: Any = ()) -> Any:
        return call(self.name, x, axes_of(axis), self.keep_dims, *self.trailing, **self.marks)


class ReduceMean(_Reduce):
    """Mean over axes."""


class ReduceSum(_Reduce):
    """Sum over axes."""

    def __init__(self, keep_dims: bool = False, skip_mode: bool = False) -> None:
        super().__init__(keep_dims)
        self.trailing = (skip_mode,)
