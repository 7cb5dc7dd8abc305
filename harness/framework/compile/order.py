"""The orders and numbers of a finished graph: printed order, launch order, parameter order, ``-opN``.

The rules reproduce what MindSpore 2.10.0 CPU shows; checked against the execution-order csv and the parameter lists of
its graphs by the interop tests.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Any

from harness.devices.operators import COMMUNICATION
from harness.framework.compile.simplify import constant_key
from harness.graph import Const, Graph, Node, Operand, Parameter, printed_order


class Numbering:
    """Gives ``-opN`` to nodes: 0, 1, 2, ... for each ``scope/Prim`` in printed order, going on over all graphs of
    the process (the numbers of real dump files, measured)."""

    def __init__(self) -> None:
        self._next: dict[str, int] = {}
        self._unfused: Numbering | None = None

    @property
    def unfused(self) -> Numbering:
        """The numbering the process would have if no kernels were fused."""
        if self._unfused is None:
            self._unfused = Numbering()
        return self._unfused

    def number(self, nodes: list[Node]) -> None:
        """Numbers ``nodes`` in the order given."""
        for node in nodes:
            prefix = f"{node.scope}/{node.op}"
            node.number = self._next.get(prefix, 0)
            self._next[prefix] = node.number + 1


def arrange(graph: Graph) -> None:
    """Sets ``nodes``, ``execution_order`` and ``constants`` of a graph from its output."""
    graph.nodes = printed_order(graph.output)
    graph.execution_order = launch_order(graph.output, graph.nodes)
    graph.constants = _constants(graph)


def _constants(graph: Graph) -> list[Const]:
    """The graph's constants in order of first use; equal ones become one."""
    found: dict[Any, Const] = {}
    for node in graph.nodes:
        for i, operand in enumerate(node.inputs):
            if isinstance(operand, Const):
                node.inputs[i] = found.setdefault(constant_key(operand), operand)
    return list(found.values())


def parameter_order(output: Operand) -> list[Parameter]:
    """Parameters of the graph behind ``output``, by first use in the reversed walk from ``Return`` that visits a node
    after its last user."""
    root = Node("Return", [output], {}, "Default", output.spec, kernel=False)
    users: dict[int, int] = {}
    for node in [*printed_order(output), root]:
        for operand in node.inputs:
            users[id(operand)] = users.get(id(operand), 0) + 1
    walked: list[Node] = []
    stack = [root]
    while stack:
        node = stack.pop()
        walked.append(node)
        for operand in reversed(node.inputs):
            users[id(operand)] -= 1
            if users[id(operand)] == 0 and isinstance(operand, Node):
                stack.append(operand)
    order: dict[int, Parameter] = {}
    for node in reversed(walked):
        for operand in node.inputs:
            if isinstance(operand, Parameter):
                order.setdefault(id(operand), operand)
    return list(order.values())


def launch_order(output: Operand, nodes: Sequence[Node] | None = None) -> list[Node]:
    """Kernels in launch order: breadth first from the independent nodes, with the tie rules of the real scheduler.

    Args:
        nodes: all of the graph, in printed order, if they are known.
    """
    return _Launch(output, printed_order(output) if nodes is None else nodes).run()


class _Launch:
    """Two walks over the graph: back from the result to find where to start, then forward as inputs become ready."""

    def __init__(self, output: Operand, nodes: Sequence[Node]) -> None:
        self.root = Node("Return", [output], {}, "Default", output.spec, kernel=False)
        self.trivial: dict[int, bool] = {}
        for node in nodes:
            self.trivial[id(node)] = not node.kernel and all(self._trivial(i) for i in node.inputs)
        self.users: dict[int, list[Node]] = {}
        self.waiting: dict[int, int] = {}
        self.uses: dict[int, int] = {}
        self.start: list[Node] = []

    def _trivial(self, operand: Operand) -> bool:
        """Whether ``operand`` depends on nothing that has to be launched."""
        return not isinstance(operand, Node) or self.trivial[id(operand)]

    def _link(self) -> None:
        queue = deque([self.root])
        seen: set[int] = set()
        while queue:
            node = queue.popleft()
            for operand in node.inputs:
                self.users.setdefault(id(operand), []).append(node)
                if self._trivial(operand):
                    continue
                assert isinstance(operand, Node)
                self.waiting[id(node)] = self.waiting.get(id(node), 0) + 1
                self.uses[id(operand)] = self.uses.get(id(operand), 0) + 1
                if id(operand) not in seen:
                    seen.add(id(operand))
                    queue.append(operand)

    def _find_start(self) -> None:
        """Nodes that wait for nothing; one found early is tied to the next kernel met, so that it is not launched
        long before its result is used."""
        kernels: deque[Node] = deque()
        others = deque([self.root])
        while kernels or others:
            node = others.popleft() if others else kernels.popleft()
            independent = True
            for operand in reversed(node.inputs):
                if self._trivial(operand):
                    continue
                assert isinstance(operand, Node)
                independent = False
                self.uses[id(operand)] -= 1
                if self.uses[id(operand)]:
                    continue
                if not operand.kernel:
                    others.append(operand)
                    continue
                kernels.append(operand)
                if self.start:
                    tied = self.start.pop()
                    self.users.setdefault(id(operand), []).append(tied)
                    self.waiting[id(tied)] = self.waiting.get(id(tied), 0) + 1
            if independent:
                self.start.append(node)

    def run(self) -> list[Node]:
        """The order. What uses a collective is ready once the next collective is launched, or nothing else is ready;
        then it goes before the rest, and so does what follows from it (measured with two and four ranks)."""
        self._link()
        self._find_start()
        order: list[Node] = []
        ready: deque[Node] = deque()
        first: deque[Node] = deque()
        collective: Node | None = None
        while self.start:
            ready.append(self.start.pop())
            while ready or first or collective is not None:
                queue = first or ready
                node = queue.popleft() if queue else None
                if node is not None and node.kernel:
                    order.append(node)
                if node is not None and node.op not in COMMUNICATION:
                    self._release(node, queue)
                    continue
                if collective is not None:
                    self._release(collective, first)
                collective = node
        return order

    def _release(self, node: Node, ready: deque[Node]) -> None:
        users = self.users.get(id(node), [])
        for user in users:
            if not self.waiting.get(id(user)):
                continue
            self.waiting[id(user)] -= 1
            if self.waiting[id(user)]:
                continue
            if not user.kernel or len(users) == 1:
                ready.appendleft(user)
            else:
                ready.append(user)
