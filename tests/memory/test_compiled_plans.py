"""Plans of the harness's own graphs, beside those MindSpore made of the same networks."""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable

import pytest

from harness import ops
from harness.graph import Graph
from harness.memory import MemoryPlan, PlanTensor, parse, plan, texts
from tests.framework.compile.build import compiled, floats, graph_of, play
from tests.gate.networks.recorder import Recorder
from tests.memory import recorded

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


@pytest.mark.sampled(2)
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


def test_results_and_updated_parameters_that_kernels_read_have_edges() -> None:
    """The lines MindSpore 2.7.0 and 2.10.0 write of this network."""
    graph = graph_of(
        lambda net, x: (ops.exp(ops.assign_add(net.w, ops.sin(x))), ops.reshape(ops.cos(x), (3, 2))), floats(2, 3)
    )
    rows = re.findall(r"src=(n\d+), .* dst=(n\w+), .* tid=(\d)", texts.offline_log(plan(graph)))
    assert rows == [("n0", "n1", "0"), ("n1", "n4", "1"), ("n2", "n3", "2")]


def test_a_result_that_a_kernel_reads_has_an_edge() -> None:
    def function(_net: object, x: object) -> object:
        y = ops.exp(x)
        return y, ops.sin(y)

    rows = re.findall(r"src=(n\d+), .* dst=(n\w+)", texts.offline_log(plan(graph_of(function, floats(2, 3)))))
    assert rows == [("n0", "n1")]
