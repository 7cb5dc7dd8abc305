"""A session: compiled programs, graph ids, numbers and observers of one "process" of networks.

MindSpore keeps these per process. A session stands for that process, so that a test can have a fresh one.
"""

from __future__ import annotations

import functools
import inspect
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np

from harness import hooks
from harness.devices import Device
from harness.devices.cpu import CPU
from harness.errors import DecidedLateError
from harness.framework.communication.world import recorded as recorded_world
from harness.framework.compile.order import Numbering
from harness.framework.compile.program import Program, Trace, compile_function, compile_trace, data_inputs
from harness.framework.compile.scopes import cell_scope, look_for_floats, tracer
from harness.framework.context import GRAPH_MODE, get_context
from harness.framework.runtime import declared
from harness.framework.runtime.decided import Decided
from harness.framework.runtime.engine import Engine
from harness.framework.runtime.execute import Executor
from harness.framework.runtime.faults import Fault
from harness.framework.runtime.recorded import Recorded
from harness.framework.tensor import Parameter, Tensor, is_mutable, mutable
from harness.graph import Graph, Operand
from harness.graph.recorded_text import stage_text
from harness.recording import Compiling, Observer, Recording
from harness.recording import Engine as Runtime
from harness.recording.events import EMULATION

RUNTIME = Runtime(EMULATION, emulated=True)


