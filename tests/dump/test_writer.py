"""Files of the tree: whole, mode 0400, never outside, and one clear error where the disk fails."""

from __future__ import annotations

import errno
import logging
import os
import stat
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness import dtypes
from harness.dump import writer
from harness.dump.writer import MAPPING, Directory, Tree
from harness.errors import DumpWriteError


def opened(tree: Tree, *parts: str) -> Directory:
    directory = tree.open(*parts)
    assert directory is not None
    return directory


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077, 0o777])
def test_modes(tmp_path: Path, umask: int) -> None:
    old = os.umask(umask & 0o077)
    try:
        directory = opened(Tree(str(tmp_path)), "a", "b")
        os.umask(umask)
        directory.write("f", [b"x"])
        directory.append("g", "y")
    finally:
        os.umask(old)
    for name in ("f", "g"):
        assert stat.S_IMODE((tmp_path / "a" / "b" / name).stat().st_mode) == 0o400
    for path in (tmp_path / "a", tmp_path / "a" / "b"):
        assert stat.S_IMODE(path.stat().st_mode) == 0o700


def test_double_and_trailing_slashes(tmp_path: Path) -> None:
    opened(Tree(f"{tmp_path}//x//"), "y").write("f", [b"1"])
    assert (tmp_path / "x" / "y" / "f").read_bytes() == b"1"


def test_a_file_is_replaced_as_a_whole(tmp_path: Path) -> None:
    directory = opened(Tree(str(tmp_path)))
    directory.write("f", [b"long content"])
    before = (tmp_path / "f").open("rb")
    directory.write("f", [b"new"])
    assert (tmp_path / "f").read_bytes() == b"new"
    assert before.read() == b"long content"
    before.close()


def test_lines_are_appended_to_a_finished_file(tmp_path: Path) -> None:
    directory = opened(Tree(str(tmp_path)))
    for line in ("1", "2", "ä"):
        directory.append("f", line)
    assert (tmp_path / "f").read_text() == "1\n2\nä\n"


def test_a_closed_directory_can_be_closed_again(tmp_path: Path) -> None:
    directory = opened(Tree(str(tmp_path)))
    directory.close()
    directory.close()


@given(st.lists(st.binary(max_size=50), max_size=5), st.integers(0, 250))
def test_the_rest_of_a_short_write_is_written(buffers: list[bytes], written: int) -> None:
    whole = b"".join(buffers)
    written = min(written, len(whole))
    read, write = os.pipe()
    try:
        writer._write_rest(write, buffers, written)
        os.close(write)
        assert os.read(read, 1000) == whole[written:]
    finally:
        os.close(read)


def test_mapped_files_and_their_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    numbers = iter([6, 6, 6, 7])
    monkeypatch.setattr(writer.secrets, "randbelow", lambda limit: next(numbers))
    directory = opened(Tree(str(tmp_path)))
    for value in (1.0, 2.0):
        directory.write_mapped(f"a,{value}", np.float32([value]), dtypes.float32)
    assert (tmp_path / MAPPING).read_text() == "7.npy,a,1.0\n8.npy,a,2.0\n"
    assert [np.load(tmp_path / name)[0] for name in ("7.npy", "8.npy")] == [1.0, 2.0]


class TestRefusals:
    """What cannot be begun is logged once and the run goes on."""

    @pytest.mark.parametrize("part", ["n" * 256, "blocked", "blocked/deeper", "dangling"])
    def test_directories(self, tmp_path: Path, part: str, caplog: pytest.LogCaptureFixture) -> None:
        (tmp_path / "blocked").write_text("in the way")
        (tmp_path / "dangling").symlink_to("nowhere")
        tree = Tree(str(tmp_path))
        with caplog.at_level(logging.ERROR, logger="harness"):
            assert tree.open(part) is None
            assert tree.open(part) is None
        assert len(caplog.records) == 1
        assert part.partition("/")[0] in caplog.text
        assert "nothing is dumped there" in caplog.text

    @pytest.mark.parametrize("method", ["write", "append"])
    def test_files(
        self, tmp_path: Path, method: str, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        directory = opened(Tree(str(tmp_path)))

        def refuse(*_: Any, **__: Any) -> int:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

        monkeypatch.setattr(writer.os, "open", refuse)
        monkeypatch.setattr(writer.os, "chmod", lambda *_, **__: None)
        for _ in range(2):
            assert getattr(directory, method)("f", "x" if method == "append" else [b"x"]) is False
        assert caplog.text.count("nothing is dumped there") == 1
        monkeypatch.undo()
        assert list(tmp_path.iterdir()) == []


class TestFailures:
    """What fails once it was begun stops the run; what was written stays and nothing half stays."""

    @pytest.mark.parametrize("number", [errno.ENOSPC, errno.EIO, errno.EDQUOT, errno.EACCES])
    @pytest.mark.parametrize("call", ["writev", "rename", "open"])
    def test_while_writing(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, call: str) -> None:
        directory = opened(Tree(str(tmp_path)))
        directory.write("before", [b"kept"])

        def fail(*_: Any, **__: Any) -> int:
            raise OSError(number, os.strerror(number))

        monkeypatch.setattr(writer.os, call, fail)
        with pytest.raises(DumpWriteError) as caught:
            directory.write("after", [b"x"])
        monkeypatch.undo()
        assert caught.value.errno == number
        assert str(tmp_path / "after") in str(caught.value)
        assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {"before": b"kept"}

    def test_a_directory_on_a_full_disk(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        def fail(*_: Any) -> None:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        monkeypatch.setattr(writer.os, "mkdir", fail)
        with pytest.raises(DumpWriteError, match="files written before are whole"):
            Tree(str(tmp_path)).open("x")

    def test_a_disk_that_turns_read_only(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        tree = Tree(str(tmp_path))

        def fail(*_: Any) -> None:
            raise OSError(errno.EROFS, os.strerror(errno.EROFS))

        with monkeypatch.context() as patched:
            patched.setattr(writer.os, "mkdir", fail)
            assert tree.open("before") is None
        opened(tree, "x").write("f", [b"1"])
        monkeypatch.setattr(writer.os, "mkdir", fail)
        with pytest.raises(DumpWriteError):
            tree.open("after")

    def test_a_line_is_there_whole_or_not_at_all(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        directory = opened(Tree(str(tmp_path)))
        directory.append("f", "first")
        real = os.write
        monkeypatch.setattr(writer.os, "write", lambda fd, data: real(fd, data[:2]))
        with pytest.raises(DumpWriteError):
            directory.append("f", "second")
        assert (tmp_path / "f").read_text() == "first\n"

    def test_names_cannot_leave_the_directory_through_a_link(self, tmp_path: Path) -> None:
        (tmp_path / "outside").write_text("untouched")
        (tmp_path / "tree").mkdir()
        (tmp_path / "tree" / "f").symlink_to(tmp_path / "outside")
        directory = opened(Tree(str(tmp_path / "tree")))
        directory.append("begun", "x")
        with pytest.raises(DumpWriteError):
            directory.append("f", "x")
        directory.write("f", [b"own"])
        assert (tmp_path / "outside").read_text() == "untouched"
