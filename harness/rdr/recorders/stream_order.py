"""The streams of a graph's kernels (Ascend)."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from harness.rdr.recorders.base import RECORDERS, Export, Recorder


@dataclass(frozen=True, slots=True)
class StreamEntry:
    """One kernel: full name, text, stream, and what synchronises it."""

    node_name: str
    node_info: str
    stream_id: int
    logic_id: int
    event_id: int = 0
    labels: tuple[int, ...] = ()
    active_streams: tuple[int, ...] = ()


def stream_order_text(entries: Iterable[StreamEntry]) -> str:
    """A JSON array, two blanks per level, keys sorted, no newline at the end."""
    return json.dumps([_row(i, entry) for i, entry in enumerate(entries)], indent=2, sort_keys=True, ensure_ascii=False)


def _row(index: int, entry: StreamEntry) -> dict[str, Any]:
    row: dict[str, Any] = {
        "index": index, "node_name": entry.node_name, "logic_id": entry.logic_id, "stream_id": entry.stream_id,
        "node_info": entry.node_info, "event_id": entry.event_id,
    }  # fmt: skip
    for key, numbers in (("label_id", entry.labels), ("active_stream_id", entry.active_streams)):
        if numbers:
            row[key] = ",".join(map(str, numbers))
    return row


class StreamOrderRecorder(Recorder):
    """``content`` is a tuple of ``StreamEntry``; a second export appends another array (measured)."""

    accepts = tuple
    appends = True

    def export(self, export: Export) -> bool:
        """See ``Recorder.export``."""
        return self.put(export, "json", stream_order_text(self.content).encode("utf-8", "replace"))


RECORDERS.register("stream_exec_order", StreamOrderRecorder)
