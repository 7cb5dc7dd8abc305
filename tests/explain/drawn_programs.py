"""Chains of operators drawn from a seed, and faults that ``harness.testing.faults`` does not make.

Several at once, and of kinds that mislead: constants and attributes whose effects cancel out, other dtypes, parameters
with equal contents or equal rows, payloads of NaN, signs of zero, denormal numbers, empty tensors, kernels that fail in
several places. A program is a description that is built again with its faults.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from harness import dtypes
from harness.framework import nn
from harness.framework import ops as functions
from harness.framework.context import GRAPH_MODE, get_context, set_context
from harness.framework.runtime.launch import Launch
from harness.framework.tensor import Parameter, Tensor
from harness.testing.faults.kernels import KERNELS, Strike
from harness.testing.faults.networks import Network
from harness.testing.faults.settings import SETTINGS
from tests.explain.reapplied import edited

Array = np.ndarray[Any, np.dtype[Any]]
Random = np.random.Generator
ops: Any = functions

WIDTH = 4


@dataclass(frozen=True)
class Step:
    """One step of a chain.

    Attributes:
        kind: key of ``STEPS``.
        number: its constant.
        flag: an attribute of two values (an axis, a transposition).
    """

    kind: str
    number: float = 1.0
    flag: int = 0


@dataclass(frozen=True)
class Program:
    """A chain; see ``harness.testing.faults.networks.Network`` for what runs it.

    Attributes:
        seed: of weights and data.
        rows: rows of what it takes; there may be none.
        steps: one after another.
        weights: changes to parameters, by name.
        data: changes to what it takes.
    """

    seed: int
    rows: int
    steps: tuple[Step, ...]
    weights: Mapping[str, Callable[[Array], Array]] = field(default_factory=dict)
    data: Callable[[Array], Array] | None = None
    family: str = "chain"

    def train(self) -> None:
        """Runs it twice, as a graph."""
        mode = get_context("mode")
        set_context(mode=GRAPH_MODE)
        try:
            chain = _Chain(self)
            for at in range(2):
                x = np.random.default_rng([self.seed, 7, at]).normal(size=(self.rows, WIDTH)).astype(np.float32)
                chain(Tensor(x if self.data is None else self.data(x)))
        finally:
            set_context(mode=mode)

    def weight(self, at: int) -> Array:
        """The first value of a step's parameter: steps of even numbers share theirs, and some rows are equal."""
        random = np.random.default_rng([self.seed, 0 if at % 2 == 0 else at])
        values = random.normal(size=(WIDTH, WIDTH)).astype(np.float32)
        if self.seed % 3 == 0:
            values[1] = values[2]
        return values


class _Chain(nn.Cell):
    def __init__(self, program: Program) -> None:
        super().__init__()
        self.steps = program.steps
        for at, step in enumerate(program.steps):
            if step.kind in ("product", "bias", "scaled"):
                name = f"w{at}"
                values = program.weight(at)
                values = values if step.kind == "product" else values[0]
                change = program.weights.get(name)
                made = values if change is None else change(values)
                setattr(self, name, Parameter(Tensor(np.ascontiguousarray(made)), name=name))

    def construct(self, x: Any) -> Any:
        for at, step in enumerate(self.steps):
            x = STEPS[step.kind](x, step, getattr(self, f"w{at}", None))
        return x


def _product(x: Any, step: Step, w: Any) -> Any:
    if step.flag == 2:  # transposed twice: nothing changes but the graph
        return ops.MatMul(transpose_b=True)(x, ops.transpose(w, (1, 0)))
    return ops.MatMul(transpose_b=bool(step.flag))(x, w)


def _times_and_back(x: Any, step: Step, _w: Any) -> Any:
    return (x * step.number) * (1 / step.number)


