"""A file is replaced whole or not at all."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness import atomic
from harness.atomic import put_in_place, remove, remove_leftovers, scratch_beside, write_atomically


def test_equal_content_leaves_the_file_alone(tmp_path: Path) -> None:
    path = tmp_path / "x"
    assert write_atomically(path, b"one")
    before = path.stat()
    assert not write_atomically(path, b"one")
    # Not the time of the last access: comparing reads the file.
    assert (path.stat().st_ino, path.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    assert write_atomically(path, b"two")
    assert path.read_bytes() == b"two"
    assert list(tmp_path.iterdir()) == [path]


def test_an_error_on_the_way_leaves_the_old_file_and_no_scratch(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(b"old")

    def fail_half_way() -> None:
        with scratch_beside(path) as scratch:
            scratch.write_bytes(b"ne")
            raise RuntimeError("half way")

    with pytest.raises(RuntimeError, match="half way"):
        fail_half_way()
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_scratch_is_hidden_and_beside(tmp_path: Path) -> None:
    with scratch_beside(tmp_path / "x.h5") as scratch:
        assert scratch.parent == tmp_path
        assert scratch.name.startswith(".x.h5.")


def test_sweep_takes_only_what_killed_writers_left(tmp_path: Path) -> None:
    path = tmp_path / "x.h5"
    left = [tmp_path / ".x.h5.123.tmp", tmp_path / ".x.h5.4.tmp"]
    others = [path, *(tmp_path / name for name in (".x.h5.note.tmp", ".y.h5.1.tmp", ".x.h5.lock", "x.h5.1.tmp"))]
    for file in left + others:
        file.touch()
    assert remove_leftovers(path) == sorted(left)
    assert sorted(tmp_path.iterdir()) == sorted(others)


def test_put_in_place_and_remove(tmp_path: Path) -> None:
    scratch, path = tmp_path / "a", tmp_path / "b"
    scratch.write_bytes(b"new")
    assert put_in_place(scratch, path)
    assert not scratch.exists()
    remove(path)
    assert list(tmp_path.iterdir()) == []


def test_a_directory_is_flushed_where_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    flushed: list[Path] = []
    monkeypatch.setattr(atomic, "_flush", lambda path, _flags: flushed.append(path))
    for number, directory in enumerate((True, False)):
        scratch = tmp_path / "a"
        scratch.write_bytes(b"%d" % number)
        assert put_in_place(scratch, tmp_path / "b", directory=directory)
    assert flushed == [tmp_path / "a", tmp_path, tmp_path / "a"]
