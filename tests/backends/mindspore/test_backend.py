"""The backend without pytest, under a stand-in for the package."""

from __future__ import annotations

import importlib.util
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness import backends
from harness.backends.calls import Call, Opening
from harness.backends.mindspore import Mindspore
from harness.backends.mindspore.folders import project_paths
from harness.backends.mindspore.installed import Installed, find
from harness.cli import main
from harness.errors import BackendError, UnsupportedError
from tests.backends import fake

SOURCE = """
import os, subprocess, time
from harness import nn

GLOBAL = object()


class Net(nn.Cell):
    def construct(self, x):
        return x


def play():
    Net()(1)


def fails():
    raise ValueError("not like this")


def waits(msdump):
    msdump.run(Net(), 1)
    print(os.getpid(), flush=True)
    time.sleep(float(os.environ.get("NAP", "0")))


def leaves(msdump):
    msdump.run(Net(), 1)
    print(subprocess.Popen(["sleep", "1000"], start_new_session=True).pid, flush=True)
    os.kill(os.getppid(), 9)
    time.sleep(100)


def records(msdump):
    msdump.run(Net(), 1)
    print("mode", os.environ["MS_RDR_MODE"], "dumps", "MINDSPORE_DUMP_CONFIG" in os.environ)
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("backend")
    (folder / "programs.py").write_text(SOURCE)
    return folder


@pytest.fixture(scope="module")
def backend(folder: Path) -> Iterator[Mindspore]:
    found = Mindspore()
    found.configure(str(fake.make(folder / "fake", version="2.7.0")), timeout=600, jobs=3)
    yield found
    found.close()


def call(folder: Path, name: str) -> Call:
    return Call(str(folder / "programs.py"), "programs", (name,), fixture="msdump")


def test_what_it_says_of_itself(backend: Mindspore) -> None:
    found = backend.installed()
    assert (found.version, found.release, found.device, found.records) == ("2.7.0", (2, 7, 0), "cpu", True)
    assert (backend.emulated, backend.compiles, backend.modes, backend.available()) == (
        False,
        False,
        ("tensor",),
        None,
    )
    assert backend.refusal("statistic") == "saved_data statistic is for GPU and Ascend only"
    with pytest.raises(UnsupportedError, match="no dump mode 'full'"), backend.open(network="net", mode="full"):
        pass


@pytest.mark.parametrize(
    ("version", "records"), [("2.7", True), ("2.7.0rc1", True), ("2.7.1", False), ("3.0.0", False)]
)
def test_the_last_release_with_the_recorder(version: str, records: bool) -> None:
    assert Installed("python", version, "cpu").records is records


@pytest.mark.parametrize("given", ["no-such-python", "true"])
def test_what_is_no_python(given: str, monkeypatch: pytest.MonkeyPatch) -> None:
    answers = [find(given)]
    monkeypatch.setenv("MSDUMP_MINDSPORE", given)
    answers.append(find())
    for answer in answers:
        assert isinstance(answer, str)
        assert "--msdump-mindspore=PYTHON, or MSDUMP_MINDSPORE=PYTHON" in answer
        assert "\n" not in answer


def test_functions_of_modules_are_captured(backend: Mindspore, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.setitem(sys.modules, "programs", programs := _imported(folder))
    capture = backend.run(programs.play, network="net")
    assert (capture.network, capture.backend, capture.mode, capture.emulated) == ("net", "mindspore", "tensor", False)
    assert capture.rules["python"] == ".".join(map(str, sys.version_info[:3]))
    records = list(capture.records())
    assert len(records) == 48
    assert all(record.load() is not None for record in records)
    with pytest.raises(BackendError, match=r"net failed:\n(?s:.*)ValueError: not like this"):
        backend.run(programs.fails, network="net")
    with pytest.raises(UnsupportedError, match="runs only functions of modules"):
        backend.run(lambda: None, network="net")


def _imported(folder: Path):
    spec = importlib.util.spec_from_file_location("programs", folder / "programs.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_programs_of_this_process_are_refused(backend: Mindspore) -> None:
    refused = pytest.raises(UnsupportedError, match="runs only functions of modules")
    with backend.open(network="net") as process, refused:
        process.execute(lambda: None)
    with pytest.raises(UnsupportedError, match="mindspore cannot run a script here: it runs programs in a pro"):
        backends.stand_in("mindspore")


def test_a_script_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    script = tmp_path / "script.py"
    script.write_text("")
    assert main(["run", "--backend", "mindspore", str(script)]) == 2
    assert (
        "backend mindspore cannot run a script here: it runs programs in a process of its own"
        in capsys.readouterr().err
    )


def test_each_mode_of_the_recorder_has_a_process_and_one_dumps(backend: Mindspore, folder: Path) -> None:
    with backend.open(network="net", rdr=True) as process:
        outcome = process.call(call(folder, "records"))
        assert (outcome.kind, outcome.programs, outcome.output) == ("passed", 1, "mode 2 dumps True\n")
        outputs = sorted(path.read_text() for path in process.tree.parent.glob("call-*/output.txt"))
        assert outputs == ["mode 1 dumps False\n", "mode 2 dumps True\n"]
        capture = process.capture()
        assert len(list(capture.records())) == 48
        assert [name for name in capture.artefacts if name.startswith("rdr/")] == [
            "rdr/2/SESSION.graph_exec_order.0.txt"
        ]


@pytest.mark.long
def test_what_is_played_ahead_is_taken_over(backend: Mindspore, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    waits = call(folder, "waits")
    backend.call_ahead((Opening(name, "tensor", None, False), waits) for name in "abc")
    with backend.open(network="a") as first, backend.open(network="c") as third:
        a, c = first.call(waits), third.call(waits)
        assert [len(list(each.capture().records())) for each in (first, third)] == [48, 48]
    # Something it depends on is another now: what was run does not count.
    monkeypatch.setenv("NAP", "0.01")
    with backend.open(network="b") as second:
        b = second.call(waits)
    assert len({a.output, b.output, c.output}) == 3
    assert backend.drop_ahead() == 0


#: one program ends the worker; the other goes on until that has happened, and is done at once where it has before
KILLER = """

