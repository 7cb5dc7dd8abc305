"""Writes what a recording was told into a golden store, when the recording is closed."""

from __future__ import annotations

import os

from harness.capture.keeping import declared_by
from harness.capture.observer import CaptureObserver
from harness.devices import Device
from harness.recording import Engine
from harness.store.layout.schema import RunId
from harness.store.write import RunData, update


class StoreObserver(CaptureObserver):
    """A capture in memory that becomes a run of a golden store at the end.

    Args:
        path: the ``.h5`` file; made if it is missing, other runs in it stay. Its directory must exist.
        engine: who runs: the run's backend is its name.
        network: name of the store's network; by default the file's.
        rank: of the recording.
        device: whose dump it is like.

    Raises:
        StoreError: (when the recording is closed) see ``harness.store.update``; the old file is unchanged.
    """

    def __init__(self, path: str, engine: Engine, device: Device, network: str = "", rank: int = 0) -> None:
        super().__init__(rank=rank, device=device)
        self._path = path
        self._engine = engine
        self._network = network or os.path.basename(path).removesuffix(".h5")

    def closed(self) -> None:
        """Writes the run."""
        rules = {"engine": str(self._engine)}
        made = self.capture(self._network, self._engine.name, emulated=self._engine.emulated, rules=rules)
        attrs = {"emulated": made.emulated, "rules": made.rules}
        data = RunData(made.records(), made.artefacts, attrs, declared=declared_by(made))
        update(self._path, self._network, {RunId(made.backend, made.mode): data})
