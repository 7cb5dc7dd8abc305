"""One writer at a time, and no lock file afterwards."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from filelock import FileLock, Timeout

from harness import atomic
from harness.atomic import lock_path, writer_lock
from harness.errors import LockError, StoreWriteError
from harness.store import RunData, update
from tests.store.helpers import CPU, contents, network


def test_second_writer_waits_and_says_for_what(tmp_path: Path) -> None:
    path = tmp_path / "x.h5"
    with writer_lock(path), pytest.raises(LockError, match=r"x\.h5: another process has been writing .* 0\.05 s"):
        update(path, "net", {CPU: RunData(network())}, timeout=0.05)
    assert not path.exists()
    update(path, "net", {CPU: RunData(network())}, timeout=0.05)
    assert sorted(tmp_path.iterdir()) == [path]


def test_the_lock_is_released_and_removed_after_an_error(tmp_path: Path) -> None:
    path = tmp_path / "x.h5"
    with pytest.raises(KeyboardInterrupt), writer_lock(path):
        raise KeyboardInterrupt
    assert list(tmp_path.iterdir()) == []
    with writer_lock(path, timeout=0.05):
        assert lock_path(path).exists()


def test_a_left_over_lock_file_stops_nobody(tmp_path: Path) -> None:
    path = tmp_path / "x.h5"
    lock_path(path).touch()
    update(path, "net", {CPU: RunData(network())}, timeout=0.05)
    assert sorted(tmp_path.iterdir()) == [path]


def test_writers_never_overlap(tmp_path: Path) -> None:
    path, inside, most = tmp_path / "x.h5", [], []

    def work(number: int) -> None:
        for _ in range(10):
            with writer_lock(path):
                inside.append(number)
                most.append(len(inside))
                inside.remove(number)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert max(most) == 1
    assert len(most) == 40


def test_concurrent_updates_of_different_runs_are_all_kept(tmp_path: Path) -> None:
    path = tmp_path / "x.h5"
    runs = [CPU._replace(backend=f"b{number}") for number in range(4)]
    threads = [
        threading.Thread(target=update, args=(path, "net", {run: RunData(network(seed))}))
        for seed, run in enumerate(runs)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert list(contents(path)) == runs


def test_no_directory_is_a_clear_error(tmp_path: Path) -> None:
    with pytest.raises(StoreWriteError, match="there is no directory"):
        update(tmp_path / "missing" / "x.h5", "net", {CPU: RunData(network())})
    (tmp_path / "file").touch()
    with pytest.raises(StoreWriteError, match="cannot lock"), writer_lock(tmp_path / "file" / "x.h5"):
        pass


@pytest.mark.parametrize("native", [True, False])
def test_it_is_the_lock_filelock_takes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, native: bool) -> None:
    if not native:  # as where there is no flock
        monkeypatch.setattr(atomic, "flock", None)
    path = tmp_path / "x.h5"
    with writer_lock(path), pytest.raises(Timeout):
        FileLock(lock_path(path), timeout=0.05).acquire()
    with FileLock(lock_path(path)), pytest.raises(LockError), writer_lock(path, timeout=0.05):
        pass
    with writer_lock(path, timeout=0.05):
        pass


def test_a_lock_on_a_file_that_was_removed_meanwhile_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, seen = tmp_path / "x.h5", []

    def removed_before(descriptor: int, how: int) -> None:
        if not seen:
            lock_path(path).unlink()
        seen.append(how)
        flock(descriptor, how)

    flock = atomic.flock
    monkeypatch.setattr(atomic, "flock", removed_before)
    with writer_lock(path, timeout=5):
        assert seen
        assert lock_path(path).exists()
