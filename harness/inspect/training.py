"""A run as a training: weights with their gradients and updates, the loss, the layers in order."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from harness.inspect import roles
from harness.inspect.flow import parameter_read
from harness.inspect.roles import BACKWARD, FORWARD, UPDATE
from harness.inspect.run import Op, Run, Slot

Array = np.ndarray[Any, np.dtype[Any]]


@dataclass(eq=False)
class Update:
    """What happened to a weight in a step: relative size of the change, and how it stands to the gradient.

    Attributes:
        iteration: label of the step.
        ratio: root mean square of the change over that of the weight before.
        along: cosine of the angle between change and gradient; NaN if the gradient is unknown.
    """

    iteration: int
    ratio: float
    along: float = math.nan


@dataclass(eq=False)
class Weight:
    """A parameter that a forward operator reads.

    Attributes:
        name, rank: of the parameter.
        readers: forward executions that read it, with the input, in order.
        first: its slot as it was read first, before any update of the run.
        after: its slots at the end of each step.
        gradients: its gradients by step.
        updates: executions that updated it, by step.
        rates: learning rates by step, as far as an operator shows them.
    """

    name: str
    rank: int
    readers: list[tuple[Op, int]] = field(default_factory=list)
    first: Slot | None = None
    after: dict[int, Slot] = field(default_factory=dict)
    gradients: dict[int, Slot] = field(default_factory=dict)
    updates: dict[int, Op] = field(default_factory=dict)
    rates: dict[int, float] = field(default_factory=dict)

    @property
    def op(self) -> Op:
        """Its first reader."""
        return self.readers[0][0]

    @property
    def shape(self) -> tuple[int, ...]:
        """Its shape."""
        slot = self.first or next(iter(self.after.values()), None)
        return slot.record.shape if slot is not None else ()

    @property
    def is_matrix(self) -> bool:
        """Whether products or convolutions read it."""
        return len(self.shape) >= 2 and any(op.family in roles.WEIGHTED for op, _ in self.readers)

    @property
    def is_embedding(self) -> bool:
        """Whether rows of it are looked up."""
        return any(op.family == "embedding" for op, _ in self.readers)

    @property
    def fan_in(self) -> int:
        """Number of inputs of one unit: that of a convolution without its first axis; a matrix's inputs are counted
        where it is multiplied."""
        shape = self.shape
        if len(shape) > 2:
            return math.prod(shape[1:])
        other = next((o for o in (self._other(op, at) for op, at in self.readers) if o is not None), None)
        if other is not None and other.record.shape and other.record.shape[-1] in shape:
            return other.record.shape[-1]
        return shape[-1] if shape else 1

    def _other(self, op: Op, at: int) -> Slot | None:
        return next((s for i, s in op.inputs.items() if i != at and s.is_floating and len(s.record.shape) >= 2), None)

    def states(self) -> Iterator[tuple[int | None, Slot]]:
        """Its slots in time: before the run's first update (None), then after each step."""
        if self.first is not None:
            yield None, self.first
        yield from sorted(self.after.items())

    @cached_property
    def unchanged(self) -> bool | None:
        """Whether it is the same in all states; None if there are fewer than two, or contents are unknown."""
        found = [slot.content for _, slot in self.states()]
        if len(found) < 2 or None in found:
            return None
        return len(set(found)) == 1

    @cached_property
    def moved(self) -> int | None:
        """Label of the first step after which it is not what it was; None if there is none, or that is not known."""
        old = self.first.content if self.first is not None else None
        return next(
            (step for step, slot in sorted(self.after.items()) if old and slot.content not in (None, old)), None
        )

    @cached_property
    def changes(self) -> list[Update]:
        """Its changes from step to step, where values were kept."""
        found: list[Update] = []
        before: Array | None = None
        for step, slot in self.states():
            array = slot.load()
            if before is not None and array is not None and step is not None:
                found.append(self._change(step, before, array))
            before = array
        return found

    def _change(self, step: int, before: Array, after: Array) -> Update:
        with np.errstate(all="ignore"):
            old = before.astype(np.float64, copy=False)
            delta = after.astype(np.float64, copy=False) - old
            size, moved = float(np.linalg.norm(old)), float(np.linalg.norm(delta))
            ratio = moved / size if size else (math.inf if moved else 0.0)
            slot = self.gradients.get(step)
            gradient = slot.load() if slot is not None else None
            along = math.nan
            if gradient is not None and gradient.size == delta.size and moved:
                wide = gradient.astype(np.float64, copy=False).reshape(delta.shape)
                length = float(np.linalg.norm(wide))
                along = float((wide * delta).sum()) / (length * moved) if length else math.nan
        return Update(step, ratio, along)


