"""msprobe's layout, as a sunk graph is dumped: what lies where, what each field of the configuration does."""

from __future__ import annotations

import errno
import json
import os
import stat
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from harness import dtypes
from harness.capture import CaptureObserver, read_tree
from harness.dump.msprobe.configured import asked_for
from harness.dump.msprobe.overlapped import OverlappedProbeObserver
from harness.errors import DumpConfigError, DumpWriteError
from tests.dump.build import Net, chain, one_op, tensor
from tests.dump.msprobe.build import NETWORKS, O2, config_text, dump_json, observer, play


def run(path: Path, *nets: Net, steps: int = 1, **fields: Any) -> Path:
    """Dumps nets one after the other; gives the path."""
    watcher = observer(path, **fields)
    for net in nets:
        watcher.graph_declared(net.graph)
    for net in nets:
        for _ in range(steps):
            net.run(watcher)
    watcher.closed()
    return path


def names(path: Path) -> list[str]:
    """Files below ``path``."""
    return sorted(str(file.relative_to(path)) for file in path.rglob("*") if file.is_file())


def test_layout(tmp_path: Path) -> None:
    dump = run(tmp_path / "d", one_op(), steps=2)
    tensors = [f"dump_tensor_data/Kernel.Default.Add-op0.forward.0.{s}.npy" for s in ("input.0", "input.1", "output.0")]
    files = ["construct.json", "dump.json", *tensors, "stack.json"]
    assert names(dump) == [f"step{step}/rank/{file}" for step in (0, 1) for file in files]
    assert {stat.S_IMODE((dump / name).stat().st_mode) for name in names(dump)} == {0o640}
    found = dump_json(dump)
    assert (found["task"], found["level"], found["framework"]) == ("tensor", "L2", "mindspore")
    assert found["dump_data_dir"] == str(dump / "step0" / "rank" / "dump_tensor_data")
    assert (found["emulated"], found["device"]) == (True, "ascend-o2")
    entry = found["data"]["Kernel.Default.Add-op0.forward.0"]
    assert entry["operator"]["name"] == "Default/Add-op0"
    assert [leaf["shape"] for leaf in entry["input_args"] + entry["output"]] == [[2, 3]] * 3


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "network", [pytest.param(n, marks=pytest.mark.long if n in ("transformer", "lstm") else ()) for n in NETWORKS]
)
def test_a_network_is_read_back(network: str, tmp_path: Path) -> None:
    kept = CaptureObserver(device=O2)
    play(network, observer(tmp_path / "d"), kept)
    read = read_tree(tmp_path / "d")
    wanted = kept.capture("Net", "ascend-o2")
    found, expected = list(read.records()), list(wanted.records())
    assert (read.backend, read.mode, read.emulated, read.problems) == ("ascend-o2", "tensor", True, [])
    assert [r.key for r in found] == [r.key for r in expected]
    for mine, theirs in zip(found, expected, strict=True):
        values, kept_values = mine.load(), theirs.load()
        assert values is not None
        assert kept_values is not None
        assert (mine.op_type, mine.dtype, mine.shape, mine.format) == (
            theirs.op_type, theirs.dtype, theirs.shape, theirs.format,
        )  # fmt: skip
        assert (mine.source, mine.extra) == (theirs.source, theirs.extra)
        assert values.tobytes() == kept_values.tobytes()


@pytest.mark.long
def test_construct_and_stack_name_every_entry(tmp_path: Path) -> None:
    play("lenet", observer(tmp_path / "d"))
    for step in (0, 1):
        directory = tmp_path / "d" / f"step{step}" / "rank"
        entries = set(dump_json(tmp_path / "d", step)["data"])
        parents = json.loads((directory / "construct.json").read_text())
        assert entries <= parents.keys()
        assert all(parent is None or parent in parents for parent in parents.values())
        stacks = json.loads((directory / "stack.json").read_text())
        assert sorted(name for found, _ in stacks.values() for name in found) == sorted(entries)
        assert any("lenet.py" in line for _, lines in stacks.values() for line in lines)


def test_without_extra_info(tmp_path: Path) -> None:
    dump = run(tmp_path / "d", one_op(), extra_info=False)
    assert [name for name in names(dump) if not name.endswith(".npy")] == ["step0/rank/dump.json"]


@pytest.mark.parametrize(("mode", "fields"), [("input", {"input_args", "input_kwargs"}), ("output", {"output"})])
def test_data_mode(mode: str, fields: set[str], tmp_path: Path) -> None:
    dump = run(tmp_path / "d", one_op(), section={"data_mode": [mode]})
    entry = dump_json(dump)["data"]["Kernel.Default.Add-op0.forward.0"]
    assert entry.keys() == fields | {"operator"}
    assert {name.split(".")[-3] for name in names(dump) if name.endswith(".npy")} == {mode}


