"""A function graph of a traced function (``closures``)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from harness.graph import Node

#: Paths up to this length are kept; each turn of a loop is one longer.
_SHORT = 64


@dataclass(eq=False, slots=True)
class Closure:
    """A function graph.

    Attributes:
        parent: the closure it is called from, or None.
        effects: what it does to memory, in order: ``None`` for reads of parameters, a node that updates one, or the
            closure called.
        at: number of the parent's effects before its call.
        waits: its result comes from a turn of a loop, so it also waits for the loop's counter.
        checks: it also checks something, so its result waits for its effects in any case.
        tail: the closure whose call is its result, or None.
        picks: its result is one of several that a call gives, so it waits for its effects in any case.
        several: its result is a tuple.
        unread: it takes or computes a value under a name that it does not read.
        members: of such a result in order, each by its id, as far as they are known.
        of_cell: it is what a cell's ``construct`` starts in, or goes on in after an ``if`` on no attribute of the cell.
        nodes: the operators written in it.
        of_library: it is a function of the library.
        leaves: the graphs inside it, of a function of the library whose nesting is recorded.
        level: of such a graph, how many steps after the call it becomes part of the caller; None for any other.
        slots: of such a graph, by operator, ``seen`` and ``left`` of each (see ``nestings``).
        early: of such a graph, how many steps after its first argument is replaced it becomes part of the caller, and
            from which step after the call on; None where it waits for its level.
        nested: it sees the values of the closure around it, but for those it is ``given``; any other is given all.
        given: by the id of each, values it is handed as arguments: what a loop changes.
        passed: by the id of each, values from before an ``if`` that could change them: they come through the graph of
            the side that does not.
        late: how many more steps its result takes.
        by_keyword: a function of the library that is given its arguments in a tuple and a dict.
        unpacked: by the id of each, values that the function unpacks, and out of how many tuples each.
    """

    parent: Closure | None
    waits: bool = False
    checks: bool = False
    effects: list[Closure | Node | None] = field(default_factory=list)
    at: int = 0
    nodes: list[Node] = field(default_factory=list)
    tail: Closure | None = None
    of_library: bool = False
    _path: tuple[Closure, ...] = ()
    leaves: list[Closure] = field(default_factory=list)
    level: int | None = None
    slots: dict[str, list[tuple[int, int]]] = field(default_factory=dict)
    early: tuple[int, int] | None = None
    nested: bool = False
    given: frozenset[int] = frozenset()
    passed: frozenset[int] = frozenset()
    late: int = 0
    by_keyword: bool = False
    picks: bool = False
    several: bool = False
    of_cell: bool = False
    unpacked: dict[int, int] = field(default_factory=dict)
    members: tuple[int, ...] = ()
    unread: bool = False

    def affect(self, effect: Closure | Node | None) -> None:
        """Notes an effect; the first one makes this closure's call an effect of its parent."""
        if not self.effects and self.parent is not None:
            self.parent.affect(self)
            self.at = len(self.parent.effects) - 1
        self.effects.append(effect)

    def sees(self, value: Node) -> bool:
        """Whether a value from outside is used as it is, without being handed over."""
        return self.nested and id(value) not in self.given

    def unpacks(self, value: Node) -> int:
        """How many tuples are unpacked on the way of a value to this closure: each is a call (measured)."""
        path, owner = self.path(), value.extra.closure.path()
        below = (*path[1:], None)
        return sum(c.unpacked.get(id(value), 0) for c, inner in zip(path, below, strict=True) if inner not in owner)

    def path(self) -> tuple[Closure, ...]:
        """This closure and those around it, outermost first."""
        if self._path:
            return self._path
        closures: list[Closure] = []
        closure: Closure | None = self
        while closure is not None:
            closures.append(closure)
            closure = closure.parent
        path = tuple(closures[::-1])
        if len(path) <= _SHORT:
            self._path = path
        return path

    def steps(self) -> Iterator[tuple[Node, tuple[int, int]]]:
        """The nodes of a graph whose nesting is recorded, with their ``seen`` and ``left``."""
        used: Counter[str] = Counter()
        for node in self.nodes:
            slots = self.slots[node.op]
            yield node, slots[min(used[node.op], len(slots) - 1)]
            used[node.op] += 1
