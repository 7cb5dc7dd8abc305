"""Any text without changes: memory plans."""

from __future__ import annotations

from harness.rdr.recorders.base import RECORDERS, Export, Recorder


class TextRecorder(Recorder):
    """``content`` is a str; the file holds it without an additional newline, and a second export repeats it
    (measured)."""

    accepts = str
    appends = True

    def export(self, export: Export) -> bool:
        """See ``Recorder.export``."""
        return self.put(export, "txt", self.content.encode("utf-8", "surrogatepass"))


RECORDERS.register("text", TextRecorder)
