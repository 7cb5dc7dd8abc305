"""Nothing false is said of faults that the fault suite does not make: several at once, and misleading ones."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from harness.testing.faults.roads import by_gate
from tests.explain.computed_again import watched
from tests.explain.said import false_of_elements, false_of_inputs
from tests.explain.several import PAIRS, outcomes


@pytest.mark.sampled(5)
@pytest.mark.parametrize("kind", ["programs", "networks"])
@pytest.mark.parametrize("seed", range(50, 58))
def test_what_is_said_holds(kind: str, seed: int) -> None:
    made = list(outcomes(kind, 4, seed))
    assert [each for each in made if each.false or each.held is False] == []
    assert any(each.told is not None for each in made)


def _turned(inputs: str) -> str:
    """The opposite of what is said of inputs."""
    for one, other in (("agrees", "differs"), ("agree", "differ")):
        if inputs.endswith(one):
            return inputs.removesuffix(one) + other
    return ""


def test_what_is_false_is_found() -> None:
    """The checks of statements fail where a statement is spoiled."""
    asked = 0
    for _, golden, pair in PAIRS["faults"](4, 61):
        explanation = by_gate(golden, pair)[1]
        assert explanation is not None
        told: dict[str, Any] = explanation.to_json()
        sides = watched(pair.network), watched(pair.changed, pair.strike and pair.strike.fresh())
        assert not [*false_of_inputs(told, *sides), *false_of_elements(told, *sides)]
        spoiled = copy.deepcopy(told)
        if told["origin"] is not None and (turned := _turned(told["origin"]["inputs"])):
            spoiled["origin"]["inputs"] = turned
            assert list(false_of_inputs(spoiled, *sides))
            asked += 1
        if told["origin"] is not None and told["origin"]["element"] is not None:
            spoiled["origin"]["element"]["found"] = told["origin"]["element"]["expected"]
            spoiled["origin"]["differing"] += 1
            assert len(list(false_of_elements(spoiled, *sides))) == 2
            asked += 1
    assert asked > 3
