"""Hooks a ``conftest.py`` or another plugin may implement."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest


@pytest.hookspec(firstresult=True)
def pytest_msdump_tolerance(config: pytest.Config, item: pytest.Item, backend: str, mode: str, against: str) -> Any:
    """Tolerance for one comparison of a test that does not state its own; the first answer that is not None counts.

    Args:
        config: the session's configuration.
        item: the test.
        backend, mode: the run that is judged.
        against: backend whose run it is held against; ``backend`` itself for the test's own golden.

    Returns:
        What the marker's ``tolerance=`` accepts, or None.
    """


@pytest.hookspec
def pytest_msdump_provenance(config: pytest.Config) -> Mapping[str, str]:
    """More facts about where new goldens come from, for the manifests.

    Called once, when goldens were written. The facts of all implementations are merged; an implementation
    called earlier (registered later) wins.
    """
    return {}


@pytest.hookspec(firstresult=True)
def pytest_msdump_normalise(config: pytest.Config, item: pytest.Item, name: str, text: bytes) -> bytes | None:
    """Rewrites one text artefact before it is stored or compared; the first answer that is not None counts.

    Use it to take out what differs between machines and says nothing about the network.

    Args:
        config: the session's configuration.
        item: the test.
        name: the artefact's name, such as ``graphs/ms_output_trace_code_graph_0.ir``.
        text: its bytes as captured.
    """
