"""Random graphs to plan, and a check of plans that is independent of the planner."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace

from hypothesis import strategies as st

from harness.devices import Device
from harness.memory import MemoryPlan, PlanNode, PlanParameter, PlanTensor, Source, State


@st.composite
def states(draw: st.DrawFn, device: Device, streams: int = 0) -> State:
    """A graph as collected: kernels with several results and workspaces, views, updated parameters, results.

    Args:
        device: whose alignment counts.
        streams: how many streams the nodes run on; 0 for one for each node, as on the CPU.
    """
    nodes: list[PlanNode] = []
    sizes: list[tuple[int, int, bool]] = []  # node, bytes, workspace
    values: list[int] = []
    for index in range(draw(st.integers(1, 14))):
        op = draw(st.sampled_from(["MatMul", "MatMul", "Adam", "Reshape", "AssignAdd"]))
        readable = [Source("T", v) for v in values] + [Source("P", 0), Source("P", 1)]
        inputs = draw(st.lists(st.sampled_from(readable), min_size=1, max_size=3))
        results = draw(st.integers(1, 3)) if op in ("MatMul", "Adam") else 1
        made = []
        for at in range(results + draw(st.integers(0, 1))):
            size = draw(st.integers(1, 4000))
            if op == "Reshape" and at == 0 and inputs[0].sort == "T":
                size = sizes[inputs[0].index][1]
            made.append(len(sizes))
            sizes.append((index, size, at >= results))
        outputs = tuple(made[:results])
        values += outputs
        stream = draw(st.integers(0, streams - 1)) if streams else index
        nodes.append(PlanNode(index, f"Default/{op}-op{index}", tuple(inputs), outputs, tuple(made[results:]), stream))
    kept = draw(st.sets(st.sampled_from(values), max_size=2))
    return _state(nodes, sizes, kept, device)


def _state(nodes: list[PlanNode], sizes: list[tuple[int, int, bool]], kept: set[int], device: Device) -> State:
    readers: dict[int, list[int]] = {}
    for node in nodes:
        for source in node.inputs:
            if source.sort == "T":
                readers.setdefault(source.index, []).append(node.index)
    tensors = []
    for index, (node, size, workspace) in enumerate(sizes):
        kind = "Workspace" if workspace else "Common" if index in readers else "OutputOnly"
        aligned = device.memory.aligned(size)
        tensor = PlanTensor(index, aligned, size, 0, kind, "None", node, max(readers.get(index, [node])), node)
        tensors.append(replace(tensor, kind="GraphOutput", aligned=0) if index in kept else tensor)
    parameters = (PlanParameter(0, 64, "x"), PlanParameter(1, 64, "w"))
    return State(parameters, tuple(tensors), tuple(nodes))


def orders(state: State, seed: int) -> Iterator[PlanNode]:
    """The nodes in some order the data and the streams allow."""
    made_by = {tensor: node.index for node in state.nodes for tensor in (*node.outputs, *node.workspaces)}
    waits: dict[int, set[int]] = {}
    last: dict[int, int] = {}
    for node in state.nodes:
        waits[node.index] = {made_by[s.index] for s in node.inputs if s.sort == "T"}
        waits[node.index] |= {last[node.stream]} if node.stream in last else set()
        last[node.stream] = node.index
    choose, done = random.Random(seed), set[int]()
    while len(done) < len(state.nodes):
        ready = [n for n in state.nodes if n.index not in done and waits[n.index] <= done]
        node = choose.choice(ready)
        done.add(node.index)
        yield node


def check_bytes(plan: MemoryPlan, order: Iterator[PlanNode]) -> None:
    """Runs the nodes in ``order`` over a memory that remembers whose each byte is.

    ``AssertionError`` where a kernel writes over bytes that somebody still reads, where two results of one kernel
    overlap, or where it reads bytes that are no longer those of what it reads.
    """
    owner: dict[int, int] = {}
    state = plan.state
    same = {member: group[0] for group in state.unions for member in group}
    left = {t.index: 0 for t in state.tensors}
    for node in state.nodes:
        for source in node.inputs:
            if source.sort == "T":
                left[source.index] += 1
    for node in order:
        read = [s.index for s in node.inputs if s.sort == "T"]
        for tensor in read:
            _owns(plan, owner, tensor, same)
        for tensor in (*node.outputs, *node.workspaces):
            for byte in _bytes(plan, tensor):
                other = owner.get(byte)
                alive = other is not None and (left[other] > 0 or other in node.outputs or other in node.workspaces)
                assert not alive or same.get(other, -1) == same.get(tensor, -2), f"{tensor} over {other} at {byte}"
                owner[byte] = tensor
        for tensor in read:
            if same.get(tensor) not in {same.get(o, -1) for o in node.outputs}:
                _owns(plan, owner, tensor, same)
            left[tensor] -= 1


def _bytes(plan: MemoryPlan, tensor: int) -> range:
    """The planned bytes of a tensor, one for each piece of 64: every offset and size is a multiple of it."""
    shown = plan.state.tensors[tensor]
    return range(shown.offset, shown.offset + shown.aligned, 64)


def _owns(plan: MemoryPlan, owner: dict[int, int], tensor: int, same: dict[int, int]) -> None:
    for byte in _bytes(plan, tensor):
        holder = owner[byte]
        assert same.get(holder, holder) == same.get(tensor, tensor), f"{tensor} is read, {holder} lies there"