class Session:
    """The state that MindSpore keeps per process.

    Attributes:
        device: what programs are compiled for; its settings in the context count at the time a program is compiled.
        engine: computes the kernels of the programs; None for the harness's own.
        recording: told of every graph and step.
        numbering: ``-opN`` counters.
        programs: executors by signature.
        faults: the faults to inject; see ``harness.testing``.
        struck: the faults that struck, in words.
        places: where layers of compiled networks were made, by scope.
        iteration: label of the step that runs, or next: how often the graph that finished last had run.
        hidden: the session of gradients in PyNative mode, made when it is first needed.
    """

    def __init__(self, observers: Sequence[Observer] = (), hooked: bool = True, device: Device = CPU) -> None:
        self.recording = Recording(RUNTIME, device, observers=observers)
        self.device = device
        self.engine: Engine | None = None
        self.numbering = Numbering()
        self.programs: dict[Any, Executor] = {}
        self.faults: list[Fault] = []
        self.struck: list[str] = []
        self.places: dict[str, str] = {}
        self.iteration = 0
        self.hidden: Session | None = None
        self._next_graph = 0
        self._hooked = not hooked
        self._kept: list[Any] = []
        self._decided: dict[Any, Decided] = {}
        self._own_shapes: set[Any] = set()

    def run_cell(
        self, cell: Any, args: Sequence[Any], kwargs: Mapping[str, Any], phase: str | None = None, runs: bool = True
    ) -> Any:
        """Runs a cell as a graph: compiled at the first call with these shapes and dtypes in this phase (the cell's
        own if None), or, if it is not to run, compiles it and gives the executor.

        Nothing else about the cell counts (measured): settings after the first call (attributes, ``to_float``,
        ``set_train`` of an inner cell) have no effect. A new cell is in the phase ``train``, so its first
        ``set_train()`` has no effect either, but ``set_train(False)`` does.
        """
        values, names, keywords = bind(cell.construct, args, kwargs)
        count = len(values) - len(keywords)

        def construct(*traced: Any) -> Any:
            if (active := tracer()) is not None:
                active.of_cell = get_context("mode") == GRAPH_MODE
            cell.generate_scope()
            self.places.update(cell.places())
            look_for_floats(cell.construct, traced[:count])
            with cell_scope(cell):
                return cell._construct(traced[:count], dict(zip(keywords, traced[count:], strict=True)))

        dynamic = declared.shapes(type(cell).__name__, cell.get_inputs() or (), values)
        key = (id(cell), cell.phase if phase is None else phase, *keywords)
        return self.run(key, construct, values, names, keep=cell, dynamic=dynamic, runs=runs)

    def run_function(
        self, function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any], owner: Any = None
    ) -> Any:
        """Runs a plain function as a graph; programs are kept for ``owner``, or else for the function."""
        values, names, keywords = bind(function, args, kwargs)
        keep = function if owner is None else owner
        called = _with_keywords(function, keywords)

        def traced(*args: Any) -> Any:
            look_for_floats(function, args[: len(args) - len(keywords)])
            return called(*args)

        return self.run((id(keep), *keywords), traced, values, names, keep=keep)

    def run(
        self,
        key: Any,
        function: Callable[..., Any],
        values: Sequence[Any],
        names: Sequence[str],
        keep: Any = None,
        dynamic: Sequence[Any] = (),
        runs: bool = True,
    ) -> Any:
        """Compiles ``function`` (once for each ``key`` and signature of ``values``) and runs a step of it.

        Tensors count by dtype and shape, constants by value, tensors in a constant tuple or dict by identity. A call
        with a list is compiled every time: the list may have changed, and its content is part of the graph (measured).

        Args:
            key: what the program belongs to.
            values: arguments, tensors and others.
            names: names of the arguments, as dump files show data inputs.
            keep: kept alive so that ``key`` may hold its ``id``.
            dynamic: shapes to trace with for each argument, as ``declared.shapes`` gives them; empty for their own,
                which a function that asks for a dimension is traced with, too.
            runs: whether the step runs; if not, the executor is the result.
        """
        values = [v if shapes is None else mutable(v) for v, shapes in _padded(values, dynamic)]
        signature = (key, tuple(_signature(v, d) for v, d in _padded(values, dynamic)))
        if signature in self._own_shapes:
            return self.run(key, function, values, names, keep, runs=runs)
        executor = self.programs.get(signature)
        if executor is None and signature not in self._decided:
            compiled = functools.partial(compile_function, function, values, names, dynamic=dynamic)
            try:
                executor = self._executor_of(compiled, _title(keep, function), names)
            except DecidedLateError:
                if any(shape is not None for shape in dynamic):
                    self._own_shapes.add(signature)
                    return self.run(key, function, values, names, keep, runs=runs)
                self._decided[signature] = Decided()
            if executor is not None and not (executor.program.changes or any(map(_has_list, values))):
                self.programs[signature] = executor
            self._kept.append((keep, values))
        if executor is None:

            def taken(trace: Trace) -> Executor:
                return self._executor_of(functools.partial(compile_trace, trace), _title(keep, function), names)

            executor = self._decided[signature].take(function, values, names, taken)
        if not runs:
            return executor
        if executor.program.silent:
            return self._given(executor, values)
        result = executor.run([t.asnumpy() for t in data_inputs(values)], self.recording, self.faults, self.iteration)
        self.iteration = executor.runs
        return result

    @staticmethod
    def _given(executor: Executor, values: Sequence[Any]) -> Any:
        """The result of a program that runs no kernel: an argument or a weight is the object itself (measured)."""
        tensors = list(data_inputs(values))
        same = executor.program.given_back()
        if same is None:
            return executor.run([t.asnumpy() for t in tensors])
        return same.handle if same.is_weight else tensors[executor.program.inputs.index(same)]

    def graph_of(self, cell: Any) -> Graph | None:
        """The graph compiled last for a cell; None before."""
        for (key, _), executor in reversed(self.programs.items()):
            if key[:2] == (id(cell), cell.phase) and executor.program.graphs:
                return executor.program.graphs[0]
        return None

    def configured_device(self) -> Device:
        """The device for the current environment and context."""
        settings = {name: get_context(name) for name in ("ascend_config", "gpu_config")}
        return self.device.configured(os.environ, settings)

    def _executor_of(self, compiled: Callable[..., Program], title: str, names: Sequence[str]) -> Executor:
        """An executor of what ``compiled`` makes with a graph id, the numbering and the device's kernels."""
        device = self.configured_device()
        if not self._hooked:
            self.recording.world = recorded_world()
            for hook in hooks.first_compile:
                hook(self)
            self._hooked = True
        recorded = None
        with self._compiling(title, names) as compiling:
            program = compiled(
                graph_id=self._next_graph, numbering=self.numbering, kernels=device.kernels, fuses=device.fuses,
                watch=functools.partial(_stage_done, compiling, title),
            )  # fmt: skip
            if not program.silent:
                self._next_graph += len(program.graphs)
                recorded = Recorded(program, self.recording.engine)
                for graph in recorded.graphs:
                    compiling.declare(graph)
        return Executor(program, device, self.engine, recorded)

    @contextmanager
    def _compiling(self, title: str, names: Sequence[str]) -> Iterator[Compiling]:
        """A compilation; one that values decide later counts as done."""
        decided: DecidedLateError | None = None
        shares = get_context("memory_optimize_level") == "O1"
        staged = get_context("mode") == GRAPH_MODE
        with self.recording.compiling(title, names, staged=staged, shares_memory=shares) as compiling:
            try:
                yield compiling
            except DecidedLateError as error:
                decided = error
        if decided is not None:
            raise decided

    @property
    def observers(self) -> tuple[Observer, ...]:
        """Who is told; ``recording.add`` adds another."""
        return tuple(self.recording.observers)

    def close(self) -> None:
        """Tells the observers that nothing more will run."""
        self.recording.close()


