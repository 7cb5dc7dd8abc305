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
from harness.recording import Engine, Graph, Launch, Observer, Operator, Recording, Step, Want, listening

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
    """See ``Process``.

    Attributes:
        observer: makes the capture.
    """

    def __init__(self, name: str, device: Device, network: str, mode: str, rootdir: str | None) -> None:
        self._name, self._network, self._mode = name, network, mode
        self.observer = MODES[mode].observer(rootdir=rootdir, device=device)
        self._recording: Recording | None = None

    def execute(self, program: Callable[[], Any]) -> Any:
        """See ``Process.execute``; gives what ``program`` returns.

        Raises:
            RecordingError: a second recording of the engine runs a step.
        """
        with listening(self._name, lambda recording: _Relay(recording, self)):
            return program()

    def check(self, recording: Recording) -> None:
        """A recording begins a step. Graphs of two may have one number: there is one."""
        if self._recording not in (None, recording):
            who = f"two recordings of {recording.engine.name} run in one program"
            raise RecordingError(f"{who}; let its networks share a recording, or give each a test of its own")
        self._recording = recording

    def look_up(self, lookup: Lookup) -> None:
        """See ``Process.look_up``."""
        self.observer.lookup = lookup

    def capture(self) -> Capture:
        """See ``Process.capture``."""
        engine = Engine(self._name) if self._recording is None else self._recording.engine
        return self.observer.capture(
            self._network, self._name, mode=self._mode, emulated=engine.emulated, rules={"engine": str(engine)}
        )


class _Relay(Observer):
    """Tells a process's observer what one recording tells, once it runs: others may be open that only compile."""

    def __init__(self, recording: Recording, process: RecordedProcess) -> None:
        self._recording, self._process, self._observer = recording, process, process.observer
        self.before, self.keeps = self._observer.before, self._observer.keeps
        self._began = False

    def wants(self, operator: Operator, io: str, slot: int) -> Want:
        return self._observer.wants(operator, io, slot)

    def graph_declared(self, graph: Graph) -> None:
        if self._began:
            self._observer.graph_declared(graph)

    def step_begin(self, step: Step) -> None:
        self._process.check(self._recording)
        if not self._began:
            self._began = True
            for graph in self._recording.graphs:
                if graph.operators:
                    self._observer.graph_declared(graph)
        self._observer.step_begin(step)

    def launch_begin(self, launch: Launch) -> None:
        self._observer.launch_begin(launch)

    def launch_end(self, launch: Launch) -> None:
        self._observer.launch_end(launch)

    def launch_failed(self, launch: Launch, error: BaseException) -> None:
        self._observer.launch_failed(launch, error)

    def step_end(self, step: Step) -> None:
        self._observer.step_end(step)

    def failed(self, step: Step, error: BaseException) -> None:
        self._observer.failed(step, error)
