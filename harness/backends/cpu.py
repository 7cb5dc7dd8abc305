"""The emulated CPU: MindSpore's graphs, run by the harness's numpy kernels."""

from __future__ import annotations

import platform
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from harness.backends.base import BACKENDS
from harness.capture import Capture, CaptureObserver
from harness.errors import UnsupportedError
from harness.runtime import session
from harness.runtime.observer import Observer

#: what a reader of a capture has to know about where its numbers come from
RULES = {
    "kernels": "numpy, evaluated in float64 or wider, rounded once",
    "sums": "fixed order (halving), no BLAS",
    "transcendental": "long double of the C library",
    "graph": "as MindSpore 2.10.0 CPU",
}


class CpuProcess:
    """See ``Process``.

    Attributes:
        session: graph ids, numbers and compiled programs.
    """

    def __init__(self, network: str, mode: str, rootdir: str | None) -> None:
        self._network = network
        self._mode = mode
        self._observer = CaptureObserver(rootdir=rootdir)
        self.session = session.Session([self._observer], hooked=False)

    def execute(self, program: Callable[[], Any], observers: Sequence[Observer] = ()) -> Any:
        """See ``Process.execute``."""
        self.session.observers += observers
        with session.within(self.session):
            return program()

    def capture(self) -> Capture:
        """See ``Process.capture``."""
        rules = {**RULES, "numpy": np.__version__, "machine": platform.machine()}
        return self._observer.capture(self._network, Cpu.name, mode=self._mode, emulated=True, rules=rules)


class Cpu:
    """Backend ``cpu``, emulated."""

    name = "cpu"
    emulated = True
    modes: tuple[str, ...] = ("tensor",)
    in_process = True

    def available(self) -> str | None:
        """Always available."""
        return None

    @contextmanager
    def open(self, *, network: str, mode: str = "tensor", rootdir: str | None = None) -> Iterator[CpuProcess]:
        """See ``Backend.open``."""
        if mode not in self.modes:
            raise UnsupportedError(f"backend {self.name} has no dump mode {mode!r}; it has {', '.join(self.modes)}")
        process = CpuProcess(network, mode, rootdir)
        try:
            yield process
        finally:
            process.session.close()

    def run(
        self, program: Callable[[], Any], *, network: str, mode: str = "tensor", rootdir: str | None = None
    ) -> Capture:
        """See ``Backend.run``; the program has a session (graph ids, numbers) of its own."""
        with self.open(network=network, mode=mode, rootdir=rootdir) as process:
            process.execute(program)
        return process.capture()


BACKENDS.register("cpu", Cpu())
