"""The synchronous CPU dump of tensors: an observer that writes what MindSpore's Dump writes.

What is written, when and in which order: dump_output.md sections 1 to 5, dump_config.md sections 2.3 to 2.7, measured
on MindSpore 2.10.0. Where this differs on purpose: docs/differences.md.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

import numpy as np

from harness import log
from harness.dtypes import DType, from_numpy
from harness.dump import metadata
from harness.dump.config import DumpConfig
from harness.dump.counter import BITS, IterationCounter
from harness.dump.names import MAX_NAME_BYTES, PARAMETER, TIMESTAMP_DIGITS, Clock, ambiguous, file_name
from harness.dump.selection import Selection
from harness.dump.writer import Directory, Tree
from harness.errors import UnsupportedError
from harness.graph import Graph, Node, Parameter, TensorSpec
from harness.runtime.observer import Array, Observer, Slot, Step

MS_VERSION = "2.10.0"
"""The release whose dump is written, unless the caller says otherwise."""
EXCEPTION_MODE = 4
CONSTANTS = "constants"
_STAND_IN = 10 ** (TIMESTAMP_DIGITS - 1)
_log = log.get("dump.observer")


class _Names:
    """File names of one operator or parameter; what does not change from step to step is made once."""

    __slots__ = ("_parts", "is_ambiguous", "name", "op_type", "selected", "used")

    def __init__(self, op_type: str, name: str, *, selected: bool, is_ambiguous: bool) -> None:
        self.op_type = op_type
        self.name = name
        self.selected = selected
        self.is_ambiguous = is_ambiguous
        self.used = False
        self._parts: dict[tuple[str, int, DType], tuple[str, str, bool]] = {}

    def write(self, directory: Directory, clock: Clock, io: str, slot: int, dtype: DType, array: Array) -> bool:
        """Writes one slot; empty arrays have no file (measured)."""
        if array.size == 0:
            return False
        key = (io, slot, dtype)
        parts = self._parts.get(key)
        if parts is None:
            parts = self._parts[key] = self._split(io, slot, dtype)
        before, after, mapped = parts
        name = f"{before}{clock.stamp()}{after}"
        return directory.write_mapped(name, array, dtype) if mapped else directory.write_array(name, array, dtype)

    def _split(self, io: str, slot: int, dtype: DType) -> tuple[str, str, bool]:
        """The name before and behind the timestamp, and whether it goes to ``mapping.csv``."""
        whole = file_name(self.op_type, self.name, _STAND_IN, io, slot, dtype.name, mangled=not self.is_ambiguous)
        before, _, after = whole.rpartition(str(_STAND_IN))
        return before, after, self.is_ambiguous or len(whole.encode()) > MAX_NAME_BYTES


class DumpObserver(Observer):
    """Writes the dump tree of a process: every graph and every step it is told of.

    Args:
        config: as parsed; its ``path`` is the only directory written to.
        device_target: as ``.dump_metadata/config.json`` prints it (``CPU``).
        ms_version: likewise.
        rank: N of ``rank_N``.

    Raises:
        UnsupportedError: the configuration asks for what this observer does not write (``saved_data``, dump_mode 2).
        DumpWriteError: (any hook) the disk failed; what was written before is whole.
    """

    def __init__(
        self, config: DumpConfig, device_target: str = "CPU", ms_version: str = MS_VERSION, rank: int = 0
    ) -> None:
        if config.saved_data != "tensor" or config.dump_mode not in (0, 1):
            raise UnsupportedError(
                f"dump of saved_data {config.saved_data!r} in dump_mode {config.dump_mode}: the CPU dump writes "
                f"'tensor' in modes 0 and 1"
            )
        self.config = config
        self.device_target = device_target
        self.ms_version = ms_version
        self.rank = rank
        self.counter = IterationCounter(config.initial_iteration)
        self.root = os.path.join(config.path, f"rank_{rank}")
        self._tree = Tree(self.root)
        self._selection = Selection(config.kernels)
        self._clock = Clock()
        self._started = False
        self._closed = False
        self._exception_mode = config.op_debug_mode == EXCEPTION_MODE
        self._global_label = BITS - 1  # so that a first label of 2^32-1 is lost, as measured
        self._nodes: dict[Node, _Names] = {}
        self._parameters: dict[Parameter, _Names] = {}
        self._graphs: dict[int, Graph] = {}
        self._constants_written: set[int] = set()
        self._step: Step | None = None
        self._directories: dict[int, Directory | None] = {}

    # --- hooks ----------------------------------------------------------------------------------------------------

    def start(self) -> None:
        """Writes ``.dump_metadata``, once; the first hook does it if nobody else did."""
        if not self._started:
            self._started = True
            metadata.write_metadata(self._tree, self.config, self.device_target, self.ms_version)
            if self._exception_mode:
                _log.warning("dump: exception dump (op_debug_mode 4) writes parameters only on %s", self.device_target)

    def graph_compiled(self, graph: Graph) -> None:
        """Writes the graph's texts, whatever the configuration selects; decides what of it is dumped."""
        self.start()
        metadata.write_graph(self._tree, graph)
        self._graphs[graph.id] = graph
        unclear = ambiguous(node.name for node in graph.nodes)
        for node in graph.nodes:
            if node.kernel:
                self._nodes[node] = self._names(node.op, node.name, node.name in unclear)
        unclear = ambiguous(parameter.name for parameter in graph.parameters)
        for parameter in graph.parameters:
            self._parameters[parameter] = self._names(PARAMETER, parameter.name, parameter.name in unclear)

    def _names(self, op_type: str, name: str, is_ambiguous: bool = False) -> _Names:
        return _Names(op_type, name, selected=self._selection.takes(name), is_ambiguous=is_ambiguous)

    def step_begin(self, step: Step) -> None:
        """Decides whether the step is dumped, and notes its label in the global execution order."""
        self.start()
        self._end_step()
        label = self.counter.label
        if label not in self.config.iteration:
            return
        self._step = step
        if not self._exception_mode and self.rank == 0 and label != self._global_label:
            self._global_label = label
            metadata.append_global_order(self._tree, step.graph.id, label)

    def kernel_outputs(self, node: Node, inputs: Sequence[Slot], outputs: Sequence[Slot]) -> None:
        """Writes a kernel's inputs, then its outputs."""
        step = self._step
        if step is None or self._exception_mode:
            return
        names = self._nodes.get(node)
        if names is None:
            names = self._nodes[node] = self._names(node.op, node.name)
        if not names.selected:
            return
        graph = node.extra.get("graph", step.graph)
        written = False
        if self.config.wants_inputs:
            written = self._write_slots(graph, names, "input", inputs)
        if self.config.wants_outputs:
            written = self._write_slots(graph, names, "output", outputs) or written
        if written:
            self._mark_used(names)

    def _mark_used(self, names: _Names) -> None:
        if not names.used:
            names.used = True
            self._selection.dumped(names.name)

    def _write_slots(self, graph: Graph, names: _Names, io: str, slots: Sequence[Slot]) -> bool:
        written = False
        for slot in slots:
            if slot.array.size:
                directory = self._directory(graph)
                if directory is None:
                    return written
                written = names.write(directory, self._clock, io, slot.index, slot.dtype, slot.array) or written
        return written

    def step_end(self, step: Step) -> None:
        """Writes the parameters as they stand now, in ``%para`` order, and moves the counter on."""
        if self._step is not None and self.config.wants_outputs:
            self._write_constants(step.graph)
            for parameter, array in step.parameters():
                self._write_parameter(step.graph, parameter, array)
        self._end_step()
        self.counter.finished(step.run)

    def _write_parameter(self, graph: Graph, parameter: Parameter, array: Array) -> None:
        names = self._parameters.get(parameter)
        if names is None:
            names = self._parameters[parameter] = self._names(PARAMETER, parameter.name)
        if not names.selected or not array.size:
            return
        directory = self._directory(graph)
        if directory is None:
            return
        spec = parameter.spec
        dtype = spec.dtype if isinstance(spec, TensorSpec) else from_numpy(array.dtype)
        if names.write(directory, self._clock, "output", 0, dtype, array):
            self._mark_used(names)

    def failed(self, node: Node | None, error: BaseException) -> None:
        """Closes the step's directories; the label stays, as the run did not finish."""
        self._end_step()

    def closed(self) -> None:
        """Reports each ``kernels`` entry under which nothing was dumped, once."""
        self._end_step()
        if not self._closed:
            self._closed = True
            for text in self._selection.unused():
                _log.warning("dump: the kernels entry %r matched nothing that was dumped", text)

    # --- directories ----------------------------------------------------------------------------------------------

    def _directory(self, graph: Graph) -> Directory | None:
        """The directory of a graph in this step, made when its first tensor comes."""
        if graph.id not in self._directories:
            label = str(self.counter.label)
            self._directories[graph.id] = self._tree.open(self.config.net_name, str(graph.id), label)
        return self._directories[graph.id]

    def _end_step(self) -> None:
        self._step = None
        for directory in self._directories.values():
            if directory is not None:
                directory.close()
        self._directories.clear()

    def _write_constants(self, root: Graph) -> None:
        """Tensor constants of the step's graphs, once a process (as documented; the real CPU dump writes none)."""
        if self._exception_mode:
            return
        for graph in self._graphs.values():
            if (graph.id != root.id and graph.root_id != root.id) or graph.id in self._constants_written:
                continue
            self._constants_written.add(graph.id)
            first = int(graph.extra.get("constant_base", 0))
            for number, constant in enumerate(graph.constants, first):
                if isinstance(constant.value, np.ndarray) and self._selection.takes(f"Default/data-{number}"):
                    self._write_constant(graph, f"data-{number}", constant.value, constant.spec)

    def _write_constant(self, graph: Graph, name: str, array: Array, spec: object) -> None:
        if not array.size:
            return
        dtype = spec.dtype if isinstance(spec, TensorSpec) else from_numpy(array.dtype)
        with self._tree.opened(self.config.net_name, str(graph.id), CONSTANTS) as directory:
            if directory is not None:
                names = _Names(PARAMETER, name, selected=True, is_ambiguous=False)
                names.write(directory, self._clock, "output", 0, dtype, array)
                self._selection.dumped(f"Default/{name}")
