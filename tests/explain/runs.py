"""Two runs of small networks, explained."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import harness
from harness import backends
from harness.backends.align import lay_beside
from harness.capture import Capture
from harness.compare.policy import Party, judge
from harness.explain import Evidence, Explanation, Subject, block
from harness.explain import explained as explained_by


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
    parties = [Party(c, c.backend, c.mode, c.emulated) for c in (expected, found)]
    judged = judge(*parties, tolerance, lay=lay_beside)
    explanation = explained_by(judged, Subject("net", "golden"), side(expected), side(found))
    assert explanation is not None
    return explanation


def told(expected: Capture, found: Capture, tolerance: Any = "exact") -> str:
    """It as text."""
    return block(explained(expected, found, tolerance))
