"""Changes of many goldens take effect together, or not at all: also where the file system refuses the last of them."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.atomic import writer_lock
from harness.errors import StoreError, StoreWriteError
from harness.store import RunId, Transaction, manifest, recover, update
from harness.store.layout.schema import FOLDER
from tests.store.helpers import CPU, run_data

Content = dict[str, bytes]


def content(golden: Path) -> Content:
    """Every file, hidden ones too, but for lock files."""
    return {str(path.relative_to(golden)): path.read_bytes() for path in golden.rglob("*") if path.is_file()}


@pytest.fixture
def golden(tmp_path: Path) -> Path:
    """Three stores in two directories, with manifests."""
    folder = tmp_path / "golden"
    (folder / "b").mkdir(parents=True)
    for name in ("a.h5", "b/b.h5", "c.h5"):
        update(folder / name, "net", {CPU: run_data()})
    manifest.rebuild(folder)
    return folder


def change(golden: Path) -> Transaction:
    """Replaces two stores, removes one, and adds one in a new directory."""
    made = Transaction(golden)
    made.update("a.h5", "net", {CPU: run_data(2)})
    made.update("b/b.h5", "net", {CPU: None, RunId("gpu", "tensor"): run_data(3)})
    made.remove("c.h5")
    made.update("d/d.h5", "net", {CPU: run_data(4)})
    return made


class Failing:
    """``os.replace`` that fails from the ``at``-th file of the golden directory on, ``times`` times."""

    def __init__(self, golden: Path, at: int, times: int) -> None:
        self._real, self._golden, self._at, self._times, self.seen = os.replace, golden, at, times, 0

    def __call__(self, source: str | Path, target: str | Path) -> None:
        if FOLDER not in Path(target).parts and Path(target).is_relative_to(self._golden):
            self.seen += 1
            if self._at <= self.seen < self._at + self._times:
                raise OSError(errno.EACCES, os.strerror(errno.EACCES), str(target))
        self._real(source, target)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("at", range(1, 7))
def test_a_file_that_cannot_be_put_in_place_undoes_all(golden: Path, at: int, monkeypatch: pytest.MonkeyPatch) -> None:
    before = content(golden)
    failing = Failing(golden, at, 1)
    monkeypatch.setattr(os, "replace", failing)
    with change(golden) as made, pytest.raises(StoreWriteError, match="the old ones are unchanged"):
        made.commit()
    assert failing.seen >= at, "it never failed"
    assert content(golden) == before
    assert not (golden / "d").exists()


def test_what_can_neither_be_completed_nor_undone_is_named_and_ends_later(
    golden: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = content(golden)
    with monkeypatch.context() as patched:
        patched.setattr(os, "replace", Failing(golden, 3, 99))
        with change(golden) as made:
            with pytest.raises(
                StoreError, match=r"unfinished and cannot be completed here \(Permission denied\): a.h5"
            ):
                made.commit()
            assert made.unfinished
        with pytest.raises(StoreError, match="is unfinished"):
            recover(golden)
    recover(golden)
    assert content(golden) == before


@pytest.mark.parametrize("refused", [errno.EPERM, errno.ENOTSUP])
def test_without_hard_links_it_is_undone_by_copies(golden: Path, refused: int, monkeypatch: pytest.MonkeyPatch) -> None:
    def link(*_: object, **__: object) -> None:
        raise OSError(refused, os.strerror(refused))

    before = content(golden)
    monkeypatch.setattr(os, "link", link)
    monkeypatch.setattr(os, "replace", Failing(golden, 5, 1))
    with change(golden) as made, pytest.raises(StoreWriteError):
        made.commit()
    assert content(golden) == before


def test_a_link_in_place_of_a_golden_comes_back(golden: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (golden / "a.h5").rename(golden / "shared.h5")
    (golden / "a.h5").symlink_to("shared.h5")
    monkeypatch.setattr(os, "replace", Failing(golden, 4, 1))
    with change(golden) as made, pytest.raises(StoreWriteError):
        made.commit()
    assert os.readlink(golden / "a.h5") == "shared.h5"


def test_an_interrupted_change_that_cannot_be_completed_is_undone(
    golden: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Killed after its decision: the next command completes it, and where one file cannot be placed undoes it."""
    before = content(golden)
    with monkeypatch.context() as patched:
        patched.setattr(os, "replace", Failing(golden, 3, 99))
        with change(golden) as made, pytest.raises(StoreError):
            made.commit()
    staged = golden / FOLDER
    (staged / "undo.json").rename(staged / "journal.json")
    monkeypatch.setattr(os, "replace", Failing(golden, 2, 1))
    assert recover(golden) == []
    assert content(golden) == before


