"""Shared parts of all dumps that write their files in parallel to the run: the same files, but the run waits less."""

from __future__ import annotations

from harness.dump.asynchronous.queued import QueuedTree
from harness.dump.asynchronous.write_queue import WriteQueue
from harness.recording import Graph, Launch, Observer, Step


class Overlapping(Observer):
    """A mixin before the observer that writes; each hook may raise the ``DumpWriteError`` of an earlier file.

    Attributes:
        queue: queue of waiting files.
    """

    keeps = True
    queue: WriteQueue

    def _overlap(self, root: str, queue: WriteQueue | None) -> QueuedTree:
        """Makes the tree to write to at ``root``, through ``queue`` or a default one."""
        self.queue = queue or WriteQueue()
        return QueuedTree(root, self.queue)

    def graph_declared(self, graph: Graph) -> None:
        """See the observer that writes."""
        self.queue.check()
        super().graph_declared(graph)

    def step_begin(self, step: Step) -> None:
        """See the observer that writes."""
        self.queue.check()
        super().step_begin(step)

    def launch_begin(self, launch: Launch) -> None:
        """See the observer that writes."""
        self.queue.check()
        super().launch_begin(launch)

    def launch_end(self, launch: Launch) -> None:
        """See the observer that writes."""
        self.queue.check()
        super().launch_end(launch)

    def closed(self) -> None:
        """Waits until everything is written; see the observer that writes."""
        super().closed()
        self.queue.close()
