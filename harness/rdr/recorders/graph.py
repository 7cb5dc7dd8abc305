"""A graph: its text, numbered from the start at each export, and its protobuf message, which is replaced."""

from __future__ import annotations

from dataclasses import dataclass

from harness import log
from harness.rdr.names import HWOPT
from harness.rdr.recorders.base import RECORDERS, Export, Recorder

_log = log.get("rdr.recorders")


@dataclass(frozen=True, slots=True)
class GraphTexts:
    """A graph at the time it was recorded, because later stages change it.

    Attributes:
        ir: its text.
        pb: its message, or None where none is asked for.
        file_types: the files to write, in MindSpore's form: ``.ir;.pb``.
    """

    ir: str
    pb: bytes | None = None
    file_types: str = ".ir"


class GraphRecorder(Recorder):
    """``content`` is a ``GraphTexts``."""

    accepts = GraphTexts

    def export(self, export: Export) -> bool:
        """See ``Recorder.export``."""
        kinds, done = self.content.file_types, True
        if ".ir" in kinds:
            done = self._text(export)
        if done and ".pb" in kinds and self.content.pb is not None:
            done = self.put(export, "pb", self.content.pb)
        if not any(kind in kinds for kind in (".ir", ".pb", ".dat")):
            _log.warning("rdr: Unknown save graph type: %s", kinds)
        return done

    def _text(self, export: Export) -> bool:
        return self.put(export, "ir", self.content.ir.encode("utf-8", "replace"), export.counter.next())


class DocumentedGraphRecorder(GraphRecorder):
    """Writes ``hwopt_d_before_graph_<id>.ir`` under exactly that name, as documented."""

    def _text(self, export: Export) -> bool:
        assert self.name.startswith(HWOPT)
        return export.folder.write(f"{self.name}.ir", self.content.ir.encode("utf-8", "replace"))


RECORDERS.register("graph", GraphRecorder)
RECORDERS.register("documented graph", DocumentedGraphRecorder)
