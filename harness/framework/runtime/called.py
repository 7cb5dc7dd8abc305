"""Operators of PyNative mode as a recording sees them: called one by one, or as the graph of a gradient.

A dump of MindSpore's shows neither, so they are told to a recording of their own, which captures listen to and dumps
do not.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import count
from typing import Any
from weakref import ref

from harness.dtypes import DType
from harness.framework import context
from harness.framework.compile.program import Program
from harness.framework.compile.source import stack
from harness.framework.ops.base import Call, Operator
from harness.framework.ops.init_args import INIT_ARGS
from harness.framework.runtime.execute import Executor
from harness.framework.runtime.recorded import Recorded
from harness.framework.runtime.session import RUNTIME, Session
from harness.framework.tensor import Parameter, Tensor
from harness.framework.tensor.watching import told_of_calls
from harness.graph import Parameter as Read
from harness.graph import TensorSpec
from harness.recording import EagerGraph, Observer, Recording, Result, Value, constant
from harness.recording import Operator as Declared
from harness.recording.operator import Operand

#: number of the first graph: those of a process that compiles this many would meet it
FIRST = 10_000


class Called:
    """Tells observers of operators that are called one by one, and of gradients, while ``session`` is in force.

    A step has the label that the next compiled graph would have: how often the one that finished last had run. An
    optimizer's update is such a graph, so each update ends a step; ``stepped`` ends one where none ran.

    Args:
        session: whose iterations count.
        observers: who is told.
    """

    def __init__(self, session: Session, observers: Sequence[Observer]) -> None:
        self._session = session
        self._observers = observers
        self._recording: Recording | None = None
        self._graph: EagerGraph | None = None
        self._label = -1
        self._counted = -1
        self._scopes: list[str] = []
        self._named: dict[int, tuple[Any, str | None]] = {}
        self._made: dict[int, tuple[ref[Any], Operand]] = {}

    @property
    def is_on(self) -> bool:
        """Whether PyNative mode is in force."""
        return bool(context.get_context("mode") == context.PYNATIVE_MODE)

    def stepped(self) -> None:
        """Ends a step in which operators ran and no compiled graph did."""
        if self._label == self._session.iteration:
            self._session.iteration += 1

    # --- gradients ---------------------------------------------------------------------------------------------------

    def recorded(self, program: Program, title: str, names: Sequence[str]) -> Recorded:
        """Declares the graphs of a gradient."""
        recording = self._opened()
        made = Recorded(program, RUNTIME)
        for _ in made.graphs[1:]:
            recording.next_graph()
        with recording.compiling(title, names, staged=False) as compiling:
            for graph in made.graphs:
                compiling.declare(graph)
        return made

    def next_graph(self) -> int:
        """The number of the next graph."""
        return self._opened().next_graph()

    def run(self, executor: Executor, arrays: Sequence[Any]) -> Any:
        """The result of a gradient's graph."""
        self._label = label = self._session.iteration
        return executor.run(arrays, self._opened(), self._session.faults, label, run=label - 1)

    # --- operators ---------------------------------------------------------------------------------------------------

    @contextmanager
    def cell(self, cell: Any) -> Iterator[None]:
        """Within the block operators stand in the scope of ``cell``."""
        self._scopes.append(self.scope_of(cell) or (self._scopes[-1] if self._scopes else "Default"))
        try:
            yield
        finally:
            self._scopes.pop()

    def scope_of(self, cell: Any) -> str | None:
        """The scope of a cell below one that was called before; None for the first, which names those below it."""
        known = self._named.get(id(cell))
        if known is None:
            self._named[id(cell)] = known = cell, None
            self._session.places.update(cell.places())
            for scope, below in cell._scopes_below():
                self._named.setdefault(id(below), (below, scope))
        return known[1]

    def called(self, op: Operator, call: Call, given: Sequence[Any], result: Any) -> None:
        """An operator ran."""
        recording, label = self._opened(), self._session.iteration
        graph = self._graph
        assert graph is not None
        graph.goes_on = label == self._counted
        if not graph.goes_on:  # a long training forgets the tensors that are gone
            self._made = {key: kept for key, kept in self._made.items() if kept[0]() is not None}
        self._counted = self._label = label
        edges, values, mutates = self._inputs(op, given)
        scope = self._scopes[-1] if self._scopes else "Default"
        first, names = INIT_ARGS.get(op.name, (0, ())) if op.functional else (0, ())
        made = Declared.known(
            op.name, scope, -1, call.attrs, inputs=edges, outputs=tuple(call.outputs()), mutates=mutates,
            source=stack(), phase="forward", arguments=dict(zip(names, range(first, len(edges)), strict=False)),
        )  # fmt: skip
        results = result if isinstance(result, tuple) else (result,)
        with recording.step(graph, label, run=label - 1) as step:
            operator = graph.known(made)
            with step.launch(operator, values) as launch:
                launch.done([Value(each.asnumpy(), each.dtype) for each in results if isinstance(each, Tensor)])
        for slot, each in enumerate(results):
            if isinstance(each, Tensor) and not isinstance(each, Parameter):
                self._made[id(each)] = ref(each), Result(operator, slot)

    def _inputs(
        self, op: Operator, given: Sequence[Any]
    ) -> tuple[tuple[Operand | None, ...], list[Value], tuple[int, ...]]:
        edges: list[Operand | None] = []
        values: list[Value] = []
        mutates: list[int] = []
        for at, each in enumerate(given):
            for member in each if _holds_tensors(each) else (each,):
                if isinstance(member, Tensor):
                    values.append(Value(member.asnumpy(), member.dtype, index=len(edges)))
                    if at in op.mutates:
                        mutates.append(len(edges))
                edges.append(self._edge(member))
        return tuple(edges), values, tuple(mutates)

    def _edge(self, member: Any) -> Operand | None:
        if isinstance(member, Tensor):
            known = self._made.get(id(member))
            if known is not None and known[0]() is member:
                return known[1]
            if not isinstance(member, Parameter):
                return None
            spec = TensorSpec(member.dtype, tuple(member.shape), member.name)
            read = Read(member.name, spec, is_weight=True)
            self._made[id(member)] = ref(member), read
            return read
        try:
            return constant(member.name if isinstance(member, DType) else member)
        except TypeError:
            return None

    def _opened(self) -> Recording:
        """The recording, opened when the first operator runs: a rank that was forked before has its own."""
        if self._recording is None:
            device = self._session.device
            self._recording = Recording(RUNTIME, device, observers=self._observers, graph_ids=count(FIRST))
            self._graph = self._recording.eager()
        return self._recording


def _holds_tensors(value: Any) -> bool:
    return isinstance(value, (tuple, list)) and any(isinstance(each, Tensor) for each in value)


@contextmanager
def recording_calls(called: Called | None) -> Iterator[None]:
    """Within the block operators that are called one by one are told to ``called``, or to nobody."""
    token = told_of_calls.set(called)
    try:
        yield
    finally:
        told_of_calls.reset(token)
