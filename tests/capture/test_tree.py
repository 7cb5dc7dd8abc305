"""Reading the dump trees of a real MindSpore."""

from __future__ import annotations

import csv
import re
import shutil
from math import prod
from pathlib import Path

import numpy as np
import pytest

from harness import dtypes
from harness.capture import Capture, read_tree, tree_records
from harness.capture.join import file_names
from harness.capture.names import parse
from harness.dump.counter import IterationCounter
from harness.errors import TreeError
from harness.graph.ir_parse import parse as parse_ir
from harness.records import Record
from tests.real_trees import extract, graph_files

TREES = ("train", "two_nets", "control", "odd")
ROOTDIR = "/tmp/msdump-nets"


@pytest.fixture(params=TREES)
def capture(request: pytest.FixtureRequest, tmp_path: Path) -> Capture:
    return read_tree(extract(request.param, tmp_path), rootdir=ROOTDIR)


def tree(name: str, tmp_path: Path) -> Capture:
    return read_tree(extract(name, tmp_path), rootdir=ROOTDIR)


def value(record: Record) -> np.ndarray[tuple[int, ...], np.dtype[np.generic]]:
    array = record.load()
    assert array is not None
    return array


def parameters(records: list[Record]) -> list[str]:
    return [r.key.operator for r in records if r.op_type == "Parameter"]


# -- every tree --------------------------------------------------------------------------------------------------------
def test_every_file_becomes_a_record(capture: Capture, tmp_path: Path) -> None:
    records = list(capture.records())
    assert len(records) == len(list(tmp_path.rglob("*.npy")))
    assert len({r.key for r in records}) == len(records)
    assert capture.problems == []
    assert (capture.network, capture.backend, capture.emulated, capture.mode) == ("Net", "mindspore", False, "tensor")
    assert capture.rules == {"device_target": "CPU", "ms_version": "2.10.0"}


@pytest.mark.sampled(2)
def test_nothing_is_kept_of_an_iteration_that_was_read(capture: Capture) -> None:
    for _ in range(2):
        assert list(capture.records())
        assert not any(source._seen or source._coming for source in capture.sources)


def test_every_operator_is_joined(capture: Capture) -> None:
    for record in capture.records():
        if record.op_type != "Parameter":
            assert re.fullmatch(rf".*/{record.op_type}-op\d+", record.key.operator)
            assert record.key.operator in capture.execution_order[record.key.graph]


def test_dtypes_and_elements_are_those_of_the_graph(capture: Capture, tmp_path: Path) -> None:
    graphs = [parse_ir(path.read_text()) for path in sorted(tmp_path.rglob("*.ir"))]
    nodes = {(graph.id, name): node for graph, node, name in file_names(graphs)}
    compared = 0
    for record in capture.records():
        if record.op_type == "Parameter":
            continue
        node = nodes[record.key.graph, record.key.operator]
        dtype, _, rest = node.device[record.key.io == "output"][record.key.slot].partition("xDefaultFormat")
        assert record.dtype == dtype
        if record.key.io == "output" or node.inputs[record.key.slot].is_tensor:
            sizes = [int(s) for s in rest.partition("{")[2].rstrip("}").split(",") if s.strip()]
            assert record.shape == tuple(sizes)
            compared += 1
    assert compared > 10


def test_values_are_those_numpy_reads(capture: Capture, tmp_path: Path) -> None:
    found = sorted((r.dtype, value(r).tobytes()) for r in capture.records())
    expected = []
    for path in tmp_path.rglob("*.npy"):
        data = path.read_bytes()
        start = 10 + int.from_bytes(data[8:10], "little")
        name = parse(path.name)
        dtype = name.dtype if name is not None else "Float32"
        elements = prod(int(s) for s in re.search(rb"\(([\d,]*)\)", data)[1].split(b",") if s)  # type: ignore[index]
        if dtype == "Float16" and len(data) - start == 4 * elements:
            dtype = "Float32"
        expected.append((dtype, data[start:]))
    assert found == sorted(expected)  # type: ignore[type-var]


def test_records_can_be_read_again_and_later(capture: Capture) -> None:
    first = list(capture.records())  # nothing is loaded while they are made
    again = [(r.key, value(r).tobytes()) for r in capture.records()]
    assert [(r.key, value(r).tobytes()) for r in first] == again
    assert [value(r).shape for r in first] == [r.shape for r in first]


