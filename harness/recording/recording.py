"""A recording: what a runtime tells of what it runs, and who hears it."""

from __future__ import annotations

import itertools
import os
import threading
import weakref
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from types import TracebackType
from typing import Any, TypeVar

from harness import log
from harness.errors import RecordingError, StateError
from harness.recording.events import Compilation, Engine, Stage, Want
from harness.recording.graph import EagerGraph, Graph, declared
from harness.recording.observer import HOOKS, Observer
from harness.recording.operands import Constant, Parameter
from harness.recording.operator import Operand, Operator, Result
from harness.recording.step import Launch, Step, nothing
from harness.recording.value import Array
from harness.recording.world import World

G = TypeVar("G", bound=Graph)
_log = log.get("recording.recording")
_open: weakref.WeakSet[Recording] = weakref.WeakSet()
#: stores and trees keep the labels of steps in 31 bits
LAST_LABEL = 2**31 - 1
_listeners: ContextVar[tuple[Callable[[Recording], None], ...]] = ContextVar("who listens to engines", default=())


class Recording:
    """What one runtime runs, in one process or rank.

    Observers are told one event at a time, whatever threads launch. Recordings do not know of one another. In a forked
    process the recording of its parent is closed once something ran in it: nothing is recorded there, which is said
    once; ``child`` opens one of its own.

    Args:
        engine: who runs: an ``Engine``, or its name and version (``tinyrt 1.0``).
        device: what it runs on; recordings hand it on.
        world: which rank of how many.
        observers: told in order.
        graph_ids: gives each graph its number; from 0 by default.
        opener: opens the recording of another rank.

    Attributes:
        engine: who runs.
        device: what it runs on, as given.
        world: which rank of how many.
        lock: held while observers are told.
        before: whether an observer needs mutated inputs as they were.
        keeps: whether an observer keeps values, so that it counts which are stable.

    Raises:
        RecordingError: the engine has no name.

    Examples:
        >>> import numpy as np
        >>> from harness.capture import CaptureObserver
        >>> from harness.recording import Recording
        >>> heard = CaptureObserver()
        >>> with Recording("tinyrt 1.0", observers=[heard]) as recording:
        ...     graph = recording.eager()
        ...     with recording.step(graph) as step:
        ...         twice = graph.operator("Scale", "Default/a", {"factor": 2}, mutates=())
        ...         with step.launch(twice, [np.float32([1, 2])]) as launch:
        ...             made = launch.done(np.float32([2, 4]))
        >>> [record.key.slot_name for record in heard.capture("Net", "tinyrt", emulated=False, rules={}).records()]
        ['input.0', 'output.0']
    """

    engine: Engine
    device: Any
    world: World
    lock: threading.RLock
    before: bool
    keeps: bool
    on_compile_begin: tuple[Callable[[Compilation], None], ...]
    on_compile_stage: tuple[Callable[[Stage], None], ...]
    on_compile_end: tuple[Callable[[Compilation, BaseException | None], None], ...]
    on_graph_declared: tuple[Callable[[Graph], None], ...]
    on_step_begin: tuple[Callable[[Step], None], ...]
    on_launch_begin: tuple[Callable[[Launch], None], ...]
    on_launch_end: tuple[Callable[[Launch], None], ...]
    on_launch_failed: tuple[Callable[[Launch, BaseException], None], ...]
    on_step_end: tuple[Callable[[Step], None], ...]
    on_failed: tuple[Callable[[Step, BaseException], None], ...]
    on_closed: tuple[Callable[[], None], ...]

    def __init__(
        self,
        engine: str | Engine,
        device: Any = None,
        *,
        world: World | None = None,
        observers: Iterable[Observer] = (),
        graph_ids: Iterator[int] | None = None,
        opener: Callable[[World], Recording] | None = None,
    ) -> None:
        self.engine = engine if isinstance(engine, Engine) else _engine(engine)
        self.device = device
        if world is not None and not isinstance(world, World):
            raise RecordingError(f"a recording belongs to a World, or None; given: {_shown(world)}")
        self.world = world or World()
        self.lock = threading.RLock()
        self._stepping = threading.Lock()
        self._runner: int | None = None
        self._graph_ids = itertools.count() if graph_ids is None else graph_ids
        self._opener = opener
        self._numbers: Counter[tuple[str, str]] = Counter()
        self._runs: Counter[int] = Counter()
        self._closed = self._is_forked = self._is_said = self._has_begun = False
        self._graphs: list[weakref.ref[Graph]] = []
        if not isinstance(observers, Iterable):
            raise RecordingError(f"observers are a list of Observers; given: {_shown(observers)}")
        self.observers = list(map(_observer, observers))
        self.listen()
        _open.add(self)
        for hear in _listeners.get():
            hear(self)

    # --- who hears ----------------------------------------------------------------------------------------------------

    def add(self, observer: Observer) -> None:
        """Tells ``observer``, too, from now on; ``RecordingError`` if it is none."""
        with self.lock:
            self.observers.append(_observer(observer))
            self.listen()

    def remove(self, observer: Observer) -> None:
        """Tells ``observer`` nothing more."""
        with self.lock:
            self.observers = [each for each in self.observers if each is not observer]
            self.listen()

    @property
    def graphs(self) -> list[Graph]:
        """The graphs declared so far that somebody still holds."""
        return [graph for each in self._graphs if (graph := each()) is not None]

    def listen(self) -> None:
        """Looks at ``observers`` again, after somebody changed the list."""
        told = () if self._is_forked else tuple(self.observers)
        for hook in HOOKS:
            empty = getattr(Observer, hook)
            found = tuple(getattr(each, hook) for each in told if getattr(type(each), hook, empty) is not empty)
            setattr(self, f"on_{hook}", found)
        self._sees = tuple(each for each in told if _sees(each))
        self.before = any(each.before for each in told)
        self.keeps = any(each.keeps for each in told)

    def wants(self, operator: Operator, io: str, slot: int) -> Want:
        """The most that any observer needs of a slot, see ``Launch.wants``.

        Args:
            operator: the operator.
            io: ``input`` or ``output``.
            slot: position of the slot.
        """
        return max((each.wants(operator, io, slot) for each in self._sees), default=Want.NOTHING)

    # --- what runs ----------------------------------------------------------------------------------------------------

    def compiling(
        self, name: str, inputs: Sequence[str] = (), *, staged: bool = True, shares_memory: bool | None = None
    ) -> Compiling:
        """A block within which a function is compiled.

        Args:
            name: name of the function.
            inputs: names of its parameters.
            staged: whether its stages and graphs are recorded.
            shares_memory: whether its graphs' tensors may share memory; None: the device's rules say so.

        Raises:
            RecordingError: the name is no text, or the inputs are no list of texts.
            StateError: the recording is closed.
        """
        self._check()
        if not isinstance(name, str):
            raise RecordingError(f"a compiled function has a name; given: {_shown(name)}")
        if isinstance(inputs, str) or not isinstance(inputs, Iterable):
            raise RecordingError(f"inputs of a compiled function are a list of names; given: {_shown(inputs)}")
        return Compiling(self, Compilation(name, list(inputs), staged, shares_memory))

    def eager(self) -> EagerGraph:
        """A graph whose operators are declared as they run: ``graph.operator(type, ...)`` within a step of it."""
        self._check()
        return self.know(EagerGraph(next(self._graph_ids), self.engine, self._place))

    def step(
        self,
        graph: Graph,
        label: int | None = None,
        parameters: Callable[[], Iterable[tuple[Parameter, Array]]] | None = None,
        run: int | None = None,
    ) -> Step:
        """A block within which ``graph`` runs once. A second thread's step waits until it is over.

        Args:
            graph: a graph of this recording.
            label: number of the step; None counts as MindSpore does.
            parameters: gives parameters and their arrays as they are when it is called; a dump writes them at the end.
            run: how often the graph ran before; counted by default.

        Raises:
            RecordingError: that is no graph of this recording, the label is negative, or this thread runs a step
                already.
            StateError: the recording is closed.
        """
        self._check()
        if not isinstance(graph, Graph):
            raise RecordingError(f"a step runs a graph of the recording; given: {graph!r:.60} ({type(graph).__name__})")
        if not self.knows(graph):
            raise RecordingError(f"a step runs a graph of its recording; {graph!r:.60} was declared in another one")
        if label is not None and (type(label) is not int or not 0 <= label <= LAST_LABEL):
            raise RecordingError(
                f"the label of a step is a number from 0 to {LAST_LABEL}, or None; given: {label!r:.60}"
            )
        if parameters is not None and not callable(parameters):
            raise RecordingError(f"a function gives the parameters of a step; given: {_shown(parameters)}")
        if run is not None and not isinstance(run, int):
            raise RecordingError(f"'run' counts how often the graph ran; given: {_shown(run)}")
        return Step(self, graph, self._runs[graph.id] if run is None else run, label, parameters or nothing)

    def enter_step(self, step: Step) -> None:
        """Waits for the step of another thread."""
        me = threading.get_ident()
        if self._runner == me:
            raise RecordingError(f"a step of {step.graph.name} begins within another step of this recording")
        self._stepping.acquire()
        self._runner = me

    def leave_step(self, step: Step) -> None:
        """Lets the next step begin."""
        if self._runner is not None:
            self._runner = None
            self._stepping.release()

    def ran(self, graph: Graph) -> None:
        """Counts a run of ``graph``."""
        self._runs[graph.id] += 1

    def grown(self, graph: Graph) -> None:
        """Tells of an eager graph's new operators."""
        if isinstance(graph, EagerGraph) and graph.grown:
            graph.grown = False
            for hook in self.on_graph_declared:
                hook(graph)

    def know(self, graph: G) -> G:
        """Keeps in mind that ``graph`` is its own, and gives it back."""
        self._graphs = [each for each in self._graphs if each() is not None]
        self._graphs.append(weakref.ref(graph))
        return graph

    def knows(self, graph: Graph) -> bool:
        """Whether ``graph`` was declared here."""
        return any(each() is graph for each in self._graphs)

    def number(self, operator: Operator) -> None:
        """Gives an operator of a compiled graph its number, if it has none."""
        if operator.number < 0:
            key = operator.scope, operator.type
            operator.numbered(self._numbers[key])
            self._numbers[key] += 1

    def next_graph(self) -> int:
        """The number of the next graph."""
        return next(self._graph_ids)

    def _place(self, graph: Graph, operator: Operator) -> None:
        assert isinstance(graph, EagerGraph)
        with self.lock:
            graph.place(operator)

    # --- its end ------------------------------------------------------------------------------------------------------

    def child(self, rank: int, size: int | None = None) -> Recording:
        """A recording of another rank, below the same path; for a forked process, or for a thread of its own.

        Args:
            rank: of the new one.
            size: number of ranks; by default this recording's, or as many as ``rank`` needs.

        Raises:
            RecordingError: the rank is not one of ``size``, or is this recording's own.
            StateError: this recording was made without an ``opener``.
        """
        if self._opener is None:
            raise StateError("a recording made without an opener has no child ranks")
        if not isinstance(rank, int) or rank == self.world.rank:
            raise RecordingError(
                f"a child has a rank of its own; given: {rank!r}, which is not one, or is the parent's"
            )
        size = max(self.world.size, rank + 1) if size is None else size
        return self._opener(World(rank, size, self.world.groups))

    def close(self) -> None:
        """Nothing more will run; observers finish what they write. Closing twice does nothing.

        Raises:
            DumpWriteError: something that was still to be written could not be.
        """
        if self._closed or self._is_forked:
            return
        self._closed = True
        _open.discard(self)
        with self.lock:
            for hook in self.on_closed:
                hook()

    def __enter__(self) -> Recording:
        return self

    def __exit__(self, kind: Any, error: Any, trace: TracebackType | None) -> None:
        self.close()

    @property
    def is_forked(self) -> bool:
        """Whether this is a copy in a forked process, where nothing is recorded."""
        return self._is_forked

    def _check(self) -> None:
        if self._closed:
            raise StateError(f"the recording of {self.engine} is closed")
        self._has_begun = True
        if self._is_forked and not self._is_said:
            self._is_said = True
            text = "recording: this process was forked from the one that records %s; nothing is recorded here, "
            _log.warning(text + "recording.child(rank=...) opens a recording of its own", self.engine)

    def fork(self) -> None:
        """This is the copy in a forked process from now on; one that nobody has written to goes on there."""
        self._is_forked = self._is_forked or (self._has_begun and bool(self.observers))
        self.lock = threading.RLock()
        self._stepping, self._runner = threading.Lock(), None
        self.listen()


