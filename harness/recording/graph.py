"""A graph: operators in the order they are launched, and what they read from outside."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from harness.errors import RecordingError
from harness.recording.events import Engine
from harness.recording.operands import Constant, Parameter, SourceLine
from harness.recording.operator import Operand, Operator, Result
from harness.recording.spec import Spec

_MADE_OF: Mapping[str, Any] = {"parameters": Parameter, "constants": Constant, "outputs": Operand}


class Graph:
    """One kernel graph; a recording makes it.

    Attributes:
        id: number of the graph in its process.
        root_id: id of the graph the step started from (its own unless control flow split it).
        engine: who runs it.
        operators: in the order in which they were declared.
        order: the operators in the order in which they are launched.
        parameters: in the order in which a dump lists them.
        constants: tensor constants and others, as a dump numbers them (``data-N``), from ``constant_base`` on.
        outputs: what the graph gives.
        eager: its operators are declared as they run.
        form: gives MindSpore's own form of the graph, a ``harness.graph.Graph``; None: it is made of the operators.
        memory: gives the places of its tensors, a ``harness.memory.MemoryPlan``; None: its device's rules plan them.
        kept: what observers made of the graph once, by their keys.
    """

    id: int
    root_id: int
    engine: Engine
    operators: list[Operator]
    order: list[Operator]
    parameters: list[Parameter]
    constants: list[Constant]
    outputs: tuple[Operand, ...]
    eager: bool
    form: Callable[[], Any] | None
    memory: Callable[[], Any] | None
    kept: dict[tuple[object, ...], Any]

    def __init__(
        self,
        id: int,
        engine: Engine,
        *,
        root_id: int | None = None,
        parameters: Sequence[Parameter] = (),
        constants: Sequence[Constant] = (),
        constant_base: int = 0,
        outputs: Sequence[Operand] = (),
        eager: bool = False,
        form: Callable[[], Any] | None = None,
        memory: Callable[[], Any] | None = None,
    ) -> None:
        self.id = id
        self.root_id = id if root_id is None else root_id
        self.engine = engine
        self.operators = []
        self.order = []
        self.parameters = list(parameters)
        self.constants = list(constants)
        self.constant_base = constant_base
        self.outputs = tuple(outputs)
        self.eager = eager
        self.form = form
        self.memory = memory
        self.kept = {}

    @property
    def name(self) -> str:
        """``kernel_graph0``."""
        return f"kernel_graph{self.id}"

    def add(self, operator: Operator) -> None:
        """Makes ``operator`` one of the graph's, at the end of its order."""
        operator.graph = self
        operator.position = len(self.order)
        self.operators.append(operator)
        self.order.append(operator)

    def reads(self, operator: Operator) -> None:
        """Takes in the parameters and constants that ``operator`` reads, in the order of their first reader."""
        for operand in operator.inputs:
            if isinstance(operand, Parameter) and operand not in self.parameters:
                self.parameters.append(operand)
            elif isinstance(operand, Constant) and operand not in self.constants:
                self.constants.append(operand)

    def __repr__(self) -> str:
        return f"<Graph {self.id}: {len(self.operators)} operators>"


