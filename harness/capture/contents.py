"""What of a step the dump of a device holds, beyond what its configuration selects.

Sources: the public source of the kernel-by-kernel dump (outputs of batch normalisation, outputs kernels declare
useless, the root graph's directory on Ascend), ``harness.devices`` for the rest; the CPU's is measured.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from harness.compile.fuse import Fusion
from harness.devices import Device
from harness.graph import Graph, Node, TensorSpec
from harness.runtime.observer import Slot

DEFAULT_FORMAT = "DefaultFormat"
#: outputs that GPU and Ascend dumps read, of operators of which they read some only
LOADED: Mapping[str, tuple[int, ...]] = {"BatchNorm": (0, 3, 4), "Print": (), "Send": ()}


class Contents:
    """What the dump of ``device`` holds.

    Attributes:
        parameters: parameters at the end of a step.
        graphs: ``.ir`` and execution order of each graph.
        global_order: the order in which graphs ran.
    """

    def __init__(self, device: Device) -> None:
        self._device = device
        has = device.capabilities.has
        self.parameters = has("parameters")
        self.graphs = has("graphs")
        self.global_order = has("global_order")
        self._selects_outputs = has("useless_outputs") or device.sinks
        self._facts: dict[int, tuple[Node, dict[str, Any]]] = {}

    def graph_of(self, own: Graph, root: Graph) -> int:
        """Id of the graph under whose name a kernel of graph ``own`` is dumped, in a step that starts from ``root``."""
        return root.id if self._device.target == "Ascend" else own.id

    def outputs(self, node: Node, outputs: Sequence[Slot]) -> Sequence[Slot]:
        """The outputs that are dumped."""
        loaded = LOADED.get(node.op) if self._selects_outputs else None
        return outputs if loaded is None else [slot for slot in outputs if slot.index in loaded]

    def format_of(self, node: Node, io: str, slot: Slot) -> str:
        """The format a slot's file names: a sunk graph's tensors lie as on the device, all others as on the host."""
        if not self._device.sinks:
            return DEFAULT_FORMAT
        return self._device.format_for(node, io, slot.index, TensorSpec(slot.dtype, slot.array.shape)).format

    def facts(self, node: Node, io: str) -> Mapping[str, Any]:
        """Stream and task of a kernel; with the result of a fused one its members. Empty on the CPU."""
        if self._device.target == "CPU":
            return {}
        # The node is kept with its facts: an id is a key only while its object lives.
        found = self._facts.get(id(node))
        if found is None:
            found = self._facts[id(node)] = (node, self._facts_of(node))
        facts = found[1]
        return facts if io == "output" else {name: facts[name] for name in ("stream", "task")}

    def _facts_of(self, node: Node) -> dict[str, Any]:
        streams = self._device.streams
        graph = node.extra.get("graph")
        order = graph.execution_order if isinstance(graph, Graph) else []
        position = next((at for at, each in enumerate(order) if each is node), 0)
        facts: dict[str, Any] = {"stream": streams.stream_of(node.op, node.attrs), "task": streams.task_of(position)}
        fusion = node.extra.get("fusion")
        if isinstance(fusion, Fusion):
            facts["members"] = tuple(member.name for member in fusion.members)
        return facts
