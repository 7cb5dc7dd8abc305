"""The network of two runs: operators of each side, and edges from graphs or from equal contents."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from harness.compare import check
from harness.compare.first_divergence import first_divergence
from harness.explain.graphs import Graphs, Stated
from harness.recording import Described, Edge
from harness.report import network as module
from harness.report.network import CONTENTS, GRAPH, network
from harness.report.sample import samples
from tests.compare.helpers import operator

Edges = set[tuple[str, str]]


def ends(side: dict[str, Any]) -> Edges:
    """Edges by the last parts of names."""
    names = [name.split("/")[-1] for _, name, _ in side["operators"]]
    flat = [names[at] for at in side["edges"]]
    return set(zip(flat[::2], flat[1::2], strict=True))


def of(expected: list[Any], found: list[Any]) -> dict[str, Any]:
    comparison = check(expected, found)
    origin = first_divergence(comparison)
    return network(comparison, (Graphs(), Graphs()), None if origin is None else origin.where)


def chain(names: list[str], factor: float = 1.0, iterations: int = 2) -> list[Any]:
    side = []
    for iteration in range(iterations):
        value = np.arange(1.0, 5.0, dtype=np.float32) + iteration
        for at, name in enumerate(names):
            after = (value * np.float32(factor if at == 1 else 1) + np.float32(1)).astype(np.float32)
            side += operator(name, [value, np.float32(1)], [after], iteration=iteration)
            value = after
    return side


def test_edges_are_read_from_equal_contents() -> None:
    names = ["a/Add-op0", "a/Add-op1", "b/Add-op2"]
    picture = of(chain(names), chain(names, 3.0))
    (side,) = picture["sides"]
    assert side["flow"] == CONTENTS
    assert [name for _, name, _ in side["operators"]] == names
    # The number 1, which all of them take, is nobody's.
    assert ends(side) == {("Add-op0", "Add-op1"), ("Add-op1", "Add-op2")}


def test_edges_that_an_engine_states_are_drawn() -> None:
    names = ["a/Add-op0", "a/Add-op1", "b/Add-op2"]
    edges = [(), (Edge("result", names[0]),), (Edge("result", names[0]), Edge("result", names[1]))]
    told = Stated([Described(name, "Add", inputs=each) for name, each in zip(names, edges, strict=True)], "tinyrt 1.0")
    comparison = check(chain(names), chain(names, 3.0))
    (side,) = network(comparison, (told, told), None)["sides"]
    assert side["flow"] == GRAPH
    assert ends(side) == {("Add-op0", "Add-op1"), ("Add-op0", "Add-op2"), ("Add-op1", "Add-op2")}


def test_other_operators_are_two_sides() -> None:
    picture = of(chain(["Add-op0", "Add-op1", "Add-op2"]), chain(["Add-op0", "Mul-op1", "Add-op2"]))
    expected, found = picture["sides"]
    assert [name for _, name, _ in expected["operators"]] == ["Add-op0", "Add-op1", "Add-op2"]
    assert [name for _, name, _ in found["operators"]] == ["Add-op0", "Mul-op1", "Add-op2"]
    assert ends(found) == {("Add-op0", "Mul-op1"), ("Mul-op1", "Add-op2")}


def test_too_many_operators_are_no_picture(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "OPERATORS", 2)
    names = ["Add-op0", "Add-op1", "Add-op2"]
    picture = of(chain(names), chain(names, 2.0))
    assert picture["sides"] == []
    assert picture["cut"] == "3 operators: a picture has at most 2"


@pytest.fixture(scope="module")
def pages() -> dict[str, dict[str, Any]]:
    return {sample.name: sample.content for sample in samples()}


def test_graphs_say_what_flows(pages: dict[str, dict[str, Any]]) -> None:
    (side,) = pages["a learning rate"]["network"]["sides"]
    assert side["flow"] == GRAPH
    assert {("Conv2D-op0", "BatchNorm-op0"), ("BatchNorm-op0", "ReLU-op0"), ("MatMul-op0", "BiasAdd-op0")} <= ends(side)
    # Nothing flows from an operator to itself, or to one that is not there.
    assert all(one != other for one, other in zip(side["edges"][::2], side["edges"][1::2], strict=True))
    assert max(side["edges"]) < len(side["operators"])


def test_what_was_left_out_stands_on_one_side(pages: dict[str, dict[str, Any]]) -> None:
    expected, found = (
        {name.split("/")[-1] for _, name, _ in side["operators"]}
        for side in pages["normalisation left out"]["network"]["sides"]
    )
    assert "BatchNorm-op0" in expected - found
    assert "Conv2D-op0" in expected & found
    assert ("Conv2D-op0", "ReLU-op0") in ends(pages["normalisation left out"]["network"]["sides"][1])


def test_the_sample_has_causes(pages: dict[str, dict[str, Any]]) -> None:
    assert all(not page["holds"] and page["explanation"]["origin"] for page in pages.values())
    cause = pages["a learning rate"]["explanation"]["cause"]
    assert cause["proven"]
    assert [each["name"] for each in cause["changes"]] == ["learning_rate"]