def _stage_done(compiling: Compiling, title: str, stage: str, outputs: Sequence[Operand]) -> None:
    compiling.stage(stage, lambda: stage_text(title, outputs))


def _title(keep: Any, function: Callable[..., Any]) -> str:
    """The name of a compilation: ``Net_construct`` of a cell, the name of a function."""
    if hasattr(keep, "construct"):
        return f"{type(keep).__name__}_construct"
    return str(getattr(keep, "__name__", None) or getattr(function, "__name__", type(function).__name__))


def _with_keywords(function: Callable[..., Any], keywords: Sequence[str]) -> Callable[..., Any]:
    """``function`` with its last arguments, which are taken by name alone, by position; itself if there are none."""
    if not keywords:
        return function

    @functools.wraps(function)
    def called(*args: Any) -> Any:
        count = len(args) - len(keywords)
        return function(*args[:count], **dict(zip(keywords, args[count:], strict=True)))

    return called


def bind(
    function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]
) -> tuple[list[Any], list[str], tuple[str, ...]]:
    """Arguments in positional order and their names: ``*inputs`` become ``inputs0``, ``inputs1``, and what ``**more``
    takes ``more[name]`` (measured). Last come those that are taken by name alone, whose names are given once more."""
    signature = inspect.signature(function)
    bound = signature.bind(*args, **kwargs)
    bound.apply_defaults()
    values: list[Any] = []
    names: list[str] = []
    keywords: dict[str, Any] = {}
    shown: dict[str, str] = {}
    for name, parameter in signature.parameters.items():
        if name not in bound.arguments:
            continue
        if parameter.kind is parameter.VAR_POSITIONAL:
            for i, value in enumerate(bound.arguments[name]):
                values.append(value)
                names.append(f"{name}{i}")
        elif parameter.kind is parameter.VAR_KEYWORD:
            keywords |= bound.arguments[name]
            shown |= {key: f"{name}[{key}]" for key in bound.arguments[name]}
        elif parameter.kind is parameter.KEYWORD_ONLY:
            if name in kwargs:
                keywords[name] = kwargs[name]
        else:
            values.append(bound.arguments[name])
            names.append(name)
    return [*values, *keywords.values()], [*names, *(shown.get(key, key) for key in keywords)], tuple(keywords)


def _padded(values: Sequence[Any], dynamic: Sequence[Any] | None) -> Iterator[tuple[Any, Any]]:
    for i, value in enumerate(values):
        yield value, dynamic[i] if dynamic and i < len(dynamic) else None


def _signature(value: Any, shape: Any = None) -> Any:
    if isinstance(value, Parameter):
        return "parameter", id(value)
    if isinstance(value, Tensor):
        content = value.asnumpy().tobytes() if value.const_arg else None
        return value.dtype.name, shape if shape is not None else value.shape, content
    if isinstance(value, dict):
        of_member = _signature if is_mutable(value) else _identity
        return type(value).__name__, tuple((key, of_member(v)) for key, v in value.items())
    if isinstance(value, (tuple, list)):
        shapes = shape or [None] * len(value)
        members = map(_signature, value, shapes) if is_mutable(value) else map(_identity, value)
        return type(value).__name__, tuple(members)
    if isinstance(value, np.ndarray):
        return "array", value.dtype.str, value.shape, value.tobytes()
    # A cell counts as itself, whose text says not all it holds (measured: tests/data/programs/members_of_lists.txt).
    return type(value).__name__, id(value) if callable(value) else repr(value)


def _identity(value: Any) -> Any:
    """The signature of a member of a constant."""
    return ("constant", id(value)) if isinstance(value, Tensor) else _signature(value)


def _has_list(value: Any) -> bool:
    if is_mutable(value):
        return False
    return isinstance(value, list) or (isinstance(value, tuple) and any(map(_has_list, value)))


_process = Session()
_current: ContextVar[Session] = ContextVar("session")


def current() -> Session:
    """The session in force: the process's own, or the innermost ``fresh`` one."""
    return _current.get(_process)


@contextmanager
def fresh(observers: Sequence[Observer] = (), hooked: bool = True) -> Iterator[Session]:
    """A session of its own within the block, closed at its end.

    Args:
        observers: its observers.
        hooked: whether the environment's dump configuration applies to it, as in a new process.
    """
    session = Session(observers, hooked)
    try:
        with in_session(session):
            yield session
    finally:
        session.close()


@contextmanager
def in_session(session: Session) -> Iterator[None]:
    """Makes ``session`` the current one inside the block; its counters continue."""
    token = _current.set(session)
    try:
        yield
    finally:
        _current.reset(token)


def run_cell(cell: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """Runs a cell as a graph in the session in force."""
    return current().run_cell(cell, args, kwargs)