#: what each step does to ``x``
STEPS: Mapping[str, Callable[[Any, Step, Any], Any]] = {
    "product": _product,
    "bias": lambda x, _step, w: x + w,
    "scaled": lambda x, _step, w: x * w,
    "times": lambda x, step, _w: x * step.number,
    "plus": lambda x, step, _w: x + step.number,
    "times and back": _times_and_back,
    "relu": lambda x, _step, _w: ops.relu(x),
    "tanh": lambda x, _step, _w: ops.tanh(x),
    "negated": lambda x, _step, _w: -x,
    "narrow": lambda x, step, _w: ops.cast(
        ops.cast(x, (dtypes.float16, dtypes.bfloat16)[step.flag % 2]), dtypes.float32
    ),
    "softmax": lambda x, step, _w: ops.softmax(x, step.flag % 2),
    "mean": lambda x, step, _w: x - ops.ReduceMean(keep_dims=True)(x, step.flag % 2),
    "sum": lambda x, step, _w: x + ops.ReduceSum(keep_dims=True)(x, step.flag % 2),
    "turned": lambda x, _step, _w: ops.transpose(ops.transpose(x, (1, 0)), (1, 0)),
    "largest": lambda x, step, _w: ops.maximum(x, step.number),
    "joined": lambda x, step, _w: ops.concat((x, x * step.number), 1)[:, :WIDTH],
}
#: steps that take an axis; without rows it must be the other one
_NUMBERS = (0.0, -0.0, 0.5, 2.0, 1.0, -1.0, 3.0, 1e-40, 1e20, 0.1)


def drawn(seed: int) -> Program:
    """A program."""
    random = np.random.default_rng([seed, 1])
    rows = int(random.choice([0, 1, 3, 5], p=[0.05, 0.15, 0.4, 0.4]))
    return Program(seed, rows, tuple(_step(random, rows) for _ in range(int(random.integers(2, 7)))))


def _step(random: Random, rows: int) -> Step:
    kinds = [kind for kind in STEPS if rows or kind not in ("mean", "softmax", "sum", "product")]
    return Step(str(random.choice(kinds)), float(random.choice(_NUMBERS[2:])), int(random.integers(2)))


# -- faults of programs ------------------------------------------------------------------------------------------------
Change = Callable[[Random, Program], "Program | None"]


def _at(random: Random, program: Program, *kinds: str) -> int | None:
    places = [at for at, step in enumerate(program.steps) if not kinds or step.kind in kinds]
    return int(random.choice(places)) if places else None


def _with(program: Program, at: int, *steps: Step) -> Program:
    return replace(program, steps=(*program.steps[:at], *steps, *program.steps[at + 1 :]))


def _constant(random: Random, program: Program) -> Program | None:
    at = _at(random, program, "times", "plus", "largest", "joined", "times and back")
    if at is None:
        return None
    number = float(random.choice(_NUMBERS if program.steps[at].kind != "times and back" else _NUMBERS[2:7]))
    return _with(program, at, replace(program.steps[at], number=number))


def _attribute(random: Random, program: Program) -> Program | None:
    at = _at(random, program, "product", "softmax", "mean", "sum", "narrow")
    if at is None:
        return None
    step = program.steps[at]
    flag = int(random.integers(3)) if step.kind == "product" else 1 - step.flag
    return _with(program, at, replace(step, flag=flag))


def _cancelling(random: Random, program: Program) -> Program:
    at = _at(random, program) or 0
    pair = [
        (Step("negated"), Step("negated")), (Step("turned"),), (Step("times", 1.0),), (Step("plus", -0.0),),
        (Step("times and back", 2.0),), (Step("times", 2.0), Step("times", 0.5)),
    ][int(random.integers(6))]  # fmt: skip
    return _with(program, at, program.steps[at], *pair)


def _inserted(random: Random, program: Program) -> Program:
    at = _at(random, program) or 0
    return _with(program, at, program.steps[at], _step(random, program.rows))


def _removed(random: Random, program: Program) -> Program | None:
    at = _at(random, program)
    return None if at is None or len(program.steps) < 2 else _renumbered(program, at)


def _renumbered(program: Program, at: int) -> Program | None:
    later = any(step.kind in ("product", "bias", "scaled") for step in program.steps[at:])
    return None if later else _with(program, at)  # another number would be another parameter


def _exchanged(random: Random, program: Program) -> Program | None:
    if len(program.steps) < 2:
        return None
    at = int(random.integers(len(program.steps) - 1))
    one, other = program.steps[at : at + 2]
    return replace(program, steps=(*program.steps[:at], other, one, *program.steps[at + 2 :]))


def _rows(random: Random, w: Array) -> Array:
    return w[random.permutation(len(w))]


def _payload(random: Random, w: Array) -> Array:
    raw = w.copy().reshape(-1).view(np.uint32)
    raw[random.integers(raw.size)] = 0x7FC00000 | int(random.integers(1 << 12))
    return raw.view(np.float32).reshape(w.shape)


