"""Our kernel graphs of small networks against those of MindSpore 2.10.0 (``tests/data/graphs``)."""

from __future__ import annotations

import json
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from harness.framework.runtime import session
from harness.graph import Graph, ir
from tests.data.graphs.facts import facts
from tests.framework.compile.build import Graphs, play

DATA = Path(__file__).parents[2] / "data" / "graphs"
RECORDED: dict[str, list[dict[str, Any]]] = json.loads((DATA / "graphs.json").read_text())
GRAPHS = [(net, graph["graph"]) for net, graphs in RECORDED.items() for graph in graphs]
#: graphs that differ, and why; a reason that no longer holds fails here
KNOWN: dict[tuple[str, int], str] = {
    ("constant_gradients", 0): "the type of MaxPool3DWithArgmax is the kernel's (docs/differences.md)",
    ("constant_gradients", 1): "the type of MaxPool3DWithArgmax is the kernel's (docs/differences.md)",
    ("finite", 2): "a tuple is one parameter there (docs/differences.md)",
    ("finite", 3): "a tuple is one parameter there (docs/differences.md)",
    ("layers", 0): "the order of parameters that two calls of one function read (docs/differences.md)",
    ("pieces", 2): "a tuple of axes is a kernel of its own, RealMakeTuple, in front of ReduceProd",
    ("smallest", 1): "three constant gradients are added in one AddN, there in two",
}


def compiled(net: str) -> tuple[list[Graph], list[dict[str, Any]]]:
    """Our graphs of a network script, and their facts."""
    watcher = Graphs()
    with session.fresh([watcher], hooked=False):
        play(DATA / "nets" / f"{net}.py")
    counted: Counter[str] = Counter()
    found = []
    for graph in watcher.found:
        order = "\n".join(["", *(node.name for node in graph.execution_order)])
        found.append({"graph": graph.id, **facts(ir.write(graph), order, counted)})
    return watcher.found, found


own = cache(compiled)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("net", RECORDED)
def test_as_many_graphs(net: str) -> None:
    assert [graph["graph"] for graph in own(net)[1]] == [graph["graph"] for graph in RECORDED[net]]


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("net", "number"), GRAPHS, ids=[f"{net}-{number}" for net, number in GRAPHS])
def test_same_nodes_parameters_and_launch_order(net: str, number: int, request: pytest.FixtureRequest) -> None:
    if (net, number) in KNOWN:
        request.applymarker(pytest.mark.xfail(reason=KNOWN[net, number], strict=True))
    ours, real = own(net)[1][number], RECORDED[net][number]
    assert ours["nodes"] == real["nodes"]
    assert ours["parameters"] == real["parameters"]
    assert ours["launch"] == real["launch"]


def test_a_function_in_two_cells_names_its_operators_as_there() -> None:
    names = [
        sorted(node.partition("(")[0] for node in graphs[0]["nodes"])
        for graphs in (own("layers")[1], RECORDED["layers"])
    ]
    assert names[0] == names[1]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("net", RECORDED)
def test_names_are_the_ids_of_the_files(net: str) -> None:
    graphs, found = own(net)
    for graph, fact in zip(graphs, found, strict=True):
        names = [text.partition("(")[0] for text, node in zip(fact["nodes"], graph.nodes, strict=True) if node.kernel]
        assert [node.name for node in graph.nodes if node.kernel] == names