class Compiling:
    """A compilation, as a block: ``stage`` and ``graph`` within it."""

    def __init__(self, recording: Recording, compilation: Compilation) -> None:
        self._recording = recording
        self._compilation = compilation

    def stage(self, kind: str, text: str | Callable[[], str]) -> None:
        """A stage is done.

        Args:
            kind: its name; ``traced``, ``simplified``, ``ordered``, ``selected`` stand for MindSpore's.
            text: the graph after it, or a function that gives it at once if somebody asks.
        """
        if not isinstance(kind, str) or not (isinstance(text, str) or callable(text)):
            raise RecordingError(
                f"a stage is a name, and a text or a function that gives it; given: {_shown(kind)}, {_shown(text)}"
            )
        recording = self._recording
        with recording.lock:
            told = Stage(self._compilation, kind, text)
            for hook in recording.on_compile_stage:
                hook(told)

    def graph(
        self,
        operators: Iterable[Operator],
        order: Sequence[Operator] | None = None,
        parent: Graph | None = None,
        memory: Callable[[], Any] | None = None,
        *,
        parameters: Sequence[Parameter] = (),
        constants: Sequence[Constant] = (),
        outputs: Sequence[Operand | Operator] = (),
        form: Callable[[], Any] | None = None,
    ) -> Graph:
        """Declares a kernel graph, before it runs.

        Args:
            operators: all of it, in the order of their definition.
            order: the order of launches, if another.
            parent: the graph the step starts from, if control flow split this one off.
            memory: see ``Graph.memory``.
            parameters, constants: in the order of a dump; those that operators read and are not named follow.
            outputs: what the graph gives; by default the last operator's results.
            form: see ``Graph.form``.

        Raises:
            RecordingError: see ``recording.graph.declared``.
        """
        if not isinstance(operators, Iterable):
            raise RecordingError(f"a graph is made of Operators; given: {_shown(operators)}")
        recording, operators = self._recording, list(operators)
        for operator in operators:
            if isinstance(operator, Operator):
                recording.number(operator)
        given = [Result(each) if isinstance(each, Operator) else each for each in outputs or operators[-1:]]
        made = Graph(
            recording.next_graph(), recording.engine, root_id=None if parent is None else parent.id,
            parameters=parameters, constants=constants, outputs=given, form=form, memory=memory,
        )  # fmt: skip
        declared(made, operators, order)
        self.declare(made)
        return made

    def declare(self, graph: Graph) -> None:
        """Tells of a finished graph; a runtime's own short way into ``graph``."""
        with self._recording.lock:
            self._recording.know(graph)
            for hook in self._recording.on_graph_declared:
                hook(graph)

    def __enter__(self) -> Compiling:
        recording = self._recording
        with recording.lock:
            for hook in recording.on_compile_begin:
                hook(self._compilation)
        return self

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        recording = self._recording
        with recording.lock:
            for hook in recording.on_compile_end:
                hook(self._compilation, error)


