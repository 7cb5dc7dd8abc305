"""Files of living processes stay, those of killed ones go; directories likewise."""

from __future__ import annotations

import errno
import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from harness import atomic
from harness.atomic import create_held, sweep_abandoned, temporary_directory, write_held
from harness.errors import StoreWriteError
from harness.stats import describe
from harness.store import GoldenStore, RunData, Transaction, update
from harness.store.layout.index import MAX_RANK, IndexBuilder
from harness.store.read import StoreError, _opened_again
from tests.store.helpers import CPU, record, run_data


@pytest.mark.skipif(atomic.flock is None, reason="this system has no locks of files")
def test_a_file_is_replaced_and_what_killed_writers_left_goes(tmp_path: Path) -> None:
    path = tmp_path / "x"
    left, held = tmp_path / ".x.123.tmp", tmp_path / ".x.124.tmp"
    others = [tmp_path / name for name in (".x.a1.tmp", ".y.1.tmp", "x.1.tmp", ".x.1.tmp2")]
    for each in (left, *others):
        each.write_bytes(b"1")
    descriptor = create_held(held)
    try:
        write_held(path, b"new")
        assert path.read_bytes() == b"new"
        assert not left.exists()
        assert held.exists()
        assert all(each.exists() for each in others)
    finally:
        os.close(descriptor)
    sweep_abandoned(path)
    assert not held.exists()
    sweep_abandoned(tmp_path / "no" / "directory")


@pytest.mark.skipif(atomic.flock is None, reason="this system has no locks of files")
def test_a_file_that_is_made_again_is_empty(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"old")
    os.close(create_held(tmp_path / "x"))
    assert (tmp_path / "x").read_bytes() == b""
    (tmp_path / "link").symlink_to(tmp_path / "x")
    with pytest.raises(OSError, match="symbolic links"):
        create_held(tmp_path / "link")


def test_a_file_that_is_swept_before_it_is_held_is_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, real, times = tmp_path / "x", atomic._hold, list[int]()

    def swept(descriptor: int) -> bool:
        times.append(descriptor)
        if len(times) == 1:
            path.unlink()
        return real(descriptor)

    monkeypatch.setattr(atomic, "_hold", swept)
    os.close(create_held(path))
    assert path.exists()
    assert len(times) == 2


def test_a_lock_that_fails_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(atomic, "flock", fails)
    monkeypatch.setattr(pytest.importorskip("fcntl"), "flock", fails)
    before = len(os.listdir("/proc/self/fd"))
    with pytest.raises(OSError, match="Input/output"):
        create_held(tmp_path / "x")
    with pytest.raises(StoreWriteError, match="cannot lock"):
        update(tmp_path / "y.h5", "net", {CPU: run_data()})
    assert len(os.listdir("/proc/self/fd")) == before


@pytest.mark.skipif(atomic.flock is None, reason="this system has no locks of files")
def test_directories_of_killed_commands_go(tmp_path: Path) -> None:
    for name in ("ours-dead", "ours-living", "other-dead"):
        (tmp_path / name / "a").mkdir(parents=True)
        (tmp_path / f"{name}.lock").touch()
    descriptor = create_held(tmp_path / "ours-living.lock")
    try:
        with temporary_directory("ours-", tmp_path) as made:
            assert made.is_dir()
            assert made.stat().st_mode & 0o777 == 0o700
            assert not (tmp_path / "ours-dead").exists()
            assert (tmp_path / "ours-living" / "a").exists()
            assert (tmp_path / "other-dead" / "a").exists()
        assert not made.exists()
        assert sorted(os.listdir(tmp_path)) == ["other-dead", "other-dead.lock", "ours-living", "ours-living.lock"]
    finally:
        os.close(descriptor)


