"""Primitives that work element by element."""

from __future__ import annotations

from typing import Any

from harness.errors import SettingError
from harness.framework.ops.functions.arithmetic import SUB, untyped
from harness.framework.ops.functions.comparison import BITWISE
from harness.framework.ops.functions.math import ONE, round
from harness.framework.ops.operators.log import LOG
from harness.framework.ops.primitive import Primitive, plain, slot_names
from harness.framework.tensor import call

_PLAIN = (
    "ACos", "Abs", "Acosh", "Add", "Angle", "Asin", "Asinh", "Atan", "Atan2", "Atanh", "Ceil", "Complex",
    "ComplexAbs", "Conj", "Cos", "Cosh", "Erf", "Erfc",
    "Exp", "Expm1", "FastGeLU", "Floor", "FloorDiv", "FloorMod", "GeLU", "Greater", "GreaterEqual", "HSigmoid",
    "HSwish", "Imag", "IsFinite", "IsInf", "LessEqual", "Log1p", "LogicalAnd", "LogicalNot", "LogicalOr", "LogicalXor",
    "Maximum", "Minimum", "Neg", "NotEqual", "Pow", "PReLU", "ReLU6", "Real", "RealDiv", "Reciprocal", "Rsqrt",
    "Select", "Sigmoid", "Sign", "Sin", "Sinh", "Sqrt", "Square", "Tan", "Tanh", "Trunc",
)  # fmt: skip
_UNTYPED = ("Mul", "Div", "Equal", "Less")
#: those whose node shows the names of its arguments
_NAMED: dict[str, dict[str, Any]] = {
    **dict.fromkeys(("Sub", "SquaredDifference", "Mod", "TruncateDiv", "TruncateMod"), SUB),
    **dict.fromkeys(("BitwiseAnd", "BitwiseOr", "BitwiseXor"), BITWISE),
    **dict.fromkeys(("IsNan", "Mish", "Softplus", "Softsign"), ONE),
    "Log": LOG,
    "SeLU": {"output_names": ["output"], "input_names": ["input_x"]},
}
_OWN = ("AddN", "Assign", "AssignAdd", "AssignSub", "CeLU", "Elu", "HShrink", "Round", "SoftShrink")

__all__ = [
    *_PLAIN, *_UNTYPED, *_NAMED, *_OWN, "ApproximateEqual", "FastGelu", "Fmax", "Inv", "IsClose", "Logit", "Mvlgamma",
    "NanToNum", "PopulationCount", "TensorAdd",
]  # fmt: skip


def _untyped(kind: type[Primitive]) -> type[Primitive]:
    """A primitive whose operands may have two dtypes."""

    def run(self: Primitive, x: Any, y: Any) -> Any:
        return call(self.name, untyped(x), untyped(y), **self.attrs, **self.marks)

    return type(kind.__name__, (kind,), {"__call__": run, "__doc__": kind.__doc__, "__module__": __name__})


def _with(name: str, attrs: dict[str, Any]) -> type[Primitive]:
    """A primitive without settings whose node has attributes."""

    def init(self: Primitive) -> None:
        Primitive.__init__(self, attrs=attrs)

    return type(name, (Primitive,), {"__init__": init, "__doc__": f"Primitive ``{name}``.", "__module__": __name__})


globals().update(plain(*_PLAIN))
globals().update({name: _untyped(kind) for name, kind in plain(*_UNTYPED).items()})
globals().update({name: _with(name, attrs) for name, attrs in _NAMED.items()})
globals().update({name: _with(name, {"side_effect_mem": True}) for name in ("Assign", "AssignAdd", "AssignSub")})


class CeLU(Primitive):
    """x above 0, else alpha * (e ** (x / alpha) - 1)."""

    def __init__(self, alpha: float = 1.0) -> None:
        super().__init__(trailing=(float(alpha),))


class Elu(Primitive):
    """x above 0, else alpha * (e ** x - 1)."""

    def __init__(self, alpha: float = 1.0) -> None:
        if alpha != 1.0:
            raise SettingError(f"Elu: alpha must be 1.0, got {alpha!r}")
        super().__init__(trailing=(float(alpha),))


class SoftShrink(Primitive):
    """x moved toward 0 by a bound."""

    def __init__(self, lambd: float = 0.5) -> None:
        super().__init__(trailing=(float(lambd),))


class HShrink(SoftShrink):
    """x itself beyond a bound from 0."""


class Round(Primitive):
    """To whole numbers, ties to even."""

    def __init__(self) -> None:
        super().__init__()

    def __call__(self, x: Any) -> Any:
        return round(x)


class AddN(Primitive):
    """The sum of a tuple of tensors."""

    def __init__(self) -> None:
        super().__init__()

    def __call__(self, x: Any) -> Any:
        members = tuple(x) if isinstance(x, (tuple, list)) else (x,)
        n = len(members)
        names: dict[str, Any] = {"input_names": ["inputs"], "output_names": ["sum"]}
        return call("AddN", members, n=n, **names, dyn_input_sizes=(n,), N=n, **self.marks)


class Inv(Primitive):
    """1 / x."""

    def __init__(self) -> None:
        super().__init__()


class IsClose(Primitive):
    """Whether numbers differ by little."""

    def __init__(self, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> None:
        super().__init__(trailing=(rtol, atol, equal_nan))


class NanToNum(Primitive):
    """NaN and infinities replaced."""

    def __init__(self, nan: Any = None, posinf: Any = None, neginf: Any = None) -> None:
        super().__init__(trailing=(nan, posinf, neginf))


class Logit(Primitive):
    """log(x / (1 - x))."""

    def __init__(self, eps: float = -1.0) -> None:
        super().__init__(trailing=(float(eps),))


class FastGelu(Primitive):
    """``FastGeLU`` under its older name."""

    op = "FastGeLU"

    def __init__(self) -> None:
        super().__init__(attrs=slot_names("output", "x"))


class TensorAdd(Primitive):
    """``Add`` under its older name."""

    op = "Add"

    def __init__(self) -> None:
        super().__init__(attrs=slot_names("output", "x", "y"))


class Mvlgamma(Primitive):
    """The logarithm of the gamma function of ``p`` dimensions."""

    def __init__(self, p: int) -> None:
        super().__init__(attrs={"output_names": ["y"], "p": p, "input_names": ["x"]})


class ApproximateEqual(Primitive):
    """Whether two elements are nearer than a tolerance."""

    def __init__(self, tolerance: float = 1e-05) -> None:
        super().__init__(attrs={"tolerance": tolerance})


class PopulationCount(Primitive):
    """The bits that are 1."""

    def __init__(self) -> None:
        super().__init__(attrs={"output_names": ["output"], "input_names": ["input"]})


class Fmax(Primitive):
    """The larger of two, or the one that is a number."""

    def __init__(self) -> None:
        super().__init__(attrs={"output_names": ["y"], "input_names": ["x1", "x2"], "ignore_nan": True})
