"""The dump of a sunk graph in msprobe's own layout: ``step{n}/rank/dump.json`` and the files beside it.

msprobe 26.2.0 leaves a dump of kernels to MindSpore, whose newest releases do not dump sunk graphs. This observer
writes that dump in the layout of msprobe's other levels (public source), so that its ``compare`` can read it: an entry
per executed kernel, tensors in the host's order, one file each.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from harness import log
from harness.devices import Device
from harness.dump import npy
from harness.dump.asynchronous.layout import marks
from harness.dump.config import DumpConfig
from harness.dump.counter import IterationCounter
from harness.dump.gaps import Gaps
from harness.dump.msprobe.config import LEVEL, ProbeConfig
from harness.dump.msprobe.entries import describe_tensor
from harness.dump.msprobe.fields import BASIC
from harness.dump.msprobe.names import BACKWARD, Stems, direction
from harness.dump.msprobe.step_files import CONSTRUCT, DUMP, OPERATOR, STACK, TENSORS, StepFiles
from harness.dump.node_facts import facts_of
from harness.dump.plan import USELESS_OUTPUTS, NodePlan, Plan
from harness.dump.writer import Directory, Tree
from harness.errors import DumpWriteError
from harness.recording import Engine, Graph, Launch, Observer, Operator, Step, Value, Want

FILE_MODE = 0o640
"""Mode of every file, as in msprobe."""
FRAMEWORK = "mindspore"
_SUFFIX = ".npy"
_log = log.get("dump.msprobe")


class ProbeObserver(Observer):
    """Writes msprobe's layout for every step.

    Args:
        config: the parsed configuration; its ``dump_path`` is the only directory written to.
        selection: the selection, by MindSpore's rules (``handed_on``).
        device: device that the networks run on.
        rank: rank of the process; None if it is the only one.
        engine: who runs the graphs, for the header; None for an emulation of ours.

    Attributes:
        switch: None to dump the steps in ``step``; otherwise these are dumped only while it is True.

    Raises:
        DumpWriteError: (any hook) the disk failed, or holds another run's dump of a step; files written before are
            whole.
    """

    def __init__(
        self,
        config: ProbeConfig,
        selection: DumpConfig,
        device: Device,
        rank: int | None = None,
        engine: Engine | None = None,
    ) -> None:
        self.config = config
        self.device = device
        self.engine = engine
        self.gaps = Gaps()
        self.counter = IterationCounter()
        self.switch: bool | None = None
        self._selection = selection
        self._tree = Tree(config.dump_path)
        self._rank = "rank" if rank is None else f"rank{rank}"
        self._plan = Plan(selection, device)
        self._stems = Stems()
        self._items = BASIC if config.summary is None else config.summary
        if config.task == "tensor":
            self._items = (*BASIC, *(item for item in self._items if item not in BASIC))
        self._labels: set[int] = set()
        self._step: Step | None = None
        self._files: tuple[int, StepFiles] | None = None
        self._directories: dict[str, Directory] = {}

    # --- hooks ----------------------------------------------------------------------------------------------------

    def start(self) -> None:
        """Nothing is written before the first step."""

    def graph_declared(self, graph: Graph) -> None:
        """Decides what of the graph is dumped."""
        self._plan.add(graph)

    def step_begin(self, step: Step) -> None:
        """Decides whether the step is dumped."""
        self._end_step()
        if self.counter.begin(step.label) in self._selection.iteration and self.switch is not False:
            self._step = step

    def wants(self, operator: Operator, io: str, slot: int) -> Want:
        """Nothing of steps, operators and slots that are not dumped; the tensor of others."""
        if self._step is None or not self._plan.node(operator).series.selected:
            return Want.NOTHING
        asked = self._selection.wants_inputs if io == "input" else self._selection.wants_outputs
        return Want.VALUES if asked else Want.NOTHING

    def launch_end(self, launch: Launch) -> None:
        """Writes a kernel's tensors and notes them."""
        step, node = self._step, launch.operator
        if step is None:
            return
        plan = self._plan.node(node)
        if not plan.series.selected:
            return
        files = self._open()
        if files is None:
            return
        key = files.begin(self._stems.of(node.name), node.name)
        keeps = self.config.task == "tensor" or any(text in key for text in self.config.tensor_list)
        content = self._content(key, plan, launch.updated, self._outputs(plan, launch.outputs), keeps=keeps)
        content[OPERATOR] = self._fact(node, step.graph)
        files.add(key, content, node.name, node.source or node.related)
        self._plan.used(plan.series)

    def step_end(self, step: Step) -> None:
        """Writes the step's ``dump.json`` and the files beside it; advances the counter."""
        self._end_step()
        self.counter.finished(step.run)

    def failed(self, step: Step, error: BaseException) -> None:
        """Writes the step's notes so far. The label stays, because the run did not finish."""
        if isinstance(error, DumpWriteError):
            self._close()
        self._end_step()

    def closed(self) -> None:
        """Reports each entry of ``list`` under which nothing was dumped, once."""
        self._end_step()
        self._plan.selection.report_unused(_log, "the entry %r of list")
        self.gaps.report(_log)

    # --- one kernel -----------------------------------------------------------------------------------------------

    def _outputs(self, plan: NodePlan, outputs: Sequence[Value]) -> Sequence[Value]:
        """The outputs that are dumped; for a sunk graph without those that kernels declare useless."""
        useless = USELESS_OUTPUTS.get(plan.node.type, ()) if self.device.sinks else ()
        if useless is None:
            return ()
        return [slot for slot in plan.outputs(outputs) if slot.index not in useless]

    def _content(
        self, key: str, plan: NodePlan, inputs: Sequence[Value], outputs: Sequence[Value], *, keeps: bool
    ) -> dict[str, Any]:
        """The value of an entry; ``keeps``: tensors are written, too."""
        content: dict[str, Any] = {}
        if self._selection.wants_inputs:
            found = self._slots(key, plan, "input", inputs, keeps=keeps)
            if direction(plan.node.name) == BACKWARD:
                content["input"] = found
            else:
                content |= {"input_args": found, "input_kwargs": {}}
        if self._selection.wants_outputs:
            content["output"] = self._slots(key, plan, "output", outputs, keeps=keeps)
        return content

    def _slots(self, key: str, plan: NodePlan, io: str, slots: Sequence[Value], *, keeps: bool) -> list[Any]:
        """The description of each slot in ``dump.json``; None if there is no tensor, or an empty one."""
        found: list[Any] = [None] * (max((slot.index for slot in slots), default=-1) + 1)
        for slot in slots:
            if slot.gap is not None:
                self.gaps.add(plan.node.name, io, slot)
                continue
            if not slot.array.size:
                continue
            leaf = describe_tensor(slot.array, slot.dtype, self._items, high=self.config.high_precision)
            layout = plan.layout(self.device, io, slot)
            if not layout.is_default:
                leaf["format"] = layout.format
            if keeps:
                leaf["data_name"] = f"{key}.{io}.{slot.index}{_SUFFIX}"
                self._write_tensor(leaf["data_name"], slot)
            found[slot.index] = leaf
        return found

    def _write_tensor(self, name: str, slot: Value) -> None:
        self._directories[TENSORS].write(name, npy.encode(slot.array, slot.dtype), FILE_MODE)

    def _fact(self, node: Operator, root: Graph) -> dict[str, Any]:
        """The facts about an entry's operator."""
        return {"name": node.name, "type": node.type, "graph": root.id, **facts_of(node, self.device).as_json()}

    # --- files ----------------------------------------------------------------------------------------------------

    def _open(self) -> StepFiles | None:
        """The files of the current step, made at its first kernel; None if they cannot be made."""
        label = self.counter.label
        if self._directories:
            return self._files[1] if self._files is not None else None
        parts = (f"step{label}", self._rank)
        directory = self._tree.open(*parts)
        if directory is None:
            return None
        self._directories[""] = directory
        if label not in self._labels and (directory.exists(DUMP) or directory.exists(TENSORS)):
            path = directory.path
            raise DumpWriteError(
                errno.EEXIST, "holds the dump of another run; name another dump_path, or remove it", path
            )
        tensors = self._tree.open(*parts, TENSORS)
        if tensors is None:
            return None
        self._directories[TENSORS] = tensors
        if self._files is None or self._files[0] != label:
            self._files = label, self._begun(directory, label)
        self._labels.add(label)
        return self._files[1]

    def _begun(self, directory: Directory, label: int) -> StepFiles:
        files = StepFiles(
            {
                "task": self.config.task,
                "level": LEVEL,
                "framework": FRAMEWORK,
                "dump_data_dir": os.path.join(directory.path, TENSORS),
                **marks(self.engine),
                "device": self.device.name,
                "rules": dict(self.device.rules),
            }
        )
        if label in self._labels and directory.exists(DUMP):  # labels repeat where graphs alternate
            names = (STACK, CONSTRUCT, DUMP) if self.config.extra_info else (DUMP,)
            files.resume({name: Path(directory.path, name).read_text(encoding="utf-8") for name in names})
        return files

    def _end_step(self) -> None:
        """Writes the texts of the current step, if it dumped anything."""
        self._step = None
        directory = self._directories.get("")
        try:
            if directory is not None and self._files is not None:
                for name, text in self._files[1].texts(extra=self.config.extra_info):
                    directory.write(name, [text.encode()], FILE_MODE)
        finally:
            self._close()

    def _close(self) -> None:
        for directory in self._directories.values():
            directory.close()
        self._directories.clear()
