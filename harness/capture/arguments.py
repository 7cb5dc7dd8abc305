"""Files with the arguments of operators (``save_kernel_args``): one text for each graph, which is compared."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, NamedTuple

from harness.capture.capture import COMPARED
from harness.errors import TreeError


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
