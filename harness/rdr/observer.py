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
from harness.framework.context import GRAPH_MODE, get_context
from harness.framework.runtime.observer import Observer, Slot
from harness.graph import Graph, Node, Operand
from harness.memory import reuse_applies
from harness.rdr import graph_text, names
from harness.rdr.config import RdrConfig
from harness.rdr.container import Recorders
from harness.rdr.folder import Folder
from harness.rdr.of_graph import GraphRecords
from harness.rdr.recorders import Recorder
from harness.rdr.recorders.graph import GraphTexts
from harness.rdr.recorders.memory import MemoryRecorder

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
    """The compilation of a thread."""

    graph_mode = False
    title = ""


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
        beside: an observer of the same session that is told of everything first; its texts of stages are taken over.

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
        beside: RdrObserver | None = None,
    ) -> None:
        self.device = device
        self.recorders = Recorders(config, rank if callable(rank) else lambda: rank, clock, folder=folder)
        self._beside = beside
        self._last: tuple[object, GraphTexts] | None = None
        self._synchronous_dump = synchronous_dump
        self._triggers_compile = triggers_compile
        self._compiling = _Compiling()
        self._closed = False
        self._records = GraphRecords(self.recorders, device)

    # --- compiling ----------------------------------------------------------------------------------------------------

    def compile_begin(self, name: str, inputs: Sequence[str]) -> None:
        """Records the beginning of a compilation. Outside graph mode no stage and no graph is recorded (measured)."""
        self._compiling.graph_mode = get_context("mode") == GRAPH_MODE
        self._compiling.title = name
        self._stage((0, 1), inputs, lambda: graph_text.bootstrap_text(name, inputs))

    def compile_stage(self, stage: str, outputs: Sequence[Operand]) -> None:
        """Records the current graph, under the actions that the stage covers."""
        if stage in AFTER:
            self._stage(AFTER[stage], outputs, lambda: graph_text.stage_text(self._compiling.title, outputs))

    def _stage(self, actions: tuple[int, int], of: object, text: Callable[[], str]) -> None:
        if not self._compiling.graph_mode or not self.recorders.config.enable:
            return

        def record() -> None:
            content = self._text(of, text)
            for at in range(*actions):
                self.recorders.record("graph", "PIPELINE", f"{at:02d}_{ACTIONS[at]}", content)

        self._safely(f"the stage {ACTIONS[actions[0]]}", record)

    def _text(self, of: object, text: Callable[[], str]) -> GraphTexts:
        last = self._beside._last if self._beside is not None else None
        content = last[1] if last is not None and last[0] is of else GraphTexts(text())
        self._last = of, content
        return content

    def graph_compiled(self, graph: Graph) -> None:
        """Records a kernel graph, its execution order and memory, and other artefacts of the device."""
        if self.recorders.config.enable:
            reuse = reuse_applies(
                get_context("memory_optimize_level"), self.recorders.config.mem_reuse, self._synchronous_dump
            )
            mode = self._compiling.graph_mode
            self._safely(f"graph {graph.id}", lambda: self._records.compiled(graph, reuse, mode))

    def compile_end(self, error: BaseException | None) -> None:
        """Mode 2 exports after each compilation."""
        if error is not None:
            if self._triggers_compile and isinstance(error, Exception):
                self.recorders.trigger_new()
        elif self._compiling.graph_mode:
            self.recorders.snapshot()
        self._last = None

    # --- running ------------------------------------------------------------------------------------------------------

    def kernel_inputs(self, node: Node, inputs: Sequence[Slot]) -> None:
        """Notes the addresses of a launched kernel."""
        found = self._records.addresses.get(id(node))
        if found is None:
            return

        def add(recorder: Recorder) -> None:
            assert isinstance(recorder, MemoryRecorder)
            recorder.add(node.name, found)

        self.recorders.note("mem_address_list", MEMORY_MODULE, MEMORY_NAME, add)

    def failed(self, node: Node | None, error: BaseException) -> None:
        """A run that ends with an error exports everything at once, in both modes; an interrupt does not (measured)."""
        if isinstance(error, Exception):
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
