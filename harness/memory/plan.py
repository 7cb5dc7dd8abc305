"""Plans the memory of one graph: its parts, sharing, and addresses."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from harness.devices import Device
from harness.devices.cpu import CPU
from harness.devices.memory import Memory
from harness.graph import Graph
from harness.memory.collect import collect, is_dynamic
from harness.memory.model import Group, PlanTensor, Span, State
from harness.memory.reuse import Matrix, relation, settle_unions
from harness.memory.solver import Solution, TensorRun, solve

#: kernels whose result is the memory of what they read first, where that is a kernel's output (measured on the CPU)
VIEWS = frozenset({"ExpandDims", "Flatten", "Reshape", "Squeeze"})
#: kernels whose result is the parameter they update (measured on the CPU; Adam and SGD have results of their own)
UPDATES = frozenset({"Assign", "AssignAdd", "ApplyMomentum"})


@dataclass(frozen=True, slots=True, eq=False)
class MemoryPlan:
    """The places of all outputs and workspaces of a graph in one piece of memory.

    Attributes:
        graph_id: id of the graph.
        device: target, as file names of artefacts begin (``CPU``, ``GPU``, ``Ascend``).
        initial: as collected, before references are settled.
        processed: with references settled.
        state: with offsets, merged blocks and the total.
        relation: which tensors the solver may put into the same bytes, shape (tensors, tensors).
        sizes: bytes of each tensor as the solver sees them; 0 for what it does not place.
        solution: which of the solver's eight was taken, from 1; 0 where nothing was solved.
        reuse: memory is shared; else every tensor has bytes of its own.
        planned: False for a graph with a size known only at run time; then no tensor lies in planned memory.
        memory: alignment of the device.
    """

    graph_id: int
    device: str
    initial: State
    processed: State
    state: State
    relation: Matrix
    sizes: tuple[int, ...]
    solution: int
    reuse: bool
    planned: bool
    memory: Memory

    @property
    def total(self) -> int:
        """Bytes of the whole piece of memory."""
        return self.state.total

    @property
    def merged(self) -> tuple[Span, ...]:
        """Pieces of memory in use, highest first."""
        return self.state.merged

    def sum_of_sizes(self) -> int:
        """Bytes without any reuse."""
        return sum(self.sizes)

    def lower_bound(self) -> int:
        """Bytes of the tensors alive at the busiest moment of the execution order: no plan can take less."""
        return max(live_bytes(self.state, self.sizes), default=0)


def live_bytes(state: State, sizes: Sequence[int]) -> list[int]:
    """Bytes alive while each node runs, in the execution order.

    Args:
        sizes: bytes of each tensor; the first of a union stands for all its members.
    """
    change = [0] * (len(state.nodes) + 1)
    spans = {t.index: (t.start, t.end) for t in state.tensors}
    for first, *others in state.unions:
        members = [state.tensors[member] for member in (first, *others)]
        spans[first] = min(t.start for t in members), max(t.end for t in members)
    for tensor in state.tensors:
        start, end = spans[tensor.index]
        start = 0 if tensor.lifelong in ("GraphAll", "GraphStart") else start
        end = len(state.nodes) - 1 if tensor.lifelong in ("GraphAll", "GraphEnd") else end
        change[start] += sizes[tensor.index]
        change[end + 1] -= sizes[tensor.index]
    return [int(total) for total in np.cumsum(change[:-1])]


def plan(graph: Graph, device: Device = CPU, reuse: bool = True) -> MemoryPlan:
    """Plans the memory of a compiled graph; the graph is not changed.

    Args:
        graph: a finished graph.
        device: whose alignment, streams and kernels' workspaces count.
        reuse: False gives every tensor bytes of its own, as without reuse (see ``reuse_applies``).
    """
    initial = collect(graph, device)
    planned = not is_dynamic(graph)
    if not planned:
        initial = replace(initial, tensors=tuple(replace(tensor, aligned=0) for tensor in initial.tensors))
    found = plan_state(initial, graph.id, device, reuse)
    return replace(found, planned=planned)


def plan_state(initial: State, graph_id: int = 0, device: Device = CPU, reuse: bool = True) -> MemoryPlan:
    """Plans from what was collected of a graph, or read from an ``initial_info`` text.

    Args:
        initial: tensors with their aligned sizes and kinds before references are looked at; no offsets.
        graph_id: id of the graph.
        device: see ``plan``.
        reuse: see ``plan``.
    """
    processed = process_references(initial)
    joined = replace(processed, unions=join(processed.unions))
    blocks, shares, sizes = prepared(joined, reuse)
    solution = _solved(joined, blocks, shares, sizes)
    state = _with_offsets(joined, solution, sizes)
    return MemoryPlan(
        graph_id, device.target, initial, processed, state, shares, tuple(sizes), solution.number, reuse, True,
        device.memory,
    )  # fmt: skip


def process_references(state: State) -> State:
    """Finds the kernels that give back memory they were given: views become unions, updated parameters drop out.

    A view that is a result of the graph has memory of its own (measured).
    """
    tensors = list(state.tensors)
    unions: list[Group] = list(state.unions)
    for node in state.nodes:
        if not node.inputs or not node.outputs:
            continue
        source, result = node.inputs[0], node.outputs[0]
        if node.op in VIEWS and source.sort == "T" and tensors[result].kind != "GraphOutput":
            unions.append((source.index, result))
            for member in (source.index, result):
                tensors[member] = replace(tensors[member], kind="Union")
        elif node.op in UPDATES and source.sort == "P":
            tensors[result] = replace(tensors[result], kind="GraphInput", aligned=0)
    return replace(state, tensors=tuple(tensors), unions=tuple(unions))


def join(unions: Iterable[Group]) -> tuple[Group, ...]:
    """Unions with a member in common become one; members in the order in which they first occur."""
    joined: list[list[int]] = []
    for union in unions:
        met = [group for group in joined if set(group) & set(union)]
        if not met:
            joined.append([])
            met = [joined[-1]]
        first, *rest = met
        for member in [m for group in rest for m in group] + list(union):
            if member not in first:
                first.append(member)
        joined = [group for group in joined if not any(group is other for other in rest)]
    return tuple(map(tuple, joined))


def prepared(state: State, reuse: bool = True) -> tuple[list[TensorRun], Matrix, list[int]]:
    """What the solver is given: blocks to place, the relation, and the bytes of each tensor as it sees them.

    Args:
        state: with references settled and unions joined.
        reuse: False lets no tensor share with another.
    """
    shares = relation(state)
    if not reuse:
        shares = np.zeros_like(shares)
    shares, sizes = settle_unions(state, shares)
    peak = _busiest(state, sizes)
    blocks, chained = [], {member: group for group in state.contiguous for member in group}
    for tensor in state.tensors:
        group = chained.get(tensor.index, (tensor.index,))
        if tensor.lifelong == "GraphAll" or not sizes[tensor.index] or tensor.index != group[0]:
            continue
        reusable = sum(sizes[other] for other in peak if shares[group[0], other])
        blocks.append(TensorRun(group, tuple(sizes[member] for member in group), reusable))
    return blocks, shares, sizes


def _solved(state: State, blocks: Sequence[TensorRun], shares: Matrix, sizes: Sequence[int]) -> Solution:
    """Places the blocks; tensors that live as long as the graph come last, in the order of indices."""
    solution = solve(blocks, shares) if blocks else Solution({}, 0, 0)
    total = solution.total
    for tensor in state.tensors:
        if tensor.lifelong == "GraphAll" and sizes[tensor.index]:
            solution.offsets[tensor.index] = total
            total += sizes[tensor.index]
    return solution._replace(total=total)


def _busiest(state: State, sizes: Sequence[int]) -> list[int]:
    """Tensors alive at the busiest moment, the first of them, as the solver counts: the first of a union by its own
    life (the totals of all eight solutions in MindSpore's log are reproduced so)."""
    alive = live_bytes(replace(state, unions=()), sizes)
    moment = alive.index(max(alive)) if alive else 0
    return [t.index for t in state.tensors if t.start <= moment <= t.end and sizes[t.index]]


def _with_offsets(state: State, solution: Solution, sizes: Sequence[int]) -> State:
    """The state with offsets; members of a union take those of the first."""
    offsets, aligned = dict(solution.offsets), list(sizes)
    for first, *others in state.unions:
        for member in others:
            aligned[member] = aligned[first]
            if first in offsets:
                offsets[member] = offsets[first]
    tensors = tuple(replace(t, offset=offsets.get(t.index, 0), aligned=aligned[t.index]) for t in state.tensors)
    return replace(state, tensors=tensors, merged=merge(tensors), total=solution.total)


def merge(tensors: Iterable[PlanTensor]) -> tuple[Span, ...]:
    """Pieces of memory in use, highest first. Pieces that overlap are one, pieces that only touch are not."""
    spans: list[list[int]] = []
    for start, end in sorted((t.offset, t.offset + t.aligned) for t in tensors if t.aligned):
        if spans and start < spans[-1][1]:
            spans[-1][1] = max(spans[-1][1], end)
        else:
            spans.append([start, end])
    return tuple((start, end - start) for start, end in reversed(spans))
