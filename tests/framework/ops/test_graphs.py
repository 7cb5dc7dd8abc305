"""What each call emits, forward and backward, is what MindSpore's graphs show."""

from __future__ import annotations

import pytest

from tests.framework.ops.facts import emitted, recorded

GRAPHS = recorded("graphs")


@pytest.mark.parametrize("case", GRAPHS)
def test_emits_what_mindspore_does(case: str) -> None:
    assert emitted(case) == GRAPHS[case]
