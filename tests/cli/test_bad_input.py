"""Anything in place of a golden, under any name, or in a directory that cannot be written: each command ends with one
line and an exit code, and changes nothing."""

from __future__ import annotations

import os
import random
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from harness.cli import main
from harness.store import RunId, manifest, update
from tests.store.helpers import CPU, run_data

OTHER = RunId("gpu", "tensor")
POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:%s\nsize 12345\n" % (b"ab" * 32)


def _cut(part: float) -> Callable[[bytes], bytes]:
    return lambda whole: whole[: int(len(whole) * part)]


def _flipped(seed: int) -> Callable[[bytes], bytes]:
    def change(whole: bytes) -> bytes:
        drawn, raw = random.Random(seed), bytearray(whole)
        for _ in range(40):
            raw[drawn.randrange(len(raw))] ^= 1 << drawn.randrange(8)
        return bytes(raw)

    return change


DAMAGE: dict[str, Callable[[bytes], bytes]] = {
    "pointer": lambda whole: POINTER,
    "conflict": lambda whole: b"<<<<<<< ours\n" + whole[:40] + b"\n=======\n>>>>>>> theirs\n",
    "empty": lambda whole: b"",
    "zeros": lambda whole: bytes(len(whole)),
    "text": lambda whole: "golden \x1b[31m\u202e\n".encode() * 9,
    "junk": lambda whole: random.Random(7).randbytes(len(whole)),
    **{f"cut{part}": _cut(part) for part in (0.001, 0.1, 0.5, 0.99)},
    **{f"flipped{seed}": _flipped(seed) for seed in range(4)},
    "longer": lambda whole: whole + b"\n",
}
#: each with the store, its directory, another store, and a bundle that holds the store
COMMANDS = {
    "verify": ["verify", "{folder}"],
    "fix": ["verify", "--fix", "{folder}"],
    "audit": ["audit", "{folder}"],
    "audit one": ["audit", "{store}"],
    "show": ["show", "{store}"],
    "show values": ["show", "{store}", "--run", "cpu/tensor", "--operator", "*", "--slot", "output.0"],
    "diff": ["diff", "{store}::cpu/tensor", "{whole}::cpu/tensor"],
    "found": ["diff", "{whole}::cpu/tensor", "{store}::cpu/tensor"],
    "learn": ["learn", "{store}", "--run", "cpu/tensor", "{whole}::cpu/tensor", "{whole}::gpu/tensor"],
    "review": ["review", "{folder}", "--golden", "{goldens}", "--list"],
    "accept": ["accept", "{folder}", "--golden", "{goldens}"],
    "beside": ["review", "{goldens}", "--golden", "{folder}", "--list"],
}


@pytest.fixture
def places(tmp_path: Path) -> dict[str, Path]:
    """A directory with a store, and another one with the same store."""
    folder, goldens = tmp_path / "folder", tmp_path / "goldens"
    folder.mkdir()
    update(folder / "a.h5", "a", {CPU: run_data(), OTHER: run_data()})
    manifest.rebuild(folder)
    shutil.copytree(folder, goldens)
    return {"folder": folder, "store": folder / "a.h5", "goldens": goldens, "whole": goldens / "a.h5"}


def contents(*folders: Path) -> dict[Path, bytes]:
    found: Iterator[Path] = (path for folder in folders for path in folder.rglob("*"))
    return {path: path.read_bytes() for path in found if path.is_file() and not path.name.endswith(".lock")}


def is_told(code: int, out: str, err: str) -> None:
    """One line and an exit code, nothing raw, no traceback."""
    assert code in (0, 1, 2)
    assert "Traceback" not in err
    assert "\x1b" not in out + err
    if code == 2 and "nothing to audit" not in out:
        assert len(err.strip().splitlines()) == 1, err
        assert err.startswith("msdump: ")


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_rotten_store(places: dict[str, Path], damage: str, capsys: pytest.CaptureFixture[str]) -> None:
    store = places["store"]
    store.write_bytes(DAMAGE[damage](store.read_bytes()))
    before = contents(places["folder"], places["goldens"])
    for name, words in COMMANDS.items():
        code = main([word.format_map(places) for word in words])
        is_told(code, *capsys.readouterr())
        assert code != 0 or damage.startswith(("flipped", "longer")) or name == "beside", name
        after = contents(places["folder"], places["goldens"])
        assert {path: after.get(path) for path in before} == before or code == 0, name
        before = after
    main(["verify", str(places["folder"])])
    found = capsys.readouterr()
    assert ("git lfs pull" in found.out) is (damage == "pointer")


@pytest.mark.parametrize("kind", ["directory", "dangling link", "pipe"])
def test_no_file_at_all(places: dict[str, Path], kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    store = places["store"]
    store.unlink()
    if kind == "directory":
        store.mkdir()
    elif kind == "pipe":
        os.mkfifo(store)
    else:
        store.symlink_to("nowhere.h5")
    for name, words in COMMANDS.items():
        code = main([word.format_map(places) for word in words])
        is_told(code, *capsys.readouterr())
        assert code != 0, name


#: what cannot be written into by anybody, root included
SEALED = Path("/proc/self")


@pytest.mark.skipif(not SEALED.is_dir(), reason="there is no /proc")
@pytest.mark.parametrize(
    "words",
    [
        ["init", "{sealed}"],
        ["accept", "{folder}", "--golden", "{sealed}/golden"],
        ["diff", "{store}::cpu/tensor", "{whole}::gpu/tensor", "--json", "{sealed}/diff.json"],
        ["diff", "{store}::cpu/tensor", "{whole}::gpu/tensor", "--report", "{sealed}/diff.html"],
        ["diff", "{store}::cpu/tensor", "{whole}::gpu/tensor", "--csv", "{folder}"],
    ],
    ids=str,
)
def test_where_nothing_can_be_written(
    places: dict[str, Path], words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    given = {**places, "sealed": SEALED}
    before = contents(places["folder"], places["goldens"])
    assert main([word.format_map(given) for word in words]) == 2
    found = capsys.readouterr()
    assert "Traceback" not in found.err
    assert len(found.err.strip().splitlines()) == 1
    assert contents(places["folder"], places["goldens"]) == before


@pytest.mark.parametrize("name", ["a\nb", "\x1b[31mred", "\u202egnp", "-", "a" * 300, "no such", "a::b", "'"])
def test_odd_names(places: dict[str, Path], name: str, capsys: pytest.CaptureFixture[str]) -> None:
    commands = [
        ["verify", name], ["audit", name], ["show", name], ["check", name, str(places["store"])],
        ["diff", name, str(places["store"])], ["learn", name, str(places["store"])], ["accept", name],
        ["review", name], ["import", name, str(places["store"])], ["judge", name],
        ["audit", str(places["store"]), f"--run={name}"], ["show", str(places["store"]), f"--run={name}"],
        ["accept", str(places["folder"]), "--golden", str(places["goldens"]), f"--only={name}"],
    ]  # fmt: skip
    if name == "-":  # a part of every variant's name
        del commands[-1]
    before = contents(places["folder"], places["goldens"])
    for words in commands:
        code = main(words)
        found = capsys.readouterr()
        assert code == 2, (words, found)
        is_told(code, *found)
    assert contents(places["folder"], places["goldens"]) == before