def test_gradients_are_backward(tmp_path: Path) -> None:
    dump = run(tmp_path / "d", one_op("Gradients/Default/fc-Dense/Grad_MatMul/MatMul-op0"))
    (entry,) = dump_json(dump)["data"].items()
    assert entry[0].endswith(".backward.0")
    assert entry[1].keys() == {"input", "output", "operator"}


@pytest.mark.parametrize(
    ("chosen", "found"),
    [
        (["Mul"], ["Mul-op1"]),
        (["Default/Add-op0"], ["Add-op0"]),
        (["name-regex(.*-op[01])"], ["Add-op0", "Mul-op1"]),
        ([], ["Add-op0", "Mul-op1"]),
    ],
)
def test_list(chosen: list[str], found: list[str], tmp_path: Path) -> None:
    dump = run(tmp_path / "d", one_op(), one_op("Default/Mul-op1", graph_id=1), section={"list": chosen})
    entries = [entry for step in (0, 1) if (dump / f"step{step}").is_dir() for entry in dump_json(dump, step)["data"]]
    assert [entry.split(".")[2] for entry in entries] == found


def test_entries_of_list_that_match_nothing_are_told(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    dump = run(tmp_path / "d", one_op(), section={"list": ["Mul"]})
    assert not dump.exists()
    assert "the entry 'Mul' of list matched nothing" in caplog.text


def test_a_pattern_that_is_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DumpConfigError, match="regex"):
        observer(tmp_path / "d", section={"list": ["name-regex(()"]})


def test_step(tmp_path: Path) -> None:
    dump = run(
        tmp_path / "d",
        one_op(),
        steps=4,
        step=[0, "2-3"],
        rank=[0, 2],
    )
    assert not dump.exists() or sorted(os.listdir(dump)) == ["step0", "step2", "step3"]


def test_the_directory_of_a_rank(tmp_path: Path) -> None:
    net, watcher = one_op(), observer(tmp_path / "d", 3, rank=[3], step=[0])
    watcher.graph_declared(net.graph)
    net.run(watcher)
    net.run(watcher)
    assert sorted(os.listdir(tmp_path / "d")) == ["step0"]
    assert os.listdir(tmp_path / "d" / "step0") == ["rank3"]
    assert {record.key.rank for record in read_tree(tmp_path / "d").records()} == {3}


def test_other_ranks_dump_nothing(tmp_path: Path) -> None:
    (tmp_path / "c.json").write_text(config_text(tmp_path / "d", rank=[3]))
    assert asked_for(str(tmp_path / "c.json"), O2, 1, environ={}) is None
    assert asked_for(str(tmp_path / "c.json"), O2, None, environ={}) is None


def test_statistics(tmp_path: Path) -> None:
    section = {"tensor_list": ["Mul-op1"], "summary_mode": ["max", "nan count"]}
    nets = (one_op(), one_op("Default/Mul-op1", graph_id=1))
    dump = run(tmp_path / "d", *nets, task="statistics", section=section)
    assert [name.split(".")[2] for name in names(dump) if name.endswith(".npy")] == ["Mul-op1"] * 3
    first = dump_json(dump, 0)["data"]["Kernel.Default.Add-op0.forward.0"]["output"][0]
    assert first == {"type": "mindspore.Tensor", "dtype": "Float32", "shape": [2, 3], "Max": 7.0, "nan count": 0}


def test_md5_in_both_tasks(tmp_path: Path) -> None:
    for task, keys in (("statistics", {"md5"}), ("tensor", {"md5", "Max", "Min", "Mean", "Norm", "data_name"})):
        dump = run(tmp_path / task, one_op(), task=task, section={"summary_mode": "md5"})
        leaf = dump_json(dump)["data"]["Kernel.Default.Add-op0.forward.0"]["output"][0]
        assert leaf.keys() == {"type", "dtype", "shape"} | keys


def test_device_statistics_of_a_sunk_graph_are_refused(tmp_path: Path) -> None:
    with pytest.raises(DumpConfigError, match="kernel by kernel only") as found:
        observer(tmp_path / "d", task="statistics", section={"device": "device"})
    assert found.value.kind == "msprobe-device"


