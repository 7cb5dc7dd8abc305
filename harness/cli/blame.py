"""``msdump blame``: which changed lines make a test leave its golden, found by running it with them as they were."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from harness.atomic import temporary_directory
from harness.cli.regen import by_pytest
from harness.errors import HarnessError
from harness.escape import line
from harness.exit_status import DIFFERS, HOLDS
from harness.git import Stretch, changed, content, git, held, undone
from harness.suggest import command
from harness.words import counted

#: so many stretches are tried one by one, and so many bytes are copied
_MOST, _BYTES = 32, 500_000_000


class _Ran(NamedTuple):
    """A run of the test.

    Attributes:
        holds: whether it was compared, and holds.
        golden: directory of the goldens.
        stores: goldens that it was compared with.
        text: what it printed.
    """

    holds: bool
    golden: Path
    stores: tuple[Path, ...]
    text: str


def blame(arguments: Sequence[str], keep: dict[str, Any] | None = None) -> int:
    """Runs a failing test in a copy of the project, with changed lines as they were in the golden's commit.

    Args:
        arguments: pytest's; the last is the id of a test, from this directory.
        keep: receives what ``--json`` writes.

    Returns:
        0 if the test holds as it is, 1 if changed lines are found to be the cause.

    Raises:
        HarnessError: it cannot be told.
    """
    here, test = Path.cwd(), arguments[-1]
    ran = _pytest(arguments, here, {})
    if ran.holds:
        print(f"{line(test)} holds: there is nothing to blame")
        return HOLDS
    commit = _commit(test, ran, here)
    found = [each for each in changed(here, commit) if not _is_within(here / each.name, ran.golden)]
    if not found:
        raise HarnessError(f"nothing changed in this repository since the golden's commit {commit}; see what git "
                           "ignores, the data, and the environment")  # fmt: skip
    with temporary_directory("msdump-blame-") as folder:
        copy = _Copy(here, Path(folder), commit, arguments)
        if copy.holds([]):
            raise HarnessError(f"{test} holds in a copy of what git knows: what git ignores, or another place, decides")
        if not copy.holds(found):
            raise HarnessError(f"{test} fails, too, with all that changed since {commit} undone: the cause is not "
                               f"among {counted(len(found), 'change')} of this repository")  # fmt: skip
        guilty, words = _guilty(found[:_MOST], found, copy)
    if keep is not None:
        keep.update(test=test, commit=commit, changes=[each._asdict() for each in guilty])
    print(f"Cause, proven by running it again: changed since the golden's commit {commit}")
    for each in guilty:
        print("\n".join(each.shown()))
    print(f"With {words}, {line(test)} holds.")
    if len(found) > _MOST:
        print(f"{counted(len(found) - _MOST, 'more change')} were not tried one by one.")
    return DIFFERS


def _guilty(some: Sequence[Stretch], found: Sequence[Stretch], copy: _Copy) -> tuple[list[Stretch], str]:
    """The changes that made the test fail, and with what of them undone it holds."""
    if len(found) == 1:
        return [*found], "that as it was"
    alone = [each for each in some if copy.holds([each])]
    if alone:
        return alone, "that as it was" if len(alone) == 1 else "any one of these as it was"
    # Several faults, each of which is enough: with one alone left in place, the test fails.
    enough = [each for each in some if not copy.holds([other for other in found if other != each])]
    if enough and copy.holds(enough):
        return enough, "all of these as they were"
    return [*found], "all of these as they were"


def _is_within(path: Path, folder: Path) -> bool:
    return path.resolve().is_relative_to(folder.resolve())


def _pytest(arguments: Sequence[str], folder: Path, environment: dict[str, str]) -> _Ran:
    with temporary_directory("msdump-results-") as results:
        file = Path(results) / "results.json"
        asked = by_pytest("-q", "--msdump", f"--msdump-json={file}", "-p", "no:cacheprovider", *arguments)
        done = subprocess.run(asked, cwd=folder, env={**os.environ, **environment}, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, errors="replace", check=False)  # fmt: skip
        told = json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}
    golden = Path(told.get("golden", "golden"))
    stores = tuple(dict.fromkeys(golden / each["golden"] for each in told.get("comparisons", ())))
    return _Ran(done.returncode == 0 and bool(stores), golden, stores, done.stdout + done.stderr)


def _commit(test: str, ran: _Ran, here: Path) -> str:
    """The commit that wrote the test's golden."""
    if not ran.stores:
        raise HarnessError(f"{test} was not run: {(ran.text.strip().splitlines() or ['pytest said nothing'])[-1]}")
    made = [held(here, each) for each in ran.stores if each.is_file()]
    if not made:
        raise HarnessError(f"{test} has no golden: {command('msdump', 'regen', test)}")
    if not made[0].commit:
        raise HarnessError("no commit holds the golden as it is, so git cannot say what changed since")
    if made[0].is_cut:
        raise HarnessError("the history of this clone is shallow; `git fetch --unshallow` (fetch-depth: 0 in CI) first")
    return made[0].commit


class _Copy:
    """A copy of what git knows of the repository, or could know."""

    def __init__(self, here: Path, folder: Path, commit: str, arguments: Sequence[str]) -> None:
        top = Path((git(here, "rev-parse", "--show-toplevel") or "").rstrip("\n"))
        listed = git(top, "ls-files", "--cached", "--others", "--exclude-standard", "-z") or ""
        names = [name for name in dict.fromkeys(listed.split("\0")) if name and (top / name).is_file()]
        size = sum((top / name).stat().st_size for name in names)
        if size > _BYTES:
            raise HarnessError(f"the repository has {size / 1e6:.0f} MB, which are too many to copy")
        for name in names:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(top / name, folder / name)
        self._here, self._commit, self._arguments = here, commit, arguments
        self._folder = folder / here.relative_to(top.resolve() if here.is_relative_to(top.resolve()) else top)
        # Packages that are installed in place are found in the copy, too.
        there = (folder / os.path.relpath(each, top) for each in sys.path if each and Path(each).is_relative_to(top))
        paths = [*(os.fspath(each) for each in there if each.is_dir()), os.environ.get("PYTHONPATH", "")]
        self._environment = {"PYTHONPATH": os.pathsep.join(filter(None, paths)), "PYTHONDONTWRITEBYTECODE": "1"}

    def holds(self, without: Sequence[Stretch]) -> bool:
        """Whether the test holds without these changes; the copy is as before afterwards."""
        names = list(dict.fromkeys(each.name for each in without))
        try:
            for name in names:
                self._undo(name, [each for each in without if each.name == name])
            return _pytest(self._arguments, self._folder, self._environment).holds
        finally:
            for name in names:
                self._put(name, (self._here / name).read_bytes() if (self._here / name).is_file() else None)

    def _undo(self, name: str, stretches: Sequence[Stretch]) -> None:
        if any(each.what for each in stretches):
            self._put(name, content(self._here, self._commit, name))
            return
        text = (self._here / name).read_bytes().decode("utf-8", "surrogateescape")
        self._put(name, undone(text, stretches).encode("utf-8", "surrogateescape"))

    def _put(self, name: str, content: bytes | None) -> None:
        if content is None:
            (self._folder / name).unlink(missing_ok=True)
            return
        (self._folder / name).parent.mkdir(parents=True, exist_ok=True)
        (self._folder / name).write_bytes(content)
