"""Makes an update wait for the readers of what it overwrites.

A node that updates memory (a parameter, or a tensor changed in place) follows, through its state, every kernel that
read it before; the real graphs show these readers as further inputs of the ``UpdateState`` in front of the update.
Where one memory is read more than once, between different updates, each read is copied by a ``TensorMove``.

Source: MindSpore's pass that enforces the order of effects (public source), and its graphs (2.10.0), measured.
"""

from __future__ import annotations

from collections.abc import Iterable

from harness.graph import Node, NodeExtra, Operand, TupleSpec, U, printed_order

#: operators that only view their argument: the users of their result count as readers too
_VIEWS = frozenset({"BatchNormGrad", "ExpandDims", "Reshape"})


def wait_for_readers(output: Operand) -> None:
    """Adds readers to the states in front of updates, and copies where needed, in the graph behind ``output``."""
    graph = _Effects(output)
    graph.add_readers()
    graph.add_copies()


def drop_unused_reads(output: Operand) -> None:
    """Removes unused reads of parameters from the states of the graph behind ``output``."""
    order = printed_order(output)
    used: set[int] = set()
    lists = {id(n.inputs[1]) for n in order if n.op == "UpdateState" and _op(n.inputs[1]) == "MakeTuple"}
    # A tuple of the same reads that is a result, too, is the same node.
    lists -= {id(each) for n in order if n.op != "UpdateState" for each in n.inputs} | {id(output)}
    for node in order:
        if node.op != "UpdateState" and id(node) not in lists:
            used.update(id(i) for i in node.inputs)
    became: dict[int, Operand] = {}
    for node in order:
        node.inputs = [became.get(id(i), i) for i in node.inputs]
        if node.op == "MakeTuple" and id(node) in lists:
            node.inputs = [i for i in node.inputs if not _is_unused_read(i, used)]
            node.spec = TupleSpec(tuple(i.spec for i in node.inputs))
            node.extra.layout = (None,) * len(node.inputs)
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
        self.at = {id(node): at for at, node in enumerate(self.order)}
        self.users: dict[int, list[Node]] = {}
        for node in self.order:
            for operand in {id(i): i for i in node.inputs}.values():
                self.users.setdefault(id(operand), []).append(node)
        self.waited_for: set[int] = set()

    def _loads_of(self, operand: Operand) -> list[Node]:
        return [user for user in self.users.get(id(operand), ()) if user.op == "Load"]

    def add_readers(self) -> None:
        """To the state in front of each update its readers; to the last state of the reads in a tuple those that take
        the tuple."""
        for node in self.order:
            if node.extra.effect == "memory":
                for target in node.inputs[:-1]:
                    for load in self._loads_of(target):
                        self._wait(node.inputs[-1], self._readers(load))
            elif node.kernel:
                self._wait_for_taker(node)

    def _readers(self, load: Node) -> list[Node]:
        found: list[Node] = []
        for user in self.users.get(id(load), ()):
            if id(user) not in self.waited_for:
                found += self.users.get(id(user), ()) if user.op in _VIEWS else [user]
        return found

    def _wait_for_taker(self, node: Node) -> None:
        """An operator with a tuple that has reads among its members."""
        members: list[Operand] = []
        at = 0
        for count in node.extra.layout:
            if isinstance(count, int):
                members += node.inputs[at : at + count]
            at += 1 if count is None else count
        states = [s for m in members if _op(m) == "Load" for s in self._states_after(m)]
        if states:
            self._wait(max(states, key=lambda s: self.at[id(s)]), [node])

    def _states_after(self, read: Operand) -> Iterable[Node]:
        for user in self.users.get(id(read), ()):
            if user.op == "UpdateState":
                yield user
            elif user.op == "MakeTuple":
                yield from self._states_after(user)

    def _wait(self, state: Operand, readers: Iterable[Node]) -> None:
        if not isinstance(state, Node) or state.op != "UpdateState":
            return
        for reader in sorted({id(r): r for r in readers}.values(), key=lambda r: self.at[id(r)]):
            if reader.op in ("MakeTuple", "UpdateState") or _reaches([reader], state):
                continue
            self.waited_for.add(id(reader))
            if not any(i is reader for i in state.inputs):
                state.inputs.append(reader)
                state.extra.layout = (None,) * len(state.inputs)

    def add_copies(self) -> None:
        """Copies every read of memory that is read more than once."""
        loads: dict[int, list[Node]] = {}
        for node in self.order:
            if node.op == "Load":
                loads.setdefault(id(node.extra.root), []).append(node)
        for same in loads.values():
            for load in same if len(same) > 1 else ():
                self._copy(load)

    def _copy(self, load: Node) -> None:
        move = Node("TensorMove", [load], {}, "Default", load.spec)
        move.extra = NodeExtra(layout=(None,), functional=False, region=load.extra.region)
        for user in self.users.get(id(load), ()):
            user.inputs = [move if i is load else i for i in user.inputs]


def computed_from(results: Iterable[Operand]) -> set[int]:
    """The ids of ``results`` and of all that they are computed from; a state names what was read, and does not use
    it."""
    found: set[int] = set()
    stack = list(results)
    while stack:
        operand = stack.pop()
        if id(operand) in found or _op(operand) == "UpdateState":
            continue
        found.add(id(operand))
        if isinstance(operand, Node):
            stack.extend(operand.inputs)
    return found


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
