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
from harness.dump.names import PARAMETER, ambiguous, mangle
from harness.dump.selection import Selection
from harness.dump.series import Series
from harness.recording import Graph, Launch, OpaqueSpec, Operator, Parameter, TensorSpec, Value

USELESS_OUTPUTS: MappingProxyType[str, tuple[int, ...] | None] = MappingProxyType(
    {"Send": None, "Print": None, "FlashAttentionScore": (2,)}
)
"""Outputs that kernels declare useless (documented); None means all outputs."""
LOADED: MappingProxyType[str, tuple[int, ...]] = MappingProxyType({"BatchNorm": (0, 3, 4)})
"""The only outputs read on Ascend and GPU, for operators with outputs that are not read (public source)."""
_CHECKED = frozenset({"float16", "float32", "bfloat16"})


def overflow(slots: Sequence[Value], saturated: bool) -> bool:
    """Whether the kernel that just ran overflowed: a float16, float32 or bfloat16 result holds a NaN or an infinity, or
    the device ``saturated`` one."""
    return any(saturated or _is_wild(slot) for slot in slots if slot.dtype.lower in _CHECKED and slot.gap is None)


def _is_wild(slot: Value) -> bool:
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
        node: Operator,
        series: Series,
        useless: tuple[int, ...] | None = (),
        loaded: tuple[int, ...] | None = None,
    ) -> None:
        self.node = node
        self.series = series
        self.useless = useless
        self.loaded = loaded
        self._layouts: dict[tuple[str, int], Layout] = {}

    def outputs(self, slots: Sequence[Value]) -> Sequence[Value]:
        """The outputs that are dumped."""
        if self.useless is None:
            return ()
        if self.loaded is not None:
            slots = [slot for slot in slots if slot.index in self.loaded]
        return [slot for slot in slots if slot.index not in self.useless] if self.useless else slots

    def overflows(self, launch: Launch) -> bool:
        """Whether the kernel overflowed, see ``overflow``."""
        return overflow(self.outputs(launch.outputs), launch.saturated)

    def layout(self, device: Device, io: str, slot: Value) -> Layout:
        """The layout of a slot on the device; numbers and tuples have the default."""
        key = (io, slot.index)
        layout = self._layouts.get(key)
        if layout is None:
            layout = DEFAULT
            if self._is_tensor(io, slot.index):
                actual = TensorSpec(slot.dtype, slot.shape)
                layout = device.format_for(self.node, io, slot.index, actual)
            self._layouts[key] = layout
        return layout

    def _is_tensor(self, io: str, slot: int) -> bool:
        """Whether a slot holds a tensor, as far as its graph says."""
        if io == "output":
            spec = self.node.outputs[slot] if slot < len(self.node.outputs) else None
        else:
            operand = self.node.inputs[slot] if slot < len(self.node.inputs) else None
            spec = None if operand is None else operand.spec
        return spec is None or isinstance(spec, TensorSpec) or spec == OpaqueSpec("Unknown")


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
        self._nodes: dict[Operator, NodePlan] = {}
        self._parameters: dict[Parameter, Series] = {}
        self._taken: dict[str, str] = {}

    def add(self, graph: Graph) -> None:
        """Plans the graph's kernels and parameters."""
        unclear = ambiguous(node.name for node in graph.operators)
        for node in graph.operators:
            if node not in self._nodes:
                self._plan_node(node, node.name in unclear)
        unclear = ambiguous(parameter.name for parameter in graph.parameters)
        for parameter in graph.parameters:
            if parameter not in self._parameters:
                self._plan_parameter(parameter, parameter.name in unclear)

    def node(self, node: Operator) -> NodePlan:
        """The plan of an operator, even if no graph announced it yet, as an eager one does."""
        found = self._nodes.get(node)
        if found is None:
            found = self._plan_node(node, self._taken.get(mangle(node.name), node.name) != node.name)
        return found

    def parameter(self, parameter: Parameter) -> Series:
        """The series of a parameter, even if no graph announced it."""
        return self._parameters.get(parameter) or self._plan_parameter(parameter)

    def constant(self, name: str) -> Series:
        """The series of the tensor constant ``data-N``, which is selected as ``Default/data-N``."""
        return Series(PARAMETER, name, selected=self._takes(f"Default/{name}", marked=False))

    def _plan_node(self, node: Operator, is_ambiguous: bool = False) -> NodePlan:
        stream = self._device.streams.stream_of(node.type, node.attributes)
        selected = self._takes(node.name, marked=node.attributes.get("dump") == "true")
        series = Series(node.type, node.name, selected=selected, is_ambiguous=is_ambiguous, stream=stream)
        plan = self._nodes[node] = NodePlan(node, series)
        self._taken.setdefault(mangle(node.name), node.name)
        if self._device.target != "CPU":
            plan.loaded = LOADED.get(node.type)
        if self._config.ignore_useless_output and self._device.capabilities.has("useless_outputs"):
            plan.useless = USELESS_OUTPUTS.get(node.type, ())
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
