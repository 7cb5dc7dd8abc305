"""Each call emits the nodes of MindSpore's graphs, forward and backward."""

from __future__ import annotations

import pytest

from tests.framework.ops.facts import emitted, recorded

GRAPHS = recorded("graphs")


@pytest.mark.parametrize("case", GRAPHS)
def test_emits_what_mindspore_does(case: str) -> None:
    assert emitted(case) == GRAPHS[case]
