"""Makes an update wait for the readers of what it overwrites.

A node that updates a parameter follows, through its state, every kernel that read the parameter before; the real
graphs show these readers as further inputs of the ``UpdateState`` in front of the update. A read that comes after an
update of the same parameter, or whose value is needed after one, is copied by a ``TensorMove`` (both measured).
"""

from __future__ import annotations

from collections.abc import Iterable

from harness.graph import Node, Operand, Parameter, TensorSpec, TupleSpec, U, printed_order
from harness.ops.base import OPERATORS


def wait_for_readers(output: Operand) -> None:
    """Adds readers to the states in front of updates, and copies where needed, in the graph behind ``output``."""
    graph = _Effects(output)
    graph.add_readers()
    graph.add_copies()


def drop_unused_reads(output: Operand) -> None:
    """Takes reads of parameters that nothing uses any more out of the states, in the graph behind ``output``."""
    order = printed_order(output)
    used: set[int] = set()
    lists = {id(n.inputs[1]) for n in order if n.op == "UpdateState" and _op(n.inputs[1]) == "MakeTuple"}
    for node in order:
        if node.op != "UpdateState" and id(node) not in lists:
            used.update(id(i) for i in node.inputs)
    became: dict[int, Operand] = {}
    for node in order:
        node.inputs = [became.get(id(i), i) for i in node.inputs]
        if node.op == "MakeTuple" and id(node) in lists:
            node.inputs = [i for i in node.inputs if not _is_unused_read(i, used)]
            node.spec = TupleSpec(tuple(i.spec for i in node.inputs))
            node.extra["layout"] = (None,) * len(node.inputs)
            if len(node.inputs) == 1:
                became[id(node)] = node.inputs[0]
        elif node.op == "UpdateState":
            follows = node.inputs[1]
            if _is_unused_read(follows, used) or (isinstance(follows, Node) and not follows.inputs):
                became[id(node)] = node.inputs[0]
        elif node.op == "Depend" and node.inputs[1] is U:
            became[id(node)] = node.inputs[0]


def _op(operand: Operand) -> str | None:
    return operand.op if isinstance(operand, Node) else None


def _is_unused_read(operand: Operand, used: set[int]) -> bool:
    return _op(operand) == "Load" and id(operand) not in used


class _Effects:
    def __init__(self, output: Operand) -> None:
        self.order = printed_order(output)
        self.users: dict[int, list[Node]] = {}
        self.loads: list[Node] = []
        for node in self.order:
            for operand in {id(i): i for i in node.inputs}.values():
                self.users.setdefault(id(operand), []).append(node)
            if node.op == "Load":
                self.loads.append(node)
        self.updates = [n for n in self.order if n.extra.get("effect") == "memory"]
        self.late: list[Node] = []

    def _targets(self, update: Node) -> list[Operand]:
        return [update.inputs[at] for at in OPERATORS.get(update.op).mutates]

    def add_readers(self) -> None:
        waiting: set[int] = set()
        for update in self.updates:
            for target in self._targets(update):
                for load in self.loads:
                    if load.inputs[0] is target:
                        self._wait(update, load, waiting)

    def _wait(self, update: Node, load: Node, waiting: set[int]) -> None:
        state = update.inputs[-1]
        if _reaches(load.inputs[1:], update):
            return
        readers = [u for u in self.users[id(load)] if u.kernel and u is not update]
        if any(_reaches([r], update) for r in readers):
            if load not in self.late:
                self.late.append(load)
            return
        fresh = [r for r in readers if id(r) not in waiting]
        if fresh and isinstance(state, Node) and state.op == "UpdateState":
            state.inputs.extend(fresh)
            state.extra["layout"] = (None,) * len(state.inputs)
            waiting.update(id(r) for r in fresh)

    def add_copies(self) -> None:
        for load in self.loads:
            updates = [u for u in self.updates if any(t is load.inputs[0] for t in self._targets(u))]
            if load in self.late or any(_reaches(load.inputs[1:], u) for u in updates):
                self._copy(load)

    def _copy(self, load: Node) -> None:
        assert isinstance(load.inputs[0], Parameter)
        assert isinstance(load.spec, TensorSpec)
        move = Node("TensorMove", [load], {}, load.scope, load.spec)
        move.extra = {"layout": (None,), "functional": False, "region": load.extra["region"]}
        for user in self.users[id(load)]:
            user.inputs = [move if i is load else i for i in user.inputs]


def _reaches(start: Iterable[Operand], target: Node) -> bool:
    """Whether ``target`` is among ``start`` and what they are computed from."""
    stack = list(start)
    seen: set[int] = set()
    while stack:
        operand = stack.pop()
        if operand is target:
            return True
        if isinstance(operand, Node) and id(operand) not in seen:
            seen.add(id(operand))
            stack.extend(operand.inputs)
    return False