def kills(msdump):
    open(os.environ["KILLED"], "w").close()
    os.kill(os.getppid(), 9)
    time.sleep(1000)


def outlives(msdump):
    parent, before = os.getppid(), os.path.exists(os.environ["KILLED"])
    while not before and os.getppid() == parent:
        time.sleep(0.01)
"""


def test_what_is_played_ahead_and_ends_the_worker_is_nobody_s_fault(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "programs.py").write_text(SOURCE + KILLER)
    backend = Mindspore()
    backend.configure(str(fake.make(tmp_path / "fake")), timeout=600, jobs=2)
    monkeypatch.setenv("KILLED", str(tmp_path / "killed"))
    try:
        with backend.open(network="good") as process:
            process.begin(waits := call(tmp_path, "outlives"))
            backend.call_ahead([(Opening("bad", "tensor", None, False), call(tmp_path, "kills"))])
            assert process.call(waits).kind == "passed"
        with backend.open(network="bad") as process, pytest.raises(BackendError, match=r"ended .SIGKILL."):
            process.call(call(tmp_path, "kills"))
    finally:
        backend.close()


def test_nothing_is_left(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setenv("NAP", "1000")
    backend = Mindspore()
    backend.configure(str(fake.make(folder / "other")), timeout=600, jobs=3)
    backend.call_ahead((Opening(name, "tensor", None, False), call(folder, "waits")) for name in "ab")
    pids = [path.read_text().strip() for path in _written(tmp_path)]
    backend.close()
    assert list(tmp_path.iterdir()) == []
    assert len(pids) == 2
    assert not [pid for pid in pids if Path("/proc", pid).exists()]


@pytest.mark.long
def test_what_a_killed_worker_looked_after_is_ended(folder: Path, tmp_path: Path) -> None:
    backend = Mindspore()
    backend.configure(str(fake.make(tmp_path / "fake")), timeout=600)
    try:
        with backend.open(network="net") as process:
            with pytest.raises(BackendError, match=r"ended .SIGKILL."):
                process.call(call(folder, "leaves"))
            (output,) = process.tree.parent.glob("call-*/output.txt")
            left = Path("/proc", output.read_text().strip())
            for _ in range(12000):
                if not left.exists():
                    break
                time.sleep(0.05)
            assert not left.exists() or "Z" in (left / "stat").read_text()
    finally:
        backend.close()


def _written(folder: Path) -> list[Path]:
    for _ in range(12000):
        found = [path for path in folder.glob("*/*/call-*/output.txt") if path.read_text()]
        if len(found) == 2:
            break
        time.sleep(0.05)
    return found


@pytest.mark.parametrize("name", ["odd name", "a.b"])
def test_paths_mindspore_would_not_dump_to(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    odd = tmp_path / name
    odd.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(odd))
    backend = Mindspore()
    backend.configure(str(fake.make(folder / name)))
    with pytest.raises(UnsupportedError, match="set TMPDIR to one"), backend.open(network="net"):
        pass
    backend.close()
    assert list(odd.iterdir()) == []


@pytest.mark.long
def test_paths_of_the_project_are_not_those_of_the_interpreter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    found = project_paths()
    assert str(tmp_path) in found
    assert not [path for path in found if "site-packages" in path or path == os.path.dirname(os.__file__)]
