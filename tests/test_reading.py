"""Files from elsewhere: regular, bounded, inside; one error whatever a parser raises."""

from __future__ import annotations

import errno
import os
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from harness import reading
from harness.capture import read_tree
from harness.errors import HarnessError, StoreError, TreeError
from harness.reading import (
    Folder,
    is_directory,
    open_inside,
    open_regular,
    open_with_status,
    parsing,
    read_bytes,
    read_json,
)
from tests.dump.build import dumped, one_op


def others(folder: Path) -> dict[str, Path]:
    """What is not a regular file, by what errors call it."""
    folder.mkdir()
    os.mkfifo(folder / "pipe")
    (folder / "directory").mkdir()
    (folder / "to_pipe").symlink_to("pipe")
    here = os.getcwd()
    os.chdir(folder)  # a socket's path is short
    try:
        with socket.socket(socket.AF_UNIX) as made:
            made.bind("socket")
    finally:
        os.chdir(here)
    return {
        "a pipe": folder / "pipe",
        "a directory": folder / "directory",
        "a device": Path("/dev/zero"),
        "a socket": folder / "socket",
    }


def test_only_regular_files_are_opened(tmp_path: Path) -> None:
    for kind, path in others(tmp_path / "o").items():
        with pytest.raises(OSError, match=kind):
            open_regular(path)
        with pytest.raises(TreeError, match=kind):
            read_bytes(path, 10, TreeError)
    with pytest.raises(TreeError, match="a pipe"):
        read_bytes(tmp_path / "o" / "to_pipe", 10, TreeError)
    with pytest.raises(TreeError, match="null"):
        read_bytes("a\0b", 10, TreeError)


def test_sizes_are_bounded(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"0123456789")
    assert read_bytes(tmp_path / "a", 10, TreeError) == b"0123456789"
    with pytest.raises(TreeError, match="more than 9 bytes"):
        read_bytes(tmp_path / "a", 9, TreeError)
    assert read_bytes("/proc/self/stat", 1 << 20, TreeError)  # says that it has no bytes
    with (tmp_path / "large").open("wb") as file:
        file.truncate(1 << 40)
    with pytest.raises(StoreError, match="more than 100 bytes"):
        read_bytes(tmp_path / "large", 100, StoreError)


def test_links_stay_inside(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "out").write_bytes(b"secret")
    (tmp_path / "in/real").write_bytes(b"x")
    (tmp_path / "in/link").symlink_to("real")
    (tmp_path / "in/away").symlink_to("../out")
    (tmp_path / "in-too").mkdir()
    (tmp_path / "in-too/x").write_bytes(b"secret")
    (tmp_path / "in/beside").symlink_to("../in-too/x")
    root = os.path.realpath(tmp_path / "in")
    assert read_bytes(tmp_path / "in/link", 9, TreeError, inside=root) == b"x"
    for name in ("away", "beside"):
        with pytest.raises(TreeError, match="outside of the tree"):
            read_bytes(tmp_path / "in" / name, 9, TreeError, inside=root)


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="the system does not say where an open file lies")
def test_a_file_exchanged_for_a_link_while_it_is_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "out").write_bytes(b"secret")
    (tmp_path / "in/x").write_bytes(b"x")

    def exchanged(path: str) -> tuple[int, os.stat_result]:
        os.unlink(path)
        os.symlink("../out", path)
        return open_with_status(path)

    monkeypatch.setattr(reading, "open_with_status", exchanged)
    with pytest.raises(TreeError, match="outside of the tree"):
        read_bytes(tmp_path / "in/x", 9, TreeError, inside=os.path.realpath(tmp_path / "in"))


@pytest.mark.parametrize(
    "text", [b"", b"{", b"\xff", b"[" * 100_000, b"1" * 10_000], ids=["", "{", "ff", "deep", "long"]
)
def test_json_that_is_none(tmp_path: Path, text: bytes) -> None:
    (tmp_path / "a").write_bytes(text)
    with pytest.raises(TreeError, match="a: not JSON"):
        read_json(tmp_path / "a", 1 << 20, TreeError)


@pytest.mark.parametrize(
    "raised", [KeyError("x"), ZeroDivisionError(), RecursionError(), MemoryError(), OSError(5, "x"), TypeError("a\nb")]
)
def test_whatever_a_parser_raises_is_one_error(raised: Exception) -> None:
    with pytest.raises(TreeError, match=r"^file\.bin: ") as error, parsing("file.bin", TreeError):
        raise raised
    assert "\n" not in str(error.value)


def test_deliberate_errors_and_interrupts_pass() -> None:
    with pytest.raises(StoreError, match="as it is"), parsing("f", TreeError):
        raise StoreError("as it is")
    with pytest.raises(KeyboardInterrupt), parsing("f", HarnessError):
        raise KeyboardInterrupt


def entry_of(folder: Folder, name: str) -> bytes:
    """What the directory's entry holds."""
    descriptor, status = folder.open(name)
    try:
        return os.read(descriptor, status.st_size)
    finally:
        os.close(descriptor)


