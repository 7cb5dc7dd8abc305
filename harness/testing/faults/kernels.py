"""Faults of kernels: an operator gives wrong results, and the graph does not show it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np

from harness.framework.ops.base import OPERATORS, Call, Operator
from harness.framework.runtime.launch import Launch

Array = np.ndarray[Any, np.dtype[Any]]
Random = np.random.Generator
#: turns a right output into a wrong one; None if it cannot
Output = Callable[[Random, Array], Array | None]
#: turns right arguments into wrong ones; None if it cannot
Inputs = Callable[[Random, Call, tuple[Any, ...]], tuple[Any, ...] | None]


@dataclass(frozen=True)
class KernelKind:
    """One kind of kernel fault.

    Attributes:
        name: name of the kind.
        causes: kinds of causes that explain it correctly.
        output: changes the first result.
        inputs: changes the arguments.
        operators: the only operator types it applies to; empty for all.
    """

    name: str
    causes: frozenset[str]
    output: Output | None = None
    inputs: Inputs | None = None
    operators: tuple[str, ...] = ()


class Strike:
    """Makes a kernel fail; see ``framework.runtime.faults.Fault``.

    Args:
        operator: full name of the operator.
        iteration: the first iteration in which it fails.
        seed: seed of the kind's random draws.

    Attributes:
        hits: how many times it changed something.
    """

    def __init__(self, kind: KernelKind, operator: str, iteration: int, seed: int) -> None:
        self._kind = kind
        self._operator = operator
        self._iteration = iteration
        self._seed = seed
        self._swapped: Operator | None = None
        self.hits = 0

    def fresh(self) -> Strike:
        """A fresh copy for another run."""
        return Strike(self._kind, self._operator, self._iteration, self._seed)

    def before(self, launch: Launch, iteration: int) -> None:
        """Installs an operator that changes its arguments."""
        if self._is_it(launch, iteration) and self._kind.inputs is not None:
            self._swapped = launch.operator
            launch.operator = _changed(launch.operator, self._kind.inputs, np.random.default_rng(self._seed))

    def after(self, launch: Launch, iteration: int, results: tuple[Array, ...]) -> tuple[Array, ...]:
        """Removes that operator; changes the first result."""
        if not self._is_it(launch, iteration):
            return results
        if self._swapped is not None:
            launch.operator, self._swapped = self._swapped, None
            self.hits += 1
        if self._kind.output is None:
            return results
        with np.errstate(all="ignore"):
            made = self._kind.output(np.random.default_rng(self._seed), results[0])
        if made is None:
            return results
        self.hits += 1
        return (np.ascontiguousarray(made.astype(results[0].dtype)).reshape(results[0].shape), *results[1:])

    def _is_it(self, launch: Launch, iteration: int) -> bool:
        return launch.node.name == self._operator and iteration >= self._iteration


def _changed(operator: Operator, change: Inputs, random: Random) -> Operator:
    """``operator`` with its arguments changed before its kernel sees them."""

    class Changed(type(operator)):  # type: ignore[misc]
        def kernel(self, call: Call, *args: Any) -> Any:
            made = change(random, call, args)
            if made is not None and made and isinstance(made[0], Operator):
                return made[0].kernel(call, *args)
            return operator.kernel(call, *(args if made is None else made))

    return Changed()


# -- outputs -----------------------------------------------------------------------------------------------------------
def _rows(_random: Random, y: Array) -> Array | None:
    return None if y.ndim < 1 or len(y) < 4 else y[[2, 0, 1, *range(3, len(y))]]


def _transposed(_random: Random, y: Array) -> Array | None:
    return None if y.ndim < 2 else np.swapaxes(y, -1, -2).reshape(y.shape)


def _reversed(random: Random, y: Array) -> Array | None:
    axes = [a for a in range(y.ndim) if y.shape[a] > 2]
    return np.flip(y, int(random.choice(axes))) if axes else None


def _shifted(random: Random, y: Array) -> Array | None:
    axes = [a for a in range(y.ndim) if y.shape[a] > 3]
    return np.roll(y, 1, int(random.choice(axes))) if axes else None


def _channel(random: Random, y: Array) -> Array | None:
    if y.ndim < 2 or y.shape[1] < 3:
        return None
    made = y.copy()
    made[:, int(random.integers(y.shape[1]))] = 0
    return made


def _border(random: Random, y: Array) -> Array | None:
    if y.ndim != 4 or min(y.shape[-2:]) < 4:
        return None
    made = y + np.abs(y).max() * np.asarray(random.normal(size=y.shape), y.dtype)
    made[..., 1:-1, 1:-1] = y[..., 1:-1, 1:-1]
    return np.asarray(made)


def _clipped(_random: Random, y: Array) -> Array | None:
    if y.size < 10:
        return None
    top: Any = y.dtype.type(float(np.quantile(np.abs(y.astype(np.float64)), 0.8)))
    return np.clip(y, -top, top) if top > 0 else None


def _flushed(_random: Random, y: Array) -> Array | None:
    if y.size < 10:
        return None
    return np.where(np.abs(y) < np.quantile(np.abs(y.astype(np.float64)), 0.3), 0, y)


def _int8(_random: Random, y: Array) -> Array | None:
    step = np.abs(y.astype(np.float64)).max() / 127
    return np.rint(y / step) * step if step > 0 and y.size >= 8 else None


def _nan(random: Random, y: Array) -> Array | None:
    made = y.copy()
    made.reshape(-1)[int(random.integers(y.size))] = np.nan
    return made


def _stored(kind: Any) -> Output:
    return lambda _random, y: y.astype(kind).astype(y.dtype) if y.dtype == np.float32 and y.size > 3 else None


# -- inputs ------------------------------------------------------------------------------------------------------------
def _is_float(each: Any) -> bool:
    return isinstance(each, np.ndarray) and each.dtype == np.float32


def _narrow(kind: Any, one: bool) -> Inputs:
    def change(random: Random, _call: Call, args: tuple[Any, ...]) -> tuple[Any, ...] | None:
        at = [i for i, each in enumerate(args) if _is_float(each)]
        if not at or (one and len(at) < 2):
            return None
        chosen = {int(random.choice(at))} if one else set(at)
        return tuple(a.astype(kind).astype(np.float32) if i in chosen else a for i, a in enumerate(args))

    return change


def _flag(random: Random, call: Call, args: tuple[Any, ...]) -> tuple[Any, ...] | None:
    """The factors' transposition, where the shapes allow it."""
    for at in (2, 3):
        factor = args[at - 2]
        if factor.shape[-1] == factor.shape[-2]:
            return tuple(not a if i == at else a for i, a in enumerate(args))
    return None


