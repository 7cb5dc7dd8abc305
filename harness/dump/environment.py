"""The dump that the environment asks for: ``MINDSPORE_DUMP_CONFIG``, read at the first graph compilation.

Measured on 2.10.0: unset or empty means no dump; once read without error the answer is frozen for the process (later
edits of the file or of the variable change nothing); after an error every later compilation reads it again.
"""

from __future__ import annotations

import atexit
import os
import threading
from collections.abc import Mapping

from harness import log
from harness.dump.config import parse, resolve
from harness.dump.observer import MS_VERSION, DumpObserver

VARIABLE = "MINDSPORE_DUMP_CONFIG"
_log = log.get("dump.environment")


class DumpEnvironment:
    """What one process was told to dump; ``install`` answers the same until ``forget``."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._decided = False
        self._observer: DumpObserver | None = None
        self._initial: int | None = None

    def install(
        self,
        config_env: Mapping[str, str] = os.environ,
        device_target: str = "CPU",
        ms_version: str = MS_VERSION,
    ) -> DumpObserver | None:
        """The observer the environment asks for, or None; to be called at each compilation, before anything runs.

        ``.dump_metadata`` is written at once, and ``closed`` is called at the end of the process.

        Args:
            config_env: the environment variables.
            device_target: ``CPU``; also names the backend whose rules the configuration must keep.
            ms_version: release that ``.dump_metadata`` names.

        Raises:
            DumpConfigError: the configuration is refused; nothing was written, and the next call reads it again.
        """
        with self._lock:
            if not self._decided:
                if value := config_env.get(VARIABLE, ""):
                    self._observer = self._start(value, config_env, device_target, ms_version)
                self._decided = True
            return self._observer

    def _start(self, value: str, environ: Mapping[str, str], device_target: str, ms_version: str) -> DumpObserver:
        config = parse(resolve(value), backend=device_target.lower(), environ=environ)
        observer = DumpObserver(config, device_target=device_target, ms_version=ms_version)
        if self._initial is not None:
            observer.counter.set_initial(self._initial)
        observer.start()
        atexit.register(observer.closed)
        return observer

    def set_initial_iteration(self, value: int) -> None:
        """MindSpore's ``_set_init_iter``, before or after the first compilation; ``ValueError`` if negative."""
        if value < 0:
            raise ValueError(f"an iteration label is not negative; given: {value}")
        self._initial = value
        if self._observer is not None:
            self._observer.counter.set_initial(value)

    def step(self, steps: int = 1) -> None:
        """MindSpore's ``_dump_step``: adds to the label that ``set_initial_iteration`` gave; ignored without."""
        if self._observer is not None:
            self._observer.counter.advance(steps)
        elif self._initial is not None:
            self._initial += steps
        else:
            _log.warning("dump: the step is counted by the harness; a step of %d is ignored", steps)

    def forget(self) -> None:
        """Starts anew, as a fresh process would; the former observer is closed."""
        with self._lock:
            observer, self._observer, self._decided, self._initial = self._observer, None, False, None
        if observer is not None:
            atexit.unregister(observer.closed)
            observer.closed()


PROCESS = DumpEnvironment()
"""The dump of this process; ``_set_init_iter`` and ``_dump_step`` are its methods."""


def install(
    config_env: Mapping[str, str] = os.environ, device_target: str = "CPU", ms_version: str = MS_VERSION
) -> DumpObserver | None:
    """``DumpEnvironment.install`` of this process."""
    return PROCESS.install(config_env, device_target, ms_version)
