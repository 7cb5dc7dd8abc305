"""Dumps in msprobe's layout become captures: ours, msprobe's own, and damaged ones."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness import dtypes
from harness.capture import npy, read_tree
from harness.capture.msprobe import read_msprobe
from harness.cli import main
from harness.errors import TreeError
from harness.store import GoldenStore
from tests.dump.build import one_op, tensor
from tests.dump.msprobe.build import observer, play

GOLDEN = Path(__file__).parents[2] / "golden" / "tests" / "gate" / "test_networks"


@pytest.fixture
def dump(tmp_path: Path) -> Path:
    """One operator, two steps."""
    net, watcher = one_op(), observer(tmp_path / "d")
    watcher.graph_declared(net.graph)
    net.run(watcher)
    net.run(watcher)
    watcher.closed()
    return tmp_path / "d"


def edit(dump: Path, change: Any, step: int = 0) -> None:
    """Writes what ``change`` makes of a step's ``dump.json``."""
    file = dump / f"step{step}" / "rank" / "dump.json"
    content = json.loads(file.read_text())
    change(content)
    file.write_text(json.dumps(content))


def leaf(content: dict[str, Any]) -> Any:
    return content["data"]["Kernel.Default.Add-op0.forward.0"]["output"][0]


@pytest.mark.parametrize(("part", "steps"), [("", [0, 1]), ("step1", [1]), ("step1/rank", [1])])
def test_what_may_be_named(part: str, steps: list[int], dump: Path) -> None:
    assert sorted({record.key.iteration for record in read_tree(dump / part).records()}) == steps


