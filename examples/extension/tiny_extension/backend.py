"""The runtime as a backend: ``@pytest.mark.msdump(backends=("tinyrt",))``."""

import contextlib
import contextvars

from harness.backends import Backend, Process
from harness.capture import CaptureObserver
from harness.recording import Recording
from tiny_extension.engine import NAME, Chain

_RECORDING = contextvars.ContextVar("recording")


def chain(x, factor=2.0):
    """What a test hands to ``msdump.run``: a program of the runtime."""
    return Chain(_RECORDING.get(), factor)(x)


class TinyProcess(Process):
    def __init__(self, network, mode, rootdir):
        self._network, self._mode = network, mode
        self._observer = CaptureObserver(rootdir=rootdir)
        self._recording = Recording(NAME, observers=[self._observer])

    def execute(self, program):
        token = _RECORDING.set(self._recording)
        try:
            return program()
        finally:
            _RECORDING.reset(token)

    def look_up(self, lookup):
        self._observer.lookup = lookup

    def capture(self):
        rules = {"engine": NAME}
        return self._observer.capture(self._network, "tinyrt", mode=self._mode, emulated=False, rules=rules)


class TinyBackend(Backend):
    name = "tinyrt"
    computes = f"{NAME}, numpy"

    @contextlib.contextmanager
    def open(self, *, network, mode="tensor", rootdir=None, rdr=False):
        self.require(mode)
        process = TinyProcess(network, mode, rootdir)
        with process._recording:
            yield process
