"""The parts of a step that a device's dump holds, beyond the selection of its configuration.

Sources: the public source of the kernel-by-kernel dump (outputs of batch normalisation, outputs kernels declare
useless, the root graph's directory on Ascend), ``harness.devices`` for the rest; the CPU's is measured.
"""

from __future__ import annotations

from collections.abc import Sequence

from harness.devices import Device
from harness.dump.node_facts import KernelFacts, facts_of
from harness.dump.plan import LOADED, USELESS_OUTPUTS
from harness.recording import Graph, Operator, Parameter, TensorSpec, Value

DEFAULT_FORMAT = "DefaultFormat"


def is_dumped(op: str, output: int) -> bool:
    """Whether GPU and Ascend dump an output of an operator."""
    useless = USELESS_OUTPUTS.get(op, ())
    return output in LOADED.get(op, (output,)) and useless is not None and output not in useless


class Contents:
    """The content of a dump of ``device``.

    Args:
        raw: whether files use the framing of the asynchronous dump, with tensors in device layout.

    Attributes:
        graphs: ``.ir`` and execution order of each graph.
        global_order: the order in which graphs ran.
    """

    def __init__(self, device: Device, raw: bool = False) -> None:
        self._device = device
        self._raw = raw or device.sinks
        has = device.capabilities.has
        self._parameters = has("parameters")
        self.graphs = has("graphs")
        self.global_order = has("global_order")
        self._selects_outputs = has("useless_outputs") or device.sinks
        self._facts: dict[Operator, KernelFacts] = {}

    def graph_of(self, own: Graph, root: Graph) -> int:
        """Id of the graph under whose name a kernel of graph ``own`` is dumped, in a step that starts from ``root``."""
        return root.id if self._device.target == "Ascend" else own.id

    def root_of(self, graph: Graph) -> int:
        """Id of the graph under whose name kernels of ``graph`` are dumped."""
        return graph.root_id if self._device.target == "Ascend" else graph.id

    def has_parameter(self, parameter: Parameter) -> bool:
        """Whether a parameter is dumped at the end of a step; data inputs are on the CPU only."""
        return self._parameters and (parameter.is_weight or self._device.target == "CPU")

    def outputs(self, node: Operator, outputs: Sequence[Value]) -> Sequence[Value]:
        """The outputs that are dumped."""
        return [slot for slot in outputs if is_dumped(node.type, slot.index)] if self._selects_outputs else outputs

    def format_of(self, node: Operator, io: str, slot: Value) -> str:
        """The format a slot's file names: raw tensors and those of a sunk graph have the device's layout, others the
        host's."""
        if not self._raw:
            return DEFAULT_FORMAT
        return self._device.format_for(node, io, slot.index, TensorSpec(slot.dtype, slot.shape)).format

    def facts(self, node: Operator) -> KernelFacts | None:
        """See ``facts_of``; None on the CPU."""
        if self._device.target == "CPU":
            return None
        found = self._facts.get(node)
        if found is None:
            found = self._facts[node] = facts_of(node, self._device)
        return found
