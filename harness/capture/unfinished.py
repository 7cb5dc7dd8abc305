"""Tells whether the last iteration of a run is whole."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping

from harness.capture.capture import Problem


def unfinished(network: str, last: Mapping[int, int], closed: Mapping[tuple[int, int], bool]) -> Iterator[Problem]:
    """Reports the last iteration if it is incomplete: it left nothing, or lacks the parameters that end an iteration.

    Args:
        last: the iteration that was begun last, by graph.
        closed: whether the parameters exist, for each graph and iteration that left something.
    """
    for graph, label in last.items():
        others = [ends for place, ends in closed.items() if place[0] == graph and place != (graph, label)]
        path = os.path.join(network, str(graph), str(label))
        if others and (graph, label) not in closed:
            yield Problem(
                path,
                "empty",
                "the run began this iteration but left no tensors: it was stopped, or all tensors are empty",
            )
        elif any(others) and not closed.get((graph, label), True):
            yield Problem(path, "incomplete", "the run began this iteration but did not reach its parameters")
