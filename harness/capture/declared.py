"""What a recording declares, as a capture keeps it: operators with attributes and edges, and what graphs give."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import NamedTuple

from harness.capture.made import Made
from harness.recording import Edge, Graph, Operator, described
from harness.recording.described import Described, edge
from harness.recording.events import EMULATION

Key = tuple[int, int, str]
Place = tuple[int, int]


class _Seen(NamedTuple):
    """An operator of an eager graph, and the step in which it was first launched."""

    operator: Operator
    iteration: int


class Declarations:
    """Notes graphs and operators; describes them when somebody asks.

    Args:
        rank: process rank.
        root_of: gives the id under which records of a graph's operators stand.
        source_of: gives the line of an operator as people see it; None if it is unknown.

    Attributes:
        engine: name and version of the runtime; empty for our own.
    """

    def __init__(self, rank: int, root_of: Callable[[Graph], int], source_of: Callable[[Operator], str | None]) -> None:
        self._rank, self._root_of, self._source_of = rank, root_of, source_of
        self._graphs: list[Graph] = []
        self._seen: list[_Seen] = []
        self.engine = ""

    def graph(self, graph: Graph) -> None:
        """Notes a graph that is declared."""
        self._graphs.append(graph)
        if graph.engine.name != EMULATION:
            self.engine = str(graph.engine)

    def launched(self, operator: Operator, iteration: int) -> None:
        """Notes an operator of an eager graph that is launched for the first time."""
        self._seen.append(_Seen(operator, iteration))

    def made(self) -> tuple[Mapping[Key, Described], Mapping[Place, tuple[Edge, ...]]]:
        """Operators by rank, graph and name, and what each graph gives, so far."""
        graphs, seen = tuple(self._graphs), tuple(self._seen)
        return Made(lambda: self._operators(graphs, seen)), Made(lambda: self._results(graphs))

    def _operators(self, graphs: tuple[Graph, ...], seen: tuple[_Seen, ...]) -> dict[Key, Described]:
        found: dict[Key, Described] = {}
        declared = (_Seen(operator, 0) for graph in graphs if not graph.eager for operator in graph.operators)
        for operator, iteration in (*declared, *seen):
            one = described(operator, rank=self._rank, source=self._source_of(operator))
            root = self._root_of(operator.graph)
            key = self._rank, root, one.name
            if key in found:  # another operator of this name in a later step
                key = self._rank, root, f"{one.name}@{iteration}"
            if (one.graph, one.name) != key[1:]:
                one = replace(one, graph=root, name=key[2])
            found.setdefault(key, one)
        return found

    def _results(self, graphs: tuple[Graph, ...]) -> dict[Place, tuple[Edge, ...]]:
        return {
            (self._rank, self._root_of(graph)): tuple(edge(each, slot) for slot, each in enumerate(graph.outputs))
            for graph in graphs
            if graph.outputs and graph.id == self._root_of(graph)
        }
