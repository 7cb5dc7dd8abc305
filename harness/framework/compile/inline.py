"""The order in which MindSpore puts function graphs into the one that is differentiated.

Its pass walks breadth first from the result. A call met on the way is replaced by the called graph, whose result is
looked at again later; the called graph's primitives come behind those already there. Values and states (the order of
effects) are followed alike. The order decides the scope of a primitive's gradient: it is the scope of the first equal
primitive.

How many steps the walk is inside a function of the library is recorded (``nestings``).

Source: the pass as its intermediate graphs show it (MindSpore 2.10.0), measured.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from heapq import heappop, heappush
from itertools import count
from typing import Any

from harness.framework.compile.closure import Closure
from harness.graph import Node, Operand

_State = tuple[str, Closure, Any]
Item = Node | Closure | _State


def inlining_order(
    nodes: Sequence[Node], roots: Iterable[Operand], created: Sequence[Node] = ()
) -> tuple[list[Closure], list[Node]]:
    """Closures in the order they become part of the outermost one, which comes first; and the operators behind results
    of calls that nothing uses, but which read memory, so that they stay until then.

    Args:
        nodes: every node of the forward graph, inputs before users.
        roots: the results.
        created: every operator that was written down, also those that nothing uses.
    """
    if not nodes:
        return [], []
    walk = _Walk(nodes, [r for r in roots if isinstance(r, Node)], created)
    return walk.run(), walk.idle


class _Walk:
    def __init__(self, nodes: Sequence[Node], roots: Sequence[Node], created: Sequence[Node]) -> None:
        self.roots = roots
        self.top = _common(nodes)
        self.results: dict[Closure, dict[int, Node]] = {}
        self.users: dict[int, list[Node]] = {}
        for node in nodes:
            self._takes(node)
        for root in roots:
            self._used(root, self.top)
        self.idle: list[Node] = []
        #: closures with values that nothing uses
        self.holding: set[Closure] = set()
        self._find_idle(created, {id(node) for node in nodes})
        #: what each closure holds, in the order it came there, and the closure it became part of
        self.held: dict[Closure, list[Closure]] = {}
        self.into: dict[Closure, Closure] = {}
        #: the step a function of the library was entered
        self.entered: dict[Closure, int] = {}
        self.seen: set[Any] = set()
        #: by the step they are looked at
        self.queue: list[tuple[int, int, Item]] = []
        self.numbers = count()
        self.step = -1
        #: how many steps the inputs of an operator of the library wait for graphs that only pass them on
        self.passing: dict[int, int] = {}

    def _takes(self, node: Node) -> None:
        """Notes what ``node`` uses."""
        for operand in _values(node):
            self._used(operand, node.extra.closure)
            self.users.setdefault(id(operand), []).append(node)

    def _find_idle(self, created: Sequence[Node], known: set[int]) -> None:
        """Finds the results of calls that have effects, where nothing uses them, and what is behind those."""
        wanted: set[int] = set()
        for node in reversed(created):
            if id(node) in known:
                continue
            if id(node) not in wanted:
                inside = (c for c in node.extra.closure.path() if _lies_inside(c, self.top))
                around = next((c.parent for c in inside if c.effects and c not in self.results), None)
                if around is None:
                    self._hold(node)
                    continue
                self._used(node, around)
            self.idle.append(node)
            self._takes(node)
            stack: list[Operand] = _values(node)
            while stack:
                operand = stack.pop()
                wanted.add(id(operand))
                if isinstance(operand, Node) and not operand.kernel:
                    stack += _values(operand)

    def _hold(self, node: Node) -> None:
        """Notes the closure in which nothing uses the value behind ``node``."""
        path = [c for c in node.extra.closure.path() if c is self.top or _lies_inside(c, self.top)]
        for at, closure in enumerate(path):
            if at + 1 == len(path) or path[at + 1] not in self.results:
                if not closure.of_library:
                    self.holding.add(closure)
                break

    def _put(self, item: Item, later: int = 1) -> None:
        """Queues ``item``, to be looked at so many steps later."""
        heappush(self.queue, (self.step + later, next(self.numbers), item))

    def _used(self, operand: Operand, user: Closure) -> None:
        """Notes ``operand`` as a result of every closure it leaves on its way to ``user``, and of their tails."""
        if isinstance(operand, Node):
            for closure in _way(user, operand.extra.closure):
                tail: Closure | None = closure
                while tail is not None:
                    self.results.setdefault(tail, {})[id(operand)] = operand
                    tail = tail.tail

    def run(self) -> list[Closure]:
        if self.top.leaves:
            self._place_leaves(self.top)
        for root in self.roots:
            self._push(root, self.top)
        self._push_state(self.top, len(self.top.effects))
        while self.queue:
            self.step, _number, item = heappop(self.queue)
            if isinstance(item, Closure):
                self._inline(item)
            elif item not in self.seen:
                self.seen.add(item)
                self._follow(item)
        return self._held(self.top)

    def _held(self, closure: Closure) -> list[Closure]:
        return self.held.setdefault(closure, [closure])

    def _is_inlined(self, closure: Closure) -> bool:
        return closure in self.into or closure is self.top

    def _move(self, closure: Closure) -> None:
        """Makes ``closure``, with what it holds, part of the one that calls it, wherever that is by now."""
        around = closure.parent
        while around in self.into:
            around = self.into[around]
        assert around is not None
        self.into[closure] = around
        self._held(around).extend(self._held(closure))

    def _inline(self, closure: Closure) -> None:
        """Replaces the call of ``closure`` by its result."""
        if self._is_inlined(closure):
            return
        self._move(closure)
        if closure.level is not None:
            return
        if closure.leaves:
            self._place_leaves(closure)
        elif self._waits(closure):
            self._put(("result", closure, 0))
        else:
            self._push_results(closure)
        if closure.effects and closure.parent is not None and closure.parent.effects:
            self._put(("state", closure.parent, closure.at + 1))
        for result in self.results.get(closure, {}).values():
            for user in self._users(result, closure):
                self._push_user(user, result, closure)

    def _users(self, result: Node, closure: Closure) -> list[Node]:
        """What takes a result of ``closure``: those in a graph that was put in before come last first."""
        users = self.users.get(id(result), [])
        moved = [u for u in users if any(c in self.into for c in u.extra.closure.path() if c not in closure.path())]
        return [*(u for u in users if u not in moved), *reversed(moved)]

    def _place_leaves(self, closure: Closure) -> None:
        """Queues the graphs and the operators of a function of the library for the steps recorded."""
        self.entered[closure] = self.step
        for leaf in closure.leaves:
            if leaf.level:
                self._put(leaf, leaf.level)
            else:
                self._move(leaf)
            for node, (seen, left) in leaf.steps():
                self._put(node, seen)
                self.passing[id(node)] = left - seen
        for result in self.results.get(closure, {}).values():
            if result.extra.closure is closure:
                self._put(result)

    def _waits(self, closure: Closure) -> bool:
        """Whether the result of a closure is made to wait for something: a loop's counter, or its effects, unless the
        call that is its result is the only one and nothing is idle."""
        always = closure.checks or closure.picks or closure.unread or closure in self.holding
        if closure.waits or (closure.effects and always):
            return True
        if len(closure.effects) != 1 or not isinstance(closure.effects[0], Closure):
            return bool(closure.effects)
        if closure.tail is not None:
            return closure.effects[0] is not closure.tail
        results = self.results.get(closure, {}).values()
        return any(_way(closure, r.extra.closure)[:1] != closure.effects for r in results)

    def _push_results(self, closure: Closure) -> None:
        if closure.tail is not None and self._push_call([closure.tail], 1 + closure.late):
            return
        place = {each: at for at, each in enumerate(closure.members if closure.effects else ())}
        for result in sorted(self.results.get(closure, {}).values(), key=lambda r: place.get(id(r), len(place))):
            self._push(result, closure, 1 + closure.late)

    def _follow(self, item: Node | _State) -> None:
        if isinstance(item, Node):
            self._follow_node(item)
            return
        kind, closure, count = item
        if kind == "operand":
            if isinstance(count, Node) and not self._push_call(_way(closure, count.extra.closure)):
                self._put(count)
        elif kind == "result":
            if closure.waits and closure.effects:
                self._put(("turn", closure, 0))
            elif closure.several and closure.tail is None:
                self._put(("tuple", closure, 0))  # what waits is the tuple, which takes a step of its own (measured)
            else:
                self._push_results(closure)
            self._push_state(closure, len(closure.effects))
        elif kind == "members":
            for operand in count:
                self._push(operand, closure)
        elif kind in ("turn", "tuple"):
            self._push_results(closure)
        elif kind == "load":
            self._push_state(closure, count)
        else:
            self._push_state(closure, count - 1)
            effect = closure.effects[count - 1]
            if isinstance(effect, Closure):
                self._push_call([effect])
            elif effect is not None:
                self._put(effect)

    def _follow_node(self, node: Node) -> None:
        closure, before = node.extra.closure, node.extra.effects_before
        reads = [i for i in node.inputs if isinstance(i, Node) and i.op == "Load"]
        for operand in node.inputs:
            if isinstance(operand, Node) and operand.op == "UpdateState":
                self._push_state(closure, before + bool(reads))
            elif isinstance(operand, Node) and operand.op == "Load":
                self._put(("load", closure, before))
            elif not (closure.level is not None and isinstance(operand, Node) and _together(operand, closure)):
                self._push(operand, closure, self.passing.get(id(node), 1))

    def _push(self, operand: Operand, user: Closure, later: int = 1) -> None:
        """Queues ``operand`` as ``user`` sees it: the call it is a result of, or itself."""
        if isinstance(operand, Node) and any(id(operand) in c.passed for c in user.path()):
            later += sum(id(operand) in c.passed and c not in operand.extra.closure.path() for c in user.path())
        if isinstance(operand, Node):
            later += user.unpacks(operand)
        if later > 1:
            self._put(("operand", user, operand), later - 1)
        elif isinstance(operand, Node) and not self._push_call(_way(user, operand.extra.closure)):
            self._put(operand)

    def _push_user(self, user: Node, result: Node, closure: Closure) -> None:
        """Queues what takes a result of ``closure`` from outside: a node, a tuple, or the call it stands in."""
        path, members = user.extra.closure.path(), _tuple_with(result, user)
        if closure in path or any(self._waits(around) for around in _way(user.extra.closure, closure)[:-1]):
            return
        for around in path:
            if not self._is_inlined(around) and id(result) in around.passed:
                return
            if self._is_inlined(around) or around.sees(result) or not _lies_inside(around, self.top):
                continue
            if around.level is not None:
                if around.parent is not None:
                    self._push_early(around.parent)
            elif members and around.of_library:
                self._put(("members", around, members))
            elif not around.by_keyword:
                self._put(around)
            return
        self._put(("members", user.extra.closure, members) if members else user)

    def _push_early(self, function: Closure) -> None:
        """Queues the graphs of a function of the library that its argument, once replaced, is looked at in."""
        for leaf in function.leaves:
            if leaf.early is not None:
                later, since = leaf.early
                if self.step + 1 >= self.entered[function] + since:
                    self._put(leaf, later + 1)

    def _push_call(self, way: Sequence[Closure], later: int = 1) -> bool:
        """Queues the first call on ``way`` that was not replaced yet, or the wait it was replaced by, so many steps
        later; False if there is neither."""
        for closure in way:
            tail: Closure | None = closure
            while tail is not None:
                if not self._is_inlined(tail):
                    if tail.level is None:
                        self._put(tail, later)
                    return True
                if self._waits(tail):
                    self._put(("result", tail, 0), later)
                    return True
                tail = tail.tail
        return False

    def _push_state(self, closure: Closure, count: int) -> None:
        """Queues the state after ``count`` effects of ``closure``."""
        while count == 0 and closure is not self.top and closure.parent is not None:
            closure, count = closure.parent, closure.at
        if count:
            self._put(("state", closure, count))


def _common(nodes: Sequence[Node]) -> Closure:
    """The innermost closure around all ``nodes``."""
    paths = [node.extra.closure.path() for node in nodes]
    common: Closure = paths[0][0]
    for level in zip(*paths, strict=False):
        if any(closure is not level[0] for closure in level):
            break
        common = level[0]
    return common


def _values(node: Node) -> list[Operand]:
    """The inputs a node computes with, without reads and the order of effects, which are followed separately."""
    if node.op in ("Load", "UpdateState"):
        return []
    return [i for i in node.inputs if not (isinstance(i, Node) and i.op in ("Load", "UpdateState"))]


def _tuple_with(result: Node, user: Node) -> tuple[Operand, ...]:
    """The members of the tuple in which ``user`` takes ``result``; none where it takes it alone."""
    at = 0
    for size in user.extra.layout:
        members = tuple(user.inputs[at : at + (size or 1)])
        if size is not None and any(each is result for each in members):
            return members
        at += len(members)
    return ()


def _together(node: Node, leaf: Closure) -> bool:
    """Whether ``node`` and ``leaf`` are of one call of a function of the library."""
    owner: Closure = node.extra.closure
    return owner.parent is leaf.parent and owner.level is not None


def _lies_inside(closure: Closure, around: Closure) -> bool:
    return closure is not around and around in closure.path()


def _way(user: Closure, owner: Closure) -> list[Closure]:
    """The closures a value of ``owner`` leaves on its way to ``user``, outermost first."""
    around = set(map(id, user.path()))
    return [closure for closure in owner.path() if id(closure) not in around]
