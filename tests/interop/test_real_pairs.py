"""What ``msdump diff`` calls proven of two runs of the real MindSpore gives the run's bits when another hand applies
it; what it says of inputs holds."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.interop.real_pairs import Told, outcomes

pytestmark = pytest.mark.interop


def _asked(python: str, count: int, seed: int) -> Counter[bool | None]:
    wrong: list[Told] = []
    held: Counter[bool | None] = Counter()
    for told in outcomes(python, count, seed):
        held[told.held] += 1
        if told.false or told.held is False:
            wrong.append(told)
    assert wrong == []
    return held


def test_a_few_pairs(mindspore_python: str) -> None:
    assert _asked(mindspore_python, 6, 41)[True] >= 2


@pytest.mark.deep
def test_pairs(mindspore_python: str) -> None:
    assert _asked(mindspore_python, 65, 41)[True] >= 20
