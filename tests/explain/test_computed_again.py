"""Every cause of a fault in a network that is called proven gives the run's bits when another hand applies it."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from tests.explain.computed_again import holds, outcomes, watched

Told = dict[str, Any]


@pytest.mark.sampled(4)
@pytest.mark.parametrize("seed", range(31, 35))
def test_what_is_proven_of_a_network_gives_the_runs_bits(seed: int) -> None:
    held = [(fault.kind, told, each) for fault, told, each in outcomes(6, seed)]
    assert [case for case in held if case[2] is False] == []
    assert sum(each is True for _, _, each in held) >= 4


def _spoiled(told: Told) -> list[Told]:
    """The same explanation with something else stated."""
    made = []
    arguments = told["cause"]["check"]["arguments"]
    for name, value in arguments.items():
        other = copy.deepcopy(told)
        changed = other["cause"]["check"]["arguments"]
        if name == "the run's":
            changed[name] = []
        elif name == "rounded to":
            changed[name] = "bfloat16" if value == "float16" else "float16"
        elif name == "times" or name == "plus":
            changed[name] = value + 1
        elif name == "type":
            changed[name] = "Maximum"
        else:
            continue
        made.append(other)
    return made


def test_what_is_not_so_does_not_hold() -> None:
    asked = 0
    for fault, told, held in outcomes(8, 31):
        if not held or told is None:
            continue
        strike = fault.pair.strike
        sides = watched(fault.network), watched(fault.pair.changed, strike.fresh() if strike is not None else None)
        for other in _spoiled(told):
            assert not holds(other, *sides), (fault.kind, other["cause"])
            asked += 1
    assert asked > 1
