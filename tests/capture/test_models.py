"""Asynchronous trees of sunk graphs and of earlier releases are read back to what the run produced."""

from __future__ import annotations

import importlib
import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from harness import context, dtypes
from harness.capture import CaptureObserver, read_tree
from harness.capture.models import model_directories
from harness.devices import DEVICES
from harness.dump.asynchronous.dump_data import DumpFile
from harness.dump.asynchronous.observer import AsyncDumpObserver
from harness.errors import TreeError
from harness.framework.runtime import session
from harness.records import Record
from tests.dump.asynchronous.build import config, values
from tests.dump.build import one_op
from tests.gate.networks.recorder import Recorder

NETWORKS = ("mlp", "lenet", "residual", "transformer", "lstm", "half", "brain", "control", "constants")
O2 = DEVICES.get("ascend-o2")
OLD = "2.0-2.2"


@pytest.fixture(autouse=True)
def graph_mode() -> Iterator[None]:
    before = context.get_context("mode")
    context.set_context(mode=context.GRAPH_MODE)
    yield
    context.set_context(mode=before)


def facts(record: Record) -> tuple[Any, ...]:
    array = record.load()
    assert array is not None
    return record.key, record.op_type, record.dtype, record.shape, array.dtype, array.tobytes()


def where(record: Record) -> tuple[Any, ...]:
    return record.format, record.extra.stream, record.extra.task


def play(network: str, *observers: Any, device: Any = O2) -> None:
    with session.in_session(session.Session(observers, hooked=False, device=device)):
        importlib.import_module(f"tests.gate.networks.{network}").play(Recorder())
    for observer in observers:
        observer.closed()


@pytest.mark.sampled(3)
@pytest.mark.parametrize("network", NETWORKS)
def test_a_sunk_graph_is_read_back(network: str, tmp_path: Path) -> None:
    kept = CaptureObserver(device=O2)
    play(network, AsyncDumpObserver(config(tmp_path), O2), kept)
    read = read_tree(tmp_path)
    wanted = kept.capture("Net", "ascend-o2")
    assert (read.network, read.backend, read.emulated) == ("Net", "ascend-o2", True)
    found = list(read.records())
    assert [facts(r) for r in found] == [facts(r) for r in wanted.records()]
    assert [where(r) for r in found] == [where(r) for r in wanted.records()]
    assert not read.problems


@pytest.mark.sampled(3)
@pytest.mark.parametrize("kind", ["bin", "npy"])
@pytest.mark.parametrize("network", ["lenet", "control", "brain"])
def test_earlier_releases_are_read_back(network: str, kind: str, tmp_path: Path) -> None:
    device = DEVICES.get("ascend-o0")
    kept = CaptureObserver(device=device)
    play(network, AsyncDumpObserver(config(tmp_path, OLD, "ascend", file_format=kind), device), kept, device=device)
    read = read_tree(tmp_path)
    assert read.emulated
    assert [facts(r) for r in read.records()] == [facts(r) for r in kept.capture("Net", "x").records()]
    assert not read.problems
    assert set(read.execution_order) == set(kept.capture("Net", "x").execution_order)


@pytest.mark.long
@pytest.mark.sampled(3)
@pytest.mark.parametrize("saved", ["tensor", "full", "statistic"])
def test_npy_of_a_sunk_graph(saved: str, tmp_path: Path) -> None:
    kept = CaptureObserver(device=O2)
    play("lenet", AsyncDumpObserver(config(tmp_path, file_format="npy", saved_data=saved), O2), kept)
    wanted = list(kept.capture("Net", "x").records())
    found = list(read_tree(tmp_path).records())
    assert len(found) == len(wanted)
    for mine, theirs in zip(found, wanted, strict=True):
        assert mine.key == theirs.key
        assert (mine.dtype, mine.shape) == (theirs.dtype, theirs.shape)
        assert (mine.extra.statistics is not None) == (saved != "tensor")
        if saved != "statistic":
            assert facts(mine)[1:] == facts(theirs)[1:]