def _axis(random: Random, call: Call, args: tuple[Any, ...]) -> tuple[Any, ...] | None:
    axes = args[1] if isinstance(args[1], tuple) else (args[1],)
    x = args[0]
    others = [a for a in range(x.ndim) if a != axes[0] % x.ndim]
    if not others or len(axes) > 1:
        return None
    other = int(random.choice(others))
    return (x, (other,) if isinstance(args[1], tuple) else other, *args[2:])


def _epsilon(at: int) -> Inputs:
    return lambda _random, _call, args: tuple(1e-3 if i == at else a for i, a in enumerate(args))


def _other(pairs: dict[str, str]) -> Inputs:
    def change(_random: Random, call: Call, args: tuple[Any, ...]) -> tuple[Any, ...] | None:
        return (OPERATORS.get(pairs[call.op]),) if call.op in pairs else None

    return change


def _mask(_random: Random, call: Call, args: tuple[Any, ...]) -> tuple[Any, ...] | None:
    call.state["runs"] = int(call.state.get("runs", 0)) + 1
    return args


def _half_sums(kind: Any) -> Inputs:
    def change(_random: Random, call: Call, args: tuple[Any, ...]) -> tuple[Any, ...] | None:
        return (_HalfProduct(kind),)

    return change


class _HalfProduct(Operator):
    """A product whose sums are kept in a narrow type."""

    name = "MatMul"

    def __init__(self, kind: Any) -> None:
        self._kind = kind

    def kernel(self, call: Call, *args: Any) -> Any:
        """See ``Operator.kernel``."""
        a, b, turn_a, turn_b = args[:4]
        a, b = (np.swapaxes(a, -1, -2) if turn_a else a), (np.swapaxes(b, -1, -2) if turn_b else b)
        total: Array | None = None
        for k in range(a.shape[-1]):
            term = (a[..., :, k, None] * b[..., k, None, :]).astype(self._kind)
            total = term if total is None else (total + term).astype(self._kind)
        assert total is not None
        return total.astype(np.float64)


_KIN = {
    "ReLU": "Tanh", "Tanh": "Sigmoid", "Sigmoid": "Tanh", "GeLU": "ReLU", "ReduceMean": "ReduceSum",
    "ReduceSum": "ReduceMean", "Add": "Sub", "Sub": "Add", "Mul": "Add", "RealDiv": "Mul",
}  # fmt: skip


def _kind(name: str, *causes: str, **more: Any) -> KernelKind:
    # A tensor with equal elements tells no more than that.
    return KernelKind(name, frozenset((name, "uniform", *causes)), **more)


KERNELS: Sequence[KernelKind] = (
    _kind("factor", output=lambda random, y: y * float(random.choice([0.5, 2.0, 0.25, 3.0]))),
    _kind("sign", output=lambda _, y: -y),
    _kind("zero", output=lambda _, y: np.zeros_like(y) if y.size > 1 else None),
    _kind("offset", output=lambda _, y: y + np.asarray(0.5, y.dtype) if y.size > 1 else None),
    _kind("permuted", "reversed", "shifted", "transposed", output=_rows),
    _kind("transposed", "permuted", "shifted", "reversed", output=_transposed),
    _kind("reversed", "permuted", "transposed", "shifted", output=_reversed),
    _kind("shifted", "permuted", "transposed", "reversed", output=_shifted),
    _kind("zeroed channel", "flushed", output=_channel),
    _kind("border only", output=_border),
    _kind("clipped", output=_clipped),
    _kind("flushed", output=_flushed),
    _kind("whole-number grid", output=_int8),
    _kind("NaN source", output=_nan),
    _kind("narrower type", output=_stored(np.float16)),
    _kind("narrower type", output=_stored(ml_dtypes.bfloat16)),
    _kind("narrower input", "narrower type", inputs=_narrow(np.float16, one=False)),
    _kind(
        "narrower input",
        "narrower type",
        inputs=_narrow(ml_dtypes.bfloat16, one=True),
        operators=("MatMul", "Conv2D", "Mul", "Add"),
    ),
    _kind("narrower sum", "narrower input", inputs=_half_sums(np.float16), operators=("MatMul", "BatchMatMul")),
    _kind("another setting", "transposed", inputs=_flag, operators=("MatMul", "BatchMatMul")),
    _kind("another setting", inputs=_axis, operators=("Softmax", "LogSoftmax")),
    _kind("another setting", inputs=_epsilon(6), operators=("BatchNorm",)),
    _kind("another setting", inputs=_epsilon(5), operators=("LayerNorm",)),
    _kind("another operator", "factor", inputs=_other(_KIN), operators=tuple(_KIN)),
    _kind("another mask", inputs=_mask, operators=("Dropout",)),
)
