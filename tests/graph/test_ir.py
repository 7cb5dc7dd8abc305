"""The ``.ir`` writer against MindSpore's own texts."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given

from harness import dtypes
from harness.graph import Graph, Parameter, SourceLine, TensorSpec, ir, ir_values, pb
from harness.graph.ir_parse import parse
from tests.graph.build import dense, graphs
from tests.graph.rebuild import rebuild
from tests.real_trees import GRAPHS, graph_files


def comparable(text: str) -> str:
    """What two runs of MindSpore agree in: no pointer, no running numbers of debug names on the order line.

    In the list of parameters control flow leaves out names that the uses have; those are left out on both sides.
    """
    text = re.sub(r"(?m)^(subgraph instance: \S+ : ).*", r"\1", text)
    text = re.sub(r"(?m)^#   1: .*", "", text)
    return re.sub(r"(?m)^%para(\d+)_(?:|[^: ]*_\d+|ф\w+): ", r"%para\1_: ", text)


@pytest.mark.parametrize(("name", "number"), GRAPHS)
def test_writes_what_mindspore_wrote(name: str, number: int) -> None:
    files = graph_files(name)[number]
    text = files["ir"].decode()
    parsed = parse(text)
    graph = rebuild(parsed, pb.read(files["pb"]))
    if name == "control" and ": [" not in text.split("# Params:")[1].split("\n\n")[0]:
        graph.root_id = -2  # a graph that control flow split off
    assert comparable(ir.write(graph)) == comparable(text)


@given(graphs())
def test_what_is_written_can_be_parsed(graph: Graph) -> None:
    found = parse(ir.write(graph))
    assert [n.name for n in found.nodes] == [n.name for n in graph.nodes]
    assert [n.op for n in found.nodes] == [n.op for n in graph.nodes]
    assert [n.kernel for n in found.nodes] == [n.kernel for n in graph.nodes]
    assert [len(n.args) for n in found.nodes] == [len(n.inputs) for n in graph.nodes]
    assert [n.outputs[0].shape for n in found.nodes] == [n.spec.shape for n in graph.nodes]
    assert [(p.name, p.is_weight) for p in found.parameters] == [(p.name, p.is_weight) for p in graph.parameters]
    written = [n.source or n.related for n in graph.nodes]
    assert [(own or related) for own, related, _ in (n.stacks for n in found.nodes)] == written
    assert found.total_nodes == 2 * (len(graph.nodes) + 1) + len(graph.parameters) + len(graph.constants)


def test_equal_graphs_give_equal_texts() -> None:
    assert ir.write(dense()) == ir.write(dense())


def test_a_graph_without_parameters_has_no_list_of_them() -> None:
    graph = dense()
    node = graph.nodes[-1]
    node.inputs = []
    bare = Graph(0, [], node, [node])
    assert "# Total params: 0\n\nNode counting" in ir.write(bare)


def test_dimensions_known_at_run_time_are_symbols() -> None:
    x = Parameter("x", TensorSpec(dtypes.float32, (-1, 2, -1)), False)
    node = replace(dense().nodes[-1], inputs=[x])
    assert "[s1<[1,inf]>, 2, s2<[1,inf]>]" in ir.write(Graph(0, [x], node, [node]))


def test_a_dtype_the_device_chose_stands_on_the_device_line_only() -> None:
    graph = dense()
    matmul = graph.execution_order[0]
    matmul.extra.abstract = TensorSpec(dtypes.float16, (2, 3))
    _, types, device, *_ = ir.write(graph).split(" = PrimFunc_MatMul(")[1].split("\n")
    assert types.endswith("-> (<Tensor[Float16], (2, 3)>)")
    assert device.endswith("-> (<Float32xDefaultFormat[const vector]{2, 3}>)")


def test_operators_that_are_no_functions_print_their_plain_name() -> None:
    graph = dense()
    graph.execution_order[0].extra.functional = False
    assert "= MatMul(" in ir.write(graph)
    assert "= PrimFunc_BiasAdd(" in ir.write(graph)


def test_a_source_line_holds_one_line_of_text() -> None:
    line = SourceLine("a b.py", 3, 5, None, None, "  first(\n  second)")
    assert ir.source_line(line) == "# In file a b.py:3~5/  first(/"


def test_an_operand_the_graph_does_not_list_is_an_error() -> None:
    graph = dense()
    graph.parameters.pop()
    with pytest.raises(KeyError):
        ir.write(graph)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (np.int32(1), "I32(1)"), (np.float64(0.1), "F64(0.1)"), (1e-5, "F32(1e-05)"), (True, "Bool(1)"), (3, "I64(3)"),
        ("a", '"a"'), (None, "None"), (dtypes.bfloat16, "BF16"), ((1, (True,)), "(I64(1), (Bool(1)))"), ((), "()"),
    ],
)  # fmt: skip
def test_values_of_arguments(value: object, text: str) -> None:
    assert ir_values.value_text(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ((0, 2), "(0, 2)"), (["x", "w"], "[x, w]"), (((0, 0), (1, 1)), "((0, 0), (1, 1))"), ((0.5,), "(0.5)"),
        ((True, False), "(1, 0)"), (3, "I64(3)"), ("NCHW", '"NCHW"'), ((dtypes.float32,), "(F32)"),
    ],
)  # fmt: skip
def test_values_of_attributes(value: object, text: str) -> None:
    assert ir_values.attribute(value) == text


def test_complex_tensors_can_be_printed() -> None:
    assert "1.5+2j" in ir_values.tensor(np.array([1.5 + 2j], np.complex64)).replace(".0j", "j")
