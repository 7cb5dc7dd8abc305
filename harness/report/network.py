"""The network of two runs, ready to draw: its operators, and the flow between them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from math import prod
from typing import Any

from harness.compare.divergence import PARAMETER, Execution
from harness.compare.verdict import Comparison, SlotVerdict, Verdict
from harness.explain.graphs import Graphs
from harness.records import SlotKey

#: Largest number of operators to draw per side.
OPERATORS = 20_000
#: The source of the edges.
GRAPH, CONTENTS = "graph", "contents"

#: No picture.
NOTHING: Mapping[str, Any] = {"sides": [], "renamed": [], "cut": ""}
#: Graph and full name.
Operator = tuple[int, str]


@dataclass
class _Side:
    """One side: its operators in execution order, with their types, and edges between them."""

    flow: str = GRAPH
    types: dict[Operator, str] = field(default_factory=dict)
    edges: dict[tuple[Operator, Operator], None] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        places = {operator: at for at, operator in enumerate(self.types)}
        edges = [[places[one], places[other]] for one, other in self.edges if one in places and other in places]
        return {
            "flow": self.flow,
            "operators": [[graph, name, op_type] for (graph, name), op_type in self.types.items()],
            "edges": [at for edge in edges for at in edge],
        }


def network(comparison: Comparison, graphs: tuple[Graphs, Graphs], first: Execution | None) -> dict[str, Any]:
    """Both sides as JSON values.

    Args:
        comparison: names the operators, in execution order, and has the digests of what they take and give.
        graphs: the graphs of both sides; one without operators is drawn from equal contents.
        first: execution of the first divergence, if there is one.

    Returns:
        ``sides``: for the expected and the found side ``flow`` (``graph``: edges come from its graphs;
        ``contents``: edges come from equal digests, as ``harness.compare.dataflow`` does, in the iteration and rank of
        ``first``), ``operators`` (graph, full name and type, in execution order) and ``edges`` (places of the maker and
        the taker, one pair after the other); only one side if both are equal. ``renamed``: graph, name on the
        found side and name on the expected side of renamed operators. ``cut``: why there are no sides.
    """
    renamed = {
        (slot.found_as.graph, slot.found_as.operator): (slot.key.graph, slot.key.operator)
        for slot in comparison.slots
        if slot.found_as is not None and slot.found_as.operator != slot.key.operator
    }
    sides = [_side(comparison, at, each, first) for at, each in enumerate(graphs)]
    most = max(len(side.types) for side in sides)
    if most > OPERATORS:
        return {"sides": [], "renamed": [], "cut": f"{most} operators: a picture has at most {OPERATORS}"}
    shown = sides[:1] if _alike(sides[0], sides[1], renamed) else sides
    names = [[graph, found, expected] for (graph, found), (_, expected) in renamed.items()]
    return {"sides": [side.as_json() for side in shown], "renamed": names, "cut": ""}


def _alike(expected: _Side, found: _Side, renamed: Mapping[Operator, Operator]) -> bool:
    """Whether one picture shows both: the same operators and, if graphs give the edges, the same edges."""
    names = {operator: renamed.get(operator, operator) for operator in found.types}
    if expected.types.keys() != set(names.values()):
        return False
    if {expected.flow, found.flow} != {GRAPH}:
        return True  # in a run that differs, other contents are equal by chance
    # An edge that begins at no kernel has no name on either side.
    edges = {(names.get(one, one), names.get(other, other)) for one, other in found.edges}
    return expected.edges.keys() == edges


def _side(comparison: Comparison, side: int, graphs: Graphs, first: Execution | None) -> _Side:
    lacking = (Verdict.UNEXPECTED, Verdict.MISSING)[side]
    slots = [(_key(slot, side), slot) for slot in _ordered(comparison, side) if slot.verdict is not lacking]
    made = _Side()
    for key, slot in slots:
        if slot.op_type != PARAMETER or (first is not None and key[:5] == tuple(first)):
            made.types.setdefault((key.graph, key.operator), slot.op_type)
    if graphs:
        _from_graphs(made, graphs)
    else:
        made.flow = CONTENTS
        _from_contents(made, comparison, side, slots, first)
    return made


def _ordered(comparison: Comparison, side: int) -> Iterable[SlotVerdict]:
    if side == 0 or comparison.found_order is None:
        return comparison.slots
    slots = {slot.key: slot for slot in comparison.slots}
    return [slots[key] for key in comparison.found_order if key in slots]


def _key(slot: SlotVerdict, side: int) -> SlotKey:
    return slot.found_as if side and slot.found_as is not None else slot.key


def _from_graphs(made: _Side, graphs: Graphs) -> None:
    for graph, name in list(made.types):
        statement = graphs.statement(graph, name)
        for argument in statement.arguments if statement is not None else ():
            if argument.producer is not None:
                made.edges[(graph, argument.producer[0]), (graph, name)] = None
            elif argument.parameter is not None and (graph, argument.parameter) in made.types:
                made.edges[(graph, argument.parameter), (graph, name)] = None


def _from_contents(
    made: _Side, comparison: Comparison, side: int, slots: list[tuple[SlotKey, SlotVerdict]], first: Execution | None
) -> None:
    """Takes the latest earlier output with the same digest as an input's maker, but not for single numbers, which are
    equal by chance."""
    iterations = [key.iteration for key, _ in slots]
    rank, iteration = (first.rank, first.iteration) if first is not None else (0, min(iterations, default=0))
    makers: dict[bytes, Operator] = {}
    for key, slot in slots:
        if (key.rank, key.iteration) != (rank, iteration) or prod(slot.shape) <= 1:
            continue
        digest = comparison.digests.get(slot.key, (None, None))[side]
        operator = key.graph, key.operator
        if digest is None or operator not in made.types:
            continue
        if key.io == "output":
            makers[digest] = operator
        elif (maker := makers.get(digest)) is not None and maker != operator and not slot.overwritten:
            made.edges[maker, operator] = None
