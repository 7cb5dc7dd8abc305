"""The layer that counts calls, kills and fails: its counts are right."""

from __future__ import annotations

import errno
import os
import tempfile
from pathlib import Path

import pytest

from tests.faults.steps import AFTER, BEFORE, run

pytestmark = pytest.mark.faults


def write(folder: Path) -> None:
    """Seven calls that change ``folder``, one that changes nothing, and one elsewhere."""
    (folder / "d").mkdir()
    (folder / "d/a").write_text("x", encoding="utf-8")
    (folder / "d/a").read_bytes()
    os.replace(folder / "d/a", folder / "b")
    (folder / "b").unlink()
    (folder / "d").rmdir()
    descriptor = os.open(folder / "c", os.O_RDWR | os.O_CREAT)
    os.fsync(descriptor)
    with tempfile.TemporaryFile(dir="/tmp") as other:
        other.write(b"x")


CALLS = ["mkdir", "open", "write", "replace", "unlink", "rmdir", "open", "fsync"]


def test_every_call_is_counted(tmp_path: Path) -> None:
    outcome = run(lambda: write(tmp_path), tmp_path)
    assert outcome.code == 0, outcome.output
    assert [step.call for step in outcome.steps] == CALLS
    assert outcome.steps[3].path == "b"


@pytest.mark.parametrize(("how", "there"), [(BEFORE, ["d/a"]), (AFTER, ["b"])])
def test_a_kill_hits_its_call(tmp_path: Path, how: str, there: list[str]) -> None:
    outcome = run(lambda: write(tmp_path), tmp_path, at=4, how=how)
    assert outcome.code is None
    assert [str(p.relative_to(tmp_path)) for p in tmp_path.rglob("*") if p.is_file()] == there


def test_a_call_fails_as_asked(tmp_path: Path) -> None:
    outcome = run(lambda: write(tmp_path), tmp_path, at=3, how=errno.ENOSPC)
    assert outcome.code == 70
    assert "No space left on device" in outcome.output


def test_an_exit_status_comes_through(tmp_path: Path) -> None:
    def leave() -> None:
        raise SystemExit(2)

    assert run(leave, tmp_path).code == 2
