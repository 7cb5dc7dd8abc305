"""The order in which a graph's kernels are launched."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from harness.rdr.recorders.base import RECORDERS, Export, Recorder

HEADING = f"{'=' * 18} execution order {'=' * 18}"
UNSET_LABEL = 2**32 - 1
"""Stream distinction label of a kernel that has none."""


class OrderEntry(NamedTuple):
    """One kernel: its text (``@kernel_graph0:x{[0]: ...}``), stream distinction label, graph id."""

    text: str
    label: int
    graph: int


def order_text(entries: Iterable[OrderEntry]) -> str:
    """The block of a graph: heading, size, four lines a kernel, heading again."""
    kernels = list(entries)
    lines = [HEADING, f"execution_order size: {len(kernels)}"]
    for position, entry in enumerate(kernels):
        lines += [f"{position}:", f"\t{entry.text}", f"\t{entry.label}", f"\t{entry.graph}"]
    return "\n".join([*lines, HEADING]) + "\n"


class ExecutionOrderRecorder(Recorder):
    """``content`` is a tuple of ``OrderEntry``; a second export repeats the block (measured)."""

    accepts = tuple
    appends = True

    def export(self, export: Export) -> bool:
        """See ``Recorder.export``."""
        return self.put(export, "txt", order_text(self.content).encode("utf-8", "replace"))


RECORDERS.register("graph_exec_order", ExecutionOrderRecorder)
