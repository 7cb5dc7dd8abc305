"""What one process is told to record, and the hooks that are put into it and taken out again."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import harness
from harness.devices import DEVICES
from harness.dump import DumpObserver, parse
from harness.framework.runtime import session
from harness.rdr import environment
from harness.rdr.environment import RdrEnvironment
from harness.rdr.listing import artefacts
from tests.dump.build import config_text

CPU = DEVICES.get("cpu")


@pytest.fixture
def process() -> Iterator[RdrEnvironment]:
    made = RdrEnvironment()
    yield made
    made.forget()


def on(path: Path, mode: int = 2, **more: str) -> dict[str, str]:
    return {"MS_RDR_ENABLE": "1", "MS_RDR_MODE": str(mode), "MS_RDR_PATH": str(path), **more}


def test_the_answer_stays_until_it_is_forgotten(process: RdrEnvironment, tmp_path: Path) -> None:
    first = process.install(CPU, on(tmp_path))
    assert first is not None
    assert process.install(CPU, {}) is first
    process.forget()
    assert process.install(CPU, {}) is None
    assert process.install(CPU, on(tmp_path)) is None


@pytest.mark.parametrize("junk", ["\0", "\udc80", "9" * 5000, " "])
def test_no_value_raises(process: RdrEnvironment, junk: str) -> None:
    process.install(CPU, on(Path("/x"), MS_RDR_PATH=junk, MSDUMP_RDR_TRIGGERS=junk, RANK_ID=junk))
    process.forget()
    assert process.install(CPU, on(Path("/x"), MS_RDR_ENABLE=junk, MS_RDR_MODE=junk), junk) is None


def test_the_end_of_a_process(process: RdrEnvironment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    watcher = process.install(CPU, on(tmp_path))
    assert watcher is not None
    watcher.recorders.record("text", "OPTIMIZER", "a", "x")
    with monkeypatch.context() as patch:
        patch.setattr(sys, "last_type", KeyboardInterrupt, raising=False)
        process.at_exit(CPU)
        patch.setattr(sys, "last_type", ValueError, raising=False)
        patch.setattr("os.getpid", lambda: -1)
        process.at_exit(CPU)
    assert not artefacts(tmp_path)
    process.at_exit(CPU)
    process.at_exit(CPU)
    (found,) = artefacts(tmp_path)
    assert found.read() == b"x"


@pytest.fixture
def interruptible() -> Iterator[None]:
    """SIGINT is handled, as in a process that a shell did not start in the background (where it is ignored)."""
    former = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, former)


@pytest.mark.usefixtures("interruptible")
def test_hooks_and_handlers_are_put_back(process: RdrEnvironment, tmp_path: Path) -> None:
    signals = (signal.SIGTERM, signal.SIGINT, signal.SIGABRT)
    before = sys.excepthook, threading.excepthook, *map(signal.getsignal, signals)
    process.install(CPU, on(tmp_path, MSDUMP_RDR_TRIGGERS=" exceptions , signals "))
    during = sys.excepthook, threading.excepthook, *map(signal.getsignal, signals)
    assert all(a is not b for a, b in zip(before, during, strict=True))
    process.forget()
    assert (sys.excepthook, threading.excepthook, *map(signal.getsignal, signals)) == before


def test_a_hook_over_ours_stays(process: RdrEnvironment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[Any] = []
    monkeypatch.setattr(sys, "excepthook", lambda *arguments: shown.append(arguments))
    watcher = process.install(CPU, on(tmp_path, 1, MSDUMP_RDR_TRIGGERS="exceptions"))
    assert watcher is not None
    watcher.recorders.record("text", "OPTIMIZER", "a", "x")
    ours = sys.excepthook
    monkeypatch.setattr(sys, "excepthook", over := lambda *arguments: ours(*arguments))
    process.forget()
    assert sys.excepthook is over
    error = ValueError()
    sys.excepthook(ValueError, error, None)
    assert shown == [(ValueError, error, None)]
    assert not artefacts(tmp_path)  # without effect since it was forgotten


def test_an_exception_of_a_thread(process: RdrEnvironment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threading, "excepthook", lambda _: None)
    watcher = process.install(CPU, on(tmp_path, 1, MSDUMP_RDR_TRIGGERS="exceptions"))
    assert watcher is not None
    watcher.recorders.record("text", "OPTIMIZER", "a", "x")
    thread = threading.Thread(target=lambda: 1 / 0)
    thread.start()
    thread.join()
    assert len(artefacts(tmp_path)) == 1


def test_signals_can_be_watched_from_the_main_thread_only(
    process: RdrEnvironment, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    before = signal.getsignal(signal.SIGTERM)
    thread = threading.Thread(target=process.install, args=(CPU, on(tmp_path, MSDUMP_RDR_TRIGGERS="signals")))
    thread.start()
    thread.join()
    assert signal.getsignal(signal.SIGTERM) is before
    assert "outside the main thread" in caplog.text


@pytest.mark.parametrize("synchronous", [False, True])
def test_a_session_is_given_the_recorder_once_and_told_of_its_dump(
    synchronous: bool, process: RdrEnvironment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in on(tmp_path / "out").items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(environment, "PROCESS", process)
    dump = DumpObserver(parse(config_text(tmp_path / "dump", {"enable": synchronous, "trans_flag": True})))
    running = session.Session([dump])
    for _ in range(2):
        harness._recorder_from_environment(running)
    assert len(running.observers) == 2
    assert running.observers[1] is process.install(CPU)
    assert running.observers[1]._synchronous_dump is synchronous  # type: ignore[attr-defined]