@pytest.mark.sampled(2)
@pytest.mark.parametrize("network", ["mlp", "half", "brain", "control"])
def test_msdump_check_accepts_it(network: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    play(network, observer(tmp_path / "d"))
    golden = str(GOLDEN / f"test_{network}.h5")
    assert main(["check", str(tmp_path / "d"), golden]) == 0, capsys.readouterr().out


@pytest.mark.parametrize("network", ["mlp", "half", "brain", "control"])
def test_statistics_agree_with_the_golden(network: str, tmp_path: Path) -> None:
    play(network, observer(tmp_path / "d", task="statistics"))
    read = read_tree(tmp_path / "d")
    with GoldenStore.open(GOLDEN / f"test_{network}.h5") as store:
        wanted = {record.key: record for record in store.run("ascend-o2", "statistic").records()}
    found = list(read.records())
    assert (read.mode, {record.key for record in found}) == ("statistic", wanted.keys())
    for record in found:
        assert record.load() is None
        assert record.extra.row.changes(wanted[record.key].extra.statistics) == ""


def test_msdump_check_finds_what_differs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    play("mlp", observer(tmp_path / "d"))
    (file,) = (tmp_path / "d" / "step0").rglob("*Square-op0.forward.0.output.0.npy")
    np.save(file, np.load(file) + 1)
    assert main(["check", str(tmp_path / "d"), str(GOLDEN / "test_mlp.h5")]) == 1
    assert "Square-op0" in capsys.readouterr().out


def test_a_directory_that_is_none(tmp_path: Path) -> None:
    assert read_msprobe(str(tmp_path)) is None
    (tmp_path / "step0").mkdir()
    assert read_msprobe(str(tmp_path)) is None


def test_ranks(tmp_path: Path) -> None:
    for rank in (2, 0):
        net, watcher = one_op(), observer(tmp_path / "d", rank)
        watcher.graph_declared(net.graph)
        net.run(watcher)
    assert [record.key.rank for record in read_tree(tmp_path / "d").records()] == [0] * 3 + [2] * 3
    assert {record.key.rank for record in read_tree(tmp_path / "d", 2).records()} == {2}
    with pytest.raises(TreeError, match="no rank 1 in it; it holds 0, 2"):
        read_tree(tmp_path / "d", 1)


def test_a_real_dump_of_cells_and_apis(tmp_path: Path) -> None:
    """As the levels of msprobe's other modes write it (public source of 26.2.0)."""
    directory = tmp_path / "step0" / "rank0"
    (directory / "dump_tensor_data").mkdir(parents=True)
    array = np.arange(4, dtype=np.float32)
    np.save(directory / "dump_tensor_data" / "Functional.add.0.forward.input.1.npy", array)
    said = {"type": "mindspore.Tensor", "dtype": "Float32", "shape": [4], "Max": 3.0, "Min": 0.0, "Mean": 1.5}
    kept = said | {"data_name": "Functional.add.0.forward.input.1.npy"}
    data = {
        "Functional.add.0.forward": {
            "input_args": [{"type": "int", "value": 3}, kept], "input_kwargs": {"out": [said]}, "output": [said],
        },
        "Cell.fc1.Dense.backward.0": {"input": [None, said], "output": [said]},
    }  # fmt: skip
    head = {"task": "tensor", "level": "mix", "framework": "mindspore", "dump_data_dir": "/x"}
    (directory / "dump.json").write_text(json.dumps(head | {"data": data}))
    (directory / "stack.json").write_text(
        json.dumps({"0": [["Functional.add.0.forward"], ["File /a/net.py, line 7, in construct, \n x + y"]]})
    )
    read = read_tree(tmp_path)
    found = list(read.records())
    assert (read.backend, read.emulated, read.problems) == ("mindspore", False, [])
    assert [(r.key.operator, r.key.slot_name, r.op_type, r.source) for r in found] == [
        ("Functional.add.0.forward", "input.0", "add", "net.py:7"),
        ("Functional.add.0.forward", "input.1", "add", "net.py:7"),
        ("Functional.add.0.forward", "input.2", "add", "net.py:7"),
        ("Functional.add.0.forward", "output.0", "add", "net.py:7"),
        ("Cell.fc1.Dense.backward.0", "input.1", "Dense", None),
        ("Cell.fc1.Dense.backward.0", "output.0", "Dense", None),
    ]
    assert (found[0].format, found[0].load()) == (dtypes.ARGUMENT_FORMAT, 3)
    assert found[1].load() is not None
    assert (found[2].extra.row, found[2].extra.named) == ({"max": "3", "min": "0", "avg": "1.5"}, None)


def test_statistics_with_another_meaning_have_other_names(tmp_path: Path) -> None:
    arrays = [np.array(-2.0, np.float32), tensor(dtypes.float16, (3,)), tensor(dtypes.bool_, (2,))]
    net, watcher = one_op(arrays=arrays), observer(tmp_path / "d", task="statistics", section={"summary_mode": None})
    watcher.graph_declared(net.graph)
    net.run(watcher)
    rows = [record.extra.row for record in read_tree(tmp_path / "d").records()]
    assert rows == [
        {"max": "-2", "min": "-2", "avg": "-2", "norm": "-2"},
        {"max": "2", "min": "0", "avg": "1", "l2norm": "2.236328125"},
        {"max": "1", "min": "0"},
    ]


@pytest.mark.parametrize(
    ("change", "kind", "why"),
    [
        (lambda c: leaf(c).update(dtype="Float33"), "damaged", "unknown dtype"),
        (lambda c: leaf(c).update(shape=[2, -3]), "damaged", "its shape is"),
        (lambda c: leaf(c).update(shape=[3, 2]), "damaged", "dump.json says"),
        (lambda c: leaf(c).update(data_name="../dump.json"), "skipped", "no name of an .npy or a .pt file"),
        (lambda c: leaf(c).update(data_name="absent.npy"), "damaged", "No such file"),
        (lambda c: c["data"].update({"Kernel.x.forward.0": 3}), "damaged", "not an object"),
        (lambda c: c["data"].update({"Kernel.x.forward.0": {"operator": {"name": 3}}}), "damaged", "says no name"),
    ],
)
def test_what_cannot_be_used_is_left_out_and_told(change: Any, kind: str, why: str, dump: Path) -> None:
    edit(dump, change)
    read = read_tree(dump)
    found = list(read.records())
    # Where values cannot be used, the statistics are.
    stated = [record for record in found if record.values is None and record.extra.row]
    (problem,) = read.problems
    assert (len(found), len(stated)) == {"unknown dtype": (5, 0), "its shape is": (5, 0)}.get(
        why, (6, 0) if "Kernel.x" in problem.path else (6, 1)
    )
    assert problem.kind == kind
    assert why in problem.why


def test_a_file_that_was_not_finished(dump: Path) -> None:
    file = next((dump / "step0").rglob("*.npy"))
    file.write_bytes(file.read_bytes()[:-4])
    read = read_tree(dump)
    assert [record.values is None for record in read.records()].count(True) == 1
    assert read.problems[0].kind == "incomplete"


def test_links_out_of_the_dump_are_refused(dump: Path, tmp_path: Path) -> None:
    file = next((dump / "step0").rglob("*.npy"))
    shutil.move(file, tmp_path / "else.npy")
    file.symlink_to(tmp_path / "else.npy")
    with pytest.raises(TreeError, match="a link to"):
        list(read_tree(dump).records())


@pytest.mark.parametrize("text", ["", "[]", '{"data": 3}', "[" * 100_000, '{"data": {"Cell.a.forward.0": {"out'])
def test_a_damaged_dump_json_costs_its_step(text: str, dump: Path) -> None:
    whole = [record.key for record in read_tree(dump / "step0").records()]
    (dump / "step1" / "rank" / "dump.json").write_text(text)
    capture = read_tree(dump)
    assert [record.key for record in capture.records()] == whole
    (problem,) = capture.problems
    assert (problem.path, problem.kind) == ("step1/rank/dump.json", "incomplete")
    (dump / "step0" / "rank" / "dump.json").write_text(text)
    with pytest.raises(TreeError, match=r"dump\.json"):
        read_tree(dump)
    with pytest.raises(TreeError, match=r"dump\.json"):
        read_tree(dump / "step1")


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["type", "dtype", "shape", "data_name", "format", "Max", "operator", "output", "input"]),
            inner,
        )
    ),
    max_leaves=12,
)


