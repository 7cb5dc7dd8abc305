"""The kernel-by-kernel dump with its files written beside the run: the same tree, sooner out of the network's way."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from harness.dump.asynchronous.memory import LentMemory
from harness.dump.asynchronous.queued import QueuedTree
from harness.dump.asynchronous.write_queue import WriteQueue
from harness.dump.config import DumpConfig
from harness.dump.observer import DumpObserver
from harness.graph import Graph, Node
from harness.runtime.observer import Slot, Step


class OverlappedDumpObserver(DumpObserver):
    """See ``DumpObserver``; each hook may raise the ``DumpWriteError`` of an earlier file.

    Args:
        config: as parsed.
        queue: tensors wait in it; one of the default bound if None.
        others: as for ``DumpObserver``.
    """

    def __init__(self, config: DumpConfig, *others: Any, queue: WriteQueue | None = None, **named: Any) -> None:
        super().__init__(config, *others, **named)
        self.queue = queue or WriteQueue()
        self._memory = LentMemory()
        self._tree = QueuedTree(self.root, self.queue, self._memory)

    def graph_compiled(self, graph: Graph) -> None:
        """See ``DumpObserver``."""
        self.queue.check()
        super().graph_compiled(graph)

    def step_begin(self, step: Step) -> None:
        """See ``DumpObserver``; notes which arrays the step may change."""
        self.queue.check()
        self._memory.begin(array for _parameter, array in step.parameters())
        super().step_begin(step)

    def kernel_inputs(self, node: Node, inputs: Sequence[Slot]) -> None:
        """See ``DumpObserver``."""
        self.queue.check()
        super().kernel_inputs(node, inputs)

    def kernel_outputs(self, node: Node, inputs: Sequence[Slot], outputs: Sequence[Slot]) -> None:
        """See ``DumpObserver``."""
        self.queue.check()
        self._memory.show(node, inputs, outputs)
        super().kernel_outputs(node, inputs, outputs)

    def closed(self) -> None:
        """Waits until everything is written; see ``DumpObserver``."""
        super().closed()
        self.queue.close()
