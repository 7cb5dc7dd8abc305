"""The kernel-by-kernel (e2e) dump: an observer that writes what MindSpore's Dump writes.

The sources for what is written, when and in which order: dump_output.md sections 1 to 5, 8 and 9, dump_config.md
sections 2.3 to 2.14; the CPU measured on MindSpore 2.10.0, Ascend and GPU from public source and documents.
docs/differences.md lists deliberate differences.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from math import prod

import numpy as np

from harness import log
from harness.devices import DEVICES, Device
from harness.devices.formats import DEFAULT
from harness.dtypes import from_numpy
from harness.dump import kernel_args, metadata
from harness.dump.check_debug import EXCEPTION, OVERFLOW
from harness.dump.config import DumpConfig
from harness.dump.counter import BITS, IterationCounter
from harness.dump.gaps import Gaps
from harness.dump.names import Clock
from harness.dump.plan import NodePlan, Plan, dtype_of
from harness.dump.saving import Saver
from harness.dump.writer import Directory, Tree
from harness.errors import DumpWriteError, UnsupportedError
from harness.recording import Constant, Engine, Graph, Launch, Observer, Operator, Step, TensorSpec, Value, Want

MS_VERSION = "2.10.0"
"""The release whose dump is written, unless the caller says otherwise."""
CONSTANTS = "constants"
_DEVICES = {"cpu": "cpu", "gpu": "gpu", "ascend": "ascend-o0", "ascend-o2": "ascend-o2"}
_log = log.get("dump.observer")


def device_of(config: DumpConfig) -> Device:
    """The device that a configuration was read for, if nothing more is known about it."""
    return DEVICES.get(_DEVICES[config.backend])


class DumpObserver(Observer):
    """Writes the dump tree of a process: all its graphs and steps.

    Args:
        config: the parsed configuration; its ``path`` is the only directory written to.
        device: device that the networks run on; by default the configuration's.
        ms_version: version printed in ``.dump_metadata/config.json``.
        rank: N of ``rank_N``.
        engine: who runs the graphs, for the metadata; None for MindSpore's own and their emulation.

    Attributes:
        switch: None to dump the steps of ``iteration``; True or False to dump every step, or none
            (``_dump_start``, ``_dump_stop``; without effect on the CPU, as measured).
        gaps: slots that the runtime could not give; they are counted in the log when the dump is closed.

    Raises:
        UnsupportedError: the configuration requests the asynchronous dump, or none.
        DumpWriteError: (any hook) the disk failed; files written before are whole.
    """

    def __init__(
        self,
        config: DumpConfig,
        device: Device | None = None,
        ms_version: str = MS_VERSION,
        rank: int = 0,
        engine: Engine | None = None,
    ) -> None:
        if config.method != "e2e":
            raise UnsupportedError(f"this observer writes the kernel-by-kernel dump, not the {config.method} dump")
        self.config = config
        self.device = device or device_of(config)
        self.ms_version = ms_version
        self.rank = rank
        self.engine = engine
        self.counter = IterationCounter(config.initial_iteration)
        self.root = os.path.join(config.path, f"rank_{rank}")
        self.switch: bool | None = None
        self._tree = Tree(self.root)
        self.gaps = Gaps()
        self._plan = Plan(config, self.device)
        self._saver = Saver(config, self.device, Clock())
        self._started = False
        has = self.device.capabilities.has
        self._exception = config.op_debug_mode == EXCEPTION
        self._awaits_failure = self.before = self._exception and has("exception")
        self._overflow = config.op_debug_mode == OVERFLOW and has("overflow")
        self._overflows = 0
        # On Ascend the arguments are written by the synchronous copy only.
        self._saves_args = config.save_kernel_args and has("kernel_args") and (
            config.synchronous or self.device.target != "Ascend"
        )  # fmt: skip
        self._on_device = not config.trans_flag and has("trans_flag")
        self._global_label = BITS - 1  # so a first label of 2^32-1 is lost, as measured
        self._graphs: dict[int, Graph] = {}
        self._constants_written: set[int] = set()
        self._step: Step | None = None
        self._directories: dict[int, Directory | None] = {}

    # --- hooks ----------------------------------------------------------------------------------------------------

    def start(self) -> None:
        """Writes ``.dump_metadata``, once; the first hook does it if not called before. Only rank 0 writes it."""
        if not self._started:
            self._started = True
            if self.rank == 0 and self.device.capabilities.has("metadata"):
                metadata.write_metadata(self._tree, self.config, self.device.target, self.ms_version, self.engine)
            if self._exception and not self._awaits_failure:
                target = self.device.target
                _log.warning("dump: exception dump (op_debug_mode 4) writes parameters only on %s", target)

    def graph_declared(self, graph: Graph) -> None:
        """Writes the graph's texts, whatever the configuration selects; decides which parts of it to dump."""
        self.start()
        if self.device.capabilities.has("graphs"):
            metadata.write_graph(self._tree, graph)
        self._graphs[graph.id] = graph
        self._plan.add(graph)

    def step_begin(self, step: Step) -> None:
        """Decides whether the step is dumped, and notes its label in the global execution order."""
        self.start()
        self._end_step()
        label = self.counter.begin(step.label)
        by_switch = self.switch is not None and self.device.target != "CPU"
        if not (self.switch if by_switch else label in self.config.iteration):
            return
        self._step = step
        noted = self.rank == 0 and not self._exception and self.device.capabilities.has("global_order")
        if noted and label != self._global_label:
            self._global_label = label
            metadata.append_global_order(self._tree, step.graph.id, label)

    def wants(self, operator: Operator, io: str, slot: int) -> Want:
        """Nothing of steps, operators and slots that are not dumped; the tensor where a file or a decision needs it."""
        if self._step is None:
            return Want.NOTHING
        if self._exception:
            return Want.VALUES if self._awaits_failure and io == "input" else Want.NOTHING
        if not self._plan.node(operator).series.selected:
            return Want.NOTHING
        asked = self.config.wants_inputs if io == "input" else self.config.wants_outputs or self._overflow
        least = Want.VALUES if self.config.keeps_tensors or self._overflow else Want.STATISTICS
        return least if asked else Want.NOTHING

    def launch_end(self, launch: Launch) -> None:
        """Writes a kernel's inputs, then its outputs."""
        if self._step is None or self._exception:
            return
        operator = launch.operator
        plan = self._plan.node(operator)
        if not plan.series.selected or (self._overflow and not self._counts(plan, launch)):
            return
        inputs = launch.updated
        wanted = [("input", inputs)] if self.config.wants_inputs else []
        if self.config.wants_outputs:
            wanted.append(("output", plan.outputs(launch.outputs)))
        if self._save(launch.graph, plan, wanted) and self._saves_args:
            directory = self._directory(launch.graph)
            if directory is not None:
                directory.write_text(kernel_args.file_name(operator), kernel_args.text(operator, inputs))

    def launch_failed(self, launch: Launch, error: BaseException) -> None:
        """Writes the inputs of the operator that failed (op_debug_mode 4)."""
        if self._awaits_failure and self._step is not None and not isinstance(error, DumpWriteError):
            self._save(launch.graph, self._plan.node(launch.operator), [("input", launch.inputs)])

    def _counts(self, plan: NodePlan, launch: Launch) -> bool:
        """Whether a kernel overflowed, and is among the first ``overflow_number``."""
        limit = self.config.overflow_number
        if (limit and self._overflows >= limit) or not plan.overflows(launch):
            return False
        self._overflows += 1
        return True

    def _save(self, graph: Graph, plan: NodePlan, wanted: Sequence[tuple[str, Sequence[Value]]]) -> bool:
        """Saves slots of one kernel; returns whether anything was saved."""
        saved = False
        directory = None
        for io, slots in wanted:
            for value in slots:
                if value.gap is not None:
                    self.gaps.add(plan.series.name, io, value)
                    continue
                if not prod(value.shape):
                    continue
                directory = directory or self._directory(graph)
                if directory is None:
                    return False
                layout = plan.layout(self.device, io, value) if self._on_device else DEFAULT
                saved = self._saver.save(directory, plan.series, io, value, layout) or saved
        if saved and directory is not None:
            self._saver.finish(directory)
            self._plan.used(plan.series)
        return saved

    def step_end(self, step: Step) -> None:
        """Writes the current parameters in ``%para`` order, and advances the counter."""
        if self._step is not None and self.config.wants_outputs:
            self._write_constants(step.graph)
            if self.device.capabilities.has("parameters"):
                self._write_parameters(step)
        self._end_step()
        self.counter.finished(step.run)

    def _write_parameters(self, step: Step) -> None:
        for parameter, array in step.parameters():
            series = self._plan.parameter(parameter)
            if not series.selected or not array.size:
                continue
            directory = self._directory(step.graph)
            if directory is None:
                return
            dtype = dtype_of(parameter, from_numpy(array.dtype))
            if self._saver.save(directory, series, "output", Value(array, dtype, index=0)):
                self._plan.used(series)
                self._saver.finish(directory)

    def failed(self, step: Step, error: BaseException) -> None:
        """Ends the step; the label stays, because the run did not finish."""
        self._end_step()

    def closed(self) -> None:
        """Reports each ``kernels`` entry under which nothing was dumped, once."""
        self._end_step()
        self._plan.selection.report_unused(_log)
        self.gaps.report(_log)

    # --- directories ----------------------------------------------------------------------------------------------

    def _directory(self, graph: Graph) -> Directory | None:
        """The directory of a graph in this step, made at its first tensor; on Ascend that of its root."""
        number = graph.root_id if self.device.target == "Ascend" and graph.root_id >= 0 else graph.id
        if number not in self._directories:
            label = str(self.counter.label)
            self._directories[number] = self._tree.open(self.config.net_name, str(number), label)
        return self._directories[number]

    def _end_step(self) -> None:
        self._step = None
        for directory in self._directories.values():
            if directory is not None:
                directory.close()
        self._directories.clear()

    def _write_constants(self, root: Graph) -> None:
        """Tensor constants of the step's graphs, once per process (as documented; the real CPU dump writes none)."""
        if self._exception or not self.device.capabilities.has("constants"):
            return
        for graph in self._graphs.values():
            if (graph.id != root.id and graph.root_id != root.id) or graph.id in self._constants_written:
                continue
            self._constants_written.add(graph.id)
            first = graph.constant_base
            for number, constant in enumerate(graph.constants, first):
                self._write_constant(graph, f"data-{number}", constant)

    def _write_constant(self, graph: Graph, name: str, constant: Constant) -> None:
        array = constant.value
        if not isinstance(array, np.ndarray) or not array.size:
            return
        series = self._plan.constant(name)
        if not series.selected:
            return
        dtype = constant.spec.dtype if isinstance(constant.spec, TensorSpec) else from_numpy(array.dtype)
        with self._tree.opened(self.config.net_name, str(graph.id), CONSTANTS) as directory:
            if directory is not None and self._saver.save(directory, series, "output", Value(array, dtype, index=0)):
                self._saver.finish(directory)
                self._plan.used(series, f"Default/{name}")
