"""Values of ``.npy`` files that are read later: in blocks, whole, by another dtype; files that changed."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from harness import dtypes
from harness.capture import npy
from harness.errors import TreeError
from harness.records import PIECE

ARRAY = np.arange(24, dtype=np.float32).reshape(4, 6)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    np.save(tmp_path / "a.npy", ARRAY)
    return tmp_path / "a.npy"


def header(path: Path) -> npy.Header:
    return npy.read(str(path))[0]


@pytest.mark.parametrize("start", [0, 5, 23])
@pytest.mark.parametrize("size", [1, 5, 24, 100])
def test_blocks_from_any_element_on(start: int, size: int, path: Path) -> None:
    found = [each.copy() for each in npy.blocks(str(path), header(path), size, start, None)]
    np.testing.assert_array_equal(np.concatenate(found), ARRAY.reshape(-1)[start:])
    assert [each.size for each in found[:-1]] == [size] * (len(found) - 1)


def test_files_that_changed_since(path: Path) -> None:
    known, link = header(path), path.with_name("link.npy")
    link.symlink_to(path)
    with pytest.raises(TreeError, match="outside of the tree"):
        list(npy.blocks(str(link), known, 4, 0, str(path.parent / "elsewhere")))
    os.truncate(path, known.size + 1)
    with pytest.raises(TreeError, match=f"{known.size + 1} bytes where there were {known.size}"):
        list(npy.blocks(str(path), known, 4, 0, None))
    path.unlink()
    with pytest.raises(TreeError, match="No such file"):
        list(npy.blocks(str(path), known, 4, 0, None))
    with pytest.raises(TreeError, match="No such file"):
        npy.load(str(path), None, (24,), None)


def test_a_file_that_is_cut_between_two_blocks(path: Path) -> None:
    known = header(path)
    found = npy.blocks(str(path), known, 4, 0, None)
    next(found)
    os.truncate(path, known.size - 40)
    before = len(os.listdir("/proc/self/fd"))
    with pytest.raises(TreeError, match="it became shorter"):
        list(found)
    assert len(os.listdir("/proc/self/fd")) == before - 1


def test_what_a_name_says_and_a_header_does(path: Path) -> None:
    known = header(path)
    for named, expected in ((None, dtypes.float32), ("Float32", dtypes.float32), ("BFloat16", dtypes.bfloat16)):
        assert npy.dtype_named(known, named) is expected
    assert npy.dtype_named(known, "float32") is dtypes.float32
    for named in ("Int32", "Float16", "Float7"):
        with pytest.raises(ValueError, match=named):
            npy.dtype_named(known, named)
    assert npy.dtype_named(known._replace(corrected=True), "Int32") is dtypes.float32
    with pytest.raises(TreeError, match=r"a\.npy: its name says Int32, its header Float32"):
        npy.load(str(path), "Int32", (24,), None)
    with pytest.raises(TreeError, match=r"a\.npy: "):
        npy.load(str(path), None, (25,), None)


def test_a_file_that_was_begun_is_read_to_its_end(tmp_path: Path) -> None:
    path, array = tmp_path / "a.npy", np.arange(PIECE, dtype=np.float32)
    np.save(path, array)
    opened = npy.NpyFile(str(path))
    assert opened.head() == b""
    opened.begin(limit=8)
    assert array.tobytes().startswith(opened.head())
    np.testing.assert_array_equal(npy.load(str(path), None, array.shape, None, opened), array)


def test_what_comes_next_is_announced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[tuple[int, int]] = []
    np.save(tmp_path / "a.npy", np.zeros(PIECE, np.float32))
    monkeypatch.setattr(npy.NpyFile, "hint", lambda _, start, size: told.append((start, size)))
    with npy.NpyFile(str(tmp_path / "a.npy")) as file:
        file.begin(limit=1000)
        first = file.header.offset
        for _ in file.pieces(ahead=PIECE):
            pass
    assert told[-2:] == [(first + PIECE * 2, PIECE), (first + PIECE * 3, PIECE)]


def test_a_system_that_takes_no_hints_is_read_all_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    np.save(tmp_path / "a.npy", np.arange(6, dtype=np.float32))

    def refused(*_: object) -> None:
        raise OSError(22, "Invalid argument")

    monkeypatch.setattr(os, "posix_fadvise", refused, raising=False)
    with npy.NpyFile(str(tmp_path / "a.npy")) as file:
        file.hint(0, 10)
