"""Plans of the harness's own graphs, beside those MindSpore made of the same networks."""

from __future__ import annotations

import importlib
from collections.abc import Callable

import pytest

from harness.compile.memory import MemoryPlan, PlanTensor, parse, plan, texts
from harness.graph import Graph
from tests.compile.build import compiled, play
from tests.compile.memory import recorded
from tests.gate.networks.recorder import Recorder

NETWORKS = sorted(recorded.texts("shipped"))


def shipped(network: str) -> Callable[[], None]:
    return lambda: importlib.import_module(f"tests.gate.networks.{network}").play(Recorder())


def graphs_of(run: Callable[[], object]) -> list[Graph]:
    with compiled() as graphs:
        run()
    return graphs


def shown(tensor: PlanTensor) -> tuple[object, ...]:
    """What is compared of a tensor: everything."""
    return (
        tensor.index, tensor.aligned, tensor.size, tensor.offset, tensor.kind, tensor.lifelong, tensor.start,
        tensor.end, tensor.node,
    )  # fmt: skip


def compare(made: MemoryPlan, text: str) -> None:
    real = parse(text)
    assert [shown(tensor) for tensor in made.state.tensors] == [shown(tensor) for tensor in real.tensors]
    assert [node.op for node in made.state.nodes] == [node.op for node in real.nodes]
    assert made.state.unions == real.unions
    assert (made.merged, made.total) == (real.merged, real.total)


@pytest.mark.parametrize("network", NETWORKS)
def test_shipped_networks_are_planned_as_by_mindspore(network: str) -> None:
    found = recorded.texts("shipped")[network]
    compared = 0
    for graph in graphs_of(shipped(network)):
        text = found.get(f"CPU_somas_tensor_offset_{graph.id}.ir")
        made = plan(graph)
        if text is None:  # of a graph without kernels MindSpore writes no such text
            assert not made.state.tensors
        else:
            compare(made, text)
            compared += 1
    assert compared == len(found)


def test_operators_with_workspaces_and_views() -> None:
    found = recorded.texts("operators")["operators"]
    graphs = graphs_of(lambda: play(recorded.DATA / "operators.py"))
    assert 2 * len(graphs) == len(found)
    for graph in graphs:
        made = plan(graph)
        compare(made, found[f"CPU_somas_tensor_offset_{graph.id}.ir"])
        assert texts.offline_log(made) + "\n" == found[f"CPU_somas_offline_log_{graph.id}.ir"]
