"""The address of everything a kernel reads and writes, as a memory address list shows them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from harness.memory.model import PlanNode
from harness.memory.plan import MemoryPlan


class Address(NamedTuple):
    """First byte and bytes; no address (None) for a result without bytes."""

    start: int | None
    size: int


@dataclass(frozen=True, slots=True)
class Addresses:
    """Addresses of one kernel, in the order of its arguments, workspaces and results."""

    inputs: tuple[Address, ...]
    workspaces: tuple[Address, ...]
    outputs: tuple[Address, ...]


def addresses(plan: MemoryPlan, base: int = 0) -> dict[str, Addresses]:
    """Addresses of every kernel by its full name.

    The planned memory starts at ``base``. What lies outside of it follows, each aligned, in a fixed order: parameters,
    then tensors (results of the graph, and everything of a graph that is not planned). A kernel that updates a
    parameter writes to the parameter's address.

    Args:
        base: address of the first byte.
    """
    finder = _Finder(plan, base)
    return {node.name: finder.of(node) for node in plan.state.nodes}


class _Finder:
    def __init__(self, plan: MemoryPlan, base: int) -> None:
        self._plan = plan
        self._base = base
        self._end = base + plan.total
        # A constant without bytes (an empty tuple) has an address all the same (measured).
        self._parameters = [self._place(p.size) for p in plan.state.parameters]
        self._updated = {
            node.outputs[0]: self._parameters[node.inputs[0].index]
            for node in plan.state.nodes
            if node.outputs and plan.state.tensors[node.outputs[0]].kind == "GraphInput"
        }
        self._first = {member: group[0] for group in plan.state.unions for member in group}
        self._outside: dict[int, int | None] = {}

    def of(self, node: PlanNode) -> Addresses:
        """Addresses of one kernel."""
        inputs = tuple(
            self._tensor(source.index)
            if source.sort == "T"
            else Address(self._parameters[source.index], self._plan.state.parameters[source.index].size)
            for source in node.inputs
        )
        return Addresses(inputs, self._tensors(node.workspaces), self._tensors(node.outputs))

    def _tensors(self, indices: Iterable[int]) -> tuple[Address, ...]:
        return tuple(map(self._tensor, indices))

    def _tensor(self, index: int) -> Address:
        tensor = self._plan.state.tensors[index]
        if tensor.aligned:
            return Address(self._base + tensor.offset, tensor.size)
        if index in self._updated:
            return Address(self._updated[index], tensor.size)
        first = self._first.get(index, index)
        if first not in self._outside:
            self._outside[first] = self._take(tensor.size)
        return Address(self._outside[first], tensor.size)

    def _take(self, size: int) -> int | None:
        return self._place(size) if size else None

    def _place(self, size: int) -> int:
        start = self._end
        self._end += self._plan.memory.aligned(size)
        return start
