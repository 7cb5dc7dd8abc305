"""Shared parts of all dumps that write their files in parallel to the run: the same files, but the run waits less."""

from __future__ import annotations

from collections.abc import Sequence

from harness.dump.asynchronous.memory import LentMemory
from harness.dump.asynchronous.queued import QueuedTree
from harness.dump.asynchronous.write_queue import WriteQueue
from harness.framework.runtime.observer import Observer, Slot, Step
from harness.graph import Graph, Node


class Overlapping(Observer):
    """A mixin before the observer that writes; each hook may raise the ``DumpWriteError`` of an earlier file.

    Attributes:
        queue: queue of waiting files.
    """

    queue: WriteQueue
    _memory: LentMemory

    def _overlap(self, root: str, queue: WriteQueue | None) -> QueuedTree:
        """Makes the tree to write to at ``root``, through ``queue`` or a default one."""
        self.queue = queue or WriteQueue()
        self._memory = LentMemory()
        return QueuedTree(root, self.queue, self._memory)

    def graph_compiled(self, graph: Graph) -> None:
        """See the observer that writes."""
        self.queue.check()
        super().graph_compiled(graph)

    def step_begin(self, step: Step) -> None:
        """See the observer that writes; notes which arrays the step may change."""
        self.queue.check()
        self._memory.begin(array for _parameter, array in step.parameters())
        super().step_begin(step)

    def kernel_inputs(self, node: Node, inputs: Sequence[Slot]) -> None:
        """See the observer that writes."""
        self.queue.check()
        super().kernel_inputs(node, inputs)

    def kernel_outputs(self, node: Node, inputs: Sequence[Slot], outputs: Sequence[Slot]) -> None:
        """See the observer that writes."""
        self.queue.check()
        self._memory.show(node, inputs, outputs)
        super().kernel_outputs(node, inputs, outputs)

    def closed(self) -> None:
        """Waits until everything is written; see the observer that writes."""
        super().closed()
        self.queue.close()
