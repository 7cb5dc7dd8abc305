"""``MINDSPORE_DUMP_CONFIG``: read at the first compilation, frozen once read, read again after an error."""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
from pathlib import Path

import pytest

from harness.devices import DEVICES
from harness.dump import DumpObserver
from harness.dump.asynchronous.observer import AsyncDumpObserver
from harness.dump.asynchronous.overlapped import OverlappedDumpObserver
from harness.dump.environment import PROCESS, VARIABLE, DumpEnvironment, install
from harness.errors import DumpConfigError, UnsupportedError
from tests.dump.build import config, npy_files, one_op
from tests.subprocesses import ROOT


@pytest.fixture
def dump() -> DumpEnvironment:
    return DumpEnvironment()


def write_config(file: Path, tree: Path) -> dict[str, str]:
    file.write_bytes(config(tree).raw)
    return {VARIABLE: str(file)}


@pytest.mark.parametrize("environ", [{}, {VARIABLE: ""}])
def test_unset_is_no_dump_and_is_frozen(dump: DumpEnvironment, tmp_path: Path, environ: dict[str, str]) -> None:
    assert dump.install(environ) is None
    assert dump.install(write_config(tmp_path / "c.json", tmp_path / "t")) is None
    assert not (tmp_path / "t").exists()


def test_later_edits_change_nothing(dump: DumpEnvironment, tmp_path: Path) -> None:
    environ = write_config(tmp_path / "c.json", tmp_path / "first")
    observer = dump.install(environ)
    write_config(tmp_path / "c.json", tmp_path / "second")
    assert dump.install(environ) is observer
    assert dump.install({}) is observer
    dump.forget()
    assert (tmp_path / "first" / "rank_0" / ".dump_metadata" / "config.json").exists()
    assert not (tmp_path / "second").exists()


def test_an_error_is_raised_at_every_compilation_until_the_file_is_mended(
    dump: DumpEnvironment, tmp_path: Path
) -> None:
    file = tmp_path / "c.json"
    file.write_text("{")
    for _ in range(2):
        with pytest.raises(DumpConfigError):
            dump.install({VARIABLE: str(file)})
    assert sorted(tmp_path.iterdir()) == [file]
    assert dump.install(write_config(file, tmp_path / "t")) is not None
    dump.forget()


def test_the_path_comes_from_the_same_environment(dump: DumpEnvironment, tmp_path: Path) -> None:
    text = json.loads(config(tmp_path).raw)
    del text["common_dump_settings"]["path"]
    (tmp_path / "c.json").write_text(json.dumps(text))
    observer = dump.install({VARIABLE: str(tmp_path / "c.json"), "MS_DIAGNOSTIC_DATA_PATH": str(tmp_path / "diag")})
    assert observer is not None
    assert observer.config.path == str(tmp_path / "diag" / "debug_dump")
    dump.forget()


def test_a_user_s_counter_set_before_and_after(dump: DumpEnvironment, tmp_path: Path) -> None:
    dump.set_initial_iteration(5)
    dump.step(2)
    observer = dump.install(write_config(tmp_path / "c.json", tmp_path / "t"))
    assert observer is not None
    net = one_op()
    labels = []
    for _ in range(2):
        labels.append(observer.counter.label)
        net.run(observer)
        dump.step()
    dump.set_initial_iteration(100)
    labels.append(observer.counter.label)
    dump.forget()
    assert labels == [7, 8, 100]
    with pytest.raises(ValueError, match="not negative"):
        dump.set_initial_iteration(-1)


def test_a_step_without_a_user_s_counter_is_ignored_with_a_warning(
    dump: DumpEnvironment, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING, logger="harness"):
        dump.step(3)
        observer = dump.install(write_config(tmp_path / "c.json", tmp_path / "t"))
        dump.step(3)
    assert observer is not None
    assert observer.counter.label == 0
    dump.forget()
    assert caplog.text.count("a step of 3 is ignored") == 2


def test_install_is_that_of_the_process(tmp_path: Path) -> None:
    PROCESS.forget()
    try:
        observer = install(write_config(tmp_path / "c.json", tmp_path / "t"), ms_version="9.9")
        assert observer is not None
        assert install({}) is observer
        about = json.loads((tmp_path / "t" / "rank_0" / ".dump_metadata" / "config.json").read_text())
        assert about == {"device_target": "CPU", "ms_version": "9.9"}
    finally:
        PROCESS.forget()


