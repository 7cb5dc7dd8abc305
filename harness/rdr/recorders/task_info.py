"""The tasks a sunk graph is made of (Ascend). Source: the public source; not measured, and gone in 2.7.0."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from harness.memory.addresses import Address
from harness.rdr.recorders.base import RECORDERS, Export, Recorder


@dataclass(frozen=True, slots=True)
class Task:
    """One task: the kernel's full name, its numbers and addresses; ``stream`` is None for anything but a task."""

    name: str
    index: int
    stream: int | None = 0
    type: int = 0
    dumped: bool = False
    inputs: tuple[Address, ...] = ()
    outputs: tuple[Address, ...] = ()
    workspaces: tuple[Address, ...] = ()


def task_text(task: Task) -> str:
    """Three to five lines, and an empty one."""
    if task.stream is None:
        lines = [f"op_name:{task.name}-NonTask", f"task_index:{task.index}\ttask_num:0"]
    else:
        lines = [
            f"op_name:{task.name}",
            f"task_index:{task.index}\ttask_num:1\ttask0_stream_id:{task.stream}\ttask0_type:{task.type}"
            f"\ttask0_dump_flag:{int(task.dumped)}",
        ]
    for title, entries in (("input", task.inputs), ("output", task.outputs), ("workspace", task.workspaces)):
        if entries:
            lines.append(f"{title} address:{_addresses(entries)}")
    return "\n".join(lines) + "\n\n"


def _addresses(entries: Iterable[Address]) -> str:
    return "".join(f"{start or 0:#x}({size})\t" for start, size in entries)


class TaskInfoRecorder(Recorder):
    """``content`` is a tuple of ``Task``; a second export replaces the file."""

    accepts = tuple

    def export(self, export: Export) -> bool:
        """See ``Recorder.export``."""
        return self.put(export, "ir", "".join(map(task_text, self.content)).encode("utf-8", "replace"))


RECORDERS.register("task_info", TaskInfoRecorder)
