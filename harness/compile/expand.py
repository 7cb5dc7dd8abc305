"""Takes composite operators apart, after differentiation and simplification.

``Muls`` becomes ``Expand/_Muls/Mul``; a gradient's composites do the same, whatever scope they stood in. A composite's
expansion may hold composites again. Measured on MindSpore 2.10.0.
"""

from __future__ import annotations

from typing import Any

from harness.compile.trace import VIRTUAL, Tracer
from harness.compile.traced import Traced
from harness.graph import Const, Node, Operand, TensorSpec, printed_order
from harness.ops.base import OPERATORS
from harness.ops.composite import Composite
from harness.tensor import using


def expand(tracer: Tracer, output: Operand) -> Operand:
    """The graph behind ``output`` without composites (other nodes are changed in place); what replaces ``output``."""
    became: dict[int, Operand] = {}
    for node in printed_order(output):
        node.inputs = [became.get(id(i), i) for i in node.inputs]
        operator = None if node.op in VIRTUAL else OPERATORS.get(node.op)
        if isinstance(operator, Composite):
            became[id(node)] = _expanded(tracer, node, operator)
        elif node.op == "TupleGetItem" and isinstance(node.inputs[0], Node) and node.inputs[0].op == "MakeTuple":
            at = node.inputs[1]
            assert isinstance(at, Const)
            became[id(node)] = node.inputs[0].inputs[at.value]
    return became.get(id(output), output)


def _expanded(tracer: Tracer, node: Node, operator: Composite) -> Operand:
    saved = tracer.source, tracer.marks
    tracer.source = ("forward node", node.source or node.related)
    tracer.marks = {"dump": node.attrs["dump"]} if "dump" in node.attrs else {}
    try:
        parts = _Parts(tracer)
        with using(parts):
            result = parts.call(operator.name, _arguments(node), {}, None)
    finally:
        tracer.source, tracer.marks = saved
    if not isinstance(result, tuple):
        return tracer.operand(result)
    return tracer.virtual("MakeTuple", [tracer.operand(r) for r in result], node.spec)


class _Parts:
    """Writes calls into the graph, composites as their parts."""

    def __init__(self, tracer: Tracer) -> None:
        self.tracer = tracer

    def call(self, op: str, args: tuple[Any, ...], attrs: dict[str, Any], scope: str | None) -> Any:
        operator = OPERATORS.get(op)
        if not isinstance(operator, Composite):
            return self.tracer.call(op, args, attrs, scope)
        saved, self.tracer.scope = self.tracer.scope, operator.expansion_scope
        try:
            return operator.expand(*args)
        finally:
            self.tracer.scope = saved


def _arguments(node: Node) -> tuple[Any, ...]:
    """What the composite was called with: tensors traced, constants as values, tuples of tensors together."""
    flat = [_traced(i) for i in node.inputs]
    groups: list[Any] = []
    at = 0
    for count in node.extra["layout"]:
        groups.append(flat[at] if count is None else tuple(flat[at : at + count]))
        at += 1 if count is None else count
    return tuple(groups)


def _traced(operand: Operand) -> Any:
    if isinstance(operand, Const) and not isinstance(operand.spec, TensorSpec):
        return operand.value
    spec = operand.spec
    return Traced(operand, spec.tensor if isinstance(spec, TensorSpec) else spec)