@pytest.mark.sampled(2)
@pytest.mark.parametrize("names", [
    {"files": ["../x.h5"]}, {"files": ["/x.h5"]}, {"fresh": ["../x.h5"]}, {"remove": ["../x.h5"]},
    {"remove": ["x.txt"]}, {"files": ["out/x.h5"]}, {"fresh": ["out/x.h5"]}, {"files": [3]}, {"fresh": None},
])  # fmt: skip
@pytest.mark.parametrize("at", ["journal.json", "undo.json"])
def test_no_journal_reaches_outside(golden: Path, tmp_path: Path, names: dict[str, object], at: str) -> None:
    outside = tmp_path / "x.h5"
    outside.write_text("x")
    (golden / "out").symlink_to(tmp_path, target_is_directory=True)
    staged = golden / FOLDER
    staged.mkdir()
    journal = {"format": "msdump journal 2", "files": [], "remove": [], "fresh": [], **names}
    (staged / at).write_text(json.dumps(journal))
    with pytest.raises(StoreError, match="not a journal of this version"):
        recover(golden)
    assert outside.read_text() == "x"


def test_kept_files_are_taken_from_the_change_only(golden: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "a.h5").write_text("x")
    staged = golden / FOLDER
    staged.mkdir()
    (staged / ".kept").symlink_to(outside, target_is_directory=True)
    (staged / "undo.json").write_text('{"format": "msdump journal 2", "files": ["a.h5"], "remove": [], "fresh": []}')
    with pytest.raises(StoreError, match="leads elsewhere"):
        recover(golden)
    assert (outside / "a.h5").read_text() == "x"


def test_no_golden_is_written_or_removed_through_a_link_to_elsewhere(golden: Path, tmp_path: Path) -> None:
    before = content(golden)
    (tmp_path / "outside").mkdir()
    update(tmp_path / "outside" / "x.h5", "net", {CPU: run_data()})
    outside = content(tmp_path / "outside")
    (golden / "out").symlink_to(tmp_path / "outside", target_is_directory=True)
    for act in (lambda made: made.update("out/x.h5", "net", {CPU: run_data(2)}), lambda made: made.remove("out/x.h5")):
        with Transaction(golden) as made:
            with pytest.raises(StoreError, match=r"out: a link to .*outside, outside of .*golden"):
                act(made)
            made.commit()
    assert content(tmp_path / "outside") == outside
    assert content(golden) == before


@pytest.mark.parametrize("act", [Transaction.commit, lambda made: None])
def test_nothing_is_left_over(golden: Path, act: Callable[[Transaction], object]) -> None:
    with change(golden) as made:
        act(made)
    assert not [path.name for path in golden.rglob(".*")]


def test_what_has_ended_leaves_the_next_one_alone(golden: Path) -> None:
    first = change(golden)
    first.drop()
    with change(golden) as second:
        first.drop()
        second.commit()
    assert (golden / "d" / "d.h5").exists()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="it kills a fork that holds a lock of the system")
def test_locks_of_killed_writers_are_swept(golden: Path) -> None:
    for left in (golden / ".goldens.lock", golden / ".a.h5.lock", golden / "b" / ".b.h5.lock"):
        left.touch()
    with writer_lock(golden / "b" / "b.h5"):
        recover(golden)
        assert [path.name for path in golden.rglob(".*")] == [".b.h5.lock"]
    (golden / "b" / ".b.h5.lock").touch()
    recover(golden)
    assert not list(golden.rglob(".*"))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="it kills a fork that holds a lock of the system")
def test_what_filelock_left_when_it_was_killed_is_swept(golden: Path) -> None:
    """A session without ``flock`` was killed while it broke the lock of a dead one: the file stayed for ever."""
    dead = os.fork()
    if dead == 0:
        os._exit(0)
    os.waitpid(dead, 0)
    left = [golden / f".goldens.lock.break.{dead}.0a9f", golden / f".x.h5.lock.break.{dead}.0a9f"]
    kept = [golden / f".x.h5.lock.break.{os.getpid()}.0a9f", golden / f"x.h5.lock.break.{dead}.0a9f",
            golden / f".x.h5.lock.break.{dead}.0a9f.txt", golden / f".x.lock.break.{dead}.0a9f"]  # fmt: skip
    for path in (*left, *kept):
        path.touch()
    recover(golden)
    assert [path.name for path in left if path.exists()] == []
    assert [path.name for path in kept if not path.exists()] == []


def test_a_store_that_is_written_and_then_removed_is_gone(golden: Path) -> None:
    with Transaction(golden) as made:
        for name in ("a.h5", "new.h5"):
            made.update(name, "net", {CPU: run_data(2)})
            made.remove(name)
        assert made.commit() == []
    assert sorted(path.name for path in golden.rglob("*.h5")) == ["b.h5", "c.h5"]
    assert not (golden / manifest.path_of("a.h5")).exists()
