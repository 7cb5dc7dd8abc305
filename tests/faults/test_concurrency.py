"""Sixteen processes on one directory of goldens: nothing is lost, and every reader finds whole stores."""

from __future__ import annotations

import errno
import fcntl
import os
import sys
import traceback
from collections.abc import Callable
from pathlib import Path

import pytest

from harness import atomic
from harness.store import GoldenStore, RunId, Transaction, change_one, manifest, recover, update
from harness.store.verify import verify
from tests.store.helpers import CPU, run_data

pytestmark = [pytest.mark.faults, pytest.mark.deep]

STORES = tuple(f"{folder}/{name}.h5" for folder in ("a", "b") for name in ("x", "y"))
#: No outcome hangs on speed: whoever waits for a lock waits for others' work, however slow.
PATIENCE = 3000.0


@pytest.fixture
def golden(tmp_path: Path) -> Path:
    """Four stores in two directories, with manifests."""
    folder = tmp_path / "golden"
    for name in STORES:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        update(folder / name, name, {CPU: run_data()})
    manifest.rebuild(folder)
    return folder


def together(works: list[Callable[[], None]]) -> None:
    """Runs each in a process of its own, all at once; what one raises is this test's failure."""
    children = []
    for work in works:
        child = os.fork()
        if child == 0:
            try:
                work()
            except BaseException:
                traceback.print_exc()
                sys.stderr.flush()
                os._exit(1)
            os._exit(0)
        children.append(child)
    assert [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children] == [0] * len(children)


def writer(golden: Path, number: int, rounds: int) -> None:
    """A run of its own in each store; each time all stores change together."""
    for round_ in range(rounds):
        with Transaction(golden, timeout=PATIENCE) as change:
            for name in STORES:
                change.update(name, name, {RunId(f"w{number}", "tensor"): run_data(round_)})
            change.commit()


def importer(golden: Path, number: int, rounds: int) -> None:
    """One run of one store."""
    for round_ in range(rounds):
        change_one(golden / STORES[number % 4], STORES[number % 4], {RunId(f"i{number}", "tensor"): run_data(round_)})


def reader(golden: Path, rounds: int) -> None:
    """Every store is whole, whenever it is opened."""
    for _ in range(rounds):
        for name in STORES:
            with GoldenStore.open(golden / name) as store:
                assert store.verify() == []
                assert CPU in store.runs()


def gate(golden: Path, rounds: int) -> None:
    """What a session does before and after its tests."""
    for _ in range(rounds):
        recover(golden)
        assert set(manifest.read(golden, STORES)["stores"]) == set(STORES)


@pytest.mark.parametrize("locks", [True, False], ids=["flock", "no flock"])
def test_sixteen_at_once(golden: Path, locks: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if not locks:

        def flock(*_: object) -> None:
            raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

        monkeypatch.setattr(atomic, "flock", flock)
        monkeypatch.setattr(fcntl, "flock", flock)
    monkeypatch.setattr("harness.store.transaction.writer_lock", patient(atomic.writer_lock))
    works: list[Callable[[], None]] = []
    for number in range(4):
        works += [
            lambda number=number: writer(golden, number, 6),
            lambda number=number: importer(golden, number, 6),
            lambda: reader(golden, 25),
            lambda: gate(golden, 25),
        ]
    together(works)
    assert verify(golden).problems == []
    for at, name in enumerate(STORES):
        with GoldenStore.open(golden / name) as store:
            assert set(store.runs()) == {CPU, RunId(f"i{at}", "tensor"), *(RunId(f"w{n}", "tensor") for n in range(4))}
            for run in store.runs():
                if run != CPU:
                    assert store.run(*run).checksum == last(golden.parent)
    assert not [path.name for path in golden.rglob(".*")]


def patient(lock: Callable[..., object]) -> Callable[..., object]:
    def taken(path: Path, timeout: float = PATIENCE) -> object:
        return lock(path, timeout if timeout == 0 else PATIENCE)

    return taken


def last(folder: Path) -> str:
    """The checksum of a run as its writer wrote it last."""
    update(folder / "last.h5", "net", {CPU: run_data(5)})
    with GoldenStore.open(folder / "last.h5") as store:
        return store.run(*CPU).checksum
