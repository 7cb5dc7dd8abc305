"""A run of a graph, and the launches in it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import TracebackType
from typing import Any, Protocol

from harness.errors import RecordingError
from harness.recording.events import Want
from harness.recording.graph import EagerGraph, Graph
from harness.recording.operands import Parameter
from harness.recording.operator import UNKNOWN, Operator
from harness.recording.spec import Spec, TensorSpec
from harness.recording.value import Array, Value, fitting, values_of


class Told(Protocol):
    """What a step needs of its recording; see ``Recording``."""

    lock: Any
    before: bool
    on_step_begin: tuple[Callable[[Step], None], ...]
    on_launch_begin: tuple[Callable[[Launch], None], ...]
    on_launch_end: tuple[Callable[[Launch], None], ...]
    on_launch_failed: tuple[Callable[[Launch, BaseException], None], ...]
    on_step_end: tuple[Callable[[Step], None], ...]
    on_failed: tuple[Callable[[Step, BaseException], None], ...]

    def wants(self, operator: Operator, io: str, slot: int) -> Want:
        """See ``Recording.wants``."""

    def enter_step(self, step: Step) -> None:
        """See ``Recording.enter_step``."""

    def leave_step(self, step: Step) -> None:
        """See ``Recording.leave_step``."""

    def knows(self, graph: Graph) -> bool:
        """See ``Recording.knows``."""

    def grown(self, graph: Graph) -> None:
        """See ``Recording.grown``."""

    def ran(self, graph: Graph) -> None:
        """See ``Recording.ran``."""


class Launch:
    """One execution of an operator: a block, within which the kernel runs.

    Attributes:
        step: the step it belongs to.
        operator: what runs.
        inputs: values by slot, as they were before the launch. Those in ``operator.mutates`` show the memory as it is
            now, unless an observer asked for them as they were.
        outputs: what it gave; empty before.
        order: its place among the launches of the step: as given, or counted.
        saturated: whether the device's status says that it left the range of its dtype and was saturated.
    """

    step: Step
    operator: Operator
    inputs: Sequence[Value]
    outputs: Sequence[Value]
    order: int
    saturated: bool
    __slots__ = ("_ended", "_given", "_mutated", "inputs", "operator", "order", "outputs", "saturated", "step")

    def __init__(self, step: Step, operator: Operator, inputs: Sequence[Value], order: int | None) -> None:
        self.step = step
        self.operator = operator
        self.inputs = self._given = inputs
        self.outputs: Sequence[Value] = ()
        self.order = -1 if order is None else order
        self.saturated = False
        self._mutated: Mapping[int, Value] | None = None
        #: None before it begins
        self._ended: bool | None = None

    @property
    def graph(self) -> Graph:
        """The graph whose operator this is; with control flow, another one than the step's."""
        return self.operator.graph or self.step.graph

    @property
    def updated(self) -> Sequence[Value]:
        """Its inputs after the launch: those it mutates as it left them, the others as they were."""
        operator = self.operator
        if not operator.mutates or (self._mutated is None and self.inputs is self._given):
            return self.inputs
        now = {value.index: value for value in self._given} | dict(self._mutated or {})
        return [now[value.index] if value.index in operator.mutates else value for value in self.inputs]

    def wants(self, io: str, slot: int) -> Want:
        """The most that any observer needs of a slot: ``Want.NOTHING`` means that it need not be brought to the host.

        Args:
            io: ``input`` or ``output``.
            slot: position of the slot.
        """
        return self.step.recording.wants(self.operator, io, slot)

    def done(self, outputs: Any, mutated: Mapping[int, Any] | None = None, saturated: bool = False) -> Any:
        """The kernel ran.

        Args:
            outputs: arrays and ``Value``s by slot, None for a hole; one array for one output.
            mutated: what became of mutated inputs, by slot, where their arrays do not show it themselves.
            saturated: see ``saturated``.

        Returns:
            ``outputs``, to go on with.

        Raises:
            RecordingError: the launch has ended or not begun, its step is over, or a value is wrong; nothing of it is
                recorded.
        """
        if self._ended:
            raise RecordingError(f"{self.operator.name} is done already")
        if self._ended is None or not self.step.runs:
            raise RecordingError(f"{self.operator.name} is done outside of the block of its launch, or of its step")
        if not self.graph.eager:
            # Not before: what a kernel refuses is its failure, which is recorded with these inputs.
            with _named(self.operator, "input"):
                fitting(self._given, tuple(None if each is None else each.spec for each in self.operator.inputs))
        with _named(self.operator, "output"):
            found = values_of(outputs, "outputs")
            if not self.graph.eager:
                fitting(found, self.operator.outputs)
        changed = None
        if mutated is not None:
            if not isinstance(mutated, Mapping):
                raise RecordingError(f"{self.operator.name}: 'mutated' is a dict by slot; given: {mutated!r:.60}")
            changed = {slot: _value(self.operator, slot, each) for slot, each in mutated.items()}
            if wrong := [slot for slot in changed if slot not in (self.operator.mutates or ())]:
                stated = f"'mutates' of {self.operator.name} is {self.operator.mutates}"
                raise RecordingError(f"input.{wrong[0]} was mutated, but {stated}")
        if not self.operator.outputs and self.graph.eager:
            self.operator.outputs = _specs(found)
        self.end(found, changed, saturated)
        return outputs

    def begin(self) -> None:
        """Tells the observers; a runtime's own short way into the block."""
        recording = self.step.recording
        self._ended = False
        with recording.lock:
            self.step.count(self)
            mutates = self.operator.mutates
            if mutates is None or (mutates and recording.before):
                self._keep_inputs(mutates)
            for hook in recording.on_launch_begin:
                hook(self)

    def end(
        self, outputs: Sequence[Value], mutated: Mapping[int, Value] | None = None, saturated: bool = False
    ) -> None:
        """As ``done``, with values that nobody checks.

        Args:
            outputs: values by slot.
            mutated: what became of mutated inputs, by slot.
            saturated: see the class.
        """
        self.outputs, self._mutated, self.saturated, self._ended = outputs, mutated, saturated, True
        recording = self.step.recording
        with recording.lock:
            for hook in recording.on_launch_end:
                hook(self)

    def fail(self, error: BaseException) -> None:
        """The kernel failed with ``error``; tells the observers."""
        self._ended = True
        recording = self.step.recording
        with recording.lock:
            for hook in recording.on_launch_failed:
                hook(self, error)

    def _keep_inputs(self, mutates: tuple[int, ...] | None) -> None:
        """Copies inputs that the launch may overwrite, as far as an observer needs them afterwards."""
        recording, operator = self.step.recording, self.operator
        if not recording.on_launch_end and not recording.on_launch_failed:
            return
        self.inputs = [
            value.kept()
            if (mutates is None or value.index in mutates)
            and recording.wants(operator, "input", value.index) is not Want.NOTHING
            else value
            for value in self._given
        ]

    def __enter__(self) -> Launch:
        self.begin()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is not None:
            if not self._ended:
                self.fail(error)
        elif not self._ended:
            raise RecordingError(f"the launch of {self.operator.name} ended without 'done(outputs)'")


