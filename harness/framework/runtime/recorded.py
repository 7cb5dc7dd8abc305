"""Compiled programs as a recording knows them: their kernels as operators, with edges between them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from types import MappingProxyType
from typing import Any

from harness import graph as graphs
from harness.framework.compile.fuse import Fusion
from harness.framework.compile.program import Program
from harness.framework.ops.base import OPERATORS
from harness.framework.ops.init_args import INIT_ARGS
from harness.graph import Const, Node, Parameter
from harness.recording import Engine, Graph, Operator, Result
from harness.recording.operands import IO, U
from harness.recording.operator import Operand

_HAND_ON = frozenset({"Load", "Depend"})
_MONADS = {each.spec: each for each in (U, IO)}
_NONE: Mapping[str, int] = MappingProxyType({})
_BACKWARD, _OPTIMIZER = "Gradients/", "optimizer-"


class Recorded:
    """The graphs of one program.

    Attributes:
        graphs: in the order of the program's.
        of: the operator of each kernel, by the ``id`` of its node.
    """

    def __init__(self, program: Program, engine: Engine) -> None:
        self.of: dict[int, Operator] = {}
        self.graphs = [self._graph(each, engine) for each in program.graphs]

    def graph(self, compiled: graphs.Graph) -> Graph:
        """The recorded graph of a compiled one."""
        return next(each for each in self.graphs if each.id == compiled.id)

    def _graph(self, compiled: graphs.Graph, engine: Engine) -> Graph:
        made = Graph(
            compiled.id, engine, root_id=compiled.root_id, parameters=compiled.parameters,
            constants=compiled.constants, constant_base=compiled.constant_base, form=partial(_given, compiled),
        )  # fmt: skip
        for node in compiled.nodes:
            if node.kernel:
                operator = self._operator(node)
                operator.graph = made
                made.operators.append(operator)
        made.order = [self.of[id(node)] for node in compiled.execution_order]
        for position, operator in enumerate(made.order):
            operator.position = position
        given = compiled.output
        results = given.inputs if isinstance(given, Node) and given.op == "MakeTuple" else (given,)
        made.outputs = tuple(edge for edge in map(self._edge, results) if edge is not None)
        return made

    def _operator(self, node: Node) -> Operator:
        fusion = node.extra.fusion
        members = fusion.members if isinstance(fusion, Fusion) else ()
        known = OPERATORS.get(node.op) if not members else None
        made = self.of[id(node)] = Operator.known(
            node.op, node.scope, node.number, node.attrs,
            inputs=tuple(map(self._edge, node.inputs)), outputs=node.outputs,
            mutates=() if known is None else tuple(known.mutates),
            parts=tuple(map(self._part, members)), source=node.source, related=node.related,
            phase=_phase(node.scope), unfused=node.extra.alone,
            arguments=_arguments(node) if known is not None and known.functional else None,
        )  # fmt: skip
        return made

    def _part(self, node: Node) -> Operator:
        return Operator.known(
            node.op, node.scope, node.number, node.attrs, outputs=node.outputs, mutates=(), source=node.source,
            related=node.related,
        )  # fmt: skip

    def _edge(self, operand: Any) -> Operand | None:
        """Where a value comes from, through what only hands it on; a monad's constant for any monad; None where control
        flow decides."""
        if isinstance(operand, (Const, Parameter)):
            return operand
        if operand.spec in _MONADS:
            return _MONADS[operand.spec]
        while operand.op in _HAND_ON:
            operand = operand.inputs[0]
            if isinstance(operand, (Const, Parameter)):
                return operand
        if operand.kernel:
            return self._result(operand, 0)
        if operand.op == "TupleGetItem":
            return self._member(operand)
        return None

    def _member(self, node: Node) -> Operand | None:
        whole, at = node.inputs
        while isinstance(whole, Node) and whole.op in _HAND_ON:
            whole = whole.inputs[0]
        slot = at.value if isinstance(at, Const) else None
        if not isinstance(whole, Node) or not isinstance(slot, int):
            return None
        if whole.kernel:
            return self._result(whole, slot)
        return self._edge(whole.inputs[slot]) if whole.op == "MakeTuple" else None

    def _result(self, node: Node, slot: int) -> Result | None:
        found = self.of.get(id(node))
        return None if found is None else Result(found, slot)


def _given(compiled: graphs.Graph) -> graphs.Graph:
    return compiled


def _phase(scope: str) -> str:
    if scope.startswith(_BACKWARD):
        return "backward"
    return "optimizer" if _OPTIMIZER in scope else "forward"


def _arguments(node: Node) -> Mapping[str, int]:
    """Slots of the inputs that MindSpore's primitive takes when it is made; a tuple of tensors takes several slots."""
    first, names = INIT_ARGS.get(node.op, (0, ()))
    if not names:
        return _NONE
    counts = [count for count in node.extra.layout if not isinstance(count, tuple)]
    start = sum(1 if count is None else count for count in counts[:first]) if counts else first
    return dict(zip(names, range(start, len(node.inputs)), strict=False))
