"""Commands that write, and what must hold when one is stopped, or fails, at any call that changes the file system.

``every_step`` runs a command once for each of its calls and each way to stop there, each time from the same state, in a
fork of this process. After each: every file is the old or the new one, whole; the next run makes everything new and
leaves nothing else; a call that failed is one line and an exit code, never a traceback.
"""

from __future__ import annotations

import errno
import gc
import importlib
import os
import re
import shutil
import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from harness.errors import HarnessError
from harness.store import recover
from tests.faults.steps import AFTER, BEFORE, Outcome, run

WAYS: tuple[str | int, ...] = (BEFORE, AFTER, errno.ENOSPC, errno.EIO, errno.EMFILE, errno.EACCES)
Act = Callable[[Path], object]
_OF_A_PROCESS = re.compile(r"(?<=\.)[0-9]+(?=\.tmp$|-[0-9a-f]{8}\.part$)")


@dataclass(frozen=True)
class Command:
    """Something that writes.

    Attributes:
        prepare: makes the state before in a directory.
        act: does it there; ``SystemExit`` is the exit code of a command line.
        check: looks at the directory afterwards, where names hold a time and files cannot be compared by name; None
            where every visible file must be the old or the new one.
        refusal: what the next run may say instead of writing over what the first one left.
        log: a failure is told by the log, and the run goes on: any exit code may do.
        whole: beginnings of paths: once a reader came by, all files of one are the old ones, or all the new ones.
        session: it holds a session of pytest, which tells failures in its own report.
    """

    prepare: Act
    act: Act
    check: Callable[[Path], object] | None = None
    log: bool = False
    refusal: str = ""
    whole: tuple[str, ...] = ()
    session: bool = False


class Enumerated(NamedTuple):
    """How many calls a command makes, and how many runs were made of it."""

    steps: int
    runs: int


@dataclass
class State:
    """The visible files of a directory, and the names of the hidden ones."""

    files: dict[str, bytes] = field(default_factory=dict)
    hidden: set[str] = field(default_factory=set)

    @classmethod
    def of(cls, folder: Path) -> State:
        found = cls()
        for path in sorted(folder.rglob("*")):
            name = path.relative_to(folder).as_posix()
            if any(part.startswith(".") for part in Path(name).parts):
                found.hidden.add(name)
            elif path.is_file():
                found.files[name] = path.read_bytes()
        return found

    def below(self, start: str) -> dict[str, bytes]:
        """The files whose path begins so."""
        return {name: content for name, content in self.files.items() if name.startswith(start)}


def every_step(
    command: Command, folder: Path, *, ways: Iterable[str | int] = WAYS, start: int = 1, stride: int = 1,
    bad: list[str] | None = None, enough: Callable[[], bool] = lambda: False,
) -> Enumerated:  # fmt: skip
    """Stops ``command`` at every ``stride``-th call, from ``start`` on, in each of ``ways``.

    Args:
        bad: takes what is wrong, so that the enumeration goes on; without it the first ends it as ``AssertionError``.
        enough: is asked after each call; the enumeration ends there if it says so.
    """
    old, work = folder / "old", folder / "work"
    old.mkdir()
    command.prepare(old)

    shutil.copytree(old, work)
    first = run(lambda: _one_line(command.act, work), under=work)
    assert first.code == 0, first.output
    _import(first.modules)
    before, after, runs, seen = State.of(old), State.of(work), 0, set[bytes]()
    assert len(first.steps) > 1, "nothing is written: this proves nothing"
    for at in range(start, len(first.steps) + 1, stride):
        if runs and enough():
            break
        for how in ways:
            shutil.rmtree(work)
            shutil.copytree(old, work)
            where = f"call {at} of {len(first.steps)} ({first.steps[at - 1]}), {how}"
            try:
                _one(command, where, work, before, after, at, how, seen)
            except AssertionError as error:
                if bad is None:
                    raise
                bad.append(str(error))
            runs += 1
    return Enumerated(len(first.steps), runs)


