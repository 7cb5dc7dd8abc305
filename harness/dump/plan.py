"""Decides what a dump does with each operator and parameter, once, when its graph is compiled.

Source: dump_output.md section 9, dump_config.md 2.5, 2.14; the CPU measured, the rest from public source.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import MappingProxyType

import numpy as np

from harness.devices import Device
from harness.devices.formats import DEFAULT, Layout
from harness.dtypes import DType
from harness.dump.config import DumpConfig
from harness.dump.names import PARAMETER, ambiguous
from harness.dump.selection import Selection
from harness.dump.series import Series
from harness.framework.runtime.observer import Slot
from harness.graph import Graph, Node, Parameter, TensorSpec

USELESS_OUTPUTS: MappingProxyType[str, tuple[int, ...] | None] = MappingProxyType(
    {"Send": None, "Print": None, "FlashAttentionScore": (2,)}
)
"""Outputs that kernels declare useless (documented); None means all outputs."""
LOADED: MappingProxyType[str, tuple[int, ...]] = MappingProxyType({"BatchNorm": (0, 3, 4)})
"""The only outputs read on Ascend and GPU, for operators of which not all are read (public source)."""
_CHECKED = frozenset({"float16", "float32", "bfloat16"})


def overflow(slots: Sequence[Slot]) -> bool:
    """Whether the kernel that just ran overflowed: a float16, float32 or bfloat16 result holds a NaN or an infinity, or
    the device saturated one."""
    return any(slot.saturated or _is_wild(slot) for slot in slots if slot.dtype.lower in _CHECKED)


def _is_wild(slot: Slot) -> bool:
    return not bool(np.isfinite(slot.array).all())


class NodePlan:
    """The plan for one operator.

    Attributes:
        node: the operator.
        series: names of its files.
        useless: outputs that are left out; None means all.
        loaded: outputs that are read; None means all.
    """

    __slots__ = ("_layouts", "loaded", "node", "series", "useless")

    def __init__(
        self,
        node: Node,
        series: Series,
        useless: tuple[int, ...] | None = (),
        loaded: tuple[int, ...] | None = None,
    ) -> None:
        self.node = node
        self.series = series
        self.useless = useless
        self.loaded = loaded
        self._layouts: dict[tuple[str, int], Layout] = {}

    def outputs(self, slots: Sequence[Slot]) -> Sequence[Slot]:
        """The outputs that are dumped."""
        if self.useless is None:
            return ()
        if self.loaded is not None:
            slots = [slot for slot in slots if slot.index in self.loaded]
        return [slot for slot in slots if slot.index not in self.useless] if self.useless else slots

    def overflows(self, outputs: Sequence[Slot]) -> bool:
        """Whether the kernel overflowed, see ``overflow``."""
        return overflow(self.outputs(outputs))

    def layout(self, device: Device, io: str, slot: Slot) -> Layout:
        """The layout of a slot on the device; numbers and tuples have the default."""
        key = (io, slot.index)
        layout = self._layouts.get(key)
        if layout is None:
            operands = [i.spec for i in self.node.inputs] if io == "input" else list(self.node.outputs)
            spec = operands[slot.index] if slot.index < len(operands) else None
            layout = DEFAULT
            if isinstance(spec, TensorSpec):
                actual = TensorSpec(slot.dtype, slot.array.shape)
                layout = device.format_for(self.node, io, slot.index, actual)
            self._layouts[key] = layout
        return layout


class Plan:
    """Decides which parts of each graph are dumped, and under which names.

    Args:
        config: configuration that selects.
        device: device that gives streams and decides about parameters.
    """

    def __init__(self, config: DumpConfig, device: Device) -> None:
        self.selection = Selection(config.kernels)
        self._config = config
        self._device = device
        self._nodes: dict[Node, NodePlan] = {}
        self._parameters: dict[Parameter, Series] = {}

    def add(self, graph: Graph) -> None:
        """Plans the graph's kernels and parameters."""
        unclear = ambiguous(node.name for node in graph.nodes)
        for node in graph.nodes:
            if node.kernel:
                self._plan_node(node, node.name in unclear)
        unclear = ambiguous(parameter.name for parameter in graph.parameters)
        for parameter in graph.parameters:
            self._plan_parameter(parameter, parameter.name in unclear)

    def node(self, node: Node) -> NodePlan:
        """The plan of an operator, even if no graph announced it."""
        return self._nodes.get(node) or self._plan_node(node)

    def parameter(self, parameter: Parameter) -> Series:
        """The series of a parameter, even if no graph announced it."""
        return self._parameters.get(parameter) or self._plan_parameter(parameter)

    def constant(self, name: str) -> Series:
        """The series of the tensor constant ``data-N``, which is selected as ``Default/data-N``."""
        return Series(PARAMETER, name, selected=self._takes(f"Default/{name}", marked=False))

    def _plan_node(self, node: Node, is_ambiguous: bool = False) -> NodePlan:
        stream = self._device.streams.stream_of(node.op, node.attrs)
        selected = self._takes(node.name, marked=node.attrs.get("dump") == "true")
        series = Series(node.op, node.name, selected=selected, is_ambiguous=is_ambiguous, stream=stream)
        plan = self._nodes[node] = NodePlan(node, series)
        if self._device.target != "CPU":
            plan.loaded = LOADED.get(node.op)
        if self._config.ignore_useless_output and self._device.capabilities.has("useless_outputs"):
            plan.useless = USELESS_OUTPUTS.get(node.op, ())
        return plan

    def _plan_parameter(self, parameter: Parameter, is_ambiguous: bool = False) -> Series:
        has = self._device.capabilities.has("parameters")
        # On the GPU data inputs have no files: an Add of two inputs gives three files there, five on the CPU.
        here = has and (parameter.is_weight or self._device.target != "GPU")
        selected = here and self._takes(parameter.name, marked=False)
        series = self._parameters[parameter] = Series(
            PARAMETER, parameter.name, selected=selected, is_ambiguous=is_ambiguous
        )
        return series

    def _takes(self, name: str, *, marked: bool) -> bool:
        selects = self._config.selects
        if selects == "kernels":
            return self.selection.takes(name)
        return selects == "everything" or (selects == "marked" and marked)

    def used(self, series: Series, name: str | None = None) -> None:
        """Notes that something of ``series`` was dumped; its rule (that of ``name``) counts as used."""
        if not series.used:
            series.used = True
            self.selection.dumped(name or series.name)


def dtype_of(parameter: Parameter, fallback: DType) -> DType:
    """The dtype of a parameter's tensor."""
    return parameter.spec.dtype if isinstance(parameter.spec, TensorSpec) else fallback
