"""One writer at a time, and no lock file afterwards."""

from __future__ import annotations

import errno
import fcntl
import os
import signal
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


def test_a_lock_that_cannot_be_released_ends_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was written stands: the disk's error while a file is closed is no reason to call it lost."""
    path, closed = tmp_path / "x.h5", os.close

    def failing(descriptor: int) -> None:
        closed(descriptor)
        raise OSError(errno.EIO, "no")

    with writer_lock(path):
        monkeypatch.setattr(os, "close", failing)
    monkeypatch.undo()
    assert list(tmp_path.iterdir()) == []


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


def without_flock(monkeypatch: pytest.MonkeyPatch, error: int) -> None:
    """A file system that has no locks says so to each ``flock``."""

    def flock(*_: object) -> None:
        raise OSError(error, os.strerror(error))

    monkeypatch.setattr(atomic, "flock", flock)
    monkeypatch.setattr(fcntl, "flock", flock)


@pytest.mark.parametrize("error", [errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS])
def test_a_file_system_without_locks_takes_one_writer_at_a_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: int
) -> None:
    without_flock(monkeypatch, error)
    path = tmp_path / "x.h5"
    with writer_lock(path):
        held = lock_path(path).read_bytes()
        with pytest.raises(LockError, match=r"0\.05 s"), writer_lock(path, timeout=0.05):
            pass
        assert lock_path(path).read_bytes() == held
    update(path, "net", {CPU: RunData(network())})
    assert list(tmp_path.iterdir()) == [path]


def test_a_killed_holder_locks_nobody_out_without_flock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    without_flock(monkeypatch, errno.ENOLCK)
    path = tmp_path / "x.h5"
    child = os.fork()
    if child == 0:
        with writer_lock(path):
            os.kill(os.getpid(), signal.SIGKILL)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
    assert lock_path(path).exists()
    with writer_lock(path, timeout=600):
        pass
    assert list(tmp_path.iterdir()) == []


def test_what_killed_writers_left_goes_and_what_living_ones_write_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dead, living = tmp_path / ".999999999-0011aabb.part", tmp_path / f".{os.getpid()}-0011aabb.part"
    for by_descriptor in (False, True):
        dead.write_text("x")
        living.write_text("x")
        if by_descriptor:
            descriptor = os.open(tmp_path, os.O_RDONLY)
            atomic.sweep_parts(descriptor)
            os.close(descriptor)
        else:
            atomic.sweep_parts(str(tmp_path))
        assert (dead.exists(), living.exists()) == (False, True)

    def of_somebody_else(*_: object) -> None:
        raise PermissionError

    dead.write_text("x")
    monkeypatch.setattr(os, "kill", of_somebody_else)
    atomic.sweep_parts(str(tmp_path))
    assert dead.exists()  # its process lives: it is another user's


def test_an_interrupt_while_a_lock_is_taken_leaves_nothing_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = len(os.listdir("/proc/self/fd")) if Path("/proc/self/fd").is_dir() else 0

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(atomic, "flock", interrupted)
        with pytest.raises(KeyboardInterrupt), writer_lock(tmp_path / "x.h5"):
            pass
    assert (len(os.listdir("/proc/self/fd")) if before else 0) == before
    with writer_lock(tmp_path / "x.h5", 0):
        pass
