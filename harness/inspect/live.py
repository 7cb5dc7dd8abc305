"""Watches a training while it runs, at the cost of a norm a parameter and step; when something looks wrong, the next
step is captured whole and inspected."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from harness.capture import Capture, CaptureObserver
from harness.devices import Device
from harness.devices.cpu import CPU
from harness.dump.counter import IterationCounter
from harness.errors import HarnessError
from harness.framework.runtime import session
from harness.framework.train.callback import Callback, RunContext
from harness.inspect.digests import Alarm, Digests
from harness.inspect.finding import Report
from harness.inspect.inspecting import inspect
from harness.recording import Graph, Launch, Observer, Operator, Step
from harness.recording.events import Want


class StoppedError(HarnessError, RuntimeError):
    """A watched training looked wrong and was told to stop."""


class Sentinel(Observer):
    """Watches the steps of a recording.

    Args:
        rootdir: source paths are given relative to it; the current directory by default.
        device: device whose dump a capture looks like.
        whole: number of steps that are captured whole at most.

    Attributes:
        digests: norms of every step, and alarms.
        alarm: the first alarm, or None.
    """

    def __init__(self, rootdir: str | None = None, device: Device = CPU, whole: int = 1) -> None:
        self.digests = Digests()
        self.alarm: Alarm | None = None
        self._counter = IterationCounter()
        self._inner = CaptureObserver(rootdir=rootdir or os.getcwd(), counter=self._counter, device=device)
        self._left = whole
        self._on = False

    @property
    def keeps(self) -> bool:  # type: ignore[override]
        """Whether values of the running step are kept."""
        return self._on

    def wants(self, operator: Operator, io: str, slot: int) -> Want:
        """Values of a step that is captured, else nothing."""
        return Want.VALUES if self._on else Want.NOTHING

    def graph_declared(self, graph: Graph) -> None:
        """Keeps the graph's text for a capture."""
        self._inner.graph_declared(graph)

    def step_begin(self, step: Step) -> None:
        """Captures the step if the one before looked wrong."""
        self._on = self.alarm is not None and self._left > 0
        if self._on:
            self._inner.step_begin(step)

    def launch_end(self, launch: Launch) -> None:
        """Passes a captured step's launches on."""
        if self._on:
            self._inner.launch_end(launch)

    def step_end(self, step: Step) -> None:
        """Takes the norms of the parameters."""
        if self._on:
            self._inner.step_end(step)
            self._left -= 1
            self._on = False
        else:
            self._counter.finished(step.run)
        norms: dict[str, float] = {}
        with np.errstate(all="ignore"):
            for parameter, array in step.parameters():
                if array.dtype.kind == "f" and array.size:
                    norms[parameter.name] = float(np.linalg.norm(array.astype(np.float64, copy=False)))
        alarm = self.digests.take(norms)
        self.alarm = self.alarm or alarm

    def failed(self, step: Step, error: BaseException) -> None:
        """Ends a captured step."""
        if self._on:
            self._inner.failed(step, error)
            self._on = False

    def capture(self, network: str = "watched") -> Capture:
        """The steps that were captured whole."""
        return self._inner.capture(network, "cpu")


class Health(Callback):
    """Watches a training by ``Model.train`` or ``Model.fit``; see ``Sentinel``.

    Args:
        stop: ask the training to stop once the step after an alarm is captured.

    Attributes:
        sentinel: norms and alarms.
        report: what an inspection of the captured step found; None while nothing looked wrong.
    """

    def __init__(self, stop: bool = False) -> None:
        super().__init__()
        self.sentinel = Sentinel()
        self.report: Report | None = None
        self._stop, self._added = stop, False

    def on_train_begin(self, run_context: RunContext) -> None:
        """Begins to watch."""
        if not self._added:
            self._added = True
            session.current().recording.add(self.sentinel)

    def on_train_step_end(self, run_context: RunContext) -> None:
        """Inspects the captured step, and asks to stop."""
        if self.sentinel.alarm is None or self.report is not None:
            return
        capture = self.sentinel.capture()
        if next(iter(capture.records()), None) is None:
            return
        self.report = inspect(capture)
        if self._stop:
            run_context.request_stop()


def whole_run(rootdir: str | None = None) -> tuple[Any, CaptureObserver]:
    """Captures everything that the process's session runs from now on; gives the session and the observer."""
    current = session.current()
    observer = CaptureObserver(rootdir=rootdir or os.getcwd(), device=current.device)
    current.recording.add(observer)
    return current, observer
