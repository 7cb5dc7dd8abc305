"""Which operators read a parameter, and where that read stands."""

from __future__ import annotations

from harness.graph import Node, Operand


def reads(node: Node, parameter: Operand) -> bool:
    """Whether ``node`` takes a parameter, or what is read of it."""
    return any(
        i is parameter or (isinstance(i, Node) and i.op == "Load" and i.inputs[0] is parameter) for i in node.inputs
    )


def read_scope(reader: Node) -> str:
    """Where the read of a parameter that ``reader`` takes stands: outside of the cell whose ``construct`` takes it, in
    the cell if one of its other function graphs does (measured)."""
    closure = reader.extra.closure
    outside = closure is not None and closure.of_cell and not reader.extra.inside
    return reader.scope.rpartition("/")[0] or reader.scope if outside else reader.scope
