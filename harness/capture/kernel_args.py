"""Captures with the arguments of operators, as ``arguments`` reads them from files."""

from __future__ import annotations

from typing import Any

from harness.capture.arguments import ArgumentsFile, artefacts
from harness.capture.capture import Capture
from harness.capture.observer import CaptureObserver
from harness.dump import kernel_args
from harness.recording import Launch


class KernelArgsObserver(CaptureObserver):
    """Keeps everything, and the arguments of each operator of which something was dumped."""

    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        self._files: dict[tuple[int, int, str], ArgumentsFile] = {}

    def launch_end(self, launch: Launch) -> None:
        """See ``CaptureObserver.launch_end``."""
        kept = len(self._records)
        super().launch_end(launch)
        node = launch.operator
        if len(self._records) == kept:
            return
        graph, name = self._records[-1].key.graph, kernel_args.file_name(node)
        file = ArgumentsFile(graph, self._iteration, name, kernel_args.text(node, launch.updated))
        self._files[file[:3]] = file  # a loop's body overwrites its file each time

    def capture(self, *args: Any, **more: Any) -> Capture:
        """See ``CaptureObserver.capture``."""
        made = super().capture(*args, **more)
        made.artefacts = {**made.artefacts, **artefacts(self._files.values())}
        return made
