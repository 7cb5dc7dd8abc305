"""The recorders of a process, and when they are written.

Modes and operations: MindSpore 2.7.0, measured. Nothing here raises for an error of the disk or of a recorder.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from typing import Any

from harness import log
from harness.rdr import names
from harness.rdr.config import NORMAL, RdrConfig
from harness.rdr.folder import Folder
from harness.rdr.paths import is_relative
from harness.rdr.recorders import RECORDERS, Counter, Export, Recorder

_log = log.get("rdr.container")


class Recorders:
    """Recorders by module and name; a later one of the same key replaces the earlier. Any thread may record.

    Args:
        config: the recorder's configuration.
        rank: called at each export for the N of ``rank_N``.
        clock: gives the current time in 14 digits.
        counter: numbers the texts of graphs.
        folder: where exports go; by default the ``rdr`` directory of the rank below the configured path.
    """

    def __init__(
        self,
        config: RdrConfig,
        rank: Callable[[], int] = lambda: 0,
        clock: names.Clock = names.timestamp,
        counter: Counter | None = None,
        folder: Folder | None = None,
    ) -> None:
        self.config = config
        self._rank = rank
        self._clock = clock
        self._counter = counter or Counter()
        self._folder = folder
        self._recorders: dict[tuple[str, str], Recorder] = {}
        self._stamps: dict[tuple[str, str], str] = {}
        # Reentrant: a signal's handler may export while its own thread records.
        self._lock = threading.RLock()
        self._exporting = threading.RLock()

    @property
    def folder(self) -> Folder:
        """The directory of an export now."""
        return self._folder or Folder(os.path.join(self.config.path, f"rank_{self._rank()}", "rdr"))

    def record(self, kind: str, module: str, name: str, content: Any) -> bool:
        """Keeps an artefact until it is exported or dropped.

        Args:
            kind: a name of ``RECORDERS``.
            module: one of ``harness.log.submodules.NAMES``.
            name: cut to 64 characters.
            content: content of the type that the kind accepts.

        Returns:
            False if the recorder is off.
        """
        if not self.config.enable:
            return False
        made = RECORDERS.get(kind)
        name = names.limited(name)
        with self._lock:
            stamp = self._clock()
            if made.alone:
                stamp = names.after(self._stamps.get((module, name), ""), stamp)
                self._stamps[module, name] = stamp
            return self.keep(made(module, name, stamp, content))

    def keep(self, recorder: Recorder) -> bool:
        """Keeps an existing recorder; see ``record``."""
        if not self.config.enable:
            return False
        with self._lock:
            self._recorders[recorder.key] = recorder
        _log.info('rdr: RDR record object %s in module "%s".', recorder.name, recorder.module)
        return True

    def note(self, kind: str, module: str, name: str, change: Callable[[Recorder], None]) -> bool:
        """Changes the recorder of a key, which is made with an empty list if there is none; see ``record``.

        No export happens between finding and changing it, so that no change is lost in a dropped recorder.
        """
        with self._lock:
            if (module, name) not in self._recorders and not self.record(kind, module, name, []):
                return False
            change(self._recorders[module, name])
            return True

    def find(self, module: str, name: str) -> Recorder | None:
        """The recorder of a key, or None."""
        with self._lock:
            return self._recorders.get((module, name))

    def __len__(self) -> int:
        return len(self._recorders)

    # --- exports ------------------------------------------------------------------------------------------------------

    def trigger(self) -> None:
        """Exports every recorder and keeps them all, in both modes: something failed."""
        if not self.config.enable:
            return
        if self.config.mode != NORMAL:
            _log.info("rdr: RDR exports all recorders in abnormal end scenario.")
        self._export(self._all())

    def snapshot(self) -> None:
        """In mode 2: exports every recorder and drops it; one that was exported already is only dropped."""
        if not self.config.enable or self.config.mode != NORMAL:
            return
        recorders = {recorder: recorder.changes for recorder in self._all()}
        pending = [recorder for recorder in recorders if recorder.pending]
        if pending or not recorders:
            self._export(pending)
        _log.info("rdr: RDR exports all recorders in normal end scenario.")
        with self._lock:
            for recorder, changes in recorders.items():
                # Records made meanwhile, under the same key or by the same recorder, are not lost.
                if self._recorders.get(recorder.key) is recorder and recorder.changes == changes:
                    del self._recorders[recorder.key]

    def trigger_new(self) -> None:
        """Exports what was not exported since it was recorded (for triggers MindSpore does not have)."""
        if self.config.enable:
            recorders = [recorder for recorder in self._all() if recorder.pending]
            if recorders:
                self._export(recorders)

    def clear(self) -> None:
        """Drops everything."""
        with self._lock:
            self._recorders.clear()
        _log.info("rdr: RDR clear all recorders.")

    def _all(self) -> list[Recorder]:
        with self._lock:
            return list(self._recorders.values())

    def _export(self, recorders: list[Recorder]) -> None:
        if not recorders:
            _log.warning("rdr: There is no recorder to export.")
            return
        with self._exporting:
            export = Export(self.folder, self._counter)
            for recorder in recorders:
                self._export_one(recorder, export)

    def _export_one(self, recorder: Recorder, export: Export) -> None:
        info = f"Info: module={recorder.module}, name={recorder.name}, path={export.folder.path}."
        if is_relative(export.folder.path):
            _log.error("rdr: Do not support relative path. %s", info)
            return
        changes = recorder.changes
        done: bool | None
        try:
            done = recorder.export(export)
        except Exception as error:  # an error of one recorder must not affect the program or other recorders
            _log.error("rdr: %s of module %s cannot be exported: %r", recorder.name, recorder.module, error)
            done = None
        if done is False:
            _log.error("rdr: Get real path failed. %s", info)
        if done:
            recorder.exported = changes
