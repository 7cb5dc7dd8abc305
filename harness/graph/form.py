"""MindSpore's form of a recorded graph, for its texts and for memory plans.

A compiler of MindSpore's graphs gives its own (``recording.Graph.form``); of other runtimes' graphs it is made of the
operators: a tuple's members by ``TupleGetItem``, values from other graphs as parameters, attributes of kinds that
MindSpore lacks as texts. The graph says who runs it in its attributes ``engine`` and ``emulated``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from harness import dtypes
from harness.dtypes import DType
from harness.errors import DtypeError
from harness.graph.graph import Graph
from harness.graph.node import Node, NodeExtra, Operand
from harness.recording.events import EMULATION
from harness.recording.graph import Graph as RecordedGraph
from harness.recording.operands import Constant, Parameter, constant
from harness.recording.operator import UNKNOWN, Operator, Result
from harness.recording.operator import Operand as RecordedOperand
from harness.recording.spec import Spec, TupleSpec

ENGINE, EMULATED = "engine", "emulated"
"""Attributes of the graph."""
_KEY = ("form",)
_LARGEST = 2**63


def form_of(graph: RecordedGraph) -> Graph:
    """The graph in MindSpore's form; made once, and again where an eager graph grew."""
    made = graph.kept.get(_KEY)
    if made is None or (graph.eager and made[0] != len(graph.operators)):
        found = graph.form() if graph.form is not None else _Form(graph).made()
        made = graph.kept[_KEY] = len(graph.operators), found
    found_graph: Graph = made[1]
    return found_graph


class _Form:
    """Makes the form of one graph."""

    def __init__(self, graph: RecordedGraph) -> None:
        self._graph = graph
        self._nodes: list[Node] = []
        self._of: dict[int, Node] = {}
        self._members: dict[tuple[int, int], Node] = {}
        self._parameters = list(graph.parameters)
        self._constants = list(graph.constants)
        self._foreign: dict[tuple[int, int], Parameter] = {}

    def made(self) -> Graph:
        graph = self._graph
        operators = {id(each): each for each in graph.operators}
        for operator in graph.order if len(graph.order) == len(operators) else graph.operators:
            self._node(operator)
        outputs = [self._operand(each) for each in graph.outputs if _is_known(each, operators)]
        output = outputs[0] if len(outputs) == 1 else self._tuple(outputs)
        ours = graph.engine.name == EMULATION
        engine = {} if ours else {ENGINE: str(graph.engine), EMULATED: graph.engine.emulated}
        made = Graph(graph.id, self._parameters, output, self._nodes, constants=self._constants, attrs=engine)
        made.root_id, made.constant_base = graph.root_id, graph.constant_base
        made.execution_order = [self._of[id(each)] for each in graph.order if id(each) in self._of]
        for node in made.execution_order:
            node.extra.graph = made
        return made

    def _node(self, operator: Operator) -> Node:
        inputs = [self._operand(each) for each in operator.inputs]
        node = Node(
            operator.type, inputs, {key: _attribute(value) for key, value in operator.attributes.items()},
            operator.scope, _joined(operator.outputs), number=operator.number, source=operator.source,
            related=operator.related, related_kind="code" if operator.related else "",
            extra=NodeExtra(layout=(None,) * len(inputs), functional=False),
        )  # fmt: skip
        self._of[id(operator)] = node
        self._nodes.append(node)
        return node

    def _operand(self, operand: RecordedOperand | None) -> Operand:
        if operand is None:
            return self._constant(Constant(None, UNKNOWN))
        if isinstance(operand, Constant):
            return self._constant(_constant(operand))
        if isinstance(operand, Parameter):
            return operand
        node = self._of.get(id(operand.operator))
        if node is None:
            return self._outside(operand)
        if len(operand.operator.outputs) < 2:
            return node
        return self._member(node, operand)

    def _constant(self, made: Constant) -> Constant:
        if not any(made is each for each in self._constants):
            self._constants.append(made)
        return made

    def _outside(self, edge: Result) -> Parameter:
        """A value of another graph, or of an operator that runs later."""
        key = id(edge.operator), edge.slot
        found = self._foreign.get(key)
        if found is None:
            found = self._foreign[key] = Parameter(f"{edge.operator.name}.output.{edge.slot}", edge.spec, False)
            self._parameters.append(found)
        return found

    def _member(self, node: Node, edge: Result) -> Node:
        key = id(node), edge.slot
        found = self._members.get(key)
        if found is None:
            at = self._constant(constant(edge.slot))
            found = Node("TupleGetItem", [node, at], {}, node.scope, edge.spec, kernel=False, number=len(self._members))
            self._members[key] = found
            self._nodes.append(found)
        return found

    def _tuple(self, members: Sequence[Operand]) -> Node:
        specs = TupleSpec(tuple(each.spec for each in members))
        made = Node("MakeTuple", list(members), {}, "Default", specs, kernel=False, number=0)
        self._nodes.append(made)
        return made


def _is_known(operand: RecordedOperand, operators: Mapping[int, Operator]) -> bool:
    return not isinstance(operand, Result) or id(operand.operator) in operators


def _joined(outputs: Sequence[Spec]) -> Spec:
    if not outputs:
        return UNKNOWN
    return outputs[0] if len(outputs) == 1 else TupleSpec(tuple(outputs))


def _constant(operand: Constant) -> Constant:
    shown = _attribute(operand.value)
    return operand if shown is operand.value else Constant(shown, operand.spec)


def _attribute(value: Any) -> Any:
    """An attribute as MindSpore's texts can hold it; what they cannot is a text of one line."""
    if isinstance(value, str):
        return value if value.isprintable() else repr(value)
    if value is None or isinstance(value, (bool, float, DType)):
        return value
    if isinstance(value, int):
        return value if -_LARGEST <= value < _LARGEST else str(value)
    if isinstance(value, (list, tuple)):
        return type(value)(map(_attribute, value)) if type(value) in (list, tuple) else tuple(map(_attribute, value))
    if isinstance(value, (np.ndarray, np.generic)) and _has_dtype(value.dtype):
        return value
    return repr(value)[:4096]


def _has_dtype(dtype: np.dtype[Any]) -> bool:
    try:
        return dtypes.from_numpy(dtype).kind != "c"
    except DtypeError:
        return False
