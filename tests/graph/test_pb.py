"""The ``.pb`` writer and reader against MindSpore's own bytes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness import dtypes
from harness.errors import TreeError
from harness.graph import Graph, TensorSpec, constant, pb
from harness.graph.ir_parse import parse
from tests.graph.build import dense, graphs
from tests.graph.rebuild import rebuild
from tests.real_trees import GRAPHS, graph_files


@pytest.mark.parametrize(("name", "number"), GRAPHS)
def test_real_files_serialise_to_the_same_bytes(name: str, number: int) -> None:
    data = graph_files(name)[number]["pb"]
    assert pb.read(data).SerializeToString(deterministic=True) == data


@pytest.mark.parametrize(("name", "number"), GRAPHS)
def test_writes_what_mindspore_wrote(name: str, number: int) -> None:
    files = graph_files(name)[number]
    expected = pb.read(files["pb"])
    graph = rebuild(parse(files["ir"].decode()), expected)
    if expected.graph.const_vals:
        graph.constant_base = int(expected.graph.const_vals[0].full_name.rpartition("-")[2])
    found = pb.to_message(graph)
    for ours, theirs in zip(found.graph.node, expected.graph.node, strict=True):
        # Of derived nodes MindSpore does not print the same lines in both files.
        if "Corresponding" in theirs.source_address + ours.source_address:
            ours.source_address = theirs.source_address = ""
    assert found.SerializeToString(deterministic=True) == expected.SerializeToString(deterministic=True)


@given(graphs())
def test_what_is_written_can_be_read(graph: Graph) -> None:
    data = pb.write(graph)
    message = pb.read(data)
    assert message.SerializeToString(deterministic=True) == data
    assert [(n.full_name, n.op_type, n.scope) for n in message.graph.node] == [
        (n.name, n.op, n.scope) for n in graph.nodes
    ]
    assert [p.name for p in message.graph.parameters] == [p.name for p in graph.parameters]
    assert [c.key for c in message.graph.const_vals] == [f"cst{k + 1}" for k in range(len(graph.constants))]
    assert message.graph.outputs[0].name == str(len(graph.nodes))


def test_edges_name_positions_parameters_and_constants() -> None:
    nodes = pb.read(pb.write(dense())).graph.node
    assert [e.name for e in nodes[1].input] == ["x", "1", "cst2", "cst3"]


def test_bullets_of_derived_nodes() -> None:
    graph = dense()
    node = graph.nodes[1]
    node.related, node.source, node.related_kind = node.source * 2, (), "forward node"
    first, second, third = pb.source_address(node).splitlines()
    assert first == "      # Corresponding forward node candidate:"
    assert second.startswith("      #  - In file ")
    assert third.startswith("      #    In file ")


def test_an_operand_the_graph_does_not_list_is_an_error() -> None:
    graph = dense()
    graph.nodes[1].inputs.append(constant(7))
    with pytest.raises(ValueError, match=r"constant .*7.* is not listed"):
        pb.write(graph)


def test_the_dtype_asked_for_is_written() -> None:
    graph = dense()
    graph.nodes[1].extra.abstract = TensorSpec(dtypes.bfloat16, (2, 3))
    found = pb.read(pb.write(graph)).graph.node[1].output_type.tensor_type
    assert found.elem_type == dtypes.bfloat16.proto


@given(st.binary(max_size=200))
def test_nonsense_is_refused_or_a_graph(data: bytes) -> None:
    try:
        message = pb.read(data)
    except TreeError:
        return
    assert message.HasField("graph")


def test_too_much_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pb, "MAX_BYTES", 10)
    with pytest.raises(TreeError, match=r"a\.pb: .* at most 10"):
        pb.read(bytes(11), "a.pb")
