"""Bundles as somebody hostile would make them: each is one clear line, and nothing is written but goldens."""

from __future__ import annotations

import io
import stat
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.cli import main
from harness.store import manifest, update
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
