"""What a recorder is, what it is given when it is exported, and the registry of their kinds."""

from __future__ import annotations

import importlib
import itertools
from dataclasses import dataclass
from typing import Any, ClassVar

from harness.rdr.folder import Folder
from harness.rdr.names import file_name
from harness.registry import Registry


class Counter:
    """Numbers the texts of graphs, from 0; every number is given once, also to several threads."""

    def __init__(self) -> None:
        self._numbers = itertools.count()

    def next(self) -> int:
        """A number not given before."""
        return next(self._numbers)


@dataclass(frozen=True, slots=True)
class Export:
    """Where one export goes: the directory, and the numbers of graph texts."""

    folder: Folder
    counter: Counter


class Recorder:
    """One artefact in the making; subclass and register a kind.

    Args:
        module: one of ``harness.framework.log.submodules.NAMES``.
        name: at most ``names.MAX_NAME`` characters; those of a graph end in its id.
        stamp: when it was recorded; part of the file name at every export.
        content: what ``accepts`` says.

    Attributes:
        accepts: the type of ``content``; anything else is an error of the caller.
        appends: a second export of it prolongs the file.
        alone: two recorders of one key must not get one file name: the second would replace what the first wrote.
        changes: how often its content changed.
        exported: what ``changes`` was when it was last exported; None if it never was.
    """

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
        """What a later recorder must have to replace this one."""
        return self.module, self.name

    @property
    def pending(self) -> bool:
        """Whether it holds what was not exported yet."""
        return self.exported != self.changes

    def put(self, export: Export, extension: str, data: bytes, number: int | None = None) -> bool:
        """Writes one file of the recorder."""
        name = file_name(self.module, self.name, self.stamp, extension, number)
        return export.folder.write(name, data, append=self.appends)

    def export(self, export: Export) -> bool:
        """Writes the artefact; whether all of it was."""
        raise NotImplementedError


def _populate() -> None:
    for name in ("text", "graph", "execution_order", "memory", "stream_order", "task_info"):
        importlib.import_module(f"harness.rdr.recorders.{name}")


#: kinds of recorders by name; packages outside add to it through the entry-point group ``harness.recorders``
RECORDERS: Registry[type[Recorder]] = Registry("recorder", "harness.recorders", _populate)
