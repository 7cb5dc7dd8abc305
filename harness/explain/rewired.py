"""An operator that stands between two others on one side only, told by the graphs where names hide it.

Operators of one kind are numbered anew where one is added, so that by name alone another one seems to differ.
"""

from __future__ import annotations

from dataclasses import replace

from harness.compare.origin import Kind, Origin
from harness.explain.case import Case
from harness.explain.evidence import Evidence
from harness.explain.graphs import Argument, Statement

_KINDS = frozenset({Kind.UNRECORDED, Kind.GIVEN, Kind.REWIRED, Kind.MOVED, Kind.UNSURE})


def by_graphs(divergence: Origin, case: Case) -> Origin:
    """The origin as the graphs tell it: an operator that was inserted, removed or replaced before a differing input;
    ``divergence`` itself where they tell nothing."""
    one, other = case.statements
    if divergence.kind not in _KINDS or one is None or other is None:
        return divergence
    for slot in sorted(case.inputs):
        if slot < len(one.arguments) and slot < len(other.arguments):
            found = _between(divergence, case, one.arguments[slot], other.arguments[slot])
            if found is not None:
                return found
    return divergence


def _between(divergence: Origin, case: Case, expected: Argument, found: Argument) -> Origin | None:
    graph = divergence.where.graph
    before = _made(case.expected, graph, expected)
    after = _made(case.found, graph, found)
    old, new = _source(expected), _source(found)
    if _same(before, after) and old == new:
        return None
    if (
        after is not None
        and old is not None
        and old in map(_source, after.arguments)
        and not _has(case.expected, after)
    ):
        where = divergence.where._replace(operator=after.name)
        return replace(divergence, kind=Kind.INSERTED, where=where, counterpart=None, before=(old, old), inputs=())
    if (
        before is not None
        and new is not None
        and new in map(_source, before.arguments)
        and not _has(case.found, before)
    ):
        where = divergence.where._replace(operator=before.name)
        return replace(divergence, kind=Kind.REMOVED, where=where, counterpart=None, before=(new, new), inputs=())
    return None


def _made(run: Evidence, graph: int, argument: Argument) -> Statement | None:
    return None if argument.producer is None else run.graphs.statement(graph, argument.producer[0])


def _source(argument: Argument) -> str | None:
    """Name of what made an argument: an operator or a parameter."""
    return argument.producer[0] if argument.producer is not None else argument.parameter


def _same(one: Statement | None, other: Statement | None) -> bool:
    return one is not None and other is not None and one.op == other.op


def _has(run: Evidence, statement: Statement) -> bool:
    """Whether a run has an operator of that name that takes the same."""
    for graph in run.graphs.ids:
        other = run.graphs.statement(graph, statement.name)
        if other is not None and other.op == statement.op:
            return [_source(a) for a in other.arguments] == [_source(a) for a in statement.arguments]
    return False
