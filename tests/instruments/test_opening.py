"""Recordings opened as the environment asks: several ways to write, threads, engines, ranks and forked processes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from harness import instruments
from harness.capture import read_tree
from harness.devices import DEVICES
from harness.errors import DumpConfigError, RecordingError, UnknownNameError
from harness.recording import Engine, Recording, Want, World
from harness.store import GoldenStore
from tests.instruments.rough import MODES, Rough, asking, device_of, wrong


@pytest.mark.parametrize("eager", [False, True], ids=["compiled", "eager"])
@pytest.mark.parametrize("mode", MODES)
def test_reused_buffers_and_threads(mode: str, eager: bool, tmp_path: Path) -> None:
    with instruments.open(device_of(mode), engine="rough 1", environ=asking(mode, tmp_path / "dump")) as recording:
        runtime = Rough(recording, count=12, eager=eager)
        runtime.run(3)
    assert len(runtime.truth) == 72
    assert wrong(tmp_path / "dump", runtime.truth) == []


@pytest.mark.parametrize("mode", MODES)
def test_two_engines_below_one_path(mode: str, tmp_path: Path) -> None:
    environ = asking(mode, tmp_path / "dump")
    with (
        instruments.open(device_of(mode), engine="first 1", environ=environ) as one,
        instruments.open(device_of(mode), engine="second 2", environ=environ) as other,
    ):
        assert not {id(each) for each in one.observers} & {id(each) for each in other.observers}
        runtimes = [Rough(one, seed=1), Rough(other, seed=2)]
        assert runtimes[0]._graph.id != runtimes[1]._graph.id
        if mode == "msprobe":  # one directory for each step
            return
        for runtime in runtimes:
            runtime.run(2)
    records = list(read_tree(tmp_path / "dump").records())
    assert len(records) == 64
    assert len({(record.key.graph, record.key.iteration) for record in records}) == 4


def test_a_path_of_its_own_for_each_of_two_engines(tmp_path: Path) -> None:
    opened = [
        instruments.open("cpu", engine=f"engine{at} 1", environ=asking("synchronous", tmp_path / f"dump{at}"))
        for at in range(2)
    ]
    runtimes = [Rough(recording, seed=at) for at, recording in enumerate(opened)]
    for _ in range(2):
        for runtime in runtimes:
            runtime.run()
    for at, (recording, runtime) in enumerate(zip(opened, runtimes, strict=True)):
        recording.close()
        assert wrong(tmp_path / f"dump{at}", runtime.truth) == []
        assert read_tree(tmp_path / f"dump{at}").backend == f"engine{at}"


@pytest.mark.parametrize("mode", MODES)
def test_ranks_of_one_process(mode: str, tmp_path: Path) -> None:
    with instruments.open(device_of(mode), engine="rough 1", environ=asking(mode, tmp_path / "dump")) as recording:
        ranks = [recording.child(rank, 3) for rank in (1, 2)]
        runtimes = {rank.world.rank: Rough(rank, seed=rank.world.rank) for rank in ranks}
        for runtime in runtimes.values():
            runtime.run(2)
        for rank in ranks:
            rank.close()
    for rank, runtime in runtimes.items():  # type: ignore[assignment]
        assert wrong(tmp_path / "dump", runtime.truth, int(str(rank))) == []


def forked(run: Callable[[], None]) -> int:
    """The exit code of a child that calls ``run``."""
    child = os.fork()
    if child == 0:
        try:
            run()
        except BaseException:
            os._exit(1)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


@pytest.mark.parametrize("mode", MODES)
def test_a_forked_child_writes_nothing_of_its_parents(
    mode: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with instruments.open(device_of(mode), engine="rough 1", environ=asking(mode, tmp_path / "dump")) as recording:
        runtime = Rough(recording, threads=1)
        runtime.run()

        def child() -> None:
            assert recording.is_forked
            lost = Rough(recording, threads=1, seed=9)
            lost.run(2)
            assert caplog.text.count("nothing is recorded here") == 1
            with recording.child(1) as own:
                kept = Rough(own, threads=1, seed=5)
                kept.run(2)
            assert wrong(tmp_path / "dump", kept.truth, 1) == []

        assert forked(child) == 0
        runtime.run()
    assert wrong(tmp_path / "dump", runtime.truth, 0) == []


def test_a_failure_is_recorded(tmp_path: Path) -> None:
    environ = {"MS_RDR_ENABLE": "1", "MS_RDR_MODE": "1", "MS_RDR_PATH": str(tmp_path)}
    with instruments.open("cpu", engine="tiny 1", environ=environ) as recording:
        graph = recording.eager()

        def run() -> None:
            with recording.step(graph) as step, step.launch(graph.operator("Div", "Default/a"), [np.ones(2)]):
                raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            run()
    names = sorted(path.name.split(".2")[0] for path in tmp_path.rglob("*.*"))
    assert names == [
        "RUNTIME_FRAMEWORK.mem_address_list", "SESSION.graph_build.0", "SESSION.graph_build.0",
        "SESSION.graph_exec_order.0",
    ]  # fmt: skip
    (addresses,) = tmp_path.rglob("*mem_address_list*")
    assert addresses.read_text().startswith("Default/a/Div-op0")


def test_a_compiled_engine_has_its_stages_recorded(tmp_path: Path) -> None:
    environ = {"MS_RDR_ENABLE": "1", "MS_RDR_MODE": "2", "MS_RDR_PATH": str(tmp_path)}
    recording = instruments.open("cpu", engine="tiny 1", environ=environ)
    with recording, recording.compiling("net", ["x"]) as compiling:
        compiling.stage("lowered", "a text of mine")
        compiling.stage("traced", "like MindSpore's")
    texts = {path.name: path.read_text() for path in tmp_path.rglob("*.ir")}
    assert any("01_lowered" in name for name in texts)
    assert any("a text of mine" in text for text in texts.values())
    assert any("00_bootstrap" in name for name in texts)


def test_a_store(tmp_path: Path) -> None:
    golden = tmp_path / "net.h5"
    with instruments.open("cpu", engine="tiny 1.2", environ={"MSDUMP_CAPTURE": str(golden)}) as recording:
        runtime = Rough(recording, threads=1)
        runtime.run(2)
    with GoldenStore.open(golden) as store:
        (run,) = store.runs()
        assert (run.backend, run.mode) == ("tiny", "tensor")
        values = {(r.key.iteration, r.key.operator, r.key.slot_name): r.load() for r in store.run(*run).records()}
    assert values.keys() == runtime.truth.keys()
    assert all(np.array_equal(values[key], runtime.truth[key]) for key in values)


def test_the_engine_is_read_back(tmp_path: Path) -> None:
    for at, engine in enumerate([Engine("tiny", "1.0"), Engine("chip", "2", emulated=True)]):
        path = tmp_path / str(at)
        path.mkdir()
        with instruments.open("cpu", engine=engine, environ=asking("synchronous", path / "dump")) as recording:
            Rough(recording, threads=1).run()
        read = read_tree(path / "dump")
        assert (read.backend, read.emulated, read.rules["engine"]) == (engine.name, engine.emulated, str(engine))
        for meta in (path / "dump").rglob("config.json"):
            meta.chmod(0o600)
            meta.unlink()
        read = read_tree(path / "dump")  # the graphs say it, too
        assert (read.backend, read.emulated) == (engine.name, engine.emulated)


def test_a_device_without_rules_of_its_own(tmp_path: Path) -> None:
    from dataclasses import replace

    device = replace(DEVICES.get("cpu"), name="my-npu")
    with instruments.open(device, engine="tiny 1", environ=asking("synchronous", tmp_path / "dump")) as recording:
        runtime = Rough(recording, threads=1)
        runtime.run()
    assert wrong(tmp_path / "dump", runtime.truth) == []


def test_nothing_is_asked_for() -> None:
    with instruments.open("cpu", engine="tiny", environ={}) as recording:
        Rough(recording).run()
        assert recording.wants(recording.eager().operator("Add"), "input", 0) is Want.NOTHING


def test_the_framework_is_not_loaded(tmp_path: Path) -> None:
    text = """
        import sys
        import numpy as np
        import harness
        from harness import instruments

        with instruments.open("cpu", engine="tiny 1") as recording:
            graph = recording.eager()
            with recording.step(graph) as step:
                with step.launch(graph.operator("Add"), [np.ones(2)]) as launch:
                    launch.done(np.ones(2))
        print([name for name in sys.modules if name.startswith("harness.framework")])
    """
    environ = {
        **os.environ, **asking("synchronous", tmp_path / "dump"),
        "MS_RDR_ENABLE": "1", "MS_RDR_MODE": "2", "MS_RDR_PATH": str(tmp_path / "rdr"),
    }  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(text)], capture_output=True, text=True, env=environ, check=True
    )
    assert done.stdout == "[]\n"
    assert len(list((tmp_path / "dump").rglob("*.npy"))) == 2


@pytest.mark.parametrize(
    ("arguments", "error", "says"),
    [
        ({"device": "cpuu"}, UnknownNameError, "cpu"),
        ({"engine": ""}, RecordingError, "name and version"),
        ({"engine": 3}, RecordingError, "name and version"),
        ({"device": 3}, RecordingError, "a device is named"),
        ({"environ": [1]}, RecordingError, "a dict by name"),
        ({"world": (0, 1)}, RecordingError, "belongs to a World"),
        ({"observers": 7}, RecordingError, "a list of Observers"),
        ({"observers": [3]}, RecordingError, "a subclass of Observer"),
        ({"environ": {"MINDSPORE_DUMP_CONFIG": "/nowhere/x.json"}}, DumpConfigError, "nowhere"),
        ({"environ": {"MSDUMP_CAPTURE": "/nowhere/x.h5"}}, RecordingError, "a directory that exists"),
        ({"environ": {"MSDUMP_CAPTURE": "x.npz"}}, RecordingError, "ends in .h5"),
        ({"environ": {"MSDUMP_DISTRIBUTED": "1", "RANK_ID": "one"}}, DumpConfigError, "RANK_ID"),
        ({"environ": {"MSDUMP_DISTRIBUTED": "1", "RANK_ID": "3", "RANK_SIZE": "2"}}, RecordingError, "rank 3 of 2"),
    ],
    ids=str,
)
def test_bad_input(arguments: dict[str, object], error: type[Exception], says: str) -> None:
    given: dict[str, object] = {"device": "cpu", "engine": "tiny 1", "environ": {}} | arguments
    with pytest.raises(error, match=says):
        instruments.open(given.pop("device"), **given)  # type: ignore[arg-type]


def test_what_is_open_is_closed_at_the_end_of_the_process(tmp_path: Path) -> None:
    text = """
        import numpy as np
        from harness import instruments

        recording = instruments.open("cpu", engine="tiny 1")
        graph = recording.eager()
        with recording.step(graph) as step:
            with step.launch(graph.operator("Add"), [np.ones(2)]) as launch:
                launch.done(np.ones(2))
    """
    environ = {**os.environ, "MSDUMP_CAPTURE": str(tmp_path / "net.h5")}
    subprocess.run([sys.executable, "-c", textwrap.dedent(text)], env=environ, check=True)
    with GoldenStore.open(tmp_path / "net.h5") as store:
        assert len(list(store.run(*store.runs()[0]).records())) == 2


def test_children_of_a_recording_made_by_hand() -> None:
    with pytest.raises(RecordingError, match="a rank"):
        World(2, 2)
    with instruments.open("cpu", engine="tiny", environ={}) as recording, pytest.raises(RecordingError, match="child"):
        recording.child(0)
    assert Recording("tiny 1").engine == Engine("tiny", "1")


def test_ranks_of_the_environment(tmp_path: Path) -> None:
    environ = asking("synchronous", tmp_path / "dump") | {"MSDUMP_DISTRIBUTED": "1", "RANK_ID": "1", "RANK_SIZE": "4"}
    with instruments.open("cpu", engine="tiny 1", environ=environ) as recording:
        assert (recording.world.rank, recording.world.size) == (1, 4)
        runtime = Rough(recording, threads=1)
        runtime.run()
    assert wrong(tmp_path / "dump", runtime.truth, 1) == []
    assert json.loads((tmp_path / "dump.json").read_text())
