"""What MindSpore's graphs state of a run of several ranks: attributes of collectives, which parameters are weights."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from harness.capture import Capture
from harness.explain.evidence import Evidence
from harness.explain.ranks.timeline import Run
from harness.explain.sides import side_of
from harness.explain.statements import Argument, Statement
from harness.records import Record
from harness.replaying import is_mindspore
from harness.store import StoredRun


def run_of(content: Capture | StoredRun, records: Iterable[Record] | None = None) -> Run:
    """A capture or a golden run as its ranks see it.

    Args:
        content: of several ranks.
        records: its records, where they are at hand already.
    """
    whole = side_of(content)
    sides: dict[int, Evidence] = {}

    def statement(rank: int, graph: int, operator: str) -> Statement | None:
        if rank not in sides:
            sides[rank] = whole.of_rank(rank)
        return sides[rank].graphs.statement(graph, operator)

    def stated(rank: int, graph: int, operator: str) -> Mapping[str, Any] | None:
        found = statement(rank, graph, operator)
        return None if found is None else found.attrs

    def arguments(rank: int, graph: int, operator: str) -> Sequence[Argument]:
        found = statement(rank, graph, operator)
        return () if found is None else found.arguments

    given = content.records() if records is None else records
    return Run(given, stated, lambda: _weights(whole.of_rank(0)), arguments)


def _weights(side: Evidence) -> set[str] | None:
    """Names of the parameters that are no data, as the graphs of one rank state them; None without graphs."""
    graphs = side.graphs
    if not graphs or not is_mindspore(graphs.engine):
        return None
    arguments = (a for graph in graphs.ids for each in graphs.operators(graph) for a in each.arguments)
    return {each.parameter for each in arguments if each.parameter is not None and not each.is_data}
