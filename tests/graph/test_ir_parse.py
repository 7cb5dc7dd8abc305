"""The ``.ir`` reader on real texts, on damaged ones, and on difficult names."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import TreeError
from harness.graph import Const, Graph, Node, Parameter, TensorSpec, ir, pb
from harness.graph.ir_parse import parse, type_of
from harness.recording.spec import OpaqueSpec
from tests.graph.build import NAMES, dense, printable
from tests.real_trees import GRAPHS, graph_files


@pytest.fixture(params=GRAPHS, ids=lambda g: f"{g[0]}-{g[1]}")
def files(request: pytest.FixtureRequest) -> dict[str, bytes]:
    name, number = request.param
    return graph_files(name)[number]


def test_counts_are_those_the_file_states(files: dict[str, bytes]) -> None:
    graph = parse(files["ir"].decode())
    constants = len(pb.read(files["pb"]).graph.const_vals)
    assert graph.total_nodes == 2 * (len(graph.nodes) + 1) + len(graph.parameters) + constants


def test_nodes_are_those_of_the_pb(files: dict[str, bytes]) -> None:
    graph = parse(files["ir"].decode())
    nodes = pb.read(files["pb"]).graph.node
    assert [(str(n.number + 1), n.op, n.name) for n in graph.nodes] == [(n.name, n.op_type, n.full_name) for n in nodes]
    assert [len(n.args) for n in graph.nodes] == [len(n.input) for n in nodes]


def test_kernels_are_those_of_the_csv(files: dict[str, bytes]) -> None:
    graph = parse(files["ir"].decode())
    heading, *names = files["csv"].decode().splitlines()
    assert heading == "NodeExecutionOrder-FullNameWithScope"
    assert {n.name for n in graph.kernels} == set(names)


def test_arguments_and_types_belong_together(files: dict[str, bytes]) -> None:
    graph = parse(files["ir"].decode())
    assert graph.returned is not None
    for node in (*graph.nodes, graph.returned):
        assert len(node.args) == len(node.inputs)
        for arg in node.args:
            if arg.startswith("%para"):
                assert 1 <= int(arg[5:].partition("_")[0]) <= len(graph.parameters)
            elif arg.startswith("%"):
                assert int(arg[1:]) < node.number


def test_own_source_lines_are_those_of_the_pb_reversed(files: dict[str, bytes]) -> None:
    graph = parse(files["ir"].decode())
    for node, other in zip(graph.nodes, pb.read(files["pb"]).graph.node, strict=True):
        own, _, kind = node.stacks
        if not kind and "Corresponding" not in other.source_address:
            expected = [f"      {ir.source_line(line)}" for line in reversed(own)]
            assert other.source_address.splitlines() == expected


def test_every_cut_is_noticed() -> None:
    lines = graph_files("two_nets")[1]["ir"].decode().split("\n")
    end = lines.index("}")
    for length in range(end + 1):
        with pytest.raises(TreeError, match=r"some\.ir"):
            parse("\n".join(lines[:length]), "some.ir")


def test_a_missing_node_is_noticed() -> None:
    text = graph_files("train")[0]["ir"].decode()
    start, end = text.index("  %3("), text.index("  %4(")
    with pytest.raises(TreeError, match="%4 where %3 is due"):
        parse(text[:start] + text[end:])
    last = max(map(int, re.findall(r"(?m)^  %(\d+)\(", text)))
    start, end = text.index(f"  %{last}("), text.index("  Return(")
    with pytest.raises(TreeError, match=r"states \d+ cnodes"):
        parse(text[:start] + text[end:])


@given(st.data())
def test_damage_raises_nothing_but_tree_errors(data: st.DataObject) -> None:
    text = graph_files("two_nets")[0]["ir"].decode()
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(text)))
        text = text[:at] + data.draw(st.text(max_size=6)) + text[at + data.draw(st.integers(0, 40)) :]
    try:
        graph = parse(text)
        for node in graph.nodes:
            _ = node.args, node.brackets, node.inputs, node.outputs, node.device, node.kinds, node.stacks
    except TreeError:
        pass


@given(st.text())
def test_any_text_is_refused(text: str) -> None:
    with pytest.raises(TreeError):
        parse(text)


@given(st.lists(NAMES.filter(printable), min_size=1, max_size=4, unique=True))
def test_parameters_of_any_name_are_told_apart(names: list[str]) -> None:
    graph = dense()
    spec = TensorSpec(graph.parameters[0].spec.dtype, (2,))  # type: ignore[union-attr]
    graph.parameters = [Parameter(name, spec, False) for name in names]
    node = Node("AddN", list(graph.parameters), {}, "Default", spec, number=0)
    found = parse(ir.write(Graph(0, graph.parameters, node, [node])))
    assert found.nodes[0].args == tuple(f"%para{k}_{name}" for k, name in enumerate(names, 1))


@pytest.mark.parametrize("text", ["a, b)", ") {", "%3", "Tensor(", "x -> (y)", '"', "# In file"])
def test_strings_of_any_content_are_one_argument(text: str) -> None:
    graph = dense()
    node = graph.nodes[1]
    node.inputs = [Const(text, OpaqueSpec("String")), *node.inputs]
    assert parse(ir.write(graph)).nodes[1].args[0] == f'"{text}"'


@pytest.mark.parametrize(
    ("text", "dtype", "shape", "is_tensor"),
    [
        ("Tensor[Float32], (2, 8)", "Float32", (2, 8), True),
        ("Tensor[BFloat16], ()", "BFloat16", (), True),
        ("Ref[Tensor[Int32]], (-1), ref_key=a, b, is_parameter", "Int32", (-1,), True),
        ("Int64, NoShape", "Int64", (), False),
        ("UMonad, NoShape", None, None, False),
        ("None, NoShape", None, None, False),
        ("Tuple[Int64*2], TupleShape(NoShape, NoShape)", None, None, False),
    ],
)
def test_types(text: str, dtype: str | None, shape: tuple[int, ...] | None, is_tensor: bool) -> None:
    found = type_of(text)
    assert (found.dtype, found.shape, found.is_tensor) == (dtype, shape, is_tensor)
