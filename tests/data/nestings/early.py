"""Follows the pass from an argument that is given anew.

When a call is replaced by what the called graph gives, the pass looks at what takes that value next: at calls, too, in
graphs that see it and are not part of the caller yet. These become part of the graph they stand in, and with it of the
caller.
"""

from __future__ import annotations

import re
from collections import defaultdict, deque
from typing import Any

from tests.data.nestings.steps import _CALLEE, _OPERATOR, Graph, arguments

#: what is gained below is no rule: it depends on when exactly
NEAR = 2


class Node:
    """A node, a parameter (``op`` is empty), or a graph as a value (``graph``) of an instance."""

    def __init__(self, op: str, home: Instance | None, graph: Graph | None = None) -> None:
        self.op, self.home, self.graph = op, home, graph
        self.inputs: list[Node | str] = []
        self.users: dict[Node, None] = {}
        self.is_seen = False


class Instance:
    """A graph with those written in it; ``into`` is what it became part of, ``inside`` what became part of it."""

    def __init__(self, graph: Graph, outer: Instance | None, graphs: dict[str, Graph]) -> None:
        self.graph, self.outer = graph, outer
        self.into: Instance | None = None
        self.inside: list[Instance] = []
        self.params = {p: Node("", self) for p in graph.params}
        self.nodes = {name: Node("?", self) for name in graph.nodes}
        self.labels = {label: self.nodes[name] for name, (label, _) in graph.nodes.items() if label}
        self.inner = {name: Instance(each, self, graphs) for name, each in graphs.items() if each.parent == graph.name}

    def owner(self) -> Instance:
        found = self
        while found.into is not None:
            found = found.into
        return found


class Early:
    """Follows the calls of ``around``."""

    def __init__(self, graphs: dict[str, Graph], around: str) -> None:
        self.graphs, self.around = graphs, around

    def levels(self, number: int) -> dict[str, tuple[int, int]]:
        """Of the call ``number`` of the graph: for each graph that is part of the caller sooner if its first argument
        is given anew, how many steps after that, and from which step after the call on; where most is gained."""
        normal = self._run(number, None)
        gained: dict[str, int] = {}
        found: dict[str, tuple[int, int]] = {}
        for at in range(max(normal.values(), default=0)):
            for name, step in self._run(number, at).items():
                gain = normal.get(name, 0) - step
                if at <= step and gain > max(gained.get(name, 0), NEAR):
                    gained[name], found[name] = gain, (step - at, at)
        return found

    def _run(self, number: int, again: int | None) -> dict[str, int]:
        """The step each graph becomes part of the caller if the first argument is given anew at step ``again``."""
        top = self._filled(Instance(self.graphs[self.around], None, self.graphs))
        call = [n for n in top.nodes.values() if n.op == "call"][number]
        values = [i for i in call.inputs[1:2] if isinstance(i, Node)]
        self.joined: dict[str, int] = {}
        self.queue: dict[int, deque[Node]] = defaultdict(deque)
        self.queue[0].append(call)
        for step in range(200):
            if step == again:
                for value in values:
                    self.queue[step].extend(user for user in value.users if user.home is not top)
                    for user in value.users:
                        user.is_seen = user.is_seen and user.home is top
            while self.queue[step]:
                node = self.queue[step].popleft()
                is_outside = node.home is None or (node.home is top and node is not call)
                if node.is_seen or is_outside or node.op in ("dead", ""):
                    continue
                node.is_seen = True
                if not self._replace(node, step):
                    self.queue[step + 1].extend(i for i in node.inputs if isinstance(i, Node))
        return self.joined

    def _move(self, instance: Instance, into: Instance, step: int) -> None:
        instance.into = into
        into.inside += [instance, *instance.inside]
        if into.outer is None and into.graph.name == self.around:
            for each in (instance, *instance.inside):
                self.joined.setdefault(each.graph.name, step)

    def _replace(self, node: Node, step: int) -> bool:
        assert node.home is not None
        result: Node | str | None = None
        first = node.inputs[0] if node.inputs else None
        if node.op == "call" and isinstance(first, Node) and first.graph is not None:
            around = first.home
            inner = around.inner.get(first.graph.name) if around is not None else None
            if inner is None or inner.into is not None:
                inner = self._filled(Instance(first.graph, around, self.graphs))
            for param, value in zip(inner.params.values(), node.inputs[1:], strict=False):
                _put_in_place(param, value)
            self._move(inner, node.home.owner(), step)
            last = inner.nodes["Return"]
            result, last.op = last.inputs[0], "dead"
            if isinstance(result, Node):
                result.users.pop(last, None)
        elif node.op == "TupleGetItem" and isinstance(first, Node) and first.op == "MakeTuple":
            at = re.search(r"I64\((\d+)\)", str(node.inputs[1]))
            result = first.inputs[int(at[1])] if at else None
        if result is None:
            return False
        node.op = "dead"
        for each in node.inputs:
            if isinstance(each, Node):
                each.users.pop(node, None)
        _put_in_place(node, result)
        if isinstance(result, Node):
            self.queue[step + 1].append(result)
            for user in result.users:
                user.is_seen = False
                self.queue[step + 1].append(user)
        return True

    def _filled(self, instance: Instance) -> Instance:
        for name, (_, right) in instance.graph.nodes.items():
            node = instance.nodes[name]
            if match := _CALLEE.match(right):
                node.op, at = "call", right.index("(", match.end(match.lastindex or 0))
                node.inputs = [self._ref(next(g for g in match.groups() if g), instance)]
            else:
                operator = _OPERATOR.match(right)
                node.op, at = (operator[1], right.index("(")) if operator else ("Return", 0)
            node.inputs += [self._ref(text, instance) for text in arguments(right, at)]
            for each in node.inputs:
                if isinstance(each, Node):
                    each.users[node] = None
        for inner in instance.inner.values():
            self._filled(inner)
        return instance

    def _ref(self, text: str, instance: Instance) -> Any:
        """What a text of a graph stands for; itself for a constant."""
        around: Instance | None = instance
        if match := re.fullmatch(r"\$\(@(\S+?):(.*)\)", text):
            while around is not None and around.graph.name != match[1]:
                around = around.outer
            return text if around is None else around.params.get(match[2]) or around.labels.get(match[2], text)
        if text.startswith("%"):
            return instance.params.get(text[1:]) or instance.nodes.get(text, text)
        graph = self.graphs.get(text[1:]) if text.startswith("@") else None
        if graph is None:
            return text
        while graph.parent and around is not None and around.graph.name != graph.parent:
            around = around.outer
        return Node("graph", around if graph.parent else None, graph)


def _put_in_place(old: Node, new: Node | str) -> None:
    for user in old.users:
        user.inputs = [new if each is old else each for each in user.inputs]
        if isinstance(new, Node):
            new.users[user] = None
    old.users = {}