@contextmanager
def listening(engine: str, observer_of: Callable[[Recording], Observer]) -> Iterator[None]:
    """Inside the block, recordings of an engine tell one observer more: those that are open, and those opened within
    it.

    Args:
        engine: its name, without its version.
        observer_of: gives the observer of a recording, which is told last. Of graphs declared before it hears nothing;
            ``recording.graphs`` has them.

    Raises:
        RecordingError: the name is empty, or no text.
    """
    if not isinstance(engine, str) or not engine:
        raise RecordingError(f"an engine is listened to by its name, without its version; given: {_shown(engine)}")
    made: list[tuple[Recording, Observer]] = []

    def hear(recording: Recording) -> None:
        if recording.engine.name == engine and not recording.is_forked:
            made.append((recording, observer_of(recording)))
            recording.add(made[-1][1])

    for each in list(_open):
        hear(each)
    token = _listeners.set((*_listeners.get(), hear))
    try:
        yield
    finally:
        _listeners.reset(token)
        for recording, observer in made:
            recording.remove(observer)


def _engine(given: Any) -> Engine:
    if not isinstance(given, str) or not given.strip():
        raise RecordingError(f"an engine is named by its name and version, such as 'tinyrt 1.0'; given: {given!r:.60}")
    name, _, version = given.strip().partition(" ")
    return Engine(name, version.strip())


def _observer(given: Any) -> Observer:
    if not isinstance(given, Observer):
        raise RecordingError(f"an observer is an instance of a subclass of Observer; given: {_shown(given)}")
    return given


def _shown(given: Any) -> str:
    return f"{given!r:.60} ({type(given).__name__})"


def _sees(observer: Observer) -> bool:
    """Whether an observer looks at launches."""
    return any(
        getattr(type(observer), hook) is not getattr(Observer, hook)
        for hook in ("launch_begin", "launch_end", "launch_failed")
    )


def _after_fork() -> None:
    for each in list(_open):
        each.fork()


if hasattr(os, "register_at_fork"):  # where processes can be forked
    os.register_at_fork(after_in_child=_after_fork)
