"""The asynchronous dump: an observer that hands tensors to a queue while the network goes on.

What is selected, and the labels of steps, are as in the synchronous dump; directories, names and files are those of
``layout``, ``names`` and ``writing``. Files hold an operator's inputs and outputs, and no parameters by themselves
(documented). Only arrays that the run may still change are copied.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial

import numpy as np

from harness import log
from harness.devices.device import Device
from harness.devices.formats import DEFAULT, Layout
from harness.dump import metadata
from harness.dump.asynchronous import layout, opdebug, writing
from harness.dump.asynchronous.memory import LentMemory
from harness.dump.asynchronous.names import UNKNOWN, base_name, op_name, style_of
from harness.dump.asynchronous.queued import QueuedTree
from harness.dump.asynchronous.write_queue import WriteQueue
from harness.dump.config import DumpConfig
from harness.dump.counter import IterationCounter
from harness.dump.names import Clock, ambiguous
from harness.dump.selection import Selection
from harness.dump.writer import Directory, Tree
from harness.graph import Graph, Node, TensorSpec
from harness.runtime.observer import Array, Observer, Slot, Step

_OVERFLOW = frozenset({1, 2, 3})
_ATOMIC_ONLY = 2
_EXCEPTION = 4
_STATUS = 32
"""What emulated overflow records say; a chip sets bits for its own reasons."""
_OLD_CHIPS = ("ascend910a", "ascend910", "ascend310")
_log = log.get("dump.asynchronous")


@dataclass(frozen=True, slots=True)
class _Kernel:
    """What is known of a node at compile time.

    Attributes:
        name: the operator's name in file names.
        selected: it is dumped.
        ids: task and stream.
    """

    name: str
    selected: bool
    ids: tuple[int, int]


class AsyncDumpObserver(Observer):
    """Writes the asynchronous dump of a process.

    Args:
        config: as parsed, with ``method`` ``async``; its ``path`` is the only directory written to.
        device: gives storage formats, stream and task ids; without it everything lies as on the host, and ids are
            unknown (65535).
        rank: of the process, and id of its device.
        queue: tensors wait in it; one of the default bound if None.
        time: when the dump began, for the directory of that name.

    Raises:
        DumpWriteError: (any hook) the disk failed; what was written before is whole, what waited is gone.
    """

    def __init__(
        self,
        config: DumpConfig,
        device: Device | None = None,
        rank: int = 0,
        queue: WriteQueue | None = None,
        time: datetime | None = None,
    ) -> None:
        self.config = config
        self.rank = rank
        self.queue = queue or WriteQueue()
        self.counter = IterationCounter(config.initial_iteration)
        self.overflows = 0
        self._device = device
        self._layout = layout.layout_of(config, rank, time or datetime.now())
        self._style = style_of(config.generation)
        self._memory = LentMemory()
        self._tree = Tree(config.path)
        self._queued = QueuedTree(self._tree, self.queue, self._memory)
        self._selection = Selection(config.kernels)
        self._clock = Clock()
        self._kernels: dict[Node, _Kernel] = {}
        self._started = False
        self._closed = False
        self._place: layout.Place | None = None
        self._step: Step | None = None
        self._directories: dict[tuple[str, ...], Directory | None] = {}
        self._running: tuple[Node, Sequence[Slot]] | None = None

    # --- hooks ----------------------------------------------------------------------------------------------------

    def start(self) -> None:
        """Writes what stands at the top of the tree, once; the first hook does it if nobody else did."""
        if not self._started:
            self._started = True
            self._write_acl_dump(None)

    def graph_compiled(self, graph: Graph) -> None:
        """Decides what of the graph is dumped; earlier releases write its texts."""
        self.queue.check()
        self.start()
        if self._layout.has_graphs:
            metadata.write_graph(Tree("/".join((self.config.path, *self._layout.root))), graph)
        unclear = ambiguous(op_name(node.name, self._style) for node in graph.nodes if node.kernel)
        for position, node in enumerate(graph.execution_order):
            self._kernels[node] = self._kernel(node, graph, position, unclear)

    def _kernel(self, node: Node, graph: Graph, position: int, unclear: frozenset[str] = frozenset()) -> _Kernel:
        ids = (UNKNOWN, UNKNOWN)
        if self._device is not None:
            ids = self._device.streams.task_of(position), self._device.streams.stream_of(node.op, node.attrs)
        name = op_name(node.name, self._style)
        return _Kernel(node.name if name in unclear else name, self._takes(node), ids)

    def _takes(self, node: Node) -> bool:
        selects = self.config.selects
        if selects == "marked":
            return node.attrs.get("dump") == "true"
        return selects == "everything" or (selects == "kernels" and self._selection.takes(node.name))

    def step_begin(self, step: Step) -> None:
        """Decides whether the step is dumped."""
        self.queue.check()
        self.start()
        self._end_step()
        label = self.counter.label
        if label in self.config.iteration:
            self._step = step
            self._place = layout.Place(label, step.graph.id, step.run)
            self._memory.begin(array for _parameter, array in step.parameters())
            self._write_acl_dump(label)

    def kernel_inputs(self, node: Node, inputs: Sequence[Slot]) -> None:
        """Keeps the inputs until the kernel has run, for the dump of one that fails."""
        self.queue.check()
        if self._step is not None and self.config.op_debug_mode == _EXCEPTION:
            self._running = node, inputs

    def kernel_outputs(self, node: Node, inputs: Sequence[Slot], outputs: Sequence[Slot]) -> None:
        """Hands a kernel's inputs and outputs to the queue; raises ``DumpWriteError`` if an earlier write failed."""
        self.queue.check()
        self._running = None
        if self._step is None or self._place is None:
            return
        if "effect" in node.extra:
            self._memory.add((*inputs, *outputs))
        if self.config.op_debug_mode == _EXCEPTION:
            return
        kernel = self._known(node)
        if kernel.selected and (self.config.op_debug_mode not in _OVERFLOW or self._overflowed(kernel, outputs)):
            given = inputs if self.config.wants_inputs else ()
            made = outputs if self.config.wants_outputs else ()
            self._submit(node, kernel, self._place, given, made)

    def _known(self, node: Node) -> _Kernel:
        kernel = self._kernels.get(node)
        if kernel is None:
            step = self._step
            assert step is not None  # only asked for while a step is dumped
            kernel = self._kernels[node] = self._kernel(node, step.graph, len(self._kernels))
        return kernel

    def step_end(self, step: Step) -> None:
        """Moves the counter on; what waits goes on leaving."""
        self.queue.check()
        self._end_step()
        self.counter.finished(step.run)

    def failed(self, node: Node | None, error: BaseException) -> None:
        """With op_debug_mode 4 the failing operator's inputs are dumped. The label stays, as the run did not finish."""
        running, self._running = self._running, None
        if running is not None and running[0] is node and self._place is not None:
            self._submit(running[0], self._known(running[0]), self._place, running[1], ())
        self._end_step()

    def closed(self) -> None:
        """Waits until everything is written; reports each ``kernels`` entry under which nothing was dumped, once.

        Raises:
            DumpWriteError: it could not be written, and no hook has said so yet.
        """
        self._end_step()
        self.queue.close()
        if not self._closed:
            self._closed = True
            for text in self._selection.unused():
                _log.warning("dump: the kernels entry %r matched nothing that was dumped", text)

    # --- files ----------------------------------------------------------------------------------------------------

    def _submit(
        self, node: Node, kernel: _Kernel, place: layout.Place, inputs: Sequence[Slot], outputs: Sequence[Slot]
    ) -> None:
        """Hands one execution to the queue, copied where it must be, or writes it where it never fits."""
        directory = self._open(self._layout.tensors(place))
        slots = [("input", slot) for slot in inputs] + [("output", slot) for slot in outputs]
        if directory is None or not slots:
            return
        self._selection.dumped(node.name)
        raw = self.config.file_format == "bin"
        shown = [(io, slot, self._layout_of(node, io, slot)) for io, slot in slots]
        cost = sum(
            self._memory.kept_bytes(slot.array) + writing.writing_cost(slot.array, slot.dtype, lies, raw=raw)
            for _io, slot, lies in shown
        )
        keep = self._memory.keep if self.queue.make_room(cost) else _as_it_is
        tensors = tuple(writing.Tensor(io, slot.index, keep(slot.array), slot.dtype, lies) for io, slot, lies in shown)
        stamp = self._clock.stamp()
        name = op_name(node.name, self._style) if raw else kernel.name
        base = base_name(node.op, name, *kernel.ids, stamp)
        execution = writing.Execution(base, node.name, stamp, tensors)
        if raw:
            self.queue.submit(partial(writing.write_raw, directory, execution), cost)
        else:
            with_dtype = self._style == "whole"
            self.queue.submit(partial(writing.write_npy, directory, execution, with_dtype=with_dtype), cost)

    def _layout_of(self, node: Node, io: str, slot: Slot) -> Layout:
        if self._device is None:
            return DEFAULT
        return self._device.format_for(node, io, slot.index, TensorSpec(slot.dtype, slot.array.shape))

    def _overflowed(self, kernel: _Kernel, outputs: Sequence[Slot]) -> bool:
        """Whether a floating output holds Inf or NaN and more such operators may be dumped; leaves a record."""
        limit = self.config.overflow_number
        if self.config.op_debug_mode == _ATOMIC_ONLY or (limit and self.overflows >= limit):
            return False  # no emulated kernel adds atomically
        if not any(slot.dtype.is_floating and not np.isfinite(slot.array).all() for slot in outputs):
            return False
        self.overflows += 1
        self._write_record(kernel)
        return True

    def _write_record(self, kernel: _Kernel) -> None:
        place = self._place
        assert place is not None  # only kernels of a step that is dumped are looked at
        directory = self._open(self._layout.records(place))
        if directory is None:
            return
        chip = self._device.soc if self._device is not None else ""
        old = chip in _OLD_CHIPS or self._layout.has_graphs
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
        self._step = self._place = self._running = None
        for directory in self._directories.values():
            if directory is not None:
                self.queue.afterwards(directory.close)
        self._directories.clear()
        self._memory.begin(())

    def _write_acl_dump(self, label: int | None) -> None:
        if self._layout.has_graphs:
            return
        with self._queued.opened() as directory:
            if directory is not None:
                directory.write(layout.acl_dump_name(self.rank), [layout.acl_dump(self.config, label).encode()])


def _as_it_is(array: Array) -> Array:
    return array
