"""Captures the dump modes that watch for trouble: kernels that overflow, and the kernel that fails.

A run without trouble leaves no tensors. An empty result means something only together with what was examined, so such a
capture also counts the kernels it watched.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from harness.capture.capture import COMPARED, Capture
from harness.capture.observer import CaptureObserver
from harness.dump.plan import overflow
from harness.errors import DumpWriteError
from harness.framework.runtime.observer import Slot
from harness.graph import Node

#: the artefact with the counts: a line for each step, ``graph 0 iteration 1: 23 kernels``
WATCHED = COMPARED + "watched.txt"


class _Watching(CaptureObserver):
    """Counts the kernels of each step."""

    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        self._watched: Counter[tuple[int, int]] = Counter()

    def _count(self) -> None:
        assert self._step is not None
        self._watched[self._step.graph.id, self._iteration] += 1

    def capture(self, *args: Any, **more: Any) -> Capture:
        """See ``CaptureObserver.capture``."""
        made = super().capture(*args, **more)
        if not self._watched:
            return made
        lines = [
            f"graph {graph} iteration {label}: {count} kernels\n" for (graph, label), count in self._watched.items()
        ]
        return replace(made, artefacts={**made.artefacts, WATCHED: "".join(lines).encode()})


class OverflowObserver(_Watching):
    """Keeps inputs and outputs of the kernels with a NaN or an infinity among their outputs (op_debug_mode 3)."""

    def kernel_outputs(self, node: Node, inputs: Sequence[Slot], outputs: Sequence[Slot]) -> None:
        """See ``CaptureObserver.kernel_outputs``."""
        self._count()
        if overflow(self._contents.outputs(node, outputs)):
            super().kernel_outputs(node, inputs, outputs)


class ExceptionObserver(_Watching):
    """Keeps the inputs of the kernel that failed (op_debug_mode 4)."""

    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        self._running: tuple[Node, Sequence[Slot]] | None = None

    def kernel_inputs(self, node: Node, inputs: Sequence[Slot]) -> None:
        """Keeps a kernel's inputs until it has run."""
        self._running = node, inputs

    def kernel_outputs(self, node: Node, inputs: Sequence[Slot], outputs: Sequence[Slot]) -> None:
        """Counts a kernel that did not fail."""
        self._running = None
        self._count()

    def failed(self, node: Node | None, error: BaseException) -> None:
        """Records the inputs of the kernel that failed."""
        running, self._running = self._running, None
        if running is not None and self._step is not None and not isinstance(error, DumpWriteError):
            self._count()
            super().kernel_outputs(*running, ())
        super().failed(node, error)
