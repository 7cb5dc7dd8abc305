"""The base of recorders, their arguments for an export, and the registry of kinds."""

from __future__ import annotations

import importlib
import itertools
from dataclasses import dataclass
from typing import Any, ClassVar

from harness.rdr.folder import Folder
from harness.rdr.names import file_name
from harness.registry import Registry, class_of


class Counter:
    """Numbers the texts of graphs, from 0; every number is given only once, even to several threads."""

    def __init__(self) -> None:
        self._numbers = itertools.count()

    def next(self) -> int:
        """A number not given before."""
        return next(self._numbers)


@dataclass(frozen=True, slots=True)
class Export:
    """One export: its directory, and the counter of graph texts."""

    folder: Folder
    counter: Counter


class Recorder:
    """One artefact to be exported; subclass it and register a kind.

    Args:
        module: one of ``harness.log.submodules.NAMES``.
        name: at most ``names.MAX_NAME`` characters; those of a graph end in its id.
        stamp: when it was recorded; part of the file name at every export.
        content: content of the type ``accepts``.

    Attributes:
        required: what a recorder of another package must define.
        accepts: the type of ``content``; anything else is an error of the caller.
        appends: whether a second export extends the file.
        alone: whether two recorders of one key need different file names, because the second would replace the first
            one's file.
        changes: number of changes of its content.
        exported: ``changes`` at the last export; None if there was none.
    """

    required: ClassVar[tuple[str, ...]] = ("export",)
    accepts: ClassVar[type | tuple[type, ...]] = object
    appends: ClassVar[bool] = False
    alone: ClassVar[bool] = False

    def __init__(self, module: str, name: str, stamp: str, content: Any) -> None:
        if not isinstance(content, self.accepts):
            raise TypeError(f"a {type(self).__name__} takes {self.accepts}, got {type(content).__name__}")
        self.module = module
        self.name = name
        self.stamp = stamp
        self.content: Any = content
        self.changes = 0
        self.exported: int | None = None

    @property
    def key(self) -> tuple[str, str]:
        """The key of a later recorder that replaces this one."""
        return self.module, self.name

    @property
    def pending(self) -> bool:
        """Whether it holds content that was not exported yet."""
        return self.exported != self.changes

    def put(self, export: Export, extension: str, data: bytes, number: int | None = None) -> bool:
        """Writes one file of the recorder."""
        name = file_name(self.module, self.name, self.stamp, extension, number)
        return export.folder.write(name, data, append=self.appends)

    def export(self, export: Export) -> bool:
        """Writes the artefact; returns whether all of it was written."""
        raise NotImplementedError


def _populate() -> None:
    for name in ("text", "graph", "execution_order", "memory", "stream_order", "task_info"):
        importlib.import_module(f"harness.rdr.recorders.{name}")


#: kinds of recorders by name; other packages may add to it through the entry-point group ``harness.recorders``
RECORDERS: Registry[type[Recorder]] = Registry("recorder", "harness.recorders", _populate, class_of(Recorder))
