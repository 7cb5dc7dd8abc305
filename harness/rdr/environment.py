"""The recorder that the environment and ``env_config_path`` request, read at the first graph compilation.

Measured on 2.7.0: read once per process; later changes have no effect. A process without a compilation reads it at its
end.

A switch of the harness's own, off by default: ``MSDUMP_RDR_TRIGGERS``, see ``harness.rdr.triggers``.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING

from harness.devices import Device
from harness.rdr.config import RdrConfig, resolve
from harness.rdr.names import rank_of
from harness.rdr.triggers import Triggers, wanted

if TYPE_CHECKING:
    from harness.rdr.observer import RdrObserver


class RdrEnvironment:
    """The recorder's configuration in one process; ``install`` gives the same answer until ``forget``."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._config: RdrConfig | None = None
        self._observer: RdrObserver | None = None
        self._triggers: Triggers | None = None
        self._process = os.getpid()

    def install(
        self,
        device: Device,
        environ: Mapping[str, str] = os.environ,
        env_config_path: str = "",
        *,
        synchronous_dump: bool = False,
        rank: int | None = None,
    ) -> RdrObserver | None:
        """The observer of this process, or None if the recorder is off; never raises for a wrong configuration.

        Args:
            device: what networks run on.
            environ: the environment variables.
            env_config_path: the context's.
            synchronous_dump: whether a synchronous dump of every kernel is on.
            rank: of the process; by default what the environment says at each export.
        """
        with self._lock:
            if self._config is None:
                self._config = resolve(environ, env_config_path)
                if self._config.enable:
                    self._start(self._config, device, environ, synchronous_dump, rank)
            return self._observer

    def _start(
        self,
        config: RdrConfig,
        device: Device,
        environ: Mapping[str, str],
        synchronous_dump: bool,
        rank: int | None,
    ) -> None:
        from harness.rdr.observer import RdrObserver

        triggers = wanted(environ)
        self._process = os.getpid()
        of_rank = (lambda: rank_of(environ)) if rank is None else rank
        self._observer = RdrObserver(
            config, device, rank=of_rank, synchronous_dump=synchronous_dump,
            triggers_compile="compile" in triggers,
        )  # fmt: skip
        self._triggers = Triggers(self._observer.recorders, triggers)
        self._triggers.install()

    def at_exit(self, device: Device, environ: Mapping[str, str] = os.environ, env_config_path: str = "") -> None:
        """The end of the process: mode 2 exports what is left.

        Not at the end by an interrupt that nobody caught (measured), nor in a forked child: that is its parent's.
        """
        observer = self.install(device, environ, env_config_path)
        interrupted = getattr(sys, "last_type", None) is KeyboardInterrupt
        if observer is not None and os.getpid() == self._process and not interrupted:
            observer.closed()

    def forget(self) -> None:
        """Starts again like a new process; nothing is exported."""
        with self._lock:
            if self._triggers is not None:
                self._triggers.remove()
            self._config = self._observer = self._triggers = None


PROCESS = RdrEnvironment()
"""The recorder of this process."""
