"""Activation layers, and their names as ``Dense(activation="relu")`` takes them."""

from __future__ import annotations

from typing import Any

import numpy as np

from harness import dtypes
from harness.errors import CellNameError, SettingError
from harness.framework.nn import checks
from harness.framework.nn.cell import Cell
from harness.framework.nn.namespace import ops
from harness.framework.tensor import Parameter, Tensor

__all__ = [
    "ELU", "GELU", "HShrink", "HSigmoid", "HSwish", "Hardtanh", "LeakyReLU", "LogSigmoid", "LogSoftmax", "Mish",
    "PReLU", "ReLU", "ReLU6", "SiLU", "Sigmoid", "SoftShrink", "Softmax", "Softmin", "Softsign", "Tanh", "Tanhshrink",
    "get_activation",
]  # fmt: skip


class ReLU(Cell):
    """max(x, 0)."""

    def __init__(self) -> None:
        super().__init__()
        self.relu = ops.ReLU()

    def construct(self, input: Tensor) -> Any:
        return self.relu(input)


class ReLU6(Cell):
    """min(max(x, 0), 6)."""

    def __init__(self) -> None:
        super().__init__()
        self.relu6 = ops.ReLU6()

    def construct(self, x: Tensor) -> Any:
        return self.relu6(x)


class GELU(Cell):
    """x times the normal distribution below x; ``approximate`` uses tanh (one kernel), else it is written with erf."""

    def __init__(self, approximate: bool = True) -> None:
        super().__init__()
        self.approximate = "tanh" if checks.boolean(approximate, "approximate", self.cls_name) else "none"

    def construct(self, x: Tensor) -> Any:
        return ops.gelu(x, approximate=self.approximate)


class Sigmoid(Cell):
    """1 / (1 + exp(-x))."""

    def __init__(self) -> None:
        super().__init__()
        self.sigmoid = ops.Sigmoid()

    def construct(self, x: Tensor) -> Any:
        return self.sigmoid(x)


class Tanh(Cell):
    """tanh(x)."""

    def __init__(self) -> None:
        super().__init__()
        self.tanh = ops.Tanh()

    def construct(self, x: Tensor) -> Any:
        return self.tanh(x)


class Softmax(Cell):
    """exp(x) / sum(exp(x)) along ``axis``."""

    def __init__(self, axis: Any = -1) -> None:
        super().__init__()
        self.softmax = ops.Softmax(axis)

    def construct(self, input: Tensor) -> Any:
        return self.softmax(input)


class LogSoftmax(Cell):
    """log(softmax(x)) along ``axis``."""

    def __init__(self, axis: int = -1) -> None:
        super().__init__()
        self.log_softmax = ops.LogSoftmax(axis)

    def construct(self, x: Tensor) -> Any:
        return self.log_softmax(x)


class Softmin(Cell):
    """softmax(-x) along ``axis``."""

    def __init__(self, axis: int = -1) -> None:
        super().__init__()
        self.axis = axis

    def construct(self, x: Any) -> Any:
        return ops.softmax(x * -1, self.axis)


class LeakyReLU(Cell):
    """x where positive, else ``alpha * x``."""

    def __init__(self, alpha: float = 0.2) -> None:
        super().__init__()
        self.alpha = alpha

    def construct(self, x: Tensor) -> Any:
        return ops.leaky_relu(x, self.alpha)


class Mish(Cell):
    """x * tanh(softplus(x))."""

    def __init__(self) -> None:
        super().__init__()
        self.mish = ops.Mish()

    def construct(self, input_x: Tensor) -> Any:
        return self.mish(input_x)


class PReLU(Cell):
    """x where positive, else ``w * x`` with one trained weight, or one for each of ``channel`` channels.

    Args:
        channel: number of weights.
        w: their first values: one number, a list or a tensor of ``channel`` of them (float16 or float32).
    """

    def __init__(self, channel: int = 1, w: Any = 0.25) -> None:
        super().__init__()
        if isinstance(channel, bool) or not isinstance(channel, int) or channel < 1:
            raise ValueError(f"nn.PReLU: channel must be a positive int, got {channel!r}")
        if isinstance(w, float):
            w = Tensor(np.full(channel, w, np.float32))
        elif isinstance(w, list) and all(isinstance(value, float) for value in w):
            w = Tensor(np.array(w, np.float32))
        elif not isinstance(w, Tensor):
            raise TypeError(f"nn.PReLU: w must be a float, a list of floats or a tensor, got {w!r}")
        if w.shape != (channel,) or w.dtype not in (dtypes.float16, dtypes.float32):
            raise ValueError(
                f"nn.PReLU: w must be {channel} values of Float16 or Float32, got {w.dtype} of shape {w.shape}"
            )
        self.w = Parameter(w, name="a")
        self.prelu = ops.PReLU()

    def construct(self, x: Tensor) -> Any:
        return self.prelu(x, ops.cast(self.w, x.dtype))