def test_async_dump_writes_the_same_files(tmp_path: Path) -> None:
    every = {"list": ["name-regex(.*)"]}
    later = observer(tmp_path / "later", section=every, async_dump=True)
    assert isinstance(later, OverlappedProbeObserver)
    play("brain", later, observer(tmp_path / "once", section=every))
    assert names(tmp_path / "later") == names(tmp_path / "once")
    for name in names(tmp_path / "once"):
        found, wanted = ((tmp_path / which / name).read_bytes() for which in ("later", "once"))
        assert found.replace(b"/later/", b"/once/") == wanted


def test_slots_without_a_tensor_keep_their_place(tmp_path: Path) -> None:
    net = one_op(arrays=[tensor(dtypes.float32, (0, 3)), tensor(dtypes.int32, (2,)), tensor(dtypes.float32, (2,))])
    dump = run(tmp_path / "d", net)
    given = dump_json(dump)["data"]["Kernel.Default.Add-op0.forward.0"]["input_args"]
    assert given[0] is None
    assert given[1]["dtype"] == "Int32"
    assert [record.key.slot_name for record in read_tree(dump).records()] == ["input.1", "output.0"]


def test_an_operator_that_runs_twice_in_a_step(tmp_path: Path) -> None:
    net = chain(tensor(dtypes.float32, (2,)))
    net.graph.order.append(net.graph.order[0])
    dump = run(tmp_path / "d", net)
    assert list(dump_json(dump)["data"]) == [f"Kernel.Default.Add-op0.forward.{n}" for n in (0, 1)]
    assert [record.key.execution for record in read_tree(dump).records()] == [0] * 3 + [1] * 3


@pytest.mark.parametrize("extra", [True, False])
def test_a_label_that_comes_again_adds_to_its_step(tmp_path: Path, extra: bool) -> None:
    first, second = one_op(), one_op("Default/Mul-op1", graph_id=1)
    watcher = observer(tmp_path / "d", extra_info=extra)
    for net in (first, first, second, first):  # labels 0, 1, 2 and 1 again
        watcher.graph_declared(net.graph)
        net.run(watcher)
    assert list(dump_json(tmp_path / "d", 1)["data"]) == [f"Kernel.Default.Add-op0.forward.{n}" for n in (0, 1)]
    assert list(dump_json(tmp_path / "d", 2)["data"]) == ["Kernel.Default.Mul-op1.forward.0"]
    if extra:
        ((entries, _lines),) = json.loads((tmp_path / "d/step1/rank/stack.json").read_text()).values()
        assert entries == list(dump_json(tmp_path / "d", 1)["data"])


def test_another_run_s_dump_is_never_touched(tmp_path: Path) -> None:
    dump = run(tmp_path / "d", one_op())
    before = {name: (dump / name).read_bytes() for name in names(dump)}
    with pytest.raises(DumpWriteError, match="another run") as found:
        run(dump, one_op())
    assert found.value.errno == errno.EEXIST
    assert {name: (dump / name).read_bytes() for name in names(dump)} == before


def test_a_step_that_fails_leaves_what_ran(tmp_path: Path) -> None:
    net = chain(tensor(dtypes.float32, (2,)), tensor(dtypes.float32, (2,)))
    watcher = observer(tmp_path / "d")
    watcher.graph_declared(net.graph)

    def fail(node: Any) -> None:
        if node.number == 1:
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        net.run(watcher, fail)
    assert list(dump_json(tmp_path / "d")["data"]) == ["Kernel.Default.Add-op0.forward.0"]
    assert watcher.counter.label == 0


def test_a_full_disk_stops_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    net, watcher = one_op(), observer(tmp_path / "d")
    watcher.graph_declared(net.graph)

    def full(*_args: Any) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "writev", full)
    with pytest.raises(DumpWriteError, match="No space left"):
        net.run(watcher)
    assert names(tmp_path / "d") == []


def test_a_path_that_cannot_be_made_is_told_once(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "d").write_text("a file")
    run(tmp_path / "d", one_op(), steps=3)
    assert caplog.text.count("cannot be written to") == 1
    assert (tmp_path / "d").read_text() == "a file"


def test_long_and_equal_names(tmp_path: Path) -> None:
    given = [f"Default/{'L' * 300}/Add-op0", "Default/a.b/Add-op1", "Default/a/b/Add-op1", "Default/ü/Add-op2"]
    dump = run(tmp_path / "d", *(one_op(name, graph_id=at) for at, name in enumerate(given)))
    assert {record.key.operator for record in read_tree(dump).records()} == set(given)
    found = np.load(next((dump / "step0").rglob("*.npy")))
    assert found.shape == (2, 3)