def dump(path: Path, generation: str = "2.4-2.6", **changes: Any) -> AsyncDumpObserver:
    """One operator, two steps."""
    observer = AsyncDumpObserver(config(path, generation, **changes), O2)
    net = one_op(
        "Default/conv-Conv2d/Conv2D-op0",
        [values(dtypes.float16, s) for s in ((1, 3, 4, 4), (2, 3, 3, 3), (1, 2, 4, 4))],
    )
    observer.graph_declared(net.graph)
    for _ in range(2):
        net.run(observer)
    observer.closed()
    return observer


def test_names_too_long_for_a_file(tmp_path: Path) -> None:
    name = "Default/" + "n" * 300 + "/Add-op0"
    for kind in ("bin", "npy"):
        observer = AsyncDumpObserver(config(tmp_path / kind, file_format=kind), O2)
        net = one_op(name)
        observer.graph_declared(net.graph)
        net.run(observer)
        observer.closed()
        records = list(read_tree(tmp_path / kind).records())
        assert [record.key.slot_name for record in records] == ["input.0", "input.1", "output.0"]
        assert {record.key.operator for record in records} == {name}


def test_names_of_npy_files_without_the_list_of_operators(tmp_path: Path) -> None:
    dump(tmp_path, file_format="npy")
    (tmp_path / "operators_0.json").unlink()
    assert {record.key.operator for record in read_tree(tmp_path).records()} == {"Default_conv-Conv2d_Conv2D-op0"}


@pytest.mark.parametrize(
    "text", ["", "[]", '{"operators": 3}', '{"operators": [3, "Default/Else-op0"]}', "[" * 100_000]
)
def test_a_list_of_operators_that_tells_nothing(text: str, tmp_path: Path) -> None:
    dump(tmp_path, file_format="npy")
    (tmp_path / "operators_0.json").chmod(0o600)
    (tmp_path / "operators_0.json").write_text(text)
    assert {record.key.operator for record in read_tree(tmp_path).records()} == {"Default_conv-Conv2d_Conv2D-op0"}


def test_names_that_mangle_alike(tmp_path: Path) -> None:
    names = ["Default/a/b/Add-op0", "Default/a_b/Add-op0", "Default/Mul-op1"]
    observer = AsyncDumpObserver(config(tmp_path, file_format="npy"), O2)
    for at, name in enumerate(names):
        net = one_op(name, graph_id=at)
        observer.graph_declared(net.graph)
        net.run(observer)
    observer.closed()
    found = {record.key.operator for record in read_tree(tmp_path).records()}
    assert found == {"Default_a_b_Add-op0", "Default/Mul-op1"}


def test_two_devices(tmp_path: Path) -> None:
    for rank in (0, 1):
        observer = AsyncDumpObserver(config(tmp_path), O2, rank=rank)
        net = one_op()
        observer.graph_declared(net.graph)
        net.run(observer)
        observer.closed()
    assert [record.key.rank for record in read_tree(tmp_path).records()] == [0] * 3 + [1] * 3
    assert {record.key.rank for record in read_tree(tmp_path, 1).records()} == {1}
    with pytest.raises(TreeError, match="no device 2 in it; it holds 0, 1"):
        read_tree(tmp_path, 2)


def test_two_models(tmp_path: Path) -> None:
    dump(tmp_path)
    dump(tmp_path, net_name="Other")
    with pytest.raises(TreeError, match="several networks: Net, Other"):
        read_tree(tmp_path)
    read = read_tree(tmp_path, network="Other")
    assert (read.network, len(list(read.records()))) == ("Other", 6)
    with pytest.raises(TreeError, match="no network 'Third' in it"):
        read_tree(tmp_path, network="Third")


