"""The addresses that each kernel of the latest step reads and writes."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from typing import Any

from harness import log
from harness.memory.addresses import Address, Addresses
from harness.rdr.recorders.base import RECORDERS, Export, Recorder

_log = log.get("rdr.recorders")


def kernel_text(name: str, of: Addresses) -> str:
    """The block of one kernel; an entry without an address is counted but has no line."""
    groups = (("inputs", of.inputs), ("workspaces", of.workspaces), ("outputs", of.outputs))
    return f"{name}\n" + "".join(_group(title, entries) for title, entries in groups) + "\n"


def _group(title: str, entries: Iterable[Address]) -> str:
    given = list(entries)
    lines = [f"&{start:#x} #{size}\n" for start, size in given if start is not None]
    return f"kernel_{title} {len(given)}\n" + "".join(lines)


class MemoryRecorder(Recorder):
    """``content`` is a list to which launched kernels are added: ``(name, Addresses)``.

    A kernel that is in the list already begins a new step: everything is dropped first (measured).
    """

    accepts = list
    alone = True

    def __init__(self, module: str, name: str, stamp: str, content: Any) -> None:
        super().__init__(module, name, stamp, content)
        self._names = {entry[0] for entry in content}
        self._lock = threading.Lock()

    def add(self, name: str, of: Addresses) -> None:
        """Adds a launched kernel."""
        if not name:
            _log.warning("rdr: a kernel without a name is not recorded")
            return
        with self._lock:
            if name in self._names:
                self._names.clear()
                self.content.clear()
            self._names.add(name)
            self.content.append((name, of))
            self.changes += 1

    def export(self, export: Export) -> bool:
        """See ``Recorder.export``."""
        with self._lock:
            kernels = list(self.content)
        text = "".join(kernel_text(name, of) for name, of in kernels)
        return self.put(export, "txt", text.encode("utf-8", "replace"))


RECORDERS.register("mem_address_list", MemoryRecorder)
