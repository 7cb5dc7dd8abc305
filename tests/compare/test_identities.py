"""Another type, attribute or constant under one name is a difference, whatever was computed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.capture.keeping import declared_by
from harness.compare.identities import Identities
from harness.compare.policy import Judgement, Party, judge
from harness.exit_status import DIFFERS, HOLDS
from harness.gate.lazily import lay_beside
from harness.gate.sides import party_of
from harness.recording.described import Described, Edge
from harness.store import GoldenStore, RunData, RunId, update
from tests.capture.test_what_a_capture_holds import recorded

RUN = RunId("tinyrt", "tensor")


def with_(operator: Described, **more: Any) -> dict[tuple[int, int, str], Described]:
    one = replace(operator, **more)
    return {(one.rank, one.graph, one.name): one}


OPERATOR = Described("Net/Clip-op0", "Clip", attributes={"low": 0.0, "axes": (0, 1)}, names=("x", "high"),
                     inputs=(Edge("argument", "x"), Edge("constant", value=6)))  # fmt: skip


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ({}, []),
        ({"attributes": {"axes": [0, 1], "low": 0.0}}, []),
        ({"attributes": {"low": 0.0, "axes": (0, 1), "input_names": ("x",)}}, []),
        ({"source": "b.py:3", "phase": "backward", "outputs": (("Float32", (2,)),)}, []),
        ({"inputs": (Edge("result", "y"), Edge("constant", value=6))}, []),
        ({"inputs": (Edge("argument", "x"), Edge("constant", value=np.float32([6])))}, ["high: 6 -> nothing"]),
        ({"type": "Relu6"}, ["type: Clip -> Relu6"]),
        ({"attributes": {"low": -0.0, "axes": (0, 1)}}, ["low: 0.0 -> -0.0"]),
        ({"attributes": {"axes": (0, 1)}}, ["low: 0.0 -> nothing"]),
        ({"attributes": {"low": 0.0, "axes": (0, 1), "more": None}}, ["more: nothing -> null"]),
        ({"inputs": (Edge("argument", "x"), Edge("constant", value=6.0))}, ["high: 6 -> 6.0"]),
    ],
)
def test_what_is_compared(more: dict[str, Any], told: list[str]) -> None:
    found = Identities.of(with_(OPERATOR)).altered(Identities.of(with_(OPERATOR, **more)))
    assert [f"{each.name}: {each.expected} -> {each.found}" for each in found] == told


@pytest.mark.parametrize(
    ("value", "near"),
    [(0.1 + 1e-9, True), (0.1001, False), (1, False), ("0.1", False), ((0.1,), False), (float("nan"), False)],
)
def test_numbers_of_a_real_engine_may_differ_by_a_millionth(value: Any, near: bool) -> None:
    for wrap in (lambda each: each, lambda each: (1, each), lambda each: [[each]]):
        one, other = (Identities.of(with_(OPERATOR, attributes={"rate": wrap(each)})) for each in (0.1, value))
        assert one.altered(other)
        assert (one.altered(other, exact=False) == []) is near


@pytest.mark.parametrize("exact", [False, True])
def test_arrays_are_compared_whole(exact: bool) -> None:
    one, same, other = (with_(OPERATOR, attributes={"low": np.arange(3) + at}) for at in (0, 0, 1))
    found = [Identities.of(one).altered(Identities.of(each), exact=exact) for each in (same, other)]
    assert [[each.name for each in side] for side in found] == [[], ["low"]]


def test_operators_of_one_side_alone_are_told_by_their_slots() -> None:
    assert Identities.of(with_(OPERATOR)).altered(Identities.of(with_(OPERATOR, name="Net/Clip-op1"))) == []
    assert Identities.of(with_(OPERATOR)).altered(Identities.of({})) == []
    assert Identities.of({}).altered(Identities.of(with_(OPERATOR))) == []


@given(st.floats(), st.floats())
def test_equal_attributes_alone_agree(one: float, other: float) -> None:
    sides = [Identities.of(with_(OPERATOR, attributes={"rate": rate})) for rate in (one, other)]
    assert bool(sides[0].altered(sides[1])) == (
        np.float64(one).tobytes() != np.float64(other).tobytes() and not (one != one and other != other)
    )


def judged(path: Path, found: Any) -> Judgement:
    with GoldenStore.open(path) as store:
        return judge(Party.of_run(store.run(*RUN)), party_of(found), lay=lay_beside)


def test_an_attribute_alone_fails_a_gate(tmp_path: Path) -> None:
    made = recorded()
    data = RunData(list(made.records()), made.artefacts, {"emulated": False}, declared=declared_by(made))
    update(tmp_path / "x.h5", "Net", {RUN: data})
    assert judged(tmp_path / "x.h5", recorded()).code == HOLDS
    other = judged(tmp_path / "x.h5", recorded(scale=2.5))
    assert other.code == DIFFERS
    assert other.comparison.counts[next(iter(other.comparison.counts))] == 5
    (altered,) = other.comparison.altered
    assert str(altered) == "Net/fc1/Mul-op0: scale is 2.5, expected 2.0"


def test_nobody_reads_the_tables_of_a_run_that_holds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = recorded()
    data = RunData(list(made.records()), made.artefacts, {"emulated": False}, declared=declared_by(made))
    update(tmp_path / "x.h5", "Net", {RUN: data})
    monkeypatch.setattr("harness.store.layout.tables.declared_of", lambda *_: pytest.fail("read"))
    assert judged(tmp_path / "x.h5", recorded()).code == HOLDS
