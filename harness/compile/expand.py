"""Takes composite operators apart, after the graph was differentiated and simplified."""

from __future__ import annotations

from typing import Any

from harness.compile.differentiate import as_value, grouped
from harness.compile.trace import Tracer
from harness.graph import Node, Operand, printed_order
from harness.ops.base import OPERATORS
from harness.ops.expansion import Composite
from harness.tensor import using


def expand(output: Operand) -> Operand:
    """Replaces every composite node of the graph behind ``output`` by its parts; returns the new output."""
    became: dict[int, Operand | tuple[Operand, ...]] = {}
    for node in printed_order(output):
        node.inputs = [_single(became.get(id(i), i)) if node.op != "TupleGetItem" else i for i in node.inputs]
        if node.op == "TupleGetItem":
            source = became.get(id(node.inputs[0]), node.inputs[0])
            if isinstance(source, tuple):
                became[id(node)] = source[node.inputs[1].value]  # type: ignore[union-attr]
            else:
                node.inputs[0] = source
        elif node.kernel and isinstance(OPERATORS.get(node.op), Composite):
            became[id(node)] = _parts(node)
    return _single(became.get(id(output), output))


def _parts(node: Node) -> Operand | tuple[Operand, ...]:
    operator = OPERATORS.get(node.op)
    assert isinstance(operator, Composite)
    tracer = Tracer(operator.expansion_scope)
    tracer.region = node.extra["region"]
    tracer.source = ("code", node.source or node.related)
    args = grouped(node, [as_value(i) for i in node.inputs])
    with using(tracer):
        result = operator.expand(*args)
        operands = [tracer.operand(r) for r in (result if isinstance(result, tuple) else (result,))]
    if any(isinstance(OPERATORS.get(n.op), Composite) for n in tracer.created):
        operands = [expand(o) for o in operands]
    return tuple(operands) if isinstance(result, tuple) else operands[0]


def _single(value: Any) -> Operand:
    assert not isinstance(value, tuple), "a composite with several results is used through TupleGetItem only"
    operand: Operand = value
    return operand
