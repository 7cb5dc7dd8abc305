"""Records what a session does: stages of compilation, graphs, execution orders, addresses; says when it is exported.

Sources for what is recorded, where and when: MindSpore 2.7.0 CPU, measured; Ascend from public source and documents.
docs/differences.md lists deliberate differences.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

from harness import log
from harness.devices import Device
from harness.devices.cpu import CPU
from harness.errors import CollectiveError
from harness.graph.recorded_text import bootstrap_text
from harness.memory import Addresses, reuse_applies
from harness.rdr import names
from harness.rdr.config import RdrConfig
from harness.rdr.container import Recorders
from harness.rdr.folder import Folder
from harness.rdr.of_graph import GraphRecords
from harness.rdr.recorders import Recorder
from harness.rdr.recorders.graph import GraphTexts
from harness.rdr.recorders.memory import MemoryRecorder
from harness.recording import Compilation, Graph, Launch, Observer, Operator, Stage, Step, Want

ACTIONS = (
    "bootstrap", "type_inference", "auto_monad", "graph_reusing", "inline", "add_attr", "parallel-infer-symbol",
    "pre_auto_parallel", "insert-virtual-dataset", "parallel-infer-symbol-second", "dataset_repeat_opt",
    "pipeline_split", "optimize", "detach_backward", "pipeline_parallel_scheduler", "auto_monad_reorder",
    "get_jit_bprop_graph", "rewriter_after_jit_bprop_graph", "opt_after_jit_grad", "distribtued_split", "validate",
    "backend_pass", "task_emit", "execute",
)  # fmt: skip
"""MindSpore's compile actions (2.7.0, its spelling); a recorder of one is called ``NN_action``."""
AFTER = {"traced": (1, 12), "simplified": (12, 18), "ordered": (18, 22), "selected": (22, 24)}
"""The actions that one stage of our compiler covers: the graph after the stage counts as the graph after each of
them."""
MEMORY_MODULE, MEMORY_NAME = "RUNTIME_FRAMEWORK", "mem_address_list"
_log = log.get("rdr.observer")


class _Compiling(threading.local):
    """The compilation of a thread; a graph that is declared without one counts as compiled."""

    staged = True
    shares_memory = False
    others = 0

    def begin(self, compilation: Compilation) -> None:
        self.staged, self.shares_memory = compilation.staged, bool(compilation.shares_memory)
        self.others = 0