@given(_JSON, _JSON)
def test_any_json_is_read_or_told(tmp_path_factory: pytest.TempPathFactory, data: Any, stack: Any) -> None:
    directory = tmp_path_factory.mktemp("d") / "step0" / "rank"
    directory.mkdir(parents=True)
    (directory / "dump.json").write_text(json.dumps({"data": {"Kernel.x.forward.0": data}}))
    (directory / "stack.json").write_text(json.dumps({"0": stack}))
    read = read_tree(directory)
    assert all(record.key.operator for record in read.records())


def tensor_entry(name: str, array: np.ndarray[Any, Any]) -> dict[str, Any]:
    return {"type": "mindspore.Tensor", "dtype": "Float32", "shape": list(array.shape), "data_name": name}


def made(root: Path, data: dict[str, Any], arrays: dict[str, np.ndarray[Any, Any]], file: str = "dump.json") -> Path:
    """A dump of one step and rank, as msprobe lays it out."""
    directory = root / "step0" / "rank0"
    (directory / "dump_tensor_data").mkdir(parents=True)
    for name, array in arrays.items():
        np.save(directory / "dump_tensor_data" / name, array)
    content = {"task": "tensor", "level": "L0", "framework": "mindspore", "dump_data_dir": "x", "data": data}
    (directory / file).write_text(json.dumps(content))
    return root


def test_level_l0_with_parameters_and_their_gradients(tmp_path: Path) -> None:
    """The entries of a cell as 26.2.0 writes them."""
    cell, array = "Cell.fc1.Dense", np.arange(6, dtype=np.float32).reshape(2, 3)
    names = {
        f"{cell}.forward.0.input.0.npy": array, f"{cell}.forward.0.parameters.weight.npy": array + 1,
        f"{cell}.forward.0.parameters.bias.npy": array + 2, f"{cell}.forward.0.output.0.npy": array + 3,
        f"{cell}.backward.0.input.0.npy": array + 4, f"{cell}.backward.0.output.0.npy": array + 5,
        f"{cell}.parameters_grad.0.weight.npy": array + 6,
    }  # fmt: skip
    leaves = {name: tensor_entry(name, each) for name, each in names.items()}
    known = iter(leaves.values())
    data = {
        f"{cell}.forward.0": {
            "input_args": [next(known)], "input_kwargs": {}, "parameters": {"weight": next(known), "bias": next(known)},
            "output": [next(known)],
        },
        f"{cell}.backward.0": {"input": [next(known)], "output": [next(known)]},
        f"{cell}.parameters_grad.0": {"weight": [next(known)]},
    }  # fmt: skip
    capture = read_tree(made(tmp_path, data, names))
    found = {(r.key.operator, r.key.slot_name): (r.op_type, r.load()) for r in capture.records()}
    assert capture.problems == []
    expected = {
        (f"{cell}.forward.0", "input.0"): ("Dense", array),
        (f"{cell}.forward.0", "output.0"): ("Dense", array + 3),
        (f"{cell}.forward.0.parameters.weight", "output.0"): ("Parameter", array + 1),
        (f"{cell}.forward.0.parameters.bias", "output.0"): ("Parameter", array + 2),
        (f"{cell}.backward.0", "input.0"): ("Dense", array + 4),
        (f"{cell}.backward.0", "output.0"): ("Dense", array + 5),
        (f"{cell}.parameters_grad.0.weight", "output.0"): ("parameters_grad", array + 6),
    }
    assert found.keys() == expected.keys()
    for key, (op_type, values) in expected.items():
        assert found[key][0] == op_type
        assert np.array_equal(found[key][1], values)  # type: ignore[arg-type]


