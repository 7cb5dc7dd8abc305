"""Backends whose engine records what it runs: its recording is the capture."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from harness.backends.base import Backend, Process
from harness.backends.modes import MODES
from harness.capture import Capture
from harness.capture.lookup import Lookup
from harness.devices import Device
from harness.devices.cpu import CPU
from harness.errors import RecordingError
from harness.recording import Engine, Observer, Recording, Step, listening

_MODES = ("tensor", "statistic", "full")


class RecordedBackend(Backend):
    """Runs programs of an engine that tells a recording what it runs. The recording of its name that is open, or that
    the program opens, is the capture; one program has one.

    Args:
        name: of the backend, and of the engine as its recordings state it.
        device: whose dump it is like; the CPU by default.

    Examples:
        >>> import numpy as np
        >>> from harness import instruments
        >>> from harness.backends import RecordedBackend
        >>> def program():
        ...     with instruments.open("cpu", engine="tinyrt 1.0", environ={}) as recording:
        ...         graph = recording.eager()
        ...         with recording.step(graph) as step, step.launch(graph.operator("Neg"), [np.ones(2)]) as launch:
        ...             launch.done(-np.ones(2))
        >>> capture = RecordedBackend("tinyrt").run(program, network="Tiny")
        >>> capture.backend, capture.rules["engine"], len(list(capture.records()))
        ('tinyrt', 'tinyrt 1.0', 2)
    """

    modes = _MODES

    def __init__(self, name: str, device: Device = CPU) -> None:
        self.name = name
        self._device = device

    @contextmanager
    def open(
        self, *, network: str, mode: str = "tensor", rootdir: str | None = None, rdr: bool = False
    ) -> Iterator[Process]:
        """See ``Backend.open``. What the recorder keeps is not compared: ``rdr`` has no effect."""
        self.require(mode)
        yield RecordedProcess(self.name, self._device, network, mode, rootdir)


class RecordedProcess(Process):
    """See ``Process``."""

    def __init__(self, name: str, device: Device, network: str, mode: str, rootdir: str | None) -> None:
        self._name, self._network, self._mode = name, network, mode
        self._observer = MODES[mode].observer(rootdir=rootdir, device=device)
        self._source = _Source()

    def execute(self, program: Callable[[], Any]) -> Any:
        """See ``Process.execute``; gives what ``program`` returns.

        Raises:
            RecordingError: a second recording of the engine runs a step.
        """
        with listening(self._name, [self._source, self._observer]):
            return program()

    def look_up(self, lookup: Lookup) -> None:
        """See ``Process.look_up``."""
        self._observer.lookup = lookup

    def capture(self) -> Capture:
        """See ``Process.capture``."""
        engine = self._source.engine or Engine(self._name)
        return self._observer.capture(
            self._network, self._name, mode=self._mode, emulated=engine.emulated, rules={"engine": str(engine)}
        )


class _Source(Observer):
    """Notes which recording runs; graphs of two recordings may have one number."""

    def __init__(self) -> None:
        self._recording: Recording | None = None

    @property
    def engine(self) -> Engine | None:
        """Who ran."""
        return None if self._recording is None else self._recording.engine

    def step_begin(self, step: Step) -> None:
        """A step of a recording."""
        recording = step.recording
        assert isinstance(recording, Recording)
        if self._recording not in (None, recording):
            who = f"two recordings of {recording.engine.name} run in one program"
            raise RecordingError(f"{who}; let its networks share a recording, or give each a test of its own")
        self._recording = recording
