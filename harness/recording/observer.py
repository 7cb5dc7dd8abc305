"""What watches a recording, and the events it is told.

Dump, recorder, capture and whatever else looks at a run is an ``Observer``. A runtime knows none of them.
"""

from __future__ import annotations

from harness.recording.events import Compilation, Stage, Want
from harness.recording.graph import Graph
from harness.recording.operator import Operator
from harness.recording.step import Launch, Step


class Observer:
    """Base with empty hooks; override what you need.

    An exception in a hook stops the step and propagates. Hooks of one recording are called one at a time, whatever
    threads launch. Values are valid during the call; who keeps one takes ``value.kept()``.

    Attributes:
        keeps: whether it keeps values past the call; then runtimes say which are stable.
        before: whether it needs inputs that a launch mutates as they were before it.

    Examples:
        >>> import numpy as np
        >>> from harness.recording import Observer, Recording
        >>> class Names(Observer):
        ...     def launch_end(self, launch):
        ...         print(launch.operator.name, launch.outputs[0].array)
        >>> with Recording("tinyrt 1.0", observers=[Names()]) as recording:
        ...     graph = recording.eager()
        ...     with recording.step(graph) as step, step.launch(graph.operator("Ones", mutates=())) as launch:
        ...         _ = launch.done(np.ones(2))
        Default/Ones-op0 [1. 1.]
    """

    keeps: bool = False
    before: bool = False

    def wants(self, operator: Operator, io: str, slot: int) -> Want:
        """What it needs of a slot of the running step; an upper bound: it may read less.

        Args:
            operator: the operator.
            io: ``input`` or ``output``.
            slot: position of the slot.
        """
        return Want.VALUES

    def compile_begin(self, compilation: Compilation) -> None:
        """A compilation begins."""

    def compile_stage(self, stage: Stage) -> None:
        """A stage of it is done."""

    def compile_end(self, compilation: Compilation, error: BaseException | None) -> None:
        """The compilation is over, after every ``graph_declared``; ``error`` is raised afterwards."""

    def graph_declared(self, graph: Graph) -> None:
        """Once for each compiled graph, before its first run; for an eager one at the end of each step in which it
        grew."""

    def step_begin(self, step: Step) -> None:
        """Before the first launch of a step."""

    def launch_begin(self, launch: Launch) -> None:
        """Before an operator is launched; ``launch.inputs`` are what it reads."""

    def launch_end(self, launch: Launch) -> None:
        """After it ran; ``launch.outputs`` are there, and ``launch.updated`` shows its inputs now."""

    def launch_failed(self, launch: Launch, error: BaseException) -> None:
        """It failed; ``launch.inputs`` are as they were before it. The error is raised afterwards."""

    def step_end(self, step: Step) -> None:
        """After the last launch of a step."""

    def failed(self, step: Step, error: BaseException) -> None:
        """The step failed, after ``launch_failed`` if a launch did; the error is raised afterwards."""

    def closed(self) -> None:
        """Nothing more will run."""


HOOKS = (
    "compile_begin", "compile_stage", "compile_end", "graph_declared", "step_begin", "launch_begin", "launch_end",
    "launch_failed", "step_end", "failed", "closed",
)  # fmt: skip