class Training:
    """Weights, gradients, updates and losses of a run.

    Args:
        run: the run, linked.

    Attributes:
        weights: by rank and name, in order of their first readers.
    """

    def __init__(self, run: Run) -> None:
        self.run = run
        self.data = data_of(run)
        self.weights: dict[tuple[int, str], Weight] = {}
        self._readers()
        self._states()
        self._updates()
        self._backward()

    def _readers(self) -> None:
        for op in self.run.ops:
            if op.phase != FORWARD:
                continue
            for at in sorted({*op.inputs, *op.makers}):
                slot = op.inputs.get(at)
                if op.family == "view" or (slot is not None and not slot.is_floating):
                    continue
                name = parameter_read(op, at)
                if not name or name in self.data:
                    continue
                weight = self.weights.setdefault((op.where.rank, name), Weight(name, op.where.rank))
                weight.readers.append((op, at))
                if weight.first is None and op.where.iteration == self.run.iterations[op.where.rank][0]:
                    weight.first = self._as_stored(op, at) or slot

    def _as_stored(self, op: Op, at: int) -> Slot | None:
        """The parameter's own slot behind views."""
        made = op.makers.get(at)
        while made is not None and made.by is not None and made.by.family == "view":
            op, at = made.by, 0
            made = op.makers.get(0)
        return op.inputs.get(at)

    def _states(self) -> None:
        for key, weight in self.weights.items():
            weight.after = dict(self.run.parameters.get(key, {}))
            weight.gradients = dict(self.run.gradients.get(key, {}))
            first = weight.first
            if first is not None and weight.after:
                like = next(iter(weight.after.values()))
                if like.record.shape != first.record.shape:
                    weight.first = None

    def _updates(self) -> None:
        for op in self.run.ops:
            if op.phase != UPDATE:
                continue
            step, rank = op.where.iteration, op.where.rank
            for name in self._updated_by(op):
                weight = self.weights.get((rank, name))
                if weight is None:
                    continue
                weight.updates[step] = op
                at, rate = roles.GRADIENTS.get(op.kind), roles.RATES.get(op.kind)
                if at is not None and at in op.inputs:
                    weight.gradients.setdefault(step, op.inputs[at])
                numbers = op.inputs[rate].numbers if rate is not None and rate in op.inputs else None
                if numbers is not None and numbers.count == 1:
                    weight.rates[step] = numbers.mean

    def _updated_by(self, op: Op) -> list[str]:
        """Parameters that an update writes: those of its inputs, else those that hold its result afterwards."""
        named = [op.makers[at].parameter for at in op.updated if at in op.makers and op.makers[at].parameter]
        if named:
            return named[:1]
        return [
            name
            for slot in op.results
            if slot.content is not None
            for name in self._holding.get((op.where.rank, op.where.iteration, slot.content), ())
        ]

    @cached_property
    def _holding(self) -> dict[tuple[int, int, bytes], list[str]]:
        found: dict[tuple[int, int, bytes], list[str]] = {}
        for (rank, name), steps in self.run.parameters.items():
            for step, slot in steps.items():
                if slot.content is not None:
                    found.setdefault((rank, step, slot.content), []).append(name)
        return found

    def _backward(self) -> None:
        """Gradients of weights that no record and no update shows: the last result of their layer's backward that has
        their shape."""
        missing = {
            (each.rank, each.op.layer, each.shape): each for each in self.weights.values()
            if len(each.shape) >= 2 and not self.run.gradients and not each.gradients
        }  # fmt: skip
        if not missing:
            return
        for op in self.run.ops:
            if op.phase == BACKWARD:
                for slot in op.outputs.values():
                    weight = missing.get((op.where.rank, op.layer, slot.record.shape))
                    if weight is not None and not (op.family == "view" and parameter_read(op, 0)):
                        weight.gradients[op.where.iteration] = slot

    @cached_property
    def matrices(self) -> list[Weight]:
        """Weights of products and convolutions, in order of their readers."""
        found = [each for each in self.weights.values() if each.is_matrix and not each.is_embedding]
        return sorted(found, key=lambda each: each.op.at)

    @cached_property
    def is_updated(self) -> bool:
        """Whether the run updates anything."""
        return any(each.updates or each.unchanged is False for each in self.weights.values())

    @cached_property
    def losses(self) -> dict[int, list[tuple[int, float, Op]]]:
        """The loss of each step by rank: label, value, and the operator that gave it."""
        found: dict[int, list[tuple[int, float, Op]]] = {}
        for rank, step, ops in self.run.by_step():
            known = loss_of(ops, self.data)
            if known is not None:
                found.setdefault(rank, []).append((step, *known))
        return {rank: self._every(series) for rank, series in found.items()}

    def _every(self, series: list[tuple[int, float, Op]]) -> list[tuple[int, float, Op]]:
        """The losses of all steps, where some were read as columns alone and one operator gives them."""
        op = series[0][2]
        if any(each.name != op.name for _, _, each in series):
            return series
        more = {step: (step, mean, op) for step, (mean, _) in self.run.series(op.outputs[0]).items()}
        return [known for _, known in sorted({**more, **{each[0]: each for each in series}}.items())]


