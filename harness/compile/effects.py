"""Makes an update wait for the readers of what it overwrites.

A node that updates a parameter follows, through its state, every kernel that read the parameter before; the real
graphs show these readers as further inputs of the ``UpdateState`` in front of the update (measured).
"""

from __future__ import annotations

from harness.graph import Node, Operand, Parameter, printed_order
from harness.ops.base import OPERATORS


def wait_for_readers(output: Operand) -> None:
    """Adds readers to the states in front of updates, in the graph behind ``output``."""
    order = printed_order(output)
    users: dict[int, list[Node]] = {}
    loads: dict[int, list[Node]] = {}
    for node in order:
        for operand in {id(i): i for i in node.inputs}.values():
            users.setdefault(id(operand), []).append(node)
        if node.op == "Load" and isinstance(node.inputs[0], Parameter):
            loads.setdefault(id(node.inputs[0]), []).append(node)
    waiting: set[int] = set()
    for node in _updates_in_state_order(order):
        for at in OPERATORS.get(node.op).mutates:
            reads = loads.get(id(node.inputs[at]), [])
            readers = [u for load in reads for u in users[id(load)] if u.kernel and u is not node]
            state = node.inputs[-1]
            fresh = [r for r in readers if id(r) not in waiting]
            if fresh and isinstance(state, Node) and state.op == "UpdateState" and not _depends(fresh, node):
                state.inputs.extend(fresh)
                state.extra["layout"] = (None,) * len(state.inputs)
                waiting.update(id(r) for r in fresh)


def _updates_in_state_order(order: list[Node]) -> list[Node]:
    return [n for n in order if n.kernel and OPERATORS.get(n.op).side_effect == "memory" and n.inputs]


def _depends(readers: list[Node], update: Node) -> bool:
    """Whether a reader itself comes after the update (a read of the new value)."""
    for reader in readers:
        stack: list[Operand] = [reader]
        seen: set[int] = set()
        while stack:
            operand = stack.pop()
            if operand is update:
                return True
            if isinstance(operand, Node) and id(operand) not in seen:
                seen.add(id(operand))
                stack.extend(operand.inputs)
    return False
