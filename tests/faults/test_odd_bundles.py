"""Bundles as somebody hostile would make them: each is one clear line, and nothing is written but goldens."""

from __future__ import annotations

import io
import re
import stat
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.cli import main
from harness.errors import StoreError
from harness.store import GoldenStore, manifest, update
from tests.store.helpers import CPU, run_data
from tests.test_escape import is_clean

pytestmark = pytest.mark.faults

Member = tuple[str | zipfile.ZipInfo, bytes]
MANIFEST = "x.manifest.json"


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The files of a bundle."""
    made = tmp_path_factory.mktemp("bundle")
    update(made / "x.h5", "net", {CPU: run_data()})
    manifest.rebuild(made)
    return {path.name: path.read_bytes() for path in made.iterdir()}


def _kind(name: str, mode: int) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name)
    info.create_system, info.external_attr = 3, mode << 16
    return info


def _zipped(name: str, content: bytes) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        archive.writestr(name, content)
    return data.getvalue()


#: Members besides, and what the error says; nothing for a bundle whose other goldens are taken over.
BUNDLES: dict[str, tuple[Callable[[bytes], list[Member]], str]] = {
    "above": (lambda h: [("../y.h5", h)], "leads out"),
    "above, later": (lambda h: [("a/../../y.h5", h)], "leads out"),
    "absolute": (lambda h: [("/y.h5", h)], "leads out"),
    "of a host": (lambda h: [("//host/y.h5", h)], "leads out"),
    "backslash": (lambda h: [("..\\y.h5", h)], "leads out"),
    "drive": (lambda h: [("C:y.h5", h)], "leads out"),
    "twice": (lambda h: [("x.h5", h)], "is there twice"),
    "file and directory": (lambda h: [("x.h5/y.h5", h)], "is there twice"),
    "link": (lambda h: [(_kind("y.h5", stat.S_IFLNK | 0o777), b"../../outside")], "is a symbolic link"),
    "through a link": (
        lambda h: [(_kind("d", stat.S_IFLNK | 0o777), b"/"), ("d/y.h5", h)], "is a symbolic link",
    ),
    "name too long": (lambda h: [("n" * 300 + ".h5", h)], "File name too long"),
    "too deep": (lambda h: [("d/" * 3000 + "y.h5", h)], "b.zip"),
    "twin by case": (lambda h: [("X.H5", h), ("X.h5", h)], "are one file on some file systems"),
    "twin by form": (lambda h: [("\u00e9.h5", h), ("e\u0301.h5", h)], "are one file on some file systems"),
    "twin by folder": (lambda h: [("d/y.h5", h), ("D/y.h5", h)], "are one file on some file systems"),
    "twin by a dot": (lambda h: [("d/y.h5", h), ("d./y.h5", h)], "are one file on some file systems"),
    "twin by a blank": (lambda h: [("d/y.h5", h), ("d /y.h5", h)], "are one file on some file systems"),
    "archive within": (lambda h: [("y.h5", _zipped("z.h5", h))], "not a complete HDF5 file"),
    "no store": (lambda h: [("y.h5", b"")], "not a complete HDF5 file"),
    "bomb": (lambda h: [("y.h5", bytes(1 << 24))], "not a complete HDF5 file"),
    "manifest, nested": (lambda h: [(MANIFEST.replace("x", "y"), b"[" * 100_000)], "nested too deep"),
    "journal": (lambda h: [(".msdump-staged/journal.json", b'{"files": ["../../x.h5"]}')], ""),
    "staged": (lambda h: [(".msdump-staged/y.h5", h)], ""),
    "hidden": (lambda h: [(".y.h5", h)], ""),
    "code": (lambda h: [("conftest.py", b"1 / 0"), (".git/hooks/post-checkout", b"#!")], ""),
    "device": (lambda h: [(_kind("y.txt", stat.S_IFCHR), b"")], ""),
    "control characters": (lambda h: [("\x1b]0;a\x07\u202e\nb.h5", h)], ""),
}  # fmt: skip


@pytest.mark.sampled(6)
@pytest.mark.parametrize("name", BUNDLES)
def test_one_line_and_nothing_outside(
    name: str, whole: dict[str, bytes], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    make, told = BUNDLES[name]
    data = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        warnings.simplefilter("ignore")  # of a name that is there twice
        for member, content in [*whole.items(), *make(whole["x.h5"])]:
            archive.writestr(member, content)
    (tmp_path / "b.zip").write_bytes(data.getvalue())
    code = main(["accept", str(tmp_path / "b.zip"), "--golden", str(tmp_path / "golden")])
    said = capsys.readouterr()
    assert is_clean(said.out + said.err, "\n")
    assert not [line for line in said.out.splitlines() if not line.startswith(str(tmp_path))]
    assert code == (2 if told else 0)
    assert told in said.err
    assert said.err.count("\n") == code // 2
    files = [path.relative_to(tmp_path) for path in tmp_path.rglob("*") if path.is_file()]
    assert all(path.parts[0] == "golden" or path.name == "b.zip" for path in files)
    assert all(path.name.endswith((".h5", manifest.SUFFIX, ".zip")) for path in files)
    assert any(path.name == "x.h5" for path in files) == (not told)


@pytest.mark.parametrize("loop", ["b.zip", "golden"])
def test_a_link_to_itself(loop: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / loop).symlink_to(loop)
    assert main(["accept", str(tmp_path / "b.zip"), "--golden", str(tmp_path / "golden")]) == 2
    said = capsys.readouterr()
    assert said.err.startswith("msdump: ")
    assert said.err.count("\n") == 1


def _both(whole: dict[str, bytes], members: list[str], **more: bytes) -> bytes:
    data = io.BytesIO(more.get("before", b""))
    data.seek(0, io.SEEK_END)
    with zipfile.ZipFile(data, "a") as archive:
        for name in members:
            archive.writestr(name, whole[name])
    return data.getvalue() + more.get("after", b"")


def _overlapping(whole: dict[str, bytes]) -> bytes:
    """Two members whose headers lie at one place."""
    raw = bytearray(_both({"a.h5": whole["x.h5"], "b.h5": whole["x.h5"]}, ["a.h5", "b.h5"]))
    first = raw.index(b"PK\x01\x02")
    second = raw.index(b"PK\x01\x02", first + 4)
    raw[second + 42 : second + 46] = raw[first + 42 : first + 46]
    return bytes(raw)


def _lying(whole: dict[str, bytes], at: int, change: int) -> bytes:
    """A size of the table that is another (at 20 the stored one, at 24 the unpacked one)."""
    raw = bytearray(_both(whole, ["x.h5"]))
    place = raw.index(b"PK\x01\x02") + at
    raw[place : place + 4] = (int.from_bytes(raw[place : place + 4], "little") + change).to_bytes(4, "little")
    return bytes(raw)


#: Files that are two at once, or say two things of one: what ``accept`` says; nothing where one of both holds whole.
POLYGLOTS: dict[str, tuple[Callable[[dict[str, bytes]], bytes], str]] = {
    "golden, then archive": (lambda w: _both(w, ["x.h5"], before=w["x.h5"]), "bytes stand before the archive"),
    "script, then archive": (lambda w: _both(w, ["x.h5"], before=b"#!/bin/sh\n"), "bytes stand before the archive"),
    "page, then archive": (lambda w: _both(w, ["x.h5"], before=b"<html><script>"), "bytes stand before the archive"),
    "archive, then archive": (lambda w: _both(w, ["x.h5"]) * 2, "bytes stand before the archive"),
    "archive, then golden": (lambda w: _both(w, ["x.h5"], after=w["x.h5"]), "bytes stand behind"),
    "golden alone": (lambda w: w["x.h5"], "neither a directory nor a complete zip archive"),
    "overlapping": (_overlapping, "is there twice|shares its bytes|differ"),
    "stored size too large": (lambda w: _lying(w, 20, 1), "shares its bytes"),
    "stored size too small": (lambda w: _lying(w, 20, -1), "bytes fewer|damaged"),
    "size too large": (lambda w: _lying(w, 24, 1), "bytes fewer|damaged"),
    "size too small": (lambda w: _lying(w, 24, -1), "more bytes|damaged"),
    "size of gigabytes": (lambda w: _lying(w, 24, 2**31), "cannot hold"),
}  # fmt: skip


@pytest.mark.parametrize("name", POLYGLOTS)
def test_a_file_that_is_two_at_once_is_refused_or_whole(
    name: str, whole: dict[str, bytes], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    make, told = POLYGLOTS[name]
    (tmp_path / "b.zip").write_bytes(make(whole))
    code = main(["accept", str(tmp_path / "b.zip"), "--golden", str(tmp_path / "golden")])
    said = capsys.readouterr().err
    assert (code, said.count("\n")) == ((2, 1) if told else (0, 0))
    assert re.search(told, said), said
    assert (tmp_path / "golden" / "x.h5").exists() == (not told)


def test_a_golden_with_anything_behind_it_is_damaged(whole: dict[str, bytes], tmp_path: Path) -> None:
    for more in (b"\0", _zipped("x", b""), b"%PDF-1.7", whole["x.h5"]):
        (tmp_path / "x.h5").write_bytes(whole["x.h5"] + more)
        with pytest.raises(StoreError, match="bytes were lost or added"):
            GoldenStore.open(tmp_path / "x.h5")


def test_a_twin_of_a_golden_is_refused(
    whole: dict[str, bytes], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "golden").mkdir()
    (tmp_path / "golden" / "X.h5").write_bytes(whole["x.h5"])
    (tmp_path / "b.zip").write_bytes(_both(whole, ["x.h5"]))
    assert main(["accept", str(tmp_path / "b.zip"), "--golden", str(tmp_path / "golden")]) == 2
    assert "are one file on some file systems" in capsys.readouterr().err
    assert [path.name for path in (tmp_path / "golden").iterdir()] == ["X.h5"]
