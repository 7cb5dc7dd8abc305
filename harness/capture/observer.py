"""Collects a run in memory, as a dump tree of the same run would hold it."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from harness import dtypes, environment
from harness.capture.capture import Capture, Problem
from harness.capture.contents import Contents
from harness.capture.declared import Declarations
from harness.capture.lookup import Lookup, looked_up, nowhere
from harness.capture.made import Made
from harness.capture.normalise import ir_text, source_of
from harness.capture.texts import Texts
from harness.devices import Device
from harness.devices.cpu import CPU
from harness.dump.counter import IterationCounter
from harness.dump.names import PARAMETER
from harness.graph import ir
from harness.graph.form import form_of
from harness.recording import Graph, Launch, Observer, Operator, Step, TensorSpec, Value
from harness.records import Record, SlotKey
from harness.stats.digest import digest

Array = np.ndarray[Any, np.dtype[Any]]

ORDER_HEADER = "NodeExecutionOrder-FullNameWithScope"


class CaptureObserver(Observer):
    """Makes records of every slot of every kernel, and of every parameter at the end of a step.

    The rules are those of a dump tree: a kernel's inputs are taken after it ran, then its outputs; empty tensors leave
    nothing; parameters follow in ``%para`` order; labels come from the process-wide counter; tensors that the device's
    dump lacks are left out. Equal arrays are kept only once.

    Except on the CPU, ``Record.extra`` gives the ``stream`` and ``task`` of a kernel; with fusion also its name
    ``alone``, and the ``members`` of a fused kernel.

    Args:
        rank: process rank.
        rootdir: source paths are given relative to it; the current directory by default.
        counter: gives each step its label; a new one by default.
        device: device whose dump it is.
        raw: whether the dump uses the DumpData framing, which has tensors in the device's formats.

    Attributes:
        lookup: asked for large arrays before they are copied; see ``looked_up``.

    Examples:
        >>> import numpy as np
        >>> from harness.capture import CaptureObserver
        >>> from harness.recording import Recording
        >>> heard = CaptureObserver()
        >>> with Recording("tinyrt 1.0", observers=[heard]) as recording:
        ...     graph = recording.eager()
        ...     with recording.step(graph) as step, step.launch(graph.operator("Ones", mutates=())) as launch:
        ...         _ = launch.done(np.ones(2))
        >>> heard.capture("Net", "tinyrt", emulated=False, rules={}).network
        'Net'
    """

    lookup: Lookup

    def __init__(
        self,
        rank: int = 0,
        rootdir: str | None = None,
        counter: IterationCounter | None = None,
        device: Device = CPU,
        raw: bool = False,
    ) -> None:
        self.lookup = nowhere
        self._rank = rank
        self._contents = Contents(device, raw)
        self._rootdir = os.path.abspath(rootdir or os.getcwd())
        self._counter = counter or IterationCounter()
        self._step: Step | None = None
        self._iteration = 0
        self._records: list[Record] = []
        self._artefacts: dict[str, str | Callable[[], str]] = {}
        self._order: dict[int, tuple[str, ...]] = {}
        self._global: dict[int, list[int]] = {}
        self._last_global: int | None = None
        self._kept: dict[bytes, Array | Callable[[], Array]] = {}
        self._executions: dict[tuple[int, int, str], int] = {}
        self._sources: dict[Operator, str | None] = {}
        self._gaps: list[Problem] = []
        self._failed: list[Record] = []
        # No method of its own: a circle would keep the values until the collector runs.
        self._source = partial(_source, self._sources, self._rootdir)
        self._declared = Declarations(rank, self._contents.root_of, self._source)

    def graph_declared(self, graph: Graph) -> None:
        """Keeps the graph's operators, ``.ir`` and execution order."""
        self._declared.graph(graph)
        if not self._contents.graphs:
            return
        names = tuple(operator.name for operator in graph.order)
        self._order[graph.id] = names
        rootdir = self._rootdir
        # Running a graph does not change it, so that its text can be made when it is first read.
        self._artefacts[f"graphs/ms_output_trace_code_graph_{graph.id}.ir"] = lambda: ir_text(
            ir.write(form_of(graph)), rootdir
        )
        csv = "".join(f"{line}\n" for line in (ORDER_HEADER, *names))
        self._artefacts[f"execution_order/ms_execution_order_graph_{graph.id}.csv"] = csv

    def step_begin(self, step: Step) -> None:
        """Gives the step its label."""
        self._step = step
        self._iteration = self._counter.begin(step.label)
        if self._contents.global_order and self._iteration != self._last_global:
            self._global.setdefault(step.graph.id, []).append(self._iteration)
            self._last_global = self._iteration

    def launch_end(self, launch: Launch) -> None:
        """Records one execution of an operator, ``launch``."""
        self._record(launch, launch.updated, launch.outputs)

    def launch_failed(self, launch: Launch, error: BaseException) -> None:
        """Keeps what the operator of ``launch`` was given, apart from the records; ``error`` is its own."""
        kept, gaps, numbers = self._records, len(self._gaps), dict(self._executions)
        self._records = self._failed
        try:
            self._record(launch, launch.inputs, ())
        finally:
            self._records, self._executions = kept, numbers
            del self._gaps[gaps:]

    def _record(self, launch: Launch, inputs: Sequence[Value], outputs: Sequence[Value]) -> None:
        operator = launch.operator
        if self._step is None:
            raise RuntimeError(f"{operator.name} ran outside of a step")
        contents = self._contents
        graph = contents.graph_of(launch.graph, self._step.graph)
        name = operator.name
        execution = self._execution(graph, name)
        if operator not in self._sources and operator.graph is not None and operator.graph.eager:
            self._declared.launched(operator, self._iteration)
        source, op, facts = self._source(operator), operator.type, contents.facts(operator)
        for io, slots in (("input", inputs), ("output", contents.outputs(operator, outputs))):
            for slot in slots:
                key = SlotKey(self._rank, graph, self._iteration, name, execution, io, slot.index)
                if slot.gap is not None:
                    self._gaps.append(Problem(f"{name} {io}.{slot.index}", "gap", slot.gap, key, op))
                    continue
                shown = contents.format_of(operator, io, slot)
                record = Record(key, op, slot.dtype.name, slot.shape, shown, slot.array, source)
                if facts is not None:
                    extra = record.extra
                    extra.stream, extra.task, extra.alone, extra.members = facts
                self._keep(record)

    def step_end(self, step: Step) -> None:
        """Records the parameters of ``step`` as they are now, and moves the counter."""
        for parameter, array in step.parameters():
            if not self._contents.has_parameter(parameter):
                continue
            execution = self._execution(step.graph.id, "\0" + parameter.name)
            key = SlotKey(self._rank, step.graph.id, self._iteration, parameter.name, execution, "output", 0)
            spec = parameter.spec
            dtype = spec.dtype if isinstance(spec, TensorSpec) else dtypes.from_numpy(array.dtype)
            self._keep(Record(key, PARAMETER, dtype.name, array.shape, values=array))
        self._counter.finished(step.run)
        self._step = None

    def failed(self, step: Step, error: BaseException) -> None:
        """Ends the step after ``error``; the next one gets the same label, because the run did not finish."""
        self._step = None

    def capture(
        self,
        network: str,
        backend: str,
        *,
        mode: str = "tensor",
        emulated: bool = True,
        rules: dict[str, Any] | None = None,
    ) -> Capture:
        """The capture of everything so far; it does not change when the observer goes on.

        Args:
            network: name of the capture's network.
            backend: who ran it.
            mode: the dump mode.
            emulated: whether its numbers are of a device that was emulated.
            rules: where the values are from.
        """
        artefacts = dict(self._artefacts)
        for graph, labels in self._global.items():
            text = "".join(f"{label}\n" for label in labels)
            artefacts[f"execution_order/ms_global_execution_order_graph_{graph}.csv"] = text
        texts = Texts(artefacts)
        made = Capture(
            network, backend, emulated, tuple(self._records), mode, dict(rules or {}), texts, dict(self._order)
        )
        made.problems, made.failed = list(self._gaps), tuple(self._failed)
        made.operators, made.results = self._declared.made()
        made.environment = Made(environment.facts)
        made.engine = self._declared.engine
        return made

    def _execution(self, graph: int, name: str) -> int:
        key = (graph, self._iteration, name)
        number = self._executions.get(key, 0)
        self._executions[key] = number + 1
        return number

    def _copied(self, array: Array, key: SlotKey, content: bytes) -> Array | Callable[[], Array]:
        loads = looked_up(array, key, content, self.lookup)
        if loads is not None:
            return loads
        copy: Array = np.array(array, order="C", copy=True)
        copy.flags.writeable = False
        return copy

    def _keep(self, record: Record) -> None:
        """Adds a record. Its values are the runtime's own array, which must be copied to be kept."""
        array = record.values
        assert isinstance(array, np.ndarray)
        if array.size == 0:
            return
        record.digest = content = digest(array, record.dtype)
        kept = self._kept.get(content)
        if kept is None:
            kept = self._kept[content] = self._copied(array, record.key, content)
        record.values = kept
        self._records.append(record)


def _source(known: dict[Operator, str | None], rootdir: str, operator: Operator) -> str | None:
    """The user's line of an operator, relative to a directory; ``known`` has those told before."""
    if operator not in known:
        known[operator] = source_of(operator.source or operator.related, rootdir)
    return known[operator]
