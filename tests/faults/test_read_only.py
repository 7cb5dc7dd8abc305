"""Every command where it may not write: one line and an exit code, and nothing is lost."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from tests.faults.commands import Command, State, _one_line
from tests.faults.rights import give_up, lock, skip_unless_held, unlock
from tests.faults.sessions import SESSIONS, _made, _surroundings
from tests.faults.steps import Outcome, run
from tests.faults.writing import COMMANDS, line
from tests.plugin.conftest import INSTALLED, PLUGIN

pytestmark = [pytest.mark.faults, pytest.mark.long]  # some hundred forks, most of them with a session of pytest


#: a line of a failed call, as pytest prints it
_FRAME = re.compile("^(?:>|E) ", re.MULTILINE)


def _gate(value: str, *arguments: str) -> Callable[[Path], None]:
    def act(folder: Path) -> None:
        _surroundings(folder, value)
        load = [] if INSTALLED else ["-p", PLUGIN]
        sys.exit(int(pytest.main([*load, "--msdump", "-q", "-p", "no:cacheprovider", *arguments])))

    return act


GATES = {
    "gate, differs": Command(_made, _gate("2"), session=True),
    "gate, keeps": Command(_made, _gate("2", "--msdump-keep"), session=True),
    "gate, page": Command(_made, _gate("1", "--msdump-report=page.html"), session=True),
}
WRITING = {
    name: replace(command, log=command.log or name.startswith("dump,"))
    for name, command in {**COMMANDS, **SESSIONS, **GATES}.items()
}
#: What only reads does all it can.
READING = {
    "gate": Command(_made, _gate("1"), session=True),
    "verify": Command(_made, line("verify", "@golden")),
    "show": Command(_made, line("show", "@golden")),
    "audit": Command(_made, line("audit", "@golden/test_it/test_one.h5")),
    "diff": Command(_made, line("diff", "@golden/test_it/test_one.h5", "@golden/test_it/test_one.h5")),
    "review --list": Command(SESSIONS["review"].prepare, line("review", "@bundle", "--golden", "@golden", "--list")),
    "prune --dry-run": Command(_made, SESSIONS["prune"].act, session=True),
}


@pytest.fixture(autouse=True)
def _held() -> None:
    skip_unless_held()


def _in_read_only(command: Command, folder: Path, where: str = "") -> tuple[Outcome, State, State]:
    """Runs a command whose directory (or ``where`` in it) is read-only; the result, and the files before and after."""
    command.prepare(folder)
    target = folder / where
    target.mkdir(exist_ok=True)
    before = State.of(folder)
    lock(target)

    def act() -> None:
        give_up()
        os.environ["HOME"] = str(target)
        _one_line(command.act, folder)

    try:
        return run(act, under=folder), before, State.of(folder)
    finally:
        unlock(target)


def _is_told(command: Command, done: Outcome) -> None:
    assert "Traceback" not in done.output, done.output
    assert "INTERNALERROR" not in done.output, done.output
    assert not _FRAME.search(done.output), done.output
    told = [text for text in done.output.splitlines() if "ermission denied" in text]
    if command.log:  # as MindSpore does: the log says it once, and the network goes on
        return
    assert done.code in (1, 2), f"exit code {done.code}: {done.output}"
    assert len(told) >= 1 if command.session else len(told) == 1, done.output
    assert command.session or [text for text in told if text.startswith("msdump: ")], done.output


@pytest.mark.parametrize("name", WRITING)
def test_a_project_that_is_read_only(name: str, tmp_path: Path) -> None:
    done, before, after = _in_read_only(WRITING[name], tmp_path)
    _is_told(WRITING[name], done)
    assert after == before


@pytest.mark.parametrize("name", [name for name in WRITING if any(each in name for each in ("regen", "learn", "prune",
                                  "accept", "review", "verify", "update"))])  # fmt: skip
def test_goldens_that_are_read_only(name: str, tmp_path: Path) -> None:
    command = WRITING[name]
    where = "golden" if name not in ("learn", "update") else "."
    done, before, after = _in_read_only(command, tmp_path, where)
    if name != "review, dropping":
        _is_told(command, done)
    assert after.below("golden") == before.below("golden")


@pytest.mark.parametrize("name", ["gate, differs", "gate, keeps", "gate, page", "regen", "prune"])
def test_a_scratch_directory_that_is_read_only(name: str, tmp_path: Path) -> None:
    done, before, after = _in_read_only(WRITING[name], tmp_path, ".msdump")
    assert "Traceback" not in done.output, done.output
    assert "INTERNALERROR" not in done.output, done.output
    assert not _FRAME.search(done.output), done.output
    assert done.code == (1 if name.startswith(("gate, d", "gate, k")) else done.code), done.output
    if name.startswith("gate"):
        assert after.files.items() >= before.files.items()


@pytest.mark.parametrize("name", READING)
def test_reading_needs_no_right_to_write(name: str, tmp_path: Path) -> None:
    done, before, after = _in_read_only(READING[name], tmp_path)
    assert done.code == (1 if "list" in name else 0), done.output
    assert after == before