class RdrObserver(Observer):
    """The recorder of one process.

    Args:
        config: the parsed configuration; files go only below its ``path``.
        device: device that the networks run on.
        rank: N of ``rank_N``, or a function that gives it at each export.
        synchronous_dump: whether a synchronous dump of every kernel is on: memory is then not shared.
        clock: gives the current time in 14 digits.
        triggers_compile: whether to export when a compilation fails too (MindSpore does not).
        folder: where exports go; by default below the configuration's ``path``.

    Attributes:
        recorders: what was recorded; ``recorders.trigger()`` exports it.
    """

    def __init__(
        self,
        config: RdrConfig,
        device: Device = CPU,
        *,
        rank: int | Callable[[], int] = 0,
        synchronous_dump: bool = False,
        clock: names.Clock = names.timestamp,
        triggers_compile: bool = False,
        folder: Folder | None = None,
    ) -> None:
        self.device = device
        self.recorders = Recorders(config, rank if callable(rank) else lambda: rank, clock, folder=folder)
        self._synchronous_dump = synchronous_dump
        self._compiling = _Compiling()
        self._triggers_compile = triggers_compile
        self._closed = False
        self._unplaced: list[Operator] = []
        self._records = GraphRecords(self.recorders, device)

    # --- compiling ----------------------------------------------------------------------------------------------------

    def compile_begin(self, compilation: Compilation) -> None:
        """Records the beginning of a compilation. Outside graph mode no stage and no graph is recorded (measured by
        tests/interop/test_rdr.py)."""
        self._compiling.begin(compilation)
        self._stage(compilation, (0, 1), lambda: bootstrap_text(compilation.name, compilation.inputs))

    def compile_stage(self, stage: Stage) -> None:
        """Records the current graph, under the actions that the stage covers; a stage of another name under its own."""
        if stage.kind in AFTER:
            self._stage(stage.compilation, AFTER[stage.kind], lambda: stage.text)
        else:
            self._compiling.others += 1
            name = f"{self._compiling.others:02d}_{stage.kind}"[: names.MAX_NAME]
            self._recorded(stage.compilation, [name], lambda: stage.text)

    def _stage(self, compilation: Compilation, actions: tuple[int, int], text: Callable[[], str]) -> None:
        self._recorded(compilation, [f"{at:02d}_{ACTIONS[at]}" for at in range(*actions)], text)

    def _recorded(self, compilation: Compilation, titles: Sequence[str], text: Callable[[], str]) -> None:
        if not compilation.staged or not self.recorders.config.enable:
            return

        def record() -> None:
            content = GraphTexts(text())
            for title in titles:
                self.recorders.record("graph", "PIPELINE", title, content)

        self._safely(f"the stage {titles[0][3:]}", record)

    def graph_declared(self, graph: Graph) -> None:
        """Records a kernel graph, its execution order and memory, and other artefacts of the device."""
        if self.recorders.config.enable:
            level = "O1" if self._compiling.shares_memory else "O0"
            reuse = reuse_applies(level, self.recorders.config.mem_reuse, self._synchronous_dump)
            mode = self._compiling.staged
            self._safely(f"graph {graph.id}", lambda: self._records.compiled(graph, reuse, mode))
            for operator in self._unplaced:
                if (found := self._records.addresses.get(operator)) is not None:
                    self._note(operator.name, found)
            self._unplaced.clear()

    def compile_end(self, compilation: Compilation, error: BaseException | None) -> None:
        """Mode 2 exports after each compilation."""
        if error is not None:
            if self._triggers_compile and isinstance(error, Exception):
                self.recorders.trigger_new()
        elif compilation.staged:
            self.recorders.snapshot()

    # --- running ------------------------------------------------------------------------------------------------------

    def wants(self, operator: Operator, io: str, slot: int) -> Want:
        """No tensor."""
        return Want.NOTHING

    def step_begin(self, step: Step) -> None:
        """Nothing of this step is launched yet."""
        self._unplaced.clear()

    def launch_begin(self, launch: Launch) -> None:
        """Notes the addresses of a launched kernel. Of an eager graph's new ones they are known when it is declared,
        at the end of the step; what is launched after such a one is noted after it."""
        found = self._records.addresses.get(launch.operator)
        if self._unplaced or (found is None and launch.graph.eager):
            self._unplaced.append(launch.operator)
        elif found is not None:
            self._note(launch.operator.name, found)

    def _note(self, name: str, found: Addresses) -> None:

        def add(recorder: Recorder) -> None:
            assert isinstance(recorder, MemoryRecorder)
            recorder.add(name, found)

        self.recorders.note("mem_address_list", MEMORY_MODULE, MEMORY_NAME, add)

    def failed(self, step: Step, error: BaseException) -> None:
        """A run that ends with an error exports everything at once, in both modes; an interrupt does not (measured),
        nor does the failure of another rank: the launcher ends those that wait (`tests/interop/test_ranks.py`)."""
        if isinstance(error, CollectiveError) and error.of_another:
            self._closed = True
        elif isinstance(error, Exception):
            self.recorders.trigger()

    def closed(self) -> None:
        """The end of the process: mode 2 exports what is left."""
        if not self._closed:
            self._closed = True
            self.recorders.snapshot()
            self.recorders.clear()

    def _safely(self, what: str, record: Callable[[], Any]) -> None:
        try:
            record()
        except Exception as error:  # recording must not change what the program does
            _log.error("rdr: %s cannot be recorded: %r", what, error)
