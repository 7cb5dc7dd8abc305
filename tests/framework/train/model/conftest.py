"""Trainings run in graph mode, in a session of their own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from harness import context
from harness.framework.runtime import session


@pytest.fixture(autouse=True, params=["graph", "pynative"])
def mode(request: pytest.FixtureRequest) -> Iterator[str]:
    """Runs every test of a training in both modes."""
    before = context.get_context("mode")
    context.set_context(mode=context.GRAPH_MODE if request.param == "graph" else context.PYNATIVE_MODE)
    with session.fresh(hooked=False):
        yield request.param
    context.set_context(mode=before)
