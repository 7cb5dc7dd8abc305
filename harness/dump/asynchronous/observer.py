"""The asynchronous dump: an observer that passes tensors to a queue while the network continues.

What is selected, and the labels of steps, are as in the synchronous dump; directories, names and files are those of
``layout``, ``names`` and ``writing``. Files hold an operator's inputs and outputs; parameters have no files of their
own (documented). Only values that are not stable are copied.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial

from harness import log
from harness.devices.device import Device
from harness.devices.overflow import SATURATING
from harness.dump import metadata
from harness.dump.asynchronous import layout, opdebug, writing
from harness.dump.asynchronous.memory import Array, keep, kept_bytes
from harness.dump.asynchronous.names import Style, base_name, op_name, style_of
from harness.dump.asynchronous.queued import QueuedTree
from harness.dump.asynchronous.write_queue import WriteQueue
from harness.dump.config import DumpConfig
from harness.dump.counter import IterationCounter
from harness.dump.gaps import Gaps
from harness.dump.names import Clock, ambiguous
from harness.dump.observer import device_of
from harness.dump.plan import USELESS_OUTPUTS, NodePlan, Plan, overflow
from harness.dump.writer import Directory, Tree
from harness.errors import DumpWriteError
from harness.recording import Engine, Graph, Launch, Observer, Operator, Step, Value, Want

_OVERFLOW = frozenset({1, 2, 3})
_ATOMIC_ONLY = 2
_EXCEPTION = 4
_STATUS = 32
"""Status bits in emulated overflow records; a real chip sets its own."""
_log = log.get("dump.asynchronous")


@dataclass(frozen=True, slots=True)
class _Kernel:
    """Facts about a node, known at compile time.

    Attributes:
        plan: the parts to dump.
        name: the operator's name in file names; its full name if the short one is ambiguous.
        ids: task and stream.
    """

    plan: NodePlan
    name: str
    ids: tuple[int, int]


class AsyncDumpObserver(Observer):
    """Writes the asynchronous dump of a process.

    Args:
        config: the parsed configuration, with ``method`` ``async``; its ``path`` is the only directory written to.
        device: gives storage formats, stream and task ids; by default that of the configuration.
        rank: rank of the process, and id of its device.
        queue: queue of waiting tensors; a default one if None.
        time: start of the dump, for the directory of that name.
        engine: who runs the graphs, for the marks; None for an emulation.

    Raises:
        DumpWriteError: (any hook) the disk failed; files written before are whole; waiting ones are lost.
    """

    keeps = True

    def __init__(
        self,
        config: DumpConfig,
        device: Device | None = None,
        rank: int = 0,
        queue: WriteQueue | None = None,
        time: datetime | None = None,
        engine: Engine | None = None,
    ) -> None:
        self.config = config
        self.engine = engine
        self.before = config.op_debug_mode == _EXCEPTION
        self.gaps = Gaps()
        self.rank = rank
        self.queue = queue or WriteQueue()
        self.counter = IterationCounter(config.initial_iteration)
        self.overflows = 0
        self.device = device or device_of(config)
        self._layout = layout.layout_of(config, rank, time or datetime.now())
        self._style = style_of(config.generation)
        timed = not self._layout.has_graphs  # directories named by the time
        self._tree = Tree(config.path, named_anew=timed)
        self._queued = QueuedTree(config.path, self.queue, named_anew=timed)
        self._plan = Plan(config, self.device)
        self._clock = Clock()
        self._kernels: dict[Operator, _Kernel] = {}
        self._names: dict[str, None] = {}
        self._families: dict[int, list[Graph]] = {}
        self._started = False
        self._place: layout.GraphRun | None = None
        self._step: Step | None = None
        self._directories: dict[tuple[str, ...], Directory | None] = {}

    # --- hooks ----------------------------------------------------------------------------------------------------

    def start(self) -> None:
        """Writes the files at the top of the tree, once; the first hook does it if not called before."""
        if not self._started:
            self._started = True
            self._write_acl_dump(None)

    def graph_declared(self, graph: Graph) -> None:
        """Decides what of the graph is dumped; earlier releases write its texts."""
        self.queue.check()
        self.start()
        if self._layout.has_graphs:
            metadata.write_graph(Tree("/".join((self.config.path, *self._layout.root))), graph)
        self._plan.add(graph)
        # Graphs of one root share its directory.
        family = self._families.setdefault(graph.root_id if graph.root_id >= 0 else graph.id, [])
        if graph not in family:
            family.append(graph)
        unclear = _unclear([node.name for each in family for node in each.operators], self._style)
        for each in family:
            for position, node in enumerate(each.order):
                self._add(node, position, node.name in unclear)
        if not self._layout.has_graphs and self.config.file_format == "npy":
            self._names.update(dict.fromkeys(node.name for node in graph.order))
            self._write_operators()

    def _add(self, node: Operator, position: int, is_unclear: bool = False) -> _Kernel:
        streams = self.device.streams
        ids = streams.task_of(position), streams.stream_of(node.type, node.attributes)
        name = node.name if is_unclear else op_name(node.name, self._style)
        kernel = self._kernels[node] = _Kernel(self._plan.node(node), name, ids)
        return kernel

    def step_begin(self, step: Step) -> None:
        """Decides whether the step is dumped."""
        self.queue.check()
        self.start()
        self._end_step()
        label = self.counter.begin(step.label)
        if label in self.config.iteration:
            self._step = step
            self._place = layout.GraphRun(label, step.graph.id, step.run)
            self._write_acl_dump(label)

    def wants(self, operator: Operator, io: str, slot: int) -> Want:
        """Nothing of steps, operators and slots that are not dumped; the tensor of others."""
        if self._step is None:
            return Want.NOTHING
        mode = self.config.op_debug_mode
        if mode == _EXCEPTION:
            return Want.VALUES if io == "input" else Want.NOTHING
        if not self._known(operator).plan.series.selected:
            return Want.NOTHING
        asked = self.config.wants_inputs if io == "input" else self.config.wants_outputs or mode in _OVERFLOW
        return Want.VALUES if asked else Want.NOTHING

    def launch_begin(self, launch: Launch) -> None:
        """Raises ``DumpWriteError`` if an earlier write failed."""
        self.queue.check()

    def launch_end(self, launch: Launch) -> None:
        """Hands a kernel's inputs and outputs to the queue; raises ``DumpWriteError`` if an earlier write failed."""
        self.queue.check()
        if self._step is None or self._place is None or self.config.op_debug_mode == _EXCEPTION:
            return
        kernel = self._known(launch.operator)
        made = self._outputs(kernel, launch.outputs)
        if not kernel.plan.series.selected:
            return
        if self.config.op_debug_mode in _OVERFLOW and not self._counts(kernel, overflow(made, launch.saturated)):
            return
        given = launch.updated if self.config.wants_inputs else ()
        self._submit(launch.operator, kernel, self._place, given, made if self.config.wants_outputs else ())

    def launch_failed(self, launch: Launch, error: BaseException) -> None:
        """With op_debug_mode 4 the failing operator's inputs are dumped."""
        asked = self._place is not None and self.config.op_debug_mode == _EXCEPTION
        if asked and self._place is not None and not isinstance(error, DumpWriteError):
            self._submit(launch.operator, self._known(launch.operator), self._place, launch.inputs, ())

    def _known(self, node: Operator) -> _Kernel:
        return self._kernels.get(node) or self._add(node, len(self._kernels))

    def _outputs(self, kernel: _Kernel, outputs: Sequence[Value]) -> Sequence[Value]:
        """The outputs that are dumped; for a sunk graph without those that kernels declare useless."""
        useless = USELESS_OUTPUTS.get(kernel.plan.node.type, ()) if self.device.sinks else ()
        if useless is None:
            return ()
        return [slot for slot in kernel.plan.outputs(outputs) if slot.index not in useless]

    def step_end(self, step: Step) -> None:
        """Advances the counter; the queue keeps writing."""
        self.queue.check()
        self._end_step()
        self.counter.finished(step.run)

    def failed(self, step: Step, error: BaseException) -> None:
        """Ends the step. The label stays, because the run did not finish."""
        self._end_step()

    def closed(self) -> None:
        """Waits until everything is written; reports each ``kernels`` entry under which nothing was dumped, once.

        Raises:
            DumpWriteError: writing failed, and no hook has reported it yet.
        """
        self._end_step()
        self.queue.close()
        self._plan.selection.report_unused(_log)
        self.gaps.report(_log)

    # --- files ----------------------------------------------------------------------------------------------------

    def _submit(
        self, node: Operator, kernel: _Kernel, place: layout.GraphRun, inputs: Sequence[Value], outputs: Sequence[Value]
    ) -> None:
        """Passes one execution to the queue, copied if needed, or writes it directly if it never fits."""
        directory = self._open(self._layout.tensors(place))
        slots = [("input", slot) for slot in inputs] + [("output", slot) for slot in outputs]
        for io, slot in slots:
            if slot.gap is not None:
                self.gaps.add(node.name, io, slot)
        slots = [(io, slot) for io, slot in slots if slot.gap is None]
        if directory is None or not slots:
            return
        self._plan.used(kernel.plan.series)
        raw = self.config.file_format == "bin"
        shown = [(io, slot, kernel.plan.layout(self.device, io, slot)) for io, slot in slots]
        cost = sum(
            kept_bytes(slot.array, slot.stable) + writing.writing_cost(slot.array, slot.dtype, lies, raw=raw)
            for _io, slot, lies in shown
        )
        taken = keep if self.queue.make_room(cost) else _as_it_is
        tensors = tuple(
            writing.Tensor(io, slot.index, taken(slot.array, slot.stable), slot.dtype, lies) for io, slot, lies in shown
        )
        stamp = self._clock.stamp()
        name = op_name(node.name, self._style) if raw else kernel.name
        base = base_name(node.type, name, *kernel.ids, stamp)
        execution = writing.DumpedExecution(base, node.type, node.name, kernel.ids, stamp, tensors)
        write = writing.write_raw if raw else partial(writing.write_saved, self.config, self._style == "whole")
        self.queue.submit(partial(write, directory, execution), cost)

    def _counts(self, kernel: _Kernel, overflows: bool) -> bool:
        """Whether a kernel overflowed and is among the first ``overflow_number``; writes a record."""
        limit = self.config.overflow_number
        if self.config.op_debug_mode == _ATOMIC_ONLY or (limit and self.overflows >= limit):
            return False  # no emulated kernel adds atomically
        if not overflows:
            return False
        self.overflows += 1
        self._write_record(kernel)
        return True

    def _write_record(self, kernel: _Kernel) -> None:
        place = self._place
        assert place is not None  # only kernels of a dumped step are examined
        directory = self._open(self._layout.records(place))
        if directory is None:
            return
        old = self._layout.has_graphs or self.device.soc in SATURATING
        record = opdebug.core_overflow(*kernel.ids, place.graph, _STATUS, old=old)
        stamp = self._clock.stamp()
        base = base_name(opdebug.OP_TYPE, opdebug.OP_NAME, *kernel.ids, stamp)
        content = opdebug.build(record)
        action: Callable[[], object]
        if self.config.file_format == "bin":
            action = partial(writing.write_record, directory, base, stamp, opdebug.OP_NAME, content)
        else:
            text = opdebug.to_json(record, compact=True).encode()
            action = partial(directory.write, f"{base}.output.0.json", [text])
        self.queue.submit(action, len(content))

    def _open(self, parts: tuple[str, ...]) -> Directory | None:
        if parts not in self._directories:
            self._directories[parts] = self._tree.open(*parts)
        return self._directories[parts]

    def _end_step(self) -> None:
        self._step = self._place = None
        for directory in self._directories.values():
            if directory is not None:
                self.queue.afterwards(directory.close)
        self._directories.clear()

    def _write_operators(self) -> None:
        """Writes the full names, which file names do not contain; a raw file holds its own operator's."""
        with self._queued.opened() as directory:
            if directory is not None:
                directory.write(layout.operators_name(self.rank), [layout.operators(self._names, self.engine).encode()])

    def _write_acl_dump(self, label: int | None) -> None:
        if self._layout.has_graphs:
            return
        with self._queued.opened() as directory:
            if directory is not None:
                directory.write(
                    layout.acl_dump_name(self.rank), [layout.acl_dump(self.config, label, self.engine).encode()]
                )


def _unclear(names: Sequence[str], style: Style) -> frozenset[str]:
    """Full names that share their file name of ``style`` with another."""
    if style == "whole":
        return ambiguous(names)
    counts = Counter(op_name(name, style) for name in names)
    return frozenset(name for name in names if counts[op_name(name, style)] > 1)


def _as_it_is(array: Array, _stable: bool) -> Array:
    return array