def loss_of(ops: list[Op], data: frozenset[str] = frozenset()) -> tuple[float, Op] | None:
    """The loss of a step; None if it is unknown. ``data`` are names of inputs that are no weights.

    It is a scalar of the forward pass that depends on a parameter and that nothing of the forward pass reads: the one
    that the backward pass starts from, else one that comes of a loss function, else the last one before the backward
    pass. A step without backward pass has a loss only if a loss function gives it.
    """
    start = next((at for at, op in enumerate(ops) if op.phase == BACKWARD), None)
    flow = Flow(ops, data)
    ends = [op for op in ops if _is_scalar(op) and op.at not in flow.read]
    ends = [op for op in ends if op.at in flow.weighed] or ends
    begun = [op for op in ends if op.at in flow.begun]
    known = begun or [op for op in ends if op.at in flow.lossy]
    if not known and start is not None:
        before = ops[start].at
        known = [op for op in ends if op.at < before] or ends[:1]
    if not known:
        return None
    numbers = known[-1].outputs[0].numbers
    return (numbers.mean, known[-1]) if numbers is not None else None


def _is_scalar(op: Op) -> bool:
    slot = op.outputs.get(0)
    if op.phase != FORWARD or slot is None or slot.numbers is None or slot.numbers.count != 1:
        return False
    return slot.is_floating and op.kind.lower() not in _MADE_FOR_GRADIENTS


#: operators that make the gradient of a loss, or other constants
_MADE_FOR_GRADIENTS = frozenset({"ones_like", "oneslike", "fill", "zeroslike", "scalar_tensor", "full", "ones"})


class Flow:
    """What forward executions of a step lead to.

    Attributes:
        read: those whose first output another forward execution reads.
        weighed: those that depend on a parameter.
        lossy: loss functions, and what depends on one.
        begun: those whose value the backward pass starts from.
    """

    def __init__(self, ops: list[Op], data: frozenset[str]) -> None:
        self.read: set[int] = set()
        self.weighed: set[int] = set()
        self.lossy: set[int] = set()
        self.begun: set[int] = set()
        for op in ops:
            if op.phase == FORWARD:
                self._take(op, data)

    def _take(self, op: Op, data: frozenset[str]) -> None:
        makers = [(made.by.at, made.slot) for made in op.makers.values() if made.by is not None]
        if op.kind.lower() in ("ones_like", "oneslike"):
            self.begun.update(at for at, _ in makers)
            return
        self.read.update(at for at, slot in makers if slot == 0)
        above = {at for at, _ in makers}
        if any(made.parameter and made.parameter not in data for made in op.makers.values()) or above & self.weighed:
            self.weighed.add(op.at)
        if op.family in roles.LOSSES or above & self.lossy:
            self.lossy.add(op.at)


def data_of(run: Run) -> frozenset[str]:
    """Names of the graph's inputs that are no weights."""
    found: set[str] = set()
    for graph in run.graphs.ids:
        for statement in run.graphs.operators(graph):
            found |= {each.parameter for each in statement.arguments if each.is_data and each.parameter}
    return frozenset(found)


def training_of(run: Run) -> Training:
    """The training of a run."""
    return Training(run)