def _denormal(random: Random, w: Array) -> Array:
    made = w.copy().reshape(-1)
    made[random.integers(made.size, size=2)] = random.choice([1e-40, -1e-42, 1e-45])
    return made.reshape(w.shape)


_EDITS: tuple[Callable[[Random, Array], Array], ...] = (
    _rows, _payload, _denormal, lambda random, w: edited(random, w, 1)[1], lambda random, w: edited(random, w, 2)[1],
)  # fmt: skip


def _edit(random: Random) -> Callable[[Array], Array]:
    edit, seed = _EDITS[int(random.integers(len(_EDITS)))], int(random.integers(1 << 30))
    return lambda w: edit(np.random.default_rng(seed), w) if w.size else w


def _weight(random: Random, program: Program) -> Program | None:
    at = _at(random, program, "product", "bias", "scaled")
    return None if at is None else replace(program, weights={**program.weights, f"w{at}": _edit(random)})


def _another_weight(random: Random, program: Program) -> Program | None:
    places = [at for at, step in enumerate(program.steps) if step.kind == "product"]
    if len(places) < 2:
        return None
    one, other = random.permutation(places)[:2]
    return replace(program, weights={**program.weights, f"w{one}": lambda _: program.weight(int(other))})


def _data(random: Random, program: Program) -> Program:
    return replace(program, data=_edit(random))


CHANGES: Sequence[Change] = (
    _constant, _attribute, _cancelling, _inserted, _removed, _exchanged, _weight, _another_weight, _data,
)  # fmt: skip


class Failing:
    """Kernels that fail: each named operator gives edited results, from an iteration on."""

    def __init__(self, operators: Sequence[str], iteration: int, seed: int) -> None:
        self.given = operators, iteration, seed

    def fresh(self) -> Failing:
        """The same for another run."""
        return Failing(*self.given)

    def before(self, launch: Launch, iteration: int) -> None:
        """Leaves what it takes."""

    def after(self, launch: Launch, iteration: int, results: tuple[Array, ...]) -> tuple[Array, ...]:
        """Edits what it gives."""
        operators, first, seed = self.given
        if launch.node.name not in operators or iteration < first or results[0].dtype.kind not in "fV":
            return results
        random = np.random.default_rng([seed, operators.index(launch.node.name)])
        kinds = (*_EDITS[1:], lambda r, y: edited(r, y, 3)[1])
        made = kinds[int(random.integers(len(kinds)))](random, results[0]) if results[0].size else results[0]
        return (np.ascontiguousarray(made.astype(results[0].dtype)).reshape(results[0].shape), *results[1:])


def changed(random: Random, program: Program) -> tuple[Program, bool]:
    """The program with one to three changes, and whether kernels shall fail as well."""
    made = program
    for _ in range(int(random.integers(1, 4))):
        made = CHANGES[int(random.integers(len(CHANGES)))](random, made) or made
    alone = random.random() < 0.25
    return (program if alone else made), bool(alone or random.random() < 0.15)


class Several:
    """Faults of kernels that strike one run."""

    def __init__(self, *each: Any) -> None:
        self.given = each

    def fresh(self) -> Several:
        """The same for another run."""
        return Several(*(each.fresh() for each in self.given))

    def before(self, launch: Launch, iteration: int) -> None:
        """Each before a kernel."""
        for each in self.given:
            each.before(launch, iteration)

    def after(self, launch: Launch, iteration: int, results: tuple[Array, ...]) -> tuple[Array, ...]:
        """Each after it."""
        for each in self.given:
            results = each.after(launch, iteration, results)
        return results


def changed_network(random: Random, network: Network, operators: Sequence[str]) -> tuple[Network, Several | None]:
    """A network with two or three changed settings, kernels that fail, or both."""
    made = network
    for _ in range(int(random.integers(4))):
        found = SETTINGS[int(random.integers(len(SETTINGS)))].change(random, made)
        made = made if found is None else found[0]
    strikes: list[Any] = []
    for name in random.permutation(operators)[: int(random.integers(3))]:
        kind, at, seed = int(random.integers(2 * len(KERNELS))), int(random.integers(2)), int(random.integers(1 << 30))
        fitting = kind < len(KERNELS) and not KERNELS[kind].operators
        strikes.append(Strike(KERNELS[kind], str(name), at, seed) if fitting else Failing([str(name)], at, seed))
    return made, Several(*strikes) if strikes else None
