"""Stores written by the oldest h5py that is admitted and by the one that is installed: each reads the other's.

They are read three ways: by the harness (offsets, no libhdf5), by the harness in the other interpreter, and by h5py
alone, which knows nothing of the harness, as ``h5dump`` and other viewers read them.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import h5py
import pytest

from harness.store import GoldenStore, update
from tests.interop.conftest import oracle_python
from tests.store.helpers import ARTEFACTS, ASCEND, CPU, contents, run_data

pytestmark = pytest.mark.interop

ROOT = Path(__file__).parents[2]
COMPRESSIONS = ("none", "gzip")

WRITE = """
import sys
from harness.store import update
from tests.store.helpers import ASCEND, CPU, run_data
update(sys.argv[1], "net", {CPU: run_data(), ASCEND: run_data(1, level="digest")}, compression=sys.argv[2])
"""
READ = """
import sys
from tests.store.helpers import contents
print(repr(contents(sys.argv[1])))
"""
#: What a viewer sees: every dataset under its path, by h5py alone.
VIEW = """
import hashlib, json, sys
import h5py
seen = {}
def visit(name, found):
    if isinstance(found, h5py.Dataset):
        seen[name] = [str(found.dtype), list(found.shape), hashlib.sha256(found[()].tobytes()).hexdigest()]
with h5py.File(sys.argv[1], "r") as file:
    seen["/"] = sorted((name, str(value)) for name, value in file.attrs.items())
    def walk(group, path):
        for name in sorted(group):
            found = group[name]
            if isinstance(found, h5py.Group):
                walk(found, path + name + "/")
            else:
                visit(path + name, found)
    walk(file, "/")
print(json.dumps([h5py.__version__, seen], sort_keys=True))
"""


@pytest.fixture(scope="module")
def oldest() -> str:
    """Interpreter with h5py 3.11.0."""
    return oracle_python("h5py-3.11")


def asked(python: str, code: str, *arguments: str) -> str:
    """What a program prints; it finds the harness and the tests here."""
    done = subprocess.run(
        [python, "-c", code, *arguments], cwd=ROOT, capture_output=True, text=True, timeout=600, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


def viewed(python: str, path: Path) -> tuple[str, dict[str, Any]]:
    """The version of h5py, and all datasets of a store as it sees them."""
    version, seen = json.loads(asked(python, VIEW, str(path)))
    return version, seen


def without_places(seen: dict[str, Any]) -> dict[str, Any]:
    """What does not say where things lie: another libhdf5 lays a file out differently."""
    return {name: value for name, value in seen.items() if name not in ("/places", "/contents")}


@pytest.mark.parametrize("compression", COMPRESSIONS)
def test_each_reads_what_the_other_wrote(oldest: str, compression: str, tmp_path: Path) -> None:
    ours, theirs = tmp_path / "ours.h5", tmp_path / "theirs.h5"
    update(ours, "net", {CPU: run_data(), ASCEND: run_data(1, level="digest")}, compression=compression)  # type: ignore[arg-type]
    asked(oldest, WRITE, str(theirs), compression)

    assert contents(theirs) == contents(ours), "our reader, of the other's file"
    assert asked(oldest, READ, str(ours)) == asked(oldest, READ, str(theirs)), "the other's reader, of both files"
    with GoldenStore.open(theirs) as store:
        assert store.verify() == []
        assert store.compression == compression
        assert store.run(*CPU).artefacts() == dict(sorted(ARTEFACTS.items()))

    for path in (ours, theirs):
        (new, seen), (old, seen_by_oldest) = viewed(sys.executable, path), viewed(oldest, path)
        assert (new, old) == (h5py.__version__, "3.11.0")
        assert seen == seen_by_oldest
    assert without_places(viewed(sys.executable, ours)[1]) == without_places(viewed(sys.executable, theirs)[1])


def test_what_has_the_same_contents_is_not_written_anew(oldest: str, tmp_path: Path) -> None:
    path = tmp_path / "x.h5"
    asked(oldest, WRITE, str(path), "none")
    before = path.read_bytes()
    done = update(path, "net", {CPU: run_data(), ASCEND: run_data(1, level="digest")})
    assert not done.changed
    assert path.read_bytes() == before


def test_h5dump_reads_it(oldest: str, tmp_path: Path) -> None:
    tool = shutil.which("h5dump")
    if tool is None:
        pytest.skip("h5dump is not installed (package hdf5-tools)")
    path = tmp_path / "x.h5"
    asked(oldest, WRITE, str(path), "gzip")
    done = subprocess.run([tool, "-H", str(path)], capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    for name in ("objects", "parts", "places", "runs"):
        assert f'"{name}"' in done.stdout
