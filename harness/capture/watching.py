"""Captures the dump modes that watch for trouble: kernels that overflow, and the kernel that fails.

A run without trouble leaves no tensors. An empty result means something only together with what was examined, so such a
capture also counts the kernels it watched.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

from harness.capture.capture import COMPARED, Capture
from harness.capture.observer import CaptureObserver
from harness.dump.plan import overflow
from harness.errors import DumpWriteError
from harness.recording import Launch

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

    def launch_end(self, launch: Launch) -> None:
        """See ``CaptureObserver.launch_end``."""
        self._count()
        if overflow(self._contents.outputs(launch.operator, launch.outputs), launch.saturated):
            super().launch_end(launch)


class ExceptionObserver(_Watching):
    """Keeps the inputs of the kernel that failed (op_debug_mode 4)."""

    before = True

    def launch_end(self, launch: Launch) -> None:
        """Counts a kernel that did not fail."""
        self._count()

    def launch_failed(self, launch: Launch, error: BaseException) -> None:
        """Records the inputs of the kernel that failed."""
        if self._step is not None and not isinstance(error, DumpWriteError):
            self._count()
            self._record(launch, launch.inputs, ())
