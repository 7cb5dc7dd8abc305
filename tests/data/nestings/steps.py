"""Follows the pass that puts function graphs into each other through the text of the graphs before it.

The pass walks breadth first from the result: a call it meets is replaced by what the called graph gives, which is
looked at one step later, like the inputs of an operator. A tuple of which an element is taken takes no step.
"""

from __future__ import annotations

import re
from collections import deque
from dataclasses import dataclass, field
from typing import Any

_GRAPH = re.compile(r"^subgraph @(\S+?)(?: parent: \[subgraph @(\S+?)\])?\((.*?)\) \{\n(.*?)^\}", re.S | re.M)
_NODE = re.compile(r"  (%\d+)\((.*?)\) = (.*)$|  (Return)()(\(.*)$")
_CALLEE = re.compile(r"call (@\S+?|%\S+?)\(|(%\d+)\[@|(%para\S+?)[(\[]|(\$\(.*?\))\(")
_OPERATOR = re.compile(r"(?:PrimFunc_)?([A-Za-z_0-9:.]+)\(")
#: nodes of the graph itself
_VIRTUAL = frozenset(
    {
        "Depend", "ListGetItem", "ListToTuple", "Load", "MakeDict", "MakeList", "MakeTuple", "Partial", "RealMakeTuple",
        "Return", "Switch", "TupleGetItem", "UpdateState", "getattr", "make_slice",
    }
)  # fmt: skip


@dataclass
class Graph:
    """A function graph: its parameters, and the name and the right side of each node, in order."""

    name: str
    parent: str | None
    params: list[str]
    nodes: dict[str, tuple[str, str]] = field(default_factory=dict)


@dataclass(eq=False)
class Call:
    """A graph where it is called: what its parameters stand for, and the call its free variables are in."""

    graph: Graph
    given: list[Any] | None
    outer: Call | None
    level: int = 0


#: a node of a call, a graph as a value (``@name`` in place of the node), or a parameter of the outermost call
_Ref = tuple[Any, str]


def graphs_of(text: str) -> dict[str, Graph]:
    """The function graphs of a dumped text, by name."""
    found = {}
    for name, parent, params, body in _GRAPH.findall(text):
        graph = Graph(name, parent or None, [p.strip().lstrip("%") for p in params.split(",") if p.strip()])
        last = ""
        for line in body.splitlines():
            if match := _NODE.match(line):
                last = match[1] or match[4]
                graph.nodes[last] = match[2] or "", match[3] or match[6]
                continued = True
            elif re.match(r"      [:#]", line):
                continued = False
            elif last and continued:  # a constant of several lines
                graph.nodes[last] = graph.nodes[last][0], f"{graph.nodes[last][1]} {line.strip()}"
        found[name] = graph
    return found


def arguments(text: str, at: int) -> list[str]:
    """The arguments of a call whose bracket is at ``at``."""
    found, depth, quoted, begun = list[str](), 0, False, at + 1
    for place in range(at, len(text)):
        char = text[place]
        quoted ^= char == '"'
        if quoted:
            continue
        depth += (char in "([{<") - (char in ")]}>")
        if depth == 0 or (depth == 1 and char == ","):
            found.append(text[begun:place].strip())
            begun = place + 1
        if depth == 0:
            break
    return [each for each in found if each]


@dataclass
class Steps:
    """What one call consists of: ``graphs`` (the step each becomes part of the caller), ``names`` of them,
    ``early`` of some (see there), ``operators`` (name, graph, the step it is looked at, the step its inputs from
    outside are)."""

    graphs: list[int] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    early: dict[str, tuple[int, int]] = field(default_factory=dict)
    operators: list[list[Any]] = field(default_factory=list)