def test_a_tree_without_the_directory_of_the_step(tmp_path: Path) -> None:
    dump(tmp_path / "new")
    for step in ("0", "1"):
        (time,) = (tmp_path / "new" / step).iterdir()
        target = tmp_path / "old" / "20230822120819"
        shutil.copytree(time, target, dirs_exist_ok=True)
    read = read_tree(tmp_path / "old")
    assert [record.key.iteration for record in read.records()] == [0] * 3 + [1] * 3
    assert (read.backend, read.emulated) == ("mindspore", False)


def test_below_the_diagnostic_path(tmp_path: Path) -> None:
    dump(tmp_path / "debug_dump")
    assert len(list(read_tree(tmp_path).records())) == 6


def test_nothing_was_selected(tmp_path: Path) -> None:
    dump(tmp_path, iteration="9")
    read = read_tree(tmp_path)
    assert list(read.records()) == []
    assert read.emulated


def test_damaged_files_are_left_out_and_listed(tmp_path: Path) -> None:
    dump(tmp_path)
    first, second = sorted(path for path in tmp_path.rglob("Conv2D*"))
    first.chmod(0o600)
    first.write_bytes(first.read_bytes()[:-1])
    (second.parent / "123456").write_bytes(b"x")
    (second.parent / "Add.Add-op0.1.0.1623124369613540").mkdir()
    read = read_tree(tmp_path)
    assert len(list(read.records())) == 3
    assert sorted((problem.kind, Path(problem.path).name) for problem in read.problems) == [
        ("damaged", "Add.Add-op0.1.0.1623124369613540"), ("damaged", first.name), ("name", "123456"),
    ]  # fmt: skip
    (tmp_path / "acl_dump_0.json").chmod(0o600)
    (tmp_path / "acl_dump_0.json").write_text("[")
    assert not read_tree(tmp_path).emulated


def test_a_file_damaged_after_it_was_listed(tmp_path: Path) -> None:
    dump(tmp_path)
    records = list(read_tree(tmp_path).records())
    for path in tmp_path.rglob("Conv2D*"):
        path.unlink()
    with pytest.raises(TreeError, match="No such file"):
        records[0].load()


def test_links_are_not_followed(tmp_path: Path) -> None:
    dump(tmp_path / "a")
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "0").symlink_to(tmp_path / "a" / "0")
    assert model_directories(str(tmp_path / "b"), []) == []
    (path,) = (tmp_path / "a" / "0").rglob("Conv2D*")
    path.with_name("Mul.Mul-op0.1.0.1623124369613540").symlink_to("/etc/hostname")
    with pytest.raises(TreeError, match="outside of the tree"):
        list(read_tree(tmp_path / "a").records())


def test_device_formats_are_told(tmp_path: Path) -> None:
    dump(tmp_path)
    record = next(iter(read_tree(tmp_path).records()))
    assert (record.format, record.shape, record.extra.device_shape) == ("NC1HWC0", (1, 3, 4, 4), (1, 1, 4, 4, 16))
    array = record.load()
    assert array is not None
    assert np.array_equal(array, values(dtypes.float16, (1, 3, 4, 4)))


def test_rules_say_that_it_is_emulated(tmp_path: Path) -> None:
    dump(tmp_path)
    assert read_tree(tmp_path).rules == {"emulated": True}
    assert json.loads((tmp_path / "acl_dump_0.json").read_text())["emulated"] is True


def test_the_tensors_of_a_file_are_read_of_one_opened_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Once its header was read; and a record that outlives its turn opens it again."""
    dump(tmp_path / "d")
    opened: list[str] = []
    real = DumpFile.__init__

    def opening(self: DumpFile, path: str, header: Any = None, **more: Any) -> None:
        if header is not None:
            opened.append(path)
        real(self, path, header, **more)

    monkeypatch.setattr(DumpFile, "__init__", opening)
    before = len(os.listdir("/proc/self/fd"))
    records = []
    for record in read_tree(tmp_path / "d").records():
        records.append((record, record.load()))
    assert len(opened) == len(set(opened)) < len(records)
    for record, array in records:
        assert np.array_equal(record.load(), array)  # type: ignore[arg-type]
    assert len(os.listdir("/proc/self/fd")) == before