@pytest.mark.parametrize("call", ["pwrite", "ftruncate"])
@pytest.mark.parametrize("at", [1, 3])
def test_a_disk_that_fails_is_told_and_the_old_store_stays(
    call: str, at: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not hasattr(os, call):
        pytest.skip(f"this system has no {call}")
    path = tmp_path / "x.h5"
    update(path, "net", {CPU: run_data()})
    kept, real, times = path.read_bytes(), getattr(os, call), list[int]()

    def failing(*given: object) -> object:
        times.append(1)
        if len(times) >= (at if call == "pwrite" else 1):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return real(*given)

    monkeypatch.setattr(os, call, failing)
    with pytest.raises(StoreWriteError, match=r"No space left on device.*the old one is unchanged"):
        update(path, "net", {CPU: run_data(3)})
    assert path.read_bytes() == kept
    assert os.listdir(tmp_path) == ["x.h5"]


def test_a_pickled_run_whose_store_changed_is_refused_and_closed(tmp_path: Path) -> None:
    path = tmp_path / "x.h5"
    update(path, "net", {CPU: run_data()})
    before = len(os.listdir("/proc/self/fd"))
    with pytest.raises(StoreError, match="is not the one that was pickled"):
        _opened_again(str(path), tuple(CPU), "0" * 32)
    assert len(os.listdir("/proc/self/fd")) == before
    with GoldenStore.open(path) as store:
        checksum = store.run(*CPU).checksum
    again = _opened_again(str(path), tuple(CPU), checksum)
    assert again.checksum == checksum
    again._store.close()


def test_a_change_opens_what_is_to_be(tmp_path: Path) -> None:
    update(tmp_path / "x.h5", "net", {CPU: run_data()})
    update(tmp_path / "y.h5", "net", {CPU: run_data()})
    with Transaction(tmp_path) as change:
        change.update("x.h5", "net", {CPU: run_data(5)})
        with change.open("x.h5") as new, change.open("y.h5") as kept, GoldenStore.open(tmp_path / "x.h5") as old:
            assert kept.run(*CPU).checksum == old.run(*CPU).checksum != new.run(*CPU).checksum
        with pytest.raises(FileNotFoundError):
            change.open("z.h5")


def test_a_closed_store_gives_nothing(tmp_path: Path) -> None:
    path = tmp_path / "x.h5"
    update(path, "net", {CPU: run_data()})
    store = GoldenStore.open(path)
    run = store.run(*CPU)
    row = next(row for row in range(len(run)) if run.index.has_values(row))
    content, kind, shape = run.index.digests[row], run.index.name(row, "dtype"), run.index.shape(row)
    assert store.stored_object(content, kind, shape) is not None
    assert store.stored_object(b"?" * 16, kind, shape) is None
    store.close()
    store.close()
    with pytest.raises(StoreError, match="the store is closed"):
        store.read_object(content, kind, shape)
    with pytest.raises(StoreError, match="the store is closed"):
        run.stored(row)
    assert store.stored_object(content, kind, shape) is None


@pytest.mark.parametrize(
    ("dtype", "shape", "told"),
    [("Float7", (2,), "Float7"), ("Float32", (1,) * (MAX_RANK + 1), f"axes; a store holds at most {MAX_RANK}")],
)
def test_what_an_index_cannot_hold(dtype: str, shape: tuple[int, ...], told: str, tmp_path: Path) -> None:
    one = replace(record(np.ones(shape, np.float32)), dtype=dtype)
    builder = IndexBuilder()
    builder.claim(one.key)
    with pytest.raises(StoreError, match=told):
        builder.add(one, bytes(16), describe(np.ones(2, np.float32), "Float32"))
    with pytest.raises(StoreError, match=told):
        update(tmp_path / "x.h5", "net", {CPU: RunData([one])})
    assert os.listdir(tmp_path) == []


def test_what_an_update_says_of_itself(tmp_path: Path) -> None:
    path = tmp_path / "x.h5"
    made = update(path, "net", {CPU: run_data()})
    assert repr(made).startswith(f"<UpdateResult: x.h5, {made.size} bytes; cpu/tensor ")
    assert "12 new" in repr(made)
    assert "bytes, as it was; " in repr(update(path, "net", {CPU: run_data()}))
    gone = update(path, "net", {CPU: None})
    assert (gone.exists, gone.size) == (False, 0)
    assert repr(gone).startswith("<UpdateResult: x.h5, removed; cpu/tensor ")
    assert "12 removed" in repr(gone)