class Step:
    """One run of a graph: a block, within which its operators are launched.

    Attributes:
        recording: what is told.
        graph: the graph the step starts from.
        run: how often this graph ran before (0 for its first run).
        label: what the caller calls the step; None: observers count as MindSpore does.
        parameters: yields each graph parameter that has data, with its current array.
        runs: whether it has begun and is not over; None before it begins.
    """

    recording: Told
    graph: Graph
    run: int
    label: int | None
    parameters: Callable[[], Iterable[tuple[Parameter, Array]]]
    runs: bool | None
    __slots__ = ("_count", "graph", "label", "parameters", "recording", "run", "runs")

    def __init__(
        self,
        recording: Told,
        graph: Graph,
        run: int,
        label: int | None,
        parameters: Callable[[], Iterable[tuple[Parameter, Array]]],
    ) -> None:
        self.recording = recording
        self.graph = graph
        self.run = run
        self.label = label
        self.parameters = parameters
        self.runs = None
        self._count = 0

    def launch(self, operator: Operator, inputs: Any = (), order: int | None = None) -> Launch:
        """Launches ``operator`` within a block, which ends with ``done``; an exception in it is its failure.

        Args:
            operator: one of a graph of this recording.
            inputs: arrays and ``Value``s by slot, None for a hole.
            order: its place in the step, where threads launch in any order.

        Raises:
            RecordingError: the step does not run, the operator is none of this recording, or a value is wrong.
        """
        if not isinstance(operator, Operator) or operator.graph is None:
            given = operator.name if isinstance(operator, Operator) else f"{operator!r:.60}"
            raise RecordingError(f"{given} is launched, but no graph of the recording declares it")
        if not self.runs:
            raise RecordingError(f"{operator.name} is launched outside of the block of its step")
        if operator.graph is not self.graph and not self.recording.knows(operator.graph):
            raise RecordingError(f"{operator.name} is launched, but its graph was declared in another recording")
        if order is not None and (type(order) is not int or order < 0):
            raise RecordingError(f"{operator.name}: 'order' is a place in the step, from 0; given: {order!r:.60}")
        with _named(operator, "input"):
            found = values_of(inputs, "inputs")
        return Launch(self, operator, found, order)

    def count(self, launch: Launch) -> None:
        """Gives a launch its place if it has none; the caller holds the recording's lock."""
        if launch.order < 0:
            launch.order = self._count
        self._count += 1

    def begin(self) -> None:
        """Tells the observers; a runtime's own short way into the block."""
        recording = self.recording
        if self.runs is not None:
            raise RecordingError(f"this step of {self.graph.name} ran already; each run is a step of its own")
        recording.enter_step(self)
        self.runs = True
        try:
            with recording.lock:
                if isinstance(self.graph, EagerGraph):
                    self.graph.begin()
                for hook in recording.on_step_begin:
                    hook(self)
        except BaseException as error:
            self.fail(error)
            raise

    def end(self) -> None:
        """The step is over."""
        recording = self.recording
        try:
            with recording.lock:
                recording.grown(self.graph)
                for hook in recording.on_step_end:
                    hook(self)
        finally:
            self._left()
        recording.ran(self.graph)

    def fail(self, error: BaseException) -> None:
        """The step failed with ``error``, which is raised afterwards."""
        recording = self.recording
        try:
            with recording.lock:
                recording.grown(self.graph)
                for hook in recording.on_failed:
                    hook(self, error)
        finally:
            self._left()

    def _left(self) -> None:
        self.runs = False
        self.recording.leave_step(self)
        # Whoever gave them often holds this step: a circle would keep what observers hold until a collection.
        self.parameters = nothing

    def __enter__(self) -> Step:
        self.begin()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is not None:
            self.fail(error)
        else:
            self.end()


def _specs(values: Sequence[Value]) -> tuple[Spec, ...]:
    """What an eager operator gives, told by its first results; holes stay unknown."""
    found = {value.index: TensorSpec(value.dtype, value.shape) for value in values}
    return tuple(found.get(slot, UNKNOWN) for slot in range(max(found, default=-1) + 1))


def nothing() -> Iterator[tuple[Parameter, Array]]:
    """The parameters of a graph that has none to show."""
    return iter(())


def _value(operator: Operator, slot: int, given: Any) -> Value:
    with _named(operator, "input"):
        found = given if isinstance(given, Value) else Value(given)
        found.index = slot
        return found


class _named:
    """Puts the operator's name before what is wrong with one of its values."""

    __slots__ = ("_io", "_operator")

    def __init__(self, operator: Operator, io: str) -> None:
        self._operator, self._io = operator, io

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if isinstance(error, RecordingError):
            error.args = (f"{self._operator.name}, {self._io}: {error}",)
