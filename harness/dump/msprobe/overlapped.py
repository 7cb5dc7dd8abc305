"""msprobe's ``async_dump``: the same files, written in parallel to the run."""

from __future__ import annotations

from typing import Any

from harness.dump.asynchronous.overlapping import Overlapping
from harness.dump.asynchronous.write_queue import WriteQueue
from harness.dump.msprobe.config import ProbeConfig
from harness.dump.msprobe.observer import ProbeObserver


class OverlappedProbeObserver(Overlapping, ProbeObserver):
    """See ``Overlapping`` and ``ProbeObserver``.

    Args:
        config: as parsed.
        queue: queue of waiting files; a default one if None.
        others: as for ``ProbeObserver``.
    """

    def __init__(self, config: ProbeConfig, *others: Any, queue: WriteQueue | None = None, **named: Any) -> None:
        super().__init__(config, *others, **named)
        self._tree = self._overlap(config.dump_path, queue)
