"""``MSDUMP_MSPROBE_CONFIG``: read like MindSpore's variable; kernel-by-kernel dumps go to MindSpore's dump."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from harness.devices import DEVICES
from harness.dump import DumpObserver, parse
from harness.dump.asynchronous.observer import AsyncDumpObserver
from harness.dump.asynchronous.overlapped import OverlappedDumpObserver
from harness.dump.environment import DISTRIBUTED, MSPROBE, VARIABLE, DumpEnvironment
from harness.dump.msprobe.observer import ProbeObserver
from harness.errors import DumpConfigError
from tests.dump.build import config, npy_files, one_op
from tests.dump.msprobe.build import O2, config_text, dump_json


@pytest.fixture
def dump(tmp_path: Path) -> Iterator[DumpEnvironment]:
    assert tmp_path.is_dir()  # what waits is written before it goes
    made = DumpEnvironment()
    yield made
    made.forget()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "config.json"


def write(file: Path, **fields: Any) -> dict[str, str]:
    file.write_text(config_text(file.parent / "d", **fields))
    return {MSPROBE: str(file)}


def test_a_sunk_graph(dump: DumpEnvironment, file: Path) -> None:
    environ = write(file)
    found = dump.install(environ, O2)
    assert isinstance(found, ProbeObserver)
    write(file, task="statistics")
    assert dump.install(environ, O2) is found


def test_a_user_s_counter(dump: DumpEnvironment, file: Path) -> None:
    dump.set_initial_iteration(5)
    watcher, net = dump.install(write(file), O2), one_op()
    assert watcher is not None
    watcher.graph_declared(net.graph)
    net.run(watcher)
    dump.step()
    net.run(watcher)
    assert [dump_json(file.parent / "d", step)["task"] for step in (5, 6)] == ["tensor"] * 2


def test_the_rank_of_one_of_several(dump: DumpEnvironment, file: Path) -> None:
    environ = write(file) | {DISTRIBUTED: "1", "RANK_ID": "4"}
    watcher, net = dump.install(environ, O2), one_op()
    assert watcher is not None
    watcher.graph_declared(net.graph)
    net.run(watcher)
    assert dump_json(file.parent / "d", 0, "rank4")["task"] == "tensor"


def test_both_variables_are_refused(dump: DumpEnvironment, file: Path, tmp_path: Path) -> None:
    (tmp_path / "other.json").write_bytes(config(tmp_path / "x").raw)
    both = write(file) | {VARIABLE: str(tmp_path / "other.json")}
    with pytest.raises(DumpConfigError, match="one of them"):
        dump.install(both, O2)
    assert not (tmp_path / "d").exists()


def test_an_error_leaves_nothing_and_is_read_again(dump: DumpEnvironment, file: Path, tmp_path: Path) -> None:
    with pytest.raises(DumpConfigError, match="level"):
        dump.install(write(file, level="L1"), O2)
    assert sorted(tmp_path.iterdir()) == [file]
    assert dump.install(write(file), O2) is not None


def test_disabled(dump: DumpEnvironment, file: Path, tmp_path: Path) -> None:
    assert dump.install(write(file, dump_enable=False), O2) is None
    assert sorted(tmp_path.iterdir()) == [file]


@pytest.mark.parametrize("device", ["cpu", "gpu", "ascend-o0", "ascend-o1"])
def test_kernel_by_kernel_it_is_mindspore_s_own_dump(
    device: str, dump: DumpEnvironment, file: Path, tmp_path: Path
) -> None:
    section = {"list": ["Add"], "data_mode": ["output"]}
    watcher, net = dump.install(write(file, section=section, step=[1, "3-4"]), DEVICES.get(device)), one_op()
    assert type(watcher) is DumpObserver
    watcher.graph_declared(net.graph)
    for _ in range(3):
        net.run(watcher)
    handed = tmp_path / "d" / "kernel_kbyk_dump.json"
    assert json.loads(handed.read_text()) == {
        "common_dump_settings": {
            "dump_mode": 1, "path": str(tmp_path / "d"), "net_name": "Net", "iteration": "1|3|4",
            "saved_data": "tensor", "input_output": 2, "kernels": ["Add"], "support_device": list(range(8)),
        },
        "e2e_dump_settings": {"enable": True, "trans_flag": True},
    }  # fmt: skip
    assert parse(handed, device).iteration == watcher.config.iteration
    assert len(npy_files(tmp_path / "d" / "rank_0" / "Net" / "0" / "1")) == 1


def test_statistics_kernel_by_kernel(dump: DumpEnvironment, file: Path) -> None:
    section = {"device": "device", "precision": "low", "summary_mode": ["mean", "max"]}
    watcher = dump.install(write(file, task="statistics", section=section), DEVICES.get("ascend-o0"))
    assert isinstance(watcher, DumpObserver)
    found = watcher.config
    assert (found.saved_data, found.statistic_category) == ("statistic", ("avg", "max"))
    assert (found.stat_calc_mode, found.device_stat_precision_mode) == ("device", "low")


def test_md5_is_mindspore_s_hash(dump: DumpEnvironment, file: Path) -> None:
    watcher = dump.install(write(file, task="statistics", section={"summary_mode": "md5"}), DEVICES.get("ascend-o0"))
    assert isinstance(watcher, DumpObserver)
    assert watcher.config.statistic_category == ("md5",)


def test_what_mindspore_refuses_is_refused(dump: DumpEnvironment, file: Path, tmp_path: Path) -> None:
    with pytest.raises(DumpConfigError, match="saved_data"):
        dump.install(write(file, task="statistics"), DEVICES.get("cpu"))
    assert sorted(tmp_path.iterdir()) == [file]


def test_async_dump_kernel_by_kernel(dump: DumpEnvironment, file: Path) -> None:
    environ = write(file, async_dump=True, section={"list": ["Add"]})
    assert isinstance(dump.install(environ, DEVICES.get("ascend-o0")), OverlappedDumpObserver)


@pytest.mark.parametrize(("device", "kind"), [("ascend-o0", DumpObserver), ("ascend-o2", AsyncDumpObserver)])
def test_exceptions(device: str, kind: type, dump: DumpEnvironment, file: Path, tmp_path: Path) -> None:
    watcher = dump.install(write(file, task="exception_dump", step=[3]), DEVICES.get(device))
    assert type(watcher) is kind
    assert watcher.config.op_debug_mode == 4
    assert 0 in watcher.config.iteration
    handed = json.loads((tmp_path / "d" / "kernel_graph_exception_check.json").read_text())
    assert handed["common_dump_settings"]["op_debug_mode"] == 4