def _fingerprint(folder: Path) -> bytes:
    """Everything below a directory; numbers of processes in names of temporary files are left out."""
    found = sha256()
    for path in sorted(folder.rglob("*")):
        name = _OF_A_PROCESS.sub("N", path.relative_to(folder).as_posix())
        content = path.read_bytes() if path.is_file() else b""
        found.update(f"{name}\0{path.is_dir()}\0{len(content)}\0".encode() + content)
    return found.digest()


def _import(modules: Iterable[str]) -> None:
    """Imports what a child had to: the others are forks of this process."""
    for name in modules:
        if name not in sys.modules:
            with suppress(Exception):
                importlib.import_module(name)
    gc.freeze()  # a collection would touch, and copy, the pages of all objects in each fork


def _one(
    command: Command, where: str, work: Path, before: State, after: State, at: int, how: str | int, seen: set[bytes]
) -> None:  # fmt: skip
    """Stops the command once, and runs it again, unless it left what ``seen`` knows: then that was done before."""
    stopped = run(lambda: _one_line(command.act, work), under=work, at=at, how=how)
    _judge(command, stopped, where, how, work, before, after)
    left = _fingerprint(work)
    if left in seen:
        return
    seen.add(left)
    if command.whole:
        recover(work)
        found = State.of(work)
        for start in command.whole:
            states = [state.below(start) for state in (before, after)]
            assert found.below(start) in states, f"{where}: {start}: neither the old state nor the new one"
    rerun = run(lambda: _one_line(command.act, work), under=work)
    if rerun.code == 2 and command.refusal and command.refusal in rerun.output:
        if command.check is not None:
            return
    else:
        assert rerun.code == 0, f"{where}: the next run: {rerun.output}"
    _is_clean(command, State.of(work), after, where, work)


def _one_line(act: Act, folder: Path) -> None:
    try:
        act(folder)
    except HarnessError as error:
        print(f"msdump: {error}", file=sys.stderr)
        sys.exit(2)


def _judge(
    command: Command, stopped: Outcome, where: str, how: str | int, work: Path, before: State, after: State
) -> None:  # fmt: skip
    assert "Traceback" not in stopped.output, f"{where}: {stopped.output}"
    assert "INTERNALERROR" not in stopped.output, f"{where}: {stopped.output}"
    if command.session:
        told = stopped.code in (None, 0) or (isinstance(how, int) and os.strerror(how) in stopped.output)
        assert stopped.code in (None, 0, 1, 2), f"{where}: exit code {stopped.code}: {stopped.output}"
        assert told, f"{where}: exit code {stopped.code}, and nothing says why: {stopped.output}"
    elif stopped.code is not None and not command.log:
        told = [line for line in stopped.output.splitlines() if line.startswith("msdump: ")]
        assert stopped.code in (0, 1, 2), f"{where}: exit code {stopped.code}: {stopped.output}"
        assert len(told) == (stopped.code == 2), f"{where}: exit code {stopped.code}: {stopped.output}"
    if command.check is not None:
        command.check(work)
        return
    found = State.of(work)
    assert before.files.keys() - found.files.keys() <= before.files.keys() - after.files.keys(), (
        f"{where}: a file is lost"
    )
    for name, content in found.files.items():
        allowed = [state.files[name] for state in (before, after) if name in state.files]
        assert content in allowed, f"{where}: {name} is neither the old nor the new one"
    if stopped.code == 0:
        assert found.files == after.files, f"{where}: it says that it is done"


def _is_clean(command: Command, found: State, after: State, where: str, work: Path) -> None:
    if command.check is not None:
        command.check(work)
    else:
        assert found.files == after.files, f"{where}: the next run did not bring the new state"
    strange = {name for name in found.hidden - after.hidden if not os.path.isdir(work / name)}
    assert not strange, f"{where}: left over after the next run: {sorted(strange)}"
