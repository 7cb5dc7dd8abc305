"""The layers of a step in order: what goes in and out of each, and the gradient that comes back to it."""

from __future__ import annotations

import math
from dataclasses import dataclass

from harness.inspect.flow import parameter_read
from harness.inspect.roles import BACKWARD, FORWARD
from harness.inspect.run import Op, Run, Slot
from harness.inspect.training import Training, Weight

_UP = 12


@dataclass(eq=False)
class Link:
    """One product or convolution of a step.

    Attributes:
        op: the execution.
        weight: the parameter it reads.
        given, made: root mean square of its input and its output.
        back: norm of the gradient at its output; NaN if it is unknown.
        slot: that gradient.
    """

    op: Op
    weight: Weight
    given: float
    made: float
    back: float = math.nan
    slot: Slot | None = None


@dataclass(eq=False)
class Chain:
    """The links of a step, in order of execution."""

    rank: int
    iteration: int
    links: list[Link]

    def backs(self) -> list[tuple[int, float]]:
        """Place and gradient of the links whose gradient is known."""
        return [(at, link.back) for at, link in enumerate(self.links) if math.isfinite(link.back)]


def chains_of(run: Run, training: Training) -> list[Chain]:
    """The chain of every step that has products or convolutions of parameters."""
    of_op = {
        id(op): (weight, at) for weight in training.matrices for op, at in weight.readers if op.phase == FORWARD
    }  # fmt: skip
    found = []
    for rank, iteration, ops in run.by_step():
        backward = _Backward(ops)
        links = []
        for op in ops:
            if id(op) in of_op:
                weight, at = of_op[id(op)]
                links.append(_link(op, weight, at))
        _gradients(links, backward, iteration)
        if links:
            found.append(Chain(rank, iteration, links))
    return found


def _link(op: Op, weight: Weight, at: int) -> Link:
    others = [slot for i, slot in op.inputs.items() if i != at and slot.is_floating and len(slot.record.shape) > 1]
    out = op.outputs.get(0)
    return Link(op, weight, _rms(others[0] if others else None), _rms(out))


def _rms(slot: Slot | None) -> float:
    return slot.numbers.rms if slot is not None and slot.numbers is not None else math.nan


def _norm(slot: Slot) -> float:
    numbers = slot.numbers
    return numbers.rms * math.sqrt(numbers.count) if numbers is not None else math.nan


class _Backward:
    """The backward pass of a step.

    Args:
        ops: the executions of the step.
    """

    def __init__(self, ops: list[Op]) -> None:
        self.ops = [op for op in ops if op.phase == BACKWARD]
        self._forward = {
            slot.content for op in ops if op.phase == FORWARD for slot in (*op.inputs.values(), *op.outputs.values())
        }  # fmt: skip
        self._makers: dict[bytes | None, Op] = {}
        for op in self.ops:
            for slot in op.outputs.values():
                if slot.content is not None:
                    self._makers.setdefault(slot.content, op)

    def new(self, op: Op) -> list[Slot]:
        """The inputs of an execution that the forward pass has not."""
        return [slot for slot in op.inputs.values() if slot.is_floating and slot.content not in self._forward]

    def through(self, weight: Weight) -> list[Slot]:
        """The gradients that products with a weight pass on, in order."""
        found: list[Slot] = []
        for op in self.ops:
            if op.family == "view":
                continue
            if any(parameter_read(op, at) == weight.name for at in (*op.inputs, *op.makers)):
                found += self.new(op)[:1]
        return found

    def into(self, slot: Slot | None, count: int) -> Slot | None:
        """The gradient at a layer's output, of the gradient of its weight."""
        op = self._makers.get(slot.content) if slot is not None else None
        for _ in range(_UP):
            if op is None:
                return None
            new = self.new(op)
            for each in new:
                if each.numbers is not None and each.numbers.count == count:
                    return each
            op = self._makers.get(new[0].content) if new else None
        return None


def _gradients(links: list[Link], backward: _Backward, iteration: int) -> None:
    groups: dict[int, list[Link]] = {}
    for link in links:
        groups.setdefault(id(link.weight), []).append(link)
    for group in groups.values():
        weight = group[0].weight
        passed = backward.through(weight)
        if len(passed) == len(group):
            for link, slot in zip(group, reversed(passed), strict=True):
                link.back, link.slot = _norm(slot), slot
        elif len(group) == 1:
            out = group[0].op.outputs.get(0)
            count = out.numbers.count if out is not None and out.numbers is not None else -1
            found = passed[0] if passed else backward.into(weight.gradients.get(iteration), count)
            if found is not None:
                group[0].back, group[0].slot = _norm(found), found