SCRIPT = """
import os, sys
from pathlib import Path
from harness.dump import install
from tests.dump.build import one_op
observer = install()
net = one_op()
observer.graph_declared(net.graph)
net.run(observer)
"""


def test_a_process_reports_unused_entries_at_its_end(tmp_path: Path) -> None:
    (tmp_path / "c.json").write_bytes(config(tmp_path / "t", dump_mode=1, kernels=["Add", "Nowhere"]).raw)
    environ = os.environ | {VARIABLE: str(tmp_path / "c.json")}
    ran = subprocess.run([sys.executable, "-c", SCRIPT], env=environ, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    assert ran.stderr.count("'Nowhere' matched nothing") == 1
    assert ran.stderr.startswith("[WARNING] DEBUG(")
    assert "'Add'" not in ran.stderr
    assert npy_files(tmp_path)


def test_the_log_level_is_mindspore_s(tmp_path: Path) -> None:
    (tmp_path / "c.json").write_bytes(config(tmp_path / "t", dump_mode=1, kernels=["Nowhere"]).raw)
    environ = os.environ | {VARIABLE: str(tmp_path / "c.json"), "GLOG_v": "3"}
    ran = subprocess.run([sys.executable, "-c", SCRIPT], env=environ, capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stderr) == (0, "")


def ranked(tmp_path: Path, dump: DumpEnvironment, **variables: str) -> int:
    observer = dump.install(write_config(tmp_path / "c.json", tmp_path / "t") | variables)
    assert observer is not None
    rank = observer.rank
    dump.forget()
    return rank


def test_a_rank_counts_only_in_a_process_that_is_one_of_several(dump: DumpEnvironment, tmp_path: Path) -> None:
    assert ranked(tmp_path, dump, RANK_ID="3", DEVICE_ID="3", RANK_SIZE="8") == 0
    assert ranked(tmp_path, dump, RANK_ID="3", MSDUMP_DISTRIBUTED="1") == 3
    assert ranked(tmp_path, dump, MSDUMP_DISTRIBUTED="1") == 0
    assert (tmp_path / "t" / "rank_0" / ".dump_metadata").exists()
    for bad in ("-1", "x", "", "1" * 10):
        with pytest.raises(DumpConfigError, match="RANK_ID") as caught:
            ranked(tmp_path, dump, RANK_ID=bad, MSDUMP_DISTRIBUTED="1")
        assert caught.value.kind == "rank"


@pytest.mark.parametrize(("variables", "device_id", "dumps"), [
    ({}, 0, True), ({}, 5, False), ({"MSDUMP_DISTRIBUTED": "1", "DEVICE_ID": "5"}, 0, False),
    ({"MSDUMP_DISTRIBUTED": "1", "DEVICE_ID": "0"}, 5, True), ({"DEVICE_ID": "5"}, 0, True),
])  # fmt: skip
def test_support_device_asks_for_this_process_s_device(
    dump: DumpEnvironment, tmp_path: Path, variables: dict[str, str], device_id: int, dumps: bool
) -> None:
    environ = write_config(tmp_path / "c.json", tmp_path / "t") | variables
    assert (dump.install(environ, DEVICES.get("gpu"), device_id=device_id) is not None) == dumps
    dump.forget()
    assert (tmp_path / "t").exists() == dumps


def test_the_release_whose_rules_count(dump: DumpEnvironment, tmp_path: Path) -> None:
    text = json.loads(config(tmp_path / "t").raw)
    text["e2e_dump_settings"] = {"enable": False, "trans_flag": True}
    text["common_dump_settings"]["op_debug_mode"] = 0
    (tmp_path / "c.json").write_text(json.dumps(text))
    environ = {VARIABLE: str(tmp_path / "c.json")}
    assert dump.install(environ | {"MSDUMP_RELEASE": "1.7"}) is None
    dump.forget()
    assert dump.install(environ | {"MSDUMP_RELEASE": "2.2"}) is not None
    dump.forget()
    with pytest.raises(UnsupportedError, match="release 'soon'"):
        dump.install(environ | {"MSDUMP_RELEASE": "soon"})


@pytest.mark.parametrize(
    ("device", "enable", "op_debug", "kind"),
    [
        ("cpu", False, False, DumpObserver), ("gpu", False, False, DumpObserver),
        ("ascend-o0", True, False, DumpObserver), ("ascend-o1", False, False, OverlappedDumpObserver),
        ("ascend-o0", None, True, AsyncDumpObserver), ("ascend-o2", None, True, AsyncDumpObserver),
    ],
)  # fmt: skip
def test_each_device_gets_its_observer(
    dump: DumpEnvironment, tmp_path: Path, device: str, enable: bool | None, op_debug: bool, kind: type
) -> None:
    text = json.loads(config(tmp_path / "t").raw)
    del text["e2e_dump_settings"]
    if enable is not None:
        text["e2e_dump_settings"] = {"enable": enable}
    if op_debug:
        text["common_dump_settings"]["op_debug_mode"] = 0
    (tmp_path / "c.json").write_text(json.dumps(text))
    observer = dump.install({VARIABLE: str(tmp_path / "c.json")}, DEVICES.get(device))
    assert type(observer) is kind
    dump.forget()


def test_the_dynamic_switch(dump: DumpEnvironment, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, logger="harness"):
        dump.start_dump()
    assert "_dump_set_dynamic" in caplog.text
    dump.set_dynamic()
    observer = dump.install(write_config(tmp_path / "c.json", tmp_path / "t"), DEVICES.get("gpu"))
    assert isinstance(observer, DumpObserver)
    net = one_op()
    observer.graph_declared(net.graph)
    for turn in (None, dump.start_dump, None, dump.stop_dump):
        if turn is not None:
            turn()
        net.run(observer)
    dump.forget()
    assert {path.parent.name for path in npy_files(tmp_path)} == {"1", "2"}
    assert dump.install(write_config(tmp_path / "c.json", tmp_path / "u"), DEVICES.get("gpu")) is not None
    dump.forget()


@pytest.mark.long
def test_scripts_reach_the_switches_by_mindspore_s_own_names(tmp_path: Path) -> None:
    """As msprobe calls them; in a process of its own, as they are the process's."""
    environ = write_config(tmp_path / "c.json", tmp_path / "t")
    script = """
import numpy as np
from mindspore import Tensor, jit
from mindspore._c_expression import _dump_set_dynamic, _dump_start, _dump_step, _dump_stop, _set_init_iter

@jit
def double(x):
    return x + x

_set_init_iter(5)
_dump_set_dynamic()
_dump_start()
for _ in range(2):
    double(Tensor(np.ones(2, np.float32)))
    _dump_step(3)
_dump_stop()
"""
    (tmp_path / "s.py").write_text(script)
    done = subprocess.run(
        [sys.executable, "-m", "harness.cli", "run", str(tmp_path / "s.py")], env=os.environ | environ,
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert {path.parent.name for path in npy_files(tmp_path)} == {"5", "8"}


@pytest.mark.sampled(2)
@pytest.mark.parametrize("command", [["-m", "harness.cli", "run", "--backend", "ascend-o0"], []])
def test_a_disk_that_fails_at_the_very_end_fails_the_process(tmp_path: Path, command: list[str]) -> None:
    """What waits to be written when the script has ended; other functions that run at exit still run."""
    environ = write_config(tmp_path / "c.json", tmp_path / "t")
    text = json.loads((tmp_path / "c.json").read_text())
    text["e2e_dump_settings"] = {"enable": False}
    (tmp_path / "c.json").write_text(json.dumps(text))
    script = """
import atexit, resource, threading
import numpy as np
from harness import Tensor, backends, jit
from harness.dump.writer import Directory

write, ended = Directory.write, threading.Event()

def late(self, name, *rest):
    if name.endswith(".npy"):
        ended.wait(60)
    return write(self, name, *rest)

Directory.write = late
backends.stand_in("ascend-o0")
atexit.register(print, "bye")
resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, resource.RLIM_INFINITY))
jit(lambda x: x + x)(Tensor(np.ones((100, 100), np.float32)))
print("ended")
ended.set()
"""
    (tmp_path / "s.py").write_text(script)
    done = subprocess.run(
        [sys.executable, *command, str(tmp_path / "s.py")], env=os.environ | environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (1, "ended\nbye\n"), done.stderr
    (line,) = done.stderr.splitlines()
    assert line.startswith("harness.errors.DumpWriteError: [Errno 27] a dump file could not be written")
    assert npy_files(tmp_path) == []
