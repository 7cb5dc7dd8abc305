"""HDF5 files from elsewhere: odd structures are refused before libhdf5 reads them, and what it reads it reads apart."""

from __future__ import annotations

import json
import os
import platform
import random
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from harness.errors import StoreError
from harness.store import GoldenStore, apart
from harness.store.hdf5_structure import refuse_odd_structure
from harness.store.listed import Schema1
from tests.store.hdf5_kinds import FOREIGN, WHOLE, kinds, outcome
from tests.store.helpers import CPU

pytestmark = pytest.mark.faults


@pytest.mark.parametrize("count", [200, pytest.param(2000, marks=pytest.mark.long)])
def test_hundreds_of_kinds_are_refused_or_whole_in_structure(count: int) -> None:
    every, refused = kinds(), list[str]()
    assert len(every) > 900
    drawn = random.Random(44).sample(sorted(every), min(count, len(every)))
    with tempfile.TemporaryFile() as file:
        for name in drawn:
            raw = every[name]()
            os.ftruncate(file.fileno(), 0)
            os.pwrite(file.fileno(), raw, 0)
            with suppress(StoreError):
                refuse_odd_structure(file.fileno(), len(raw))
                continue
            refused.append(name)
    assert len(refused) > len(drawn) // 3


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("external link", "soft or external link"),
        ("soft link", "soft or external link"),
        ("external storage", "lie in another file"),
        ("virtual dataset", "is virtual"),
        ("filter 305", "filter 305"),
        ("lzf", "filter 32000"),
        ("many links (fractal heap)", "lie in a heap"),
        ("many attributes (fractal heap)", "lie in a heap"),
        ("symbol table and local heap", "superblock is of version 0"),
        ("links in a cycle", None),
        ("nothing else", None),
    ],
)
def test_what_leads_out_of_the_file_is_refused_before_libhdf5(
    name: str, told: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []

    def listed(descriptor: int, size: int) -> Any:
        asked.append(size)
        raise StoreError("asked")

    monkeypatch.setattr("harness.store.listed.listed", listed)
    (tmp_path / "x.h5").write_bytes(kinds()[name]())
    with pytest.raises(StoreError, match=told or "asked"):
        GoldenStore.open(tmp_path / "x.h5")
    assert len(asked) == (told is None)


@pytest.mark.parametrize("count", [3, pytest.param(25, marks=pytest.mark.long)])
def test_some_kinds_end_in_one_line(count: int, tmp_path: Path) -> None:
    drawn = random.Random(44).sample(sorted(set(kinds()) - set(FOREIGN)), count)
    assert [(name, amiss) for name in drawn if (amiss := outcome(kinds()[name], tmp_path / "x.h5")[1])] == []


# --- the process -----------------------------------------------------------------------------------------------------

_TRIES = """
import ctypes, json, os, signal, socket, sys
sys.path[:] = json.loads(sys.argv[1])
from harness.store.confined import confine
held = confine(64 << 20, 3)
said = {"held": held}
def tried(name, call):
    try:
        call()
        said[name] = "done"
    except (OSError, MemoryError) as error:
        said[name] = type(error).__name__
tried("open", lambda: os.open("/etc/passwd", os.O_RDONLY))
tried("socket", lambda: socket.socket())
tried("memory", lambda: bytearray(1 << 30))
tried("fork", lambda: os.fork() or os._exit(0)) if "seccomp" in held else None
tried("read", lambda: os.pread(0, 1, 0))
os.write(1, json.dumps(said).encode())
{last}
"""


def confined(last: str) -> subprocess.CompletedProcess[bytes]:
    """A confined process that tries what it may not."""
    with WHOLE.open("rb") as file:
        return subprocess.run(
            [sys.executable, "-I", "-c", _TRIES.replace("{last}", last), json.dumps(sys.path)],
            stdin=file, capture_output=True, check=False,
        )  # fmt: skip


def test_a_confined_process_reads_and_does_nothing_else() -> None:
    done = confined("os._exit(0)")
    said = json.loads(done.stdout)
    refused = "PermissionError" if "seccomp" in said.pop("held") else "OSError"
    assert said.pop("fork", "PermissionError") == "PermissionError"
    assert said == {"open": refused, "socket": refused, "memory": "MemoryError", "read": "done"}


@pytest.mark.skipif(platform.system() != "Linux" or platform.machine() not in ("x86_64", "aarch64"), reason="no filter")
def test_where_the_kernel_has_a_filter_it_is_set() -> None:
    assert json.loads(confined("os._exit(0)").stdout)["held"] == ["limits", "seccomp"]


@pytest.mark.parametrize(
    ("program", "told"),
    [
        ("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)", "was ended by SIGSEGV"),
        ("import os; os.abort()", "was ended by SIGABRT"),
        ("raise SystemExit(3)", "ended with 3"),
        ("pass", "gave no listing"),
        ("print('[1]')", "gave no listing"),
        ("print('{')", "gave no listing"),
        ("print('[' * 100000)", "gave no listing"),
        ("print('x' * 10000000)", "takes more than"),
        ('print(\'{"error": "a word"}\')', "a word"),
        ("print('{}')", "schema version 0"),
        ("print('{\"schema\": 1}')", "no network"),
        ('print(\'{"schema": 2, "network": "n"}\')', "does not begin as such"),
    ],
)
def test_the_end_of_the_process_is_one_line(
    program: str, told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "x.h5").write_bytes(WHOLE.read_bytes())
    monkeypatch.setattr(apart, "_PROGRAM", program)
    with pytest.raises(StoreError, match=told) as caught:
        GoldenStore.open(tmp_path / "x.h5")
    assert str(caught.value).startswith(f"{tmp_path}/x.h5: ")
    assert "\n" not in str(caught.value)


def test_a_program_that_cannot_be_started_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "x.h5").write_bytes(WHOLE.read_bytes())
    monkeypatch.setattr(sys, "executable", f"{tmp_path}/none")
    with pytest.raises(StoreError, match="cannot be started"):
        GoldenStore.open(tmp_path / "x.h5")


