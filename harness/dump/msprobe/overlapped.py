"""msprobe's ``async_dump``: the same files, written beside the run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from harness.dump.asynchronous.memory import LentMemory
from harness.dump.asynchronous.queued import QueuedTree
from harness.dump.asynchronous.write_queue import WriteQueue
from harness.dump.msprobe.config import ProbeConfig
from harness.dump.msprobe.observer import ProbeObserver
from harness.graph import Graph, Node
from harness.runtime.observer import Slot, Step


class OverlappedProbeObserver(ProbeObserver):
    """See ``ProbeObserver``; each hook may raise the ``DumpWriteError`` of an earlier file.

    Args:
        config: as parsed.
        queue: files wait in it; one of the default bound if None.
        others: as for ``ProbeObserver``.
    """

    def __init__(self, config: ProbeConfig, *others: Any, queue: WriteQueue | None = None, **named: Any) -> None:
        super().__init__(config, *others, **named)
        self.queue = queue or WriteQueue()
        self._tree = QueuedTree(config.dump_path, self.queue, LentMemory())

    def graph_compiled(self, graph: Graph) -> None:
        """See ``ProbeObserver``."""
        self.queue.check()
        super().graph_compiled(graph)

    def step_begin(self, step: Step) -> None:
        """See ``ProbeObserver``."""
        self.queue.check()
        super().step_begin(step)

    def kernel_outputs(self, node: Node, inputs: Sequence[Slot], outputs: Sequence[Slot]) -> None:
        """See ``ProbeObserver``."""
        self.queue.check()
        super().kernel_outputs(node, inputs, outputs)

    def closed(self) -> None:
        """Waits until everything is written; see ``ProbeObserver``."""
        super().closed()
        self.queue.close()