class EagerGraph(Graph):
    """A graph that grows as its operators run.

    Each step declares all its operators, in its own order. An operator with the type and scope of one of an earlier
    step, and as manieth of these, is that operator if its attributes and edges are equal; so names repeat from step
    to step. Threads may declare at once.

    Attributes:
        grown: whether it has operators that nobody was told of.
        goes_on: whether the next step is a part of the last one, so that its operators are counted on.
    """

    grown: bool
    goes_on: bool

    def __init__(self, id: int, engine: Engine, declared: Callable[[Graph, Operator], None]) -> None:
        super().__init__(id, engine, eager=True)
        self._declared = declared
        self._seen: Counter[tuple[str, str]] = Counter()
        self._known: dict[tuple[str, str, int], Operator] = {}
        self.grown = False
        self.goes_on = False

    def begin(self) -> None:
        """Begins a step: counting starts again, and so does the order of launches, unless it ``goes_on``."""
        if self.goes_on:
            return
        self._seen.clear()
        self.order = []

    def operator(
        self,
        type: str,
        scope: str = "Default",
        attributes: Mapping[str, Any] | None = None,
        inputs: Sequence[Operand | Operator | None] = (),
        outputs: Sequence[Spec] = (),
        *,
        mutates: Sequence[int] | None = None,
        aliases: Mapping[int, int] | None = None,
        source: Sequence[SourceLine] = (),
        phase: str = "",
    ) -> Operator:
        """The next operator of the step.

        Args:
            type: see ``Operator``, as for all of them.
            scope: path of the layer.
            attributes: by name.
            inputs: edges, by slot.
            outputs: specs, by slot; empty takes those of the first results.
            mutates: slots of inputs that it updates; None: not known.
            aliases: slot of an input by the slot of the output in its memory.
            source: stack of the place where it was written.
            phase: ``forward``, ``backward``, ``optimizer``.

        Raises:
            RecordingError: see ``Operator``.
        """
        made = Operator(
            type, scope, attributes, inputs, outputs, mutates=mutates, aliases=aliases, source=source, phase=phase
        )
        return self.known(made)

    def known(self, made: Operator) -> Operator:
        """The next operator of the step, as the runtime made it; its own short way into ``operator``."""
        self._declared(self, made)
        return self._last(made)

    def _last(self, made: Operator) -> Operator:
        return self._known[made.scope, made.type, made.number]

    def place(self, operator: Operator) -> None:
        """Numbers an operator, or finds it among those of earlier steps; the caller holds the recording's lock."""
        key = operator.scope, operator.type
        at = self._seen[key]
        self._seen[key] = at + 1
        operator.numbered(at)
        found = self._known.get((*key, at))
        if found is None or not found.same(operator):
            self._known[*key, at] = found = operator
            operator.graph = self
            self.operators = [each for each in self.operators if each.name != operator.name]
            self.operators.append(operator)
            self.reads(operator)
            self.grown = True
        found.position = len(self.order)
        self.order.append(found)


def declared(graph: Graph, operators: Iterable[Operator], order: Sequence[Operator] | None) -> None:
    """Takes the operators of a compiled graph in.

    Raises:
        RecordingError: an operator belongs to another graph, two have one name, an edge comes from an operator that
            is declared nowhere, parameters, constants or outputs are something else, or ``order`` is not a permutation
            of the operators.
    """
    names: set[str] = set()
    for operator in operators:
        if not isinstance(operator, Operator):
            raise RecordingError(f"a graph is made of Operators; given: {operator!r:.60} ({type(operator).__name__})")
        if operator.graph is not None:
            raise RecordingError(f"{operator.name} is an operator of graph {operator.graph.id} already")
        if operator.name in names:
            raise RecordingError(f"two operators of a graph are called {operator.name}; leave numbers to the graph")
        names.add(operator.name)
        graph.add(operator)
        graph.reads(operator)
    for what, kinds in _MADE_OF.items():
        if wrong := [each for each in getattr(graph, what) if not isinstance(each, kinds)]:
            raise RecordingError(f"{wrong[0]!r:.60} ({type(wrong[0]).__name__}) is none of what {what} of a graph are")
    for operator in graph.operators:
        for slot, operand in enumerate(operator.inputs):
            if isinstance(operand, Result) and operand.operator.graph is None:
                where = f"{operator.name}, input.{slot}"
                raise RecordingError(f"{where} comes from {operand.operator!r}, which no graph declares")
    if order is not None:
        if len(order) != len(graph.operators) or {id(each) for each in order} != {id(each) for each in graph.operators}:
            given = f"an order of {len(order)} was given for {len(graph.operators)} operators"
            raise RecordingError(f"an order names each operator of the graph once; {given}")
        graph.order = list(order)
        for position, operator in enumerate(graph.order):
            operator.position = position
