"""Operators and parameters found from the names of files."""

from __future__ import annotations

from hypothesis import given, settings

from harness import dtypes
from harness.capture.join import Join, Operator, file_names, fits
from harness.dump.names import PARAMETER, mangle
from harness.graph import ir
from harness.graph.form import form_of
from harness.graph.ir_parse import IrGraph, parse
from tests.capture.nets import Net, processes
from tests.real_trees import graph_files


def real(name: str) -> list[IrGraph]:
    return [parse(files["ir"].decode()) for _, files in sorted(graph_files(name).items())]


def test_numbers_run_on_over_the_graphs_of_a_process() -> None:
    names: dict[str, list[int]] = {}
    for _, _, name in file_names(real("two_nets")):
        prefix, _, number = name.rpartition("-op")
        names.setdefault(prefix, []).append(int(number))
    assert names == {prefix: list(range(len(numbers))) for prefix, numbers in names.items()}
    assert len(names["Default/Add"]) > 3


def test_names_of_graph_and_csv_become_those_of_files() -> None:
    graphs = real("train")
    join = Join(graphs, "/")
    renamed = {node.name: join.file_name(0, node.name) for node in graphs[0].kernels}
    assert len(set(renamed.values())) == len(renamed)
    assert any(name != new for name, new in renamed.items())
    assert join.file_name(5, "Default/Unknown-op3") == "Default/Unknown-op3"


@settings(max_examples=30, deadline=None)
@given(processes())
def test_our_own_numbers_are_kept(process: tuple[list[Net], list[int]]) -> None:
    graphs = [parse(ir.write(form_of(net.graph))) for net in process[0]]
    assert [name for _, _, name in file_names(graphs)] == [node.name for net in process[0] for node in net.graph.order]


def test_slots_of_an_operator() -> None:
    graphs = real("train")
    join = Join(graphs, "/tmp/msdump-nets")
    (matmul,) = join.owners(0, "MatMul", mangle("Default/network-WithLossCell/_backbone-Net/fc-Dense/MatMul-op0"))
    assert isinstance(matmul, Operator)
    assert matmul.slot("input", 0) == ((2, 8), dtypes.float32)
    assert matmul.slot("input", 2) == (None, dtypes.bool_)
    assert matmul.slot("output", 0) == ((2, 3), dtypes.float32)
    assert matmul.slot("output", 9) == (None, None)


def test_parameters_belong_to_their_graph() -> None:
    join = Join(real("two_nets"), "/")
    shapes = {graph: [o.slot("output", 0)[0] for o in join.owners(graph, PARAMETER, "x")] for graph in (0, 1, 2, 3)}
    assert shapes == {0: [(3,)], 1: [(3,)], 2: [(2, 2)], 3: []}


def test_operators_are_found_under_the_id_of_another_graph() -> None:
    join = Join(real("control"), "/")
    ((owner,),) = [join.owners(99, "Sub", "Default_Sub-op0")]
    assert owner.name == "Default/Sub-op0"
    assert not join.owners(0, "Sub", "Default_Sub-op7")


def test_exact_names_beat_mangled_ones() -> None:
    join = Join(real("odd"), "/")
    assert {o.name for o in join.owners(0, PARAMETER, "a_b")} == {"a.b", "a_b"}
    assert [o.name for o in join.owners(0, PARAMETER, "a.b")] == ["a.b"]
    assert not join.owners(0, PARAMETER, "a b")


def test_what_fits() -> None:
    assert fits((2, 3), 6)
    assert fits((), 1)
    assert not fits((2, 3), 5)
    assert not fits((-1, 3), 3)
    assert not fits(None, 1)
