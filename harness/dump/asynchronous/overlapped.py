"""The kernel-by-kernel dump that writes its files in parallel to the run."""

from __future__ import annotations

from typing import Any

from harness.dump.asynchronous.overlapping import Overlapping
from harness.dump.asynchronous.write_queue import WriteQueue
from harness.dump.config import DumpConfig
from harness.dump.observer import DumpObserver


class OverlappedDumpObserver(Overlapping, DumpObserver):
    """See ``Overlapping`` and ``DumpObserver``.

    Args:
        config: as parsed.
        queue: queue of waiting tensors; a default one if None.
        others: as for ``DumpObserver``.
    """

    def __init__(self, config: DumpConfig, *others: Any, queue: WriteQueue | None = None, **named: Any) -> None:
        super().__init__(config, *others, **named)
        self._tree = self._overlap(self.root, queue)
