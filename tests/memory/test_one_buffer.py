"""A network whose tensors all lie in one planned piece of memory reads the same bits as without a plan."""

from __future__ import annotations

import importlib
from collections.abc import Iterator

import numpy as np
import pytest

from harness.devices import DEVICES, Device
from harness.framework.runtime import session
from harness.graph import IOMONAD, UMONAD, Node
from harness.graph.form import form_of
from harness.memory import MemoryPlan, PlanNode, plan
from harness.memory.plan import VIEWS
from harness.recording import Graph, Launch, Observer, Operator
from tests.framework.compile.build import graph_mode
from tests.gate.networks import NETWORKS
from tests.gate.networks.recorder import Recorder

RUBBISH = 0xA5


class Buffer(Observer):
    """Keeps every result where the plan puts it, scribbles over what a kernel is about to write, and compares what
    each kernel is given with what lies in the buffer."""

    def __init__(self, device: Device) -> None:
        self.device = device
        self.plans: dict[Graph, MemoryPlan] = {}
        self.memory: dict[Graph, np.ndarray] = {}
        self.nodes: dict[Operator, tuple[Node, PlanNode]] = {}
        self.compared = 0

    def graph_declared(self, graph: Graph) -> None:
        form = form_of(graph)
        found = self.plans[graph] = plan(form, self.device)
        self.memory[graph] = np.full(found.total, RUBBISH, np.uint8)
        nodes = zip(form.execution_order, found.state.nodes, strict=True)
        self.nodes.update(zip(graph.order, nodes, strict=True))

    def launch_begin(self, launch: Launch) -> None:
        node, planned = self.nodes[launch.operator]
        for tensor in (*planned.workspaces, *(() if node.op in VIEWS else planned.outputs)):
            self.bytes_of(launch, tensor)[:] = RUBBISH
        sources = dict(self.sources(node, planned))
        for slot in launch.inputs:
            tensor = sources.get(slot.index)
            if tensor is not None and len(held := self.bytes_of(launch, tensor)):
                assert held[: slot.array.nbytes].tobytes() == slot.array.tobytes(), f"{node.name} input {slot.index}"
                self.compared += 1

    def launch_end(self, launch: Launch) -> None:
        _node, planned = self.nodes[launch.operator]
        for slot in launch.outputs:
            held = self.bytes_of(launch, planned.outputs[slot.index])
            if len(held):
                held[: slot.array.nbytes] = np.frombuffer(slot.array.tobytes(), np.uint8)

    def sources(self, node: Node, planned: PlanNode) -> Iterator[tuple[int, int]]:
        """``(position among the node's inputs, tensor)`` of what is not a parameter."""
        positions = [i for i, operand in enumerate(node.inputs) if operand.spec not in (UMONAD, IOMONAD)]
        for position, source in zip(positions, planned.inputs, strict=True):
            if source.sort == "T":
                yield position, source.index

    def bytes_of(self, launch: Launch, tensor: int) -> np.ndarray:
        """A view of the tensor's planned bytes; empty for one that lies elsewhere."""
        shown = self.plans[launch.graph].state.tensors[tensor]
        return self.memory[launch.graph][shown.offset : shown.offset + shown.aligned]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("device", ["cpu", "ascend-o0"])
@pytest.mark.parametrize("network", NETWORKS)
def test_same_bits_in_one_buffer(network: str, device: str) -> None:
    buffer = Buffer(DEVICES.get(device))
    with graph_mode(), session.fresh([buffer], hooked=False):
        importlib.import_module(f"tests.gate.networks.{network}").play(Recorder())
    read = sum(
        bool(found.state.tensors[source.index].aligned)
        for found in buffer.plans.values()
        for node in found.state.nodes
        for source in node.inputs
        if source.sort == "T"
    )
    assert buffer.compared >= read > 0 or not any(found.total for found in buffer.plans.values())