def test_large_tensors_are_read_when_asked_for(capture: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = [(r.key, r.dtype, r.shape, value(r).tobytes()) for r in capture.records()]
    monkeypatch.setattr(tree_records, "EAGER_BYTES", -1)
    monkeypatch.setattr(tree_records.npy, "_HEAD", 200)
    assert [(r.key, r.dtype, r.shape, value(r).tobytes()) for r in capture.records()] == expected


def test_records_follow_the_time_stamps(capture: Capture, tmp_path: Path) -> None:
    stamps: dict[tuple[str, str, int, bytes], list[int]] = {}
    for path in tmp_path.rglob("*.npy"):
        name = parse(path.name)
        if name is not None and name.op_type != "Parameter":
            key = (name.op_type, name.io, name.slot, path.read_bytes()[128:])
            stamps.setdefault(key, []).append(name.timestamp)
    order = []
    for record in capture.records():
        found = stamps.get((record.op_type, record.key.io, record.key.slot, value(record).tobytes()), ())
        if len(found) == 1 and record.key.slot == 0:
            order.append(found[0])
    assert len(order) > 3
    assert order == sorted(order)


def test_artefacts_do_not_depend_on_where_they_were_made(capture: Capture, tmp_path: Path) -> None:
    assert set(capture.artefacts) == {
        str(path.relative_to(path.parents[1])) for path in tmp_path.rglob("*") if path.suffix in (".ir", ".csv")
        and path.name != "mapping.csv"
    }  # fmt: skip
    for name, data in capture.artefacts.items():
        assert b"/tmp/" not in data
        if name.endswith(".ir"):
            assert re.search(rb"^subgraph instance: \S+ : 0x0$", data, re.M)
            paths = re.findall(rb"# In file (.*?):\d", data)
            assert {p for p in paths if not re.match(rb"mindspore/|\w+\.py$", p)} == set()


# -- what each tree shows ------------------------------------------------------------------------------------------
def test_numbers_are_those_of_the_files_not_of_the_graph(tmp_path: Path) -> None:
    capture = tree("train", tmp_path)
    names = {r.key.operator for r in capture.records()}
    _, *planned = graph_files("train")[0]["csv"].decode().splitlines()
    assert not set(planned) <= names
    assert [n.rpartition("-op")[0] for n in capture.execution_order[0]] == [n.rpartition("-op")[0] for n in planned]
    assert set(capture.execution_order[0]) == {n for n in names if "-op" in n}


def test_a_step_starts_with_the_parameters_the_last_one_left(tmp_path: Path) -> None:
    records = list(tree("train", tmp_path).records())
    left = {r.key.operator: value(r) for r in records if r.op_type == "Parameter" and r.key.iteration == 0}
    first = next(r for r in records if r.key.iteration == 1 and r.op_type == "Conv2D" and r.key.slot_name == "input.1")
    assert np.array_equal(value(first), left["conv.weight"])


def test_optimizers_show_what_they_made_of_their_input(tmp_path: Path) -> None:
    records = list(tree("train", tmp_path).records())
    left = {(r.key.iteration, value(r).tobytes()) for r in records if r.op_type == "Parameter"}
    updated = [r for r in records if r.op_type == "ApplyMomentum" and r.key.slot_name == "input.0"]
    assert len(updated) == 8
    assert all((r.key.iteration, value(r).tobytes()) in left for r in updated)


def test_parameters_come_in_the_order_of_the_graph(tmp_path: Path) -> None:
    records = list(tree("train", tmp_path).records())
    listed = [p.name for p in parse_ir(graph_files("train")[0]["ir"].decode()).parameters]
    assert parameters(records) == listed * 2
    assert {"inputs0", "inputs1", "moments.conv.weight", "learning_rate"} <= set(listed)


def test_views_have_their_logical_shape(tmp_path: Path) -> None:
    flatten = [r for r in tree("train", tmp_path).records() if r.op_type == "Flatten" and r.key.io == "output"]
    assert {r.shape for r in flatten} == {(2, 8)}
    assert {np.load(path).shape for path in tmp_path.rglob("Flatten.*output*.npy")} == {(2, 2, 2, 2)}


def test_innermost_line_of_the_user(tmp_path: Path) -> None:
    script = (Path(__file__).parents[1] / "data" / "real" / "train.py").read_text().splitlines()
    conv = next(r for r in tree("train", tmp_path).records() if r.op_type == "Conv2D")
    assert conv.source is not None
    path, _, line = conv.source.partition(":")
    assert path == "train.py"
    assert "self.conv(x)" in script[int(line) - 1]


def test_labels_jump_and_repeat(tmp_path: Path) -> None:
    records = list(tree("two_nets", tmp_path).records())
    counter, runs, expected = IterationCounter(), [0, 0, 0], []
    for graph in (0, 0, 1, 0, 2, 1):
        expected.append((graph, counter.label))
        counter.finished(runs[graph])
        runs[graph] += 1
    ends = [r for r in records if r.op_type == "Parameter"]
    assert [(r.key.graph, r.key.iteration) for r in ends] == expected


def test_two_runs_of_one_directory_are_told_apart(tmp_path: Path) -> None:
    root = extract("two_nets", tmp_path)
    once = len(list(read_tree(root).records()))
    for path in list((root / "rank_0" / "Net").rglob("*.npy")):
        name = parse(path.name)
        assert name is not None
        shutil.copy(path, path.with_name(path.name.replace(str(name.timestamp), str(name.timestamp + 10**9))))
    records = list(read_tree(root).records())
    assert len(records) == len({r.key for r in records}) == 2 * once
    assert {r.key.execution for r in records if r.key.iteration == 0} == {0, 1}


def test_loop_bodies_are_executions(tmp_path: Path) -> None:
    records = list(tree("control", tmp_path).records())
    for iteration in (0, 1):
        outputs = [r for r in records if r.key.iteration == iteration and r.key.io == "output"]
        count = {op: [r.key.execution for r in outputs if r.op_type == op] for op in ("Less", "MatMul")}
        assert count == {"Less": [0, 1, 2, 3], "MatMul": [0, 1, 2]}
        body = [r.op_type for r in outputs if r.op_type in ("Less", "MatMul")]
        assert body == ["Less", "MatMul"] * 3 + ["Less"]
    last = [value(r) for r in records if r.op_type == "MatMul" and r.key.io == "output"]
    assert np.array_equal(last[2] * -1, last[5])


def test_names_that_mangle_alike_are_told_apart(tmp_path: Path) -> None:
    found = {r.key.operator: value(r)[0] for r in tree("odd", tmp_path).records() if r.op_type == "Parameter"}
    names = ("a_b", "a.b", "enc/layer 0.w\\x", "q\"uo,te's", "权重-1")
    assert {name: found[name] for name in names} == {name: float(at) for at, name in enumerate(names)}


def test_names_too_long_for_a_file(tmp_path: Path) -> None:
    capture = tree("odd", tmp_path)
    rows = list(csv.reader((tmp_path / "odd/rank_0/Net/0/0/mapping.csv").read_text().splitlines()))
    records = [r for r in capture.records() if "n" * 230 in r.key.operator]
    assert [r.op_type for r in records] == ["ReLU"] * len(rows)
    assert [r.key.slot_name for r in records] == ["input.0", "output.0"]


def test_bfloat16_and_float16_that_is_float32(tmp_path: Path) -> None:
    records = list(tree("odd", tmp_path).records())
    halves = [r for r in records if r.dtype == "BFloat16"]
    assert {value(r).dtype for r in halves} == {dtypes.bfloat16.numpy}
    product = next(r for r in records if r.op_type == "MatMul" and r.key.io == "output")
    assert product.dtype == "Float32"  # the file says Float16
    inputs = [value(r).ravel() for r in records if r.op_type == "MatMul" and r.key.slot_name in ("input.0", "input.1")]
    assert value(product).item() == np.dot(*inputs)


def test_strings_have_no_slot(tmp_path: Path) -> None:
    shown = [r.key.slot_name for r in tree("odd", tmp_path).records() if r.op_type == "Print"]
    assert shown == ["input.1", "output.0"]


# -- without graphs ------------------------------------------------------------------------------------------------
def test_without_graphs_names_stay_mangled(tmp_path: Path) -> None:
    root = extract("two_nets", tmp_path)
    joined = [r.key for r in read_tree(root).records()]
    shutil.rmtree(root / "rank_0" / "graphs")
    bare = list(read_tree(root).records())
    assert [r.key._replace(operator="") for r in bare] == [k._replace(operator="") for k in joined]
    assert [r.key.operator for r in bare] == [re.sub("[/.]", "_", k.operator) for k in joined]
    assert {r.source for r in bare} == {None}


# -- where -------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("where", [".", "rank_0", "rank_0/"])
def test_a_tree_or_a_rank_of_it(where: str, tmp_path: Path) -> None:
    root = extract("two_nets", tmp_path)
    assert [r.key for r in read_tree(f"{root}/{where}").records()] == [r.key for r in read_tree(root).records()]


def test_diagnostic_data_path(tmp_path: Path) -> None:
    extract("two_nets", tmp_path).rename(tmp_path / "debug_dump")
    assert list(read_tree(tmp_path).records())


def test_ranks(tmp_path: Path) -> None:
    root = extract("two_nets", tmp_path)
    one = [r.key for r in read_tree(root).records()]
    shutil.copytree(root / "rank_0", root / "rank_1")
    both = read_tree(root)
    assert [r.key for r in both.records()] == one + [k._replace(rank=1) for k in one]
    assert {name.partition("/")[0] for name in both.artefacts} == {"rank_0", "rank_1"}
    assert [r.key for r in read_tree(root, rank=1).records()] == [k._replace(rank=1) for k in one]
    with pytest.raises(TreeError, match="no rank 7 in it; it holds 0, 1"):
        read_tree(root, rank=7)


def test_several_networks(tmp_path: Path) -> None:
    root = extract("two_nets", tmp_path)
    shutil.copytree(root / "rank_0" / "Net", root / "rank_0" / "Other")
    with pytest.raises(TreeError, match="several networks: Net, Other"):
        read_tree(root)
    assert read_tree(root, network="Other").network == "Other"
    with pytest.raises(TreeError, match="no network 'Third' in it; it holds Net, Other"):
        read_tree(root, network="Third")


@pytest.mark.parametrize("kind", ["missing", "file", "empty"])
def test_what_is_no_tree_is_an_error(kind: str, tmp_path: Path) -> None:
    where = tmp_path / "x"
    if kind == "file":
        where.write_text("")
    elif kind == "empty":
        where.mkdir()
    with pytest.raises(TreeError, match="give a dump path"):
        read_tree(where)


def test_a_tree_without_tensors(tmp_path: Path) -> None:
    capture = tree("values", tmp_path)
    assert list(capture.records()) == []
    assert capture.network == "Net"  # from the configuration
    assert len(capture.execution_order[0]) > 20
