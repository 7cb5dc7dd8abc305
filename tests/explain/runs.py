"""Two runs of small networks, explained."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import harness
from harness import backends
from harness.capture import Capture
from harness.compare import check
from harness.explain import Evidence, Explanation, block, explain


def captured(program: Callable[[], Any]) -> Capture:
    """What a program leaves on the emulated CPU, as graphs."""

    def as_graph() -> None:
        mode = harness.get_context("mode")
        harness.set_context(mode=harness.GRAPH_MODE)
        try:
            program()
        finally:
            harness.set_context(mode=mode)

    return backends.get("cpu").run(as_graph, network="net")


def side(capture: Capture) -> Evidence:
    """A capture as a side."""
    return Evidence(capture.records, lambda: capture.artefacts, capture.backend, capture.emulated)


def explained(expected: Capture, found: Capture, tolerance: Any = "exact") -> Explanation:
    """Their explanation; they must differ."""
    comparison = check(expected, found, tolerance)
    assert not comparison.holds
    return explain(comparison, side(expected), side(found), "net differs")


def told(expected: Capture, found: Capture, tolerance: Any = "exact") -> str:
    """It as text."""
    return block(explained(expected, found, tolerance))
