"""Captures with the arguments of operators, as ``arguments`` reads them from files."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from harness.capture.arguments import ArgumentsFile, artefacts
from harness.capture.capture import Capture
from harness.capture.observer import CaptureObserver
from harness.dump import kernel_args
from harness.framework.runtime.observer import Slot
from harness.graph import Node


class KernelArgsObserver(CaptureObserver):
    """Keeps everything, and the arguments of each operator of which something was dumped."""

    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        self._files: dict[tuple[int, int, str], ArgumentsFile] = {}

    def kernel_outputs(self, node: Node, inputs: Sequence[Slot], outputs: Sequence[Slot]) -> None:
        """See ``CaptureObserver.kernel_outputs``."""
        kept = len(self._records)
        super().kernel_outputs(node, inputs, outputs)
        if len(self._records) == kept:
            return
        graph, name = self._records[-1].key.graph, kernel_args.file_name(node)
        file = ArgumentsFile(graph, self._iteration, name, kernel_args.text(node, inputs))
        self._files[file[:3]] = file  # a loop's body overwrites its file each time

    def capture(self, *args: Any, **more: Any) -> Capture:
        """See ``CaptureObserver.capture``."""
        made = super().capture(*args, **more)
        made.artefacts = {**made.artefacts, **artefacts(self._files.values())}
        return made