def test_level_debug(tmp_path: Path) -> None:
    array = np.ones((2, 2), np.float32)
    data = {
        "loss.0.debug": tensor_entry("loss.npy", array),
        "both.0.debug": [tensor_entry("a.npy", array), {"x": tensor_entry("b.npy", array)}],
    }
    root = made(tmp_path, data, dict.fromkeys(("loss.npy", "a.npy", "b.npy"), array), "debug.json")
    found = [(record.key.operator, record.key.slot_name) for record in read_tree(root).records()]
    assert found == [("loss.0.debug", "output.0"), ("both.0.debug", "output.0"), ("both.0.debug", "output.1")]


def test_the_checksum_of_summary_mode_md5_tells_tensors_apart(tmp_path: Path) -> None:
    def digest(name: str, check: str) -> bytes | None:
        leaf = {"type": "mindspore.Tensor", "dtype": "Float32", "shape": [2], "md5": check}
        (record,) = read_tree(made(tmp_path / name, {"Cell.a.A.forward.0": {"output": [leaf]}}, {})).records()
        return record.digest

    assert digest("one", "00000001") == digest("two", "00000001") != digest("three", "00000002")


@pytest.mark.parametrize("older", [False, True])
def test_stacks_of_both_layouts(older: bool, tmp_path: Path) -> None:
    array = np.ones(2, np.float32)
    root = made(tmp_path, {"Cell.a.A.forward.0": {"output": [tensor_entry("a.npy", array)]}}, {"a.npy": array})
    lines = ["File net.py, line 12, in construct, \n x = self.a(x)", "File train.py, line 3, in main, \n net(x)"]
    stack = {"Cell.a.A.forward.0": lines} if older else {"0": [["Cell.a.A.forward.0"], lines]}
    (root / "step0" / "rank0" / "stack.json").write_text(json.dumps(stack))
    (record,) = read_tree(root).records()
    assert record.source == "net.py:12"


@pytest.mark.parametrize("size", [100, 2_000_000])
def test_each_file_is_opened_once(size: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    array = np.ones(size, np.float32)
    root = made(tmp_path, {"Cell.a.A.forward.0": {"output": [tensor_entry("a.npy", array)]}}, {"a.npy": array})
    opened = []
    real = npy.NpyFile.__init__
    monkeypatch.setattr(
        npy.NpyFile, "__init__", lambda self, path, inside: opened.append(path) or real(self, path, inside)
    )
    for record in read_tree(root).records():
        assert np.array_equal(record.load(), array)  # type: ignore[arg-type]
    assert len(opened) == 1


def test_a_dump_of_statistics_becomes_a_run(tmp_path: Path) -> None:
    play("mlp", observer(tmp_path / "d", task="statistics"))
    golden = tmp_path / "x.h5"
    assert main(["import", str(tmp_path / "d"), str(golden), "--run", "probe"]) == 0
    with GoldenStore.open(golden) as store:
        assert list(map(str, store.runs())) == ["probe/statistic"]
    assert main(["check", str(tmp_path / "d"), str(golden)]) == 0
