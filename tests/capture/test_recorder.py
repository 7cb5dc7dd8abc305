"""The recorder's files as goldens hold them: equal for every run of one program, wherever and whenever it ran."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from harness import backends, nn, ops
from harness.capture import Capture
from harness.capture.recorder import RecorderCapture, normalised, read_recorder, readable
from harness.devices import DEVICES
from harness.errors import KernelError
from harness.framework.runtime import session
from harness.graph import pb
from harness.rdr import RdrConfig, RdrObserver
from harness.rdr.observer import ACTIONS
from harness.testing import inject
from tests.framework.compile.build import floats, graph_mode

EMULATED = ("cpu", "gpu", "ascend-o0", "ascend-o1", "ascend-o2")
X = floats(2, 3)
COMPILED = {
    *(f"PIPELINE.{at:02d}_{action}.ir" for at, action in enumerate(ACTIONS)),
    *(f"SESSION.{name}" for name in ("graph_build.0.ir", "graph_build.0.pb", "graph_exec_order.0.txt")),
}
MEMORY = "RUNTIME_FRAMEWORK.mem_address_list.txt"


class Net(nn.Cell):
    def construct(self, x: Any) -> Any:
        return ops.exp(ops.matmul(ops.sin(x), ops.cos(x.T)))


def captured(backend: str, steps: int = 2, fails: bool = False, rootdir: str | None = None) -> Capture:
    with graph_mode(), backends.get(backend).open(network="net", rootdir=rootdir, rdr=True) as process:
        net = Net()
        process.execute(lambda: [net(X) for _ in range(steps)])
        if fails:
            with pytest.raises(KernelError), inject("Cos", session=process.session):  # type: ignore[attr-defined]
                process.execute(lambda: net(X))
        return process.capture()


def of_mode(capture: Capture, mode: int) -> dict[str, bytes]:
    prefix = f"rdr/{mode}/"
    return {name.removeprefix(prefix): raw for name, raw in capture.artefacts.items() if name.startswith(prefix)}


@pytest.mark.parametrize("backend", EMULATED)
def test_both_modes_of_a_run_that_ends_well(backend: str) -> None:
    capture = captured(backend)
    assert of_mode(capture, 1) == {}
    found = of_mode(capture, 2)
    assert {*COMPILED, MEMORY} <= set(found)
    assert (set(found) == {*COMPILED, MEMORY}) is (not backend.startswith("ascend"))
    again = captured(backend)
    assert of_mode(again, 2) == found


@pytest.mark.parametrize("backend", EMULATED)
def test_both_modes_of_a_run_that_fails(backend: str) -> None:
    capture = captured(backend, fails=True)
    assert {*COMPILED, MEMORY} <= set(of_mode(capture, 1))
    well = of_mode(captured(backend), 2)
    assert set(of_mode(capture, 2)) == set(well)  # what was exported is not exported again


def test_a_capture_without_the_recorder_has_nothing_of_it() -> None:
    with graph_mode():
        capture = backends.get("cpu").run(lambda: Net()(X), network="net")
    assert not any(name.startswith("rdr/") for name in capture.artefacts)


def test_a_capture_is_the_end_of_the_recording_and_can_be_asked_for_twice() -> None:
    with graph_mode(), backends.get("cpu").open(network="net", rdr=True) as process:
        process.execute(lambda: Net()(X))
        first = process.capture()
        assert MEMORY in of_mode(first, 2)
        assert process.capture().artefacts == first.artefacts


def test_a_capture_keeps_in_memory_what_a_recorder_writes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    net = Net()
    recorder = RecorderCapture(DEVICES.get("cpu"), None)
    with graph_mode(), session.fresh(recorder.observers):
        net(X)
    kept = recorder.artefacts()
    recorder.close()
    assert list(tmp_path.iterdir()) == []
    record(tmp_path / "written", net=net)
    written = read_recorder(tmp_path / "written", str(tmp_path))
    assert written == {name.removeprefix("rdr/2/"): text for name, text in kept.items() if name.startswith("rdr/2/")}
    assert len(written) > 20


def record(folder: Path, clock: str = "20260101120000", rank: int = 0, net: Net | None = None) -> None:
    with graph_mode(), session.fresh([RdrObserver(RdrConfig(True, 2, f"{folder}/"), rank=rank, clock=lambda: clock)]):
        (net or Net())(X)


def test_time_and_place_leave_no_trace(tmp_path: Path) -> None:
    record(tmp_path / "one")
    record(tmp_path / "two", "20261231235959")
    one, two = read_recorder(tmp_path / "one"), read_recorder(tmp_path / "two" / "rank_0" / "rdr")
    assert set(one) == {*COMPILED, MEMORY}
    assert one == two
    assert not any(str(Path(__file__).parent).encode() in raw for raw in one.values())
    assert b"In file tests/capture/test_recorder.py/" in one["SESSION.graph_build.0.ir"]
    assert b"In file tests/capture/test_recorder.py/" in one["SESSION.graph_build.0.pb"]


def test_several_of_one_name_keep_their_order(tmp_path: Path) -> None:
    record(tmp_path, "20260101120000")
    record(tmp_path, "20260101120005")
    found = read_recorder(tmp_path)
    twice = {name.replace(".ir", "@1.ir").replace(".pb", "@1.pb").replace(".txt", "@1.txt") for name in COMPILED}
    assert set(found) == {*COMPILED, *twice, MEMORY, MEMORY.replace(".txt", "@1.txt")}


def test_ranks_after_the_first_are_named(tmp_path: Path) -> None:
    record(tmp_path)
    record(tmp_path, rank=3)
    found = read_recorder(tmp_path)
    assert {name for name in found if not name.startswith("rank3/")} == {*COMPILED, MEMORY}
    assert {name for name in found if name.startswith("rank3/")} == {f"rank3/{name}" for name in (*COMPILED, MEMORY)}


def test_the_configured_path_may_have_the_name_of_the_directories_in_it(tmp_path: Path) -> None:
    record(tmp_path / "rdr")
    for folder in (tmp_path / "rdr", tmp_path / "rdr" / "rank_0", tmp_path / "rdr" / "rank_0" / "rdr"):
        assert set(read_recorder(folder)) == {*COMPILED, MEMORY}


def test_pointers_of_the_real_one_go_too() -> None:
    text = b"subgraph instance: kernel_graph0 : 0x55d0c0ffee00\n      # In file /a/b/net.py:3~4, 5~6/x = 1/\n"
    assert normalised("ir", text, "/a/b") == (
        b"subgraph instance: kernel_graph0 : 0x0\n      # In file net.py/x = 1/\n"
    )


@pytest.mark.parametrize("extension", ["ir", "pb", "txt", "json"])
def test_bytes_that_are_none_of_it_stay(extension: str) -> None:
    raw = b"\xff\x00\x07 no text"
    assert normalised(extension, raw, "/") == raw
    assert readable(f"a.{extension}", raw) == raw


def test_a_graph_is_made_readable(tmp_path: Path) -> None:
    record(tmp_path)
    raw = read_recorder(tmp_path)["SESSION.graph_build.0.pb"]
    assert [node.full_name for node in pb.read(raw).graph.node]
    assert b'full_name: "Default/Sin-op0"' in readable("x.pb", raw)


def test_an_empty_or_missing_directory_holds_nothing(tmp_path: Path) -> None:
    assert read_recorder(tmp_path) == {}
    assert read_recorder(tmp_path / "nowhere") == {}
    record(tmp_path)
    os.chmod(tmp_path / "rank_0" / "rdr", 0o700)
    shutil.rmtree(tmp_path / "rank_0" / "rdr")
    assert read_recorder(tmp_path) == {}
