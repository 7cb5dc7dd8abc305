"""Captures with the arguments of operators (``save_kernel_args``): one text for each graph, which is compared."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from harness.capture.capture import COMPARED, Capture
from harness.capture.observer import CaptureObserver
from harness.dump import kernel_args
from harness.errors import TreeError
from harness.framework.runtime.observer import Slot
from harness.graph import Node


class ArgumentsFile(NamedTuple):
    """One file: the arguments of an operator in a step."""

    graph: int
    iteration: int
    name: str
    content: str


def is_arguments_file(name: str) -> bool:
    """Whether a file of an iteration directory is named like one (``MatMul.Default_fc_MatMul-op0.json``)."""
    return name.endswith(".json") and name.count(".") == 2


def artefacts(files: Iterable[ArgumentsFile]) -> dict[str, bytes]:
    """``compared/kernel_args_graph_0.json``: file names -> arguments, step by step.

    Raises:
        TreeError: a file holds no JSON.
    """
    graphs: dict[int, dict[str, dict[str, Any]]] = {}
    for file in files:
        try:
            value = json.loads(file.content)
        except (ValueError, RecursionError) as error:
            raise TreeError(f"{file.name}: not a JSON text ({error})") from None
        graphs.setdefault(file.graph, {}).setdefault(str(file.iteration), {})[file.name] = value
    return {
        f"{COMPARED}kernel_args_graph_{graph}.json": (
            json.dumps(steps, indent=1, sort_keys=True, ensure_ascii=False) + "\n"
        ).encode("utf-8", "surrogateescape")
        for graph, steps in graphs.items()
    }


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
