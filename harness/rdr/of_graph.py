"""Records one kernel graph."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar

from harness.devices import Device
from harness.graph.debug_text import DebugTexts
from harness.graph.form import form_of
from harness.graph.recorded_text import build_text
from harness.memory import Addresses, MemoryPlan, addresses, plan, texts
from harness.rdr.container import Recorders
from harness.rdr.names import HWOPT
from harness.rdr.recorders.execution_order import UNSET_LABEL, OrderEntry
from harness.rdr.recorders.graph import GraphTexts
from harness.rdr.recorders.stream_order import StreamEntry
from harness.rdr.recorders.task_info import Task
from harness.recording import Graph, Operator

T = TypeVar("T")
BASE = 0x7F0000000000
"""Address of the first byte; graphs follow one another."""
PAGE = 4096
MEMORY_TEXTS = ("initial_info", "pre_processed_info")


def _once(graph: Graph, what: tuple[object, ...], make: Callable[[], T]) -> T:
    """Computes something from a finished graph only once, however many recorders need it."""
    kept: dict[tuple[object, ...], T] = graph.kept
    key = (*what, len(graph.operators)) if graph.eager else what
    if key not in kept:
        kept[key] = make()
    return kept[key]


def _planned(graph: Graph, device: Device, reuse: bool) -> MemoryPlan:
    """The runtime's own plan, or the one that the device's rules make."""
    if graph.memory is not None:
        given: MemoryPlan = graph.memory()
        return given
    return plan(form_of(graph), device=device, reuse=reuse)


class GraphRecords:
    """Records graphs as they are compiled.

    Attributes:
        addresses: of each kernel.
    """

    def __init__(self, recorders: Recorders, device: Device) -> None:
        self.addresses: dict[Operator, Addresses] = {}
        self._recorders = recorders
        self._device = device
        self._base = BASE
        self._lock = threading.Lock()

    def compiled(self, graph: Graph, reuse: bool, graph_mode: bool) -> None:
        """Records a finished kernel graph.

        Args:
            reuse: whether its tensors share memory; then the texts of the plan are recorded as well.
            graph_mode: whether graph mode is on; otherwise only addresses are known (measured).
        """
        planned = _once(graph, ("plan", self._device.name, reuse), lambda: _planned(graph, self._device, reuse))
        with self._lock:
            by_name = self._place(planned)
        for operator in graph.order:
            if operator.name in by_name:
                self.addresses[operator] = by_name[operator.name]
        if not graph_mode:
            return
        if reuse and planned.planned:
            self._memory_texts(planned)
        self._graph(graph)
        if self._device.target == "Ascend":
            self._ascend(graph, by_name)

    def _place(self, planned: MemoryPlan) -> dict[str, Addresses]:
        found = addresses(planned, self._base)
        ends = [
            entry.start + entry.size
            for of in found.values()
            for entry in (*of.inputs, *of.workspaces, *of.outputs)
            if entry.start is not None
        ]
        self._base = -(-max([self._base + planned.total, *ends]) // PAGE) * PAGE
        return found

    def _memory_texts(self, planned: MemoryPlan) -> None:
        for stage in MEMORY_TEXTS:
            name = f"{planned.device}_somas_{stage}.{planned.graph_id}"
            self._recorders.record("text", "OPTIMIZER", name, texts.info(planned, stage))
        if planned.initial.tensors:
            name = f"{planned.device}_somas_offline_log.{planned.graph_id}"
            self._recorders.record("text", "OPTIMIZER", name, texts.offline_log(planned))

    def _graph(self, graph: Graph) -> None:
        from harness.graph import pb  # needs protobuf

        form = form_of(graph)
        text = _once(graph, ("text",), lambda: build_text(form))
        content = GraphTexts(text, _once(graph, ("pb",), lambda: pb.write(form)), ".ir;.pb")
        self._recorders.record("graph", "SESSION", f"graph_build.{graph.id}", content)
        debug = DebugTexts(form)
        order = tuple(OrderEntry(debug.node(node), UNSET_LABEL, graph.id) for node in form.execution_order)
        self._recorders.record("graph_exec_order", "SESSION", f"graph_exec_order.{graph.id}", order)
        if self._device.target == "Ascend":
            self._recorders.record("documented graph", "SESSION", f"{HWOPT}{graph.id}", GraphTexts(content.ir))

    def _ascend(self, graph: Graph, by_name: dict[str, Addresses]) -> None:
        form = form_of(graph)
        streams, debug = self._device.streams, DebugTexts(form)
        numbers = [streams.stream_of(node.op, node.attrs) for node in form.execution_order]
        entries = tuple(
            StreamEntry(node.name, debug.node(node), stream, UNSET_LABEL)
            for node, stream in zip(form.execution_order, numbers, strict=True)
        )
        self._recorders.record("stream_exec_order", "SESSION", f"assign_stream.{graph.id}", entries)
        if self._device.sinks:
            tasks = []
            for at, (node, stream) in enumerate(zip(form.execution_order, numbers, strict=True)):
                of = by_name.get(node.name, Addresses((), (), ()))
                tasks.append(
                    Task(node.name, at, stream, inputs=of.inputs, outputs=of.outputs, workspaces=of.workspaces)
                )
            self._recorders.record("task_info", "DEVICE", f"task_info_graph.{graph.id}", tuple(tasks))
