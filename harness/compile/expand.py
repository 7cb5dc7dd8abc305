"""Takes composite operators apart, after the graph was differentiated and simplified."""

from __future__ import annotations

from harness.compile.differentiate import as_value, grouped
from harness.compile.trace import Tracer
from harness.graph import Node, Operand, printed_order
from harness.ops.base import OPERATORS
from harness.ops.expansion import Composite
from harness.tensor import using


def expand(output: Operand) -> Operand:
    """Replaces every composite node of the graph behind ``output`` by its parts; returns the new output.

    Several results stay a tuple that is taken apart again, used or not (measured).
    """
    became: dict[int, Operand] = {}
    for node in printed_order(output):
        node.inputs = [became.get(id(i), i) for i in node.inputs]
        if node.kernel and isinstance(OPERATORS.get(node.op), Composite):
            became[id(node)] = _parts(node)
    return became.get(id(output), output)


def _parts(node: Node) -> Operand:
    operator = OPERATORS.get(node.op)
    assert isinstance(operator, Composite)
    tracer = Tracer(operator.expansion_scope)
    tracer.region = node.extra["region"]
    tracer.source = ("code", node.source or node.related)
    args = grouped(node, [as_value(i) for i in node.inputs])
    with using(tracer):
        operand = tracer.operand(operator.expand(*args))
    nested = any(isinstance(OPERATORS.get(n.op), Composite) for n in tracer.created)
    return expand(operand) if nested else operand