class Walk:
    """Follows the calls of ``around``, one after the other."""

    def __init__(self, graphs: dict[str, Graph], around: str) -> None:
        self.graphs = graphs
        self.around = Call(graphs[around], None, None)

    def calls(self) -> list[tuple[str, Steps | None]]:
        """Each call of a graph: whose, and its steps (None where a value that is not known is called)."""
        nodes = self.around.graph.nodes
        made = [(name, re.match(r"call @(\S+?)\(", right)) for name, (_, right) in nodes.items()]
        return [(re.sub(r"^\d+_|_\d+$", "", m[1]), self._follow(name)) for name, m in made if m]

    def _follow(self, start: str) -> Steps | None:
        steps, numbers, seen, picked = Steps(), dict[int, int](), set[_Ref](), set[_Ref]()
        queue = deque[tuple[_Ref, int, int | None]]([((self.around, start), 0, None)])

        def push(ref: _Ref | None, step: int, user: int | None, at_once: bool = False) -> None:
            if ref is None or ref[1].startswith("@"):
                return
            if ref[0] is None or ref[0] is self.around:
                if user is not None:
                    steps.operators[user][3] = min(steps.operators[user][3], step)
            elif at_once:
                queue.appendleft((ref, step, user))
            else:
                queue.append((ref, step, user))

        while queue:
            ref, step, user = queue.popleft()
            if ref in seen:
                continue
            seen.add(ref)
            call, node = ref
            right = call.graph.nodes[node][1]
            if match := _CALLEE.match(right):
                made = self._called(call, match, right, step)
                if made is None:
                    return None
                result = self._ref(arguments(made.graph.nodes["Return"][1], 0)[0], made)
                if ref in picked and result is not None:
                    picked.add(result)
                push(result, step + 1, user)
                continue
            name = _OPERATOR.match(right)
            if name is None:
                return None
            if name[1] not in _VIRTUAL:
                user = len(steps.operators)
                if id(call) not in numbers:
                    numbers[id(call)] = len(steps.graphs)
                    steps.graphs.append(call.level)
                    steps.names.append(call.graph.name)
                steps.operators.append([name[1], numbers[id(call)], step, 1 << 30])
            for text in arguments(right, right.index("(")):
                inner = self._ref(text, call)
                if name[1] == "TupleGetItem" and inner is not None:
                    picked.add(inner)
                at_once = name[1] == "MakeTuple" and ref in picked
                push(inner, step if at_once else step + 1, user, at_once)
        for operator in steps.operators:
            operator[3] = operator[2] + 1 if operator[3] == 1 << 30 else operator[3]
        return steps

    def _called(self, call: Call, match: re.Match[str], right: str, step: int) -> Call | None:
        text = next(group for group in match.groups() if group)
        callee = self._ref(text, call)
        if callee is None or not callee[1].startswith("@"):
            return None
        graph = self.graphs[callee[1][1:]]
        given = [self._ref(each, call) for each in arguments(right, right.index("(", match.end(match.lastindex or 0)))]
        outer: Call | None = callee[0] if graph.parent else None
        while outer is not None and outer.graph.name != graph.parent:
            outer = outer.outer
        return Call(graph, given, outer, step)

    def _ref(self, text: str, call: Call) -> _Ref | None:
        """What a text of a graph stands for; None for a constant."""
        text = text.strip()
        if match := re.fullmatch(r"\$\(@(\S+?):(.*)\)", text):
            around: Call | None = call
            while around is not None and around.graph.name != match[1]:
                around = around.outer
            if around is None or re.match(r"para\d+_", match[2]):
                return None if around is None else self._param(match[2], around)
            named = [node for node, (name, _) in around.graph.nodes.items() if name == match[2]]
            return (around, named[-1]) if named else None
        if text.startswith("%para"):
            return self._param(text[1:], call)
        if re.fullmatch(r"%\d+", text):
            return call, text
        return (call, text) if re.fullmatch(r"@\S+", text) else None

    def _param(self, name: str, call: Call) -> _Ref | None:
        if call.given is None:
            return None, name
        return dict(zip(call.graph.params, call.given, strict=False)).get(name)