@pytest.fixture(name="folder")
def open_folder(tmp_path: Path) -> Iterator[Folder]:
    """The directory ``in``, with a file, links, a pipe and a directory; beside it the file ``out``."""
    inner = tmp_path / "in"
    (inner / "below").mkdir(parents=True)
    (tmp_path / "out").write_bytes(b"secret")
    (inner / "x").write_bytes(b"x")
    (inner / "link").symlink_to("x")
    (inner / "away").symlink_to("../out")
    (inner / "nowhere").symlink_to("lost")
    os.mkfifo(inner / "pipe")
    folder = Folder(str(inner), os.path.realpath(inner), TreeError)
    yield folder
    folder.close()
    folder.close()


def test_a_folder_opens_its_entries_as_by_their_paths(folder: Folder) -> None:
    root = os.path.realpath(folder.path)
    assert entry_of(folder, "x") == entry_of(folder, "link") == b"x"
    for name in ("away", "nowhere", "lost", "pipe", "below", "a\0b"):
        path = f"{folder.path}/{name}"
        with pytest.raises((OSError, TreeError)) as expected:
            open_inside(path, root, TreeError)
        with pytest.raises((OSError, TreeError)) as found:
            folder.open(name)
        assert (type(found.value), str(found.value)) == (type(expected.value), str(expected.value))


def test_a_folder_that_is_exchanged_gives_its_own_files(folder: Folder, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    (tmp_path / "other/x").write_bytes(b"secret")
    (tmp_path / "in").rename(tmp_path / "before")
    (tmp_path / "in").symlink_to("other")
    assert entry_of(folder, "x") == b"x"


def test_a_folder_outside_is_refused_and_closed(tmp_path: Path) -> None:
    for name in ("in", "out"):
        (tmp_path / name).mkdir()
    (tmp_path / "in/away").symlink_to("../out")
    before = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0
    with pytest.raises(TreeError, match="outside of the tree"):
        Folder(str(tmp_path / "in/away"), os.path.realpath(tmp_path / "in"), TreeError)
    with pytest.raises(OSError, match="No such file"):
        Folder(str(tmp_path / "in/lost"), os.path.realpath(tmp_path / "in"), TreeError)
    assert (len(os.listdir("/proc/self/fd")) if before else 0) == before


def test_where_no_directory_can_be_asked_paths_are_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "_BY_FOLDER", False)
    (tmp_path / "x").write_bytes(b"x")
    folder = Folder(str(tmp_path), os.path.realpath(tmp_path), TreeError)
    assert entry_of(folder, "x") == b"x"
    folder.close()


@pytest.mark.parametrize("number", [errno.EIO, errno.EACCES, errno.ESTALE])
def test_what_cannot_be_looked_at_is_no_empty_directory(
    number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One failed look at a network's directory made all its slots missing, in silence."""
    dumped(tmp_path, one_op())
    (network,) = read_tree(tmp_path).networks
    (hidden,) = (str(path) for path in tmp_path.rglob(network) if path.is_dir())
    real = os.stat

    def failing(path: Any, *given: Any, **more: Any) -> Any:
        if path == hidden:
            raise OSError(number, os.strerror(number))
        return real(path, *given, **more)

    monkeypatch.setattr(os, "stat", failing)
    with pytest.raises(TreeError, match=os.strerror(number)):
        read_tree(tmp_path)
    monkeypatch.undo()
    assert not is_directory(tmp_path / "no" / "thing", TreeError)
    assert not is_directory("\0", TreeError)
    assert is_directory(tmp_path, TreeError)


def test_an_object_is_an_object(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text("[1]")
    (tmp_path / "b.json").write_text('{"a": 1}')
    with pytest.raises(TreeError, match="holds no object"):
        reading.read_object(tmp_path / "a.json", 100, TreeError)
    assert reading.read_object(tmp_path / "b.json", 100, TreeError) == {"a": 1}


def test_a_directory_by_another_name_is_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As where case does not count: the names differ, and the system says that the directories are one."""
    inside = tmp_path / "TREE" / "sub" / "file"
    inside.parent.mkdir(parents=True)
    (tmp_path / "tree").symlink_to(tmp_path / "TREE")
    root = str(tmp_path / "tree")
    reading._refuse_outside("file", str(inside), root, TreeError)
    with pytest.raises(TreeError, match="outside of the tree"):
        reading._refuse_outside("file", str(tmp_path / "other" / "file"), root, TreeError)


def test_a_system_without_proc_says_where_a_link_leads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "real").write_text("x")
    (tmp_path / "link").symlink_to("real")

    def no_proc(*_: object) -> str:
        raise FileNotFoundError

    monkeypatch.setattr(reading.os, "readlink", no_proc)
    with (tmp_path / "real").open() as file:
        assert reading._place(file.fileno(), str(tmp_path / "real")) == str(tmp_path / "real")