class SiLU(Cell):
    """x * sigmoid(x)."""

    def __init__(self) -> None:
        super().__init__()

    def construct(self, x: Tensor) -> Any:
        return ops.silu(x)


class ELU(Cell):
    """x where positive, else ``alpha * (exp(x) - 1)``."""

    def __init__(self, alpha: float = 1.0) -> None:
        super().__init__()
        self.elu = ops.Elu(alpha)

    def construct(self, x: Tensor) -> Any:
        return self.elu(x)


class HSwish(Cell):
    """x * min(max(x + 3, 0), 6) / 6."""

    def __init__(self) -> None:
        super().__init__()
        self.hswish = ops.HSwish()

    def construct(self, input: Tensor) -> Any:
        return self.hswish(input)


class HSigmoid(Cell):
    """min(max(x + 3, 0), 6) / 6."""

    def __init__(self) -> None:
        super().__init__()
        self.hsigmoid = ops.HSigmoid()

    def construct(self, input: Tensor) -> Any:
        return self.hsigmoid(input)


class LogSigmoid(Cell):
    """log(1 / (1 + exp(-x))), step by step."""

    def __init__(self) -> None:
        super().__init__()
        self.mul = ops.Mul()
        self.exp = ops.Exp()
        self.add = ops.Add()
        self.rec = ops.Reciprocal()
        self.log = ops.Log()

    def construct(self, input_x: Tensor) -> Any:
        return self.log(self.rec(self.add(self.exp(self.mul(input_x, -1)), 1)))


class Softsign(Cell):
    """x / (1 + abs(x))."""

    def __init__(self) -> None:
        super().__init__()
        self.softsign = ops.Softsign()

    def construct(self, x: Tensor) -> Any:
        return self.softsign(x)


class Hardtanh(Cell):
    """x cut to [min_val, max_val]."""

    def __init__(self, min_val: float = -1.0, max_val: float = 1.0) -> None:
        super().__init__()
        if min_val >= max_val:
            raise SettingError(f"{self.cls_name}: min_val must be less than max_val, got {min_val} and {max_val}")
        self.min_val = min_val
        self.max_val = max_val

    def construct(self, x: Tensor) -> Any:
        return ops.hardtanh(x, self.min_val, self.max_val)


class Tanhshrink(Cell):
    """x - tanh(x)."""

    def __init__(self) -> None:
        super().__init__()

    def construct(self, x: Any) -> Any:
        return ops.tanhshrink(x)


class HShrink(Cell):
    """x itself beyond ``lambd`` from 0, else 0."""

    def __init__(self, lambd: float = 0.5) -> None:
        super().__init__()
        self.hshrink = ops.HShrink(lambd)

    def construct(self, input: Tensor) -> Any:
        return self.hshrink(input)


class SoftShrink(Cell):
    """x moved toward 0 by ``lambd``."""

    def __init__(self, lambd: float = 0.5) -> None:
        super().__init__()
        self.softshrink = ops.SoftShrink(lambd)

    def construct(self, input: Tensor) -> Any:
        return self.softshrink(input)


_BY_NAME: dict[str, type[Cell]] = {
    cls.__name__.lower(): cls
    for cls in (
        ELU, GELU, HSigmoid, HSwish, Hardtanh, LeakyReLU, LogSigmoid, LogSoftmax, ReLU, ReLU6, SiLU, Sigmoid, Softmax,
        Softmin, Softsign, Tanh, Tanhshrink,
    )
}  # fmt: skip


def get_activation(name: str | None, prim_name: str | None = None) -> Cell | None:
    """A new layer of the activation called ``name``; None gives None; ``CellNameError`` names the nearest."""
    if name is None:
        return None
    if name not in _BY_NAME:
        import difflib

        near = difflib.get_close_matches(str(name), _BY_NAME, n=3, cutoff=0.5)
        hint = f"; did you mean {', '.join(near)}?" if near else f"; known are {sorted(_BY_NAME)}"
        owner = f"{prim_name}: " if prim_name else ""
        raise CellNameError(f"{owner}no activation is called {name!r}{hint}")
    return _BY_NAME[name]()