PLACES: dict[str, Any] = {
    "no list": 1, "short": [0, 1], "a text": ["0", 1, False, "<f4", [1]], "negative": [-1, 4, False, "<f4", [1]],
    "beyond": [10**9, 4, False, "<f4", [1]], "objects": [0, 8, False, "|O", [1]], "no kind": [0, 4, False, 7, [1]],
    "odd width": [0, 3, False, "<f3", [1]], "huge": [0, 4, False, "<f4", [2**40]], "bomb": [0, 4, True, "<f4", [2**40]],
    "no shape": [0, 4, False, "<f4", 1], "axes": [0, 4, False, "<f4", [1] * 40], "size": [0, 9, False, "<f4", [1]],
    "packed": [0, 4, 1, "<f4", [1]], "float": [0, 4.0, False, "<f4", [1]], "error": {"error": "because"},
}  # fmt: skip


def test_a_hostile_listing_is_not_believed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "x.h5").write_bytes(WHOLE.read_bytes())
    given: dict[str, Any] = {"schema": 1, "network": "n", "objects": {}, "runs": [["cpu", "tensor", {}]]}
    monkeypatch.setattr("harness.store.listed.listed", lambda *_: given)
    for place in PLACES.values():
        given["objects"] = {"00" * 16: place}
        with GoldenStore.open(tmp_path / "x.h5") as store, pytest.raises(StoreError):
            store.read_object(bytes(16), "Float32", (1,))
        given["runs"] = [["cpu", "tensor", {"level": "tensors", "checksum": "x", "attrs": "{}", "index": place,
                                            "names": place, "texts": {"a": place}}]]  # fmt: skip
        with GoldenStore.open(tmp_path / "x.h5") as store:
            run = store.run(*CPU)
            for read in (lambda run=run: run.index, lambda run=run: run.artefact("a")):
                with pytest.raises(StoreError):
                    read()
    for runs in (1, {}, {"error": "because"}, [1], [["cpu"]], [["", "", {}]], [[1, 2, {}]], [["cpu", "tensor", 1]]):
        given["runs"] = runs
        with pytest.raises(StoreError), GoldenStore.open(tmp_path / "x.h5") as store:
            store.runs()
    for level, attrs in (("most", "{}"), (None, "{}"), ("tensors", "["), ("tensors", "[" * 10**5), ("tensors", "[]"),
                         ("tensors", '{"rules": "x"}')):  # fmt: skip
        given["runs"] = [["cpu", "tensor", {"level": level, "checksum": "x", "attrs": attrs}]]
        with pytest.raises(StoreError), GoldenStore.open(tmp_path / "x.h5") as store:
            store.run(*CPU)
    with WHOLE.open("rb") as file, pytest.raises(StoreError, match="no compression"):
        _ = Schema1(file.fileno(), WHOLE.stat().st_size).compression
