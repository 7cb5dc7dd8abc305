"""Hooks a ``conftest.py`` or another plugin may implement."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest


@pytest.hookspec(firstresult=True)
def pytest_msdump_tolerance(config: pytest.Config, item: pytest.Item, backend: str, mode: str, against: str) -> Any:
    """Gives the tolerance of one comparison for a test that does not state its own; the first answer other than None
    counts.

    Args:
        config: the session's configuration.
        item: the test.
        backend, mode: backend and dump mode of the run that is judged.
        against: backend whose golden run it is compared with; ``backend`` itself for the test's own golden.

    Returns:
        What the marker's ``tolerance=`` accepts, or None.
    """


@pytest.hookspec
def pytest_msdump_provenance(config: pytest.Config) -> Mapping[str, str]:
    """Adds facts about the origin of new goldens to the manifests.

    Called once, after goldens were written. The facts of all implementations are merged; where they disagree, the
    implementation registered last wins.
    """
    return {}


@pytest.hookspec(firstresult=True)
def pytest_msdump_normalise(config: pytest.Config, item: pytest.Item, name: str, text: bytes) -> bytes | None:
    """Rewrites one text artefact before it is stored or compared; the first answer other than None counts.

    Use it to remove what differs between machines without saying anything about the network.

    Args:
        config: the session's configuration.
        item: the test.
        name: the artefact's name, such as ``graphs/ms_output_trace_code_graph_0.ir``.
        text: its bytes as captured.
    """
