"""The emulated CPU: MindSpore's graphs, run by the harness's numpy kernels."""

from __future__ import annotations

import platform
from collections.abc import Callable
from typing import Any

import numpy as np

from harness.backends.base import BACKENDS
from harness.capture import Capture, CaptureObserver
from harness.errors import UnsupportedError
from harness.runtime import session

#: what a reader of a capture has to know about where its numbers come from
RULES = {
    "kernels": "numpy, evaluated in float64 or wider, rounded once",
    "sums": "fixed order (halving), no BLAS",
    "transcendental": "long double of the C library",
    "graph": "as MindSpore 2.10.0 CPU",
}


class Cpu:
    """Backend ``cpu``, emulated."""

    name = "cpu"
    emulated = True
    modes = ("tensor",)
    in_process = True

    def available(self) -> str | None:
        """Always available."""
        return None

    def run(self, program: Callable[[], Any], *, network: str, mode: str = "tensor", rootdir: str | None = None) -> Capture:
        """See ``Backend.run``; the program has a session (graph ids, numbers) of its own."""
        if mode not in self.modes:
            raise UnsupportedError(f"backend {self.name} has no dump mode {mode!r}; it has {', '.join(self.modes)}")
        observer = CaptureObserver(rootdir=rootdir)
        with session.fresh([observer]):
            program()
        rules = {**RULES, "numpy": np.__version__, "machine": platform.machine()}
        return observer.capture(network, self.name, mode=mode, emulated=True, rules=rules)


BACKENDS.register("cpu", Cpu())
