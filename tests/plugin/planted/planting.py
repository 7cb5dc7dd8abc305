"""Plants a fault in a repository that has goldens, runs the gate, and reads what it tells."""

from __future__ import annotations

import os
import random
import re
import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from tests.plugin.planted.mutations import Edit, edits
from tests.plugin.planted.repositories import REPOSITORIES
from tests.subprocesses import pytest_run

_CAUSE = re.compile(r"^Cause, (?:proven|likely)[^:]*: (.*)$", re.MULTILINE)


class Outcome(NamedTuple):
    """What was told of a fault.

    Attributes:
        edit: the fault.
        old, new: the line before and after.
        place: whether its file and line were told.
        change: whether the old and the new text of the line were told.
        causes: the causes that were told.
        told: the gate's text.
    """

    edit: Edit
    old: str
    new: str
    place: bool
    change: bool
    causes: tuple[str, ...]
    told: str

    @property
    def cause(self) -> bool:
        """Whether a cause was told."""
        return self.change or bool(self.causes)

    def counts(self) -> list[str]:
        """What to count of it."""
        told = ["faults", "with file and line" * self.place, "with a cause" * self.cause]
        told += ["with the changed line's text" * self.change, "with a cause of the values" * bool(self.causes)]
        return [each for each in told if each]

    def __str__(self) -> str:
        marks = "".join(mark if is_there else "-" for mark, is_there in zip(
            "PCV", (self.place, self.change, bool(self.causes)), strict=True))  # fmt: skip
        cause = self.causes[0] if self.causes else "(none)"
        return f"{marks} {self.edit.kind}: {self.edit.file}:{self.edit.line} [{self.old}] -> [{self.new}] | {cause}"


class Planted:
    """A repository with goldens that git has.

    Attributes:
        left_out: number of edits that changed no number, or that ended in an error.
    """

    def __init__(self, name: str, folder: Path) -> None:
        self._files = REPOSITORIES[name]
        self._folder = folder
        self._environment = {**_GIT, "HOME": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
        self.left_out: Counter[str] = Counter()
        for file, text in self._files.items():
            (folder / file).parent.mkdir(parents=True, exist_ok=True)
            (folder / file).write_text(text)
        made = self._gate("--msdump-regen")
        assert made.returncode == 0, made.stdout + made.stderr
        for words in (("init", "-q"), ("add", "-A"), ("commit", "-qm", "start")):
            subprocess.run(["git", *words], cwd=folder, check=True, capture_output=True, env=self._clean())

    def drawn(self, draw: random.Random, count: int) -> Iterator[Outcome]:
        """What is told of ``count`` faults; kinds are drawn first, so that none of them is rare."""
        by_kind: dict[str, list[Edit]] = {}
        for file, text in self._files.items():
            if text and not file.endswith((".ini", "_arrays.py")):
                for each in edits(file, text):
                    by_kind.setdefault(each.kind, []).append(each)
        while count and by_kind:
            kind = draw.choice(sorted(by_kind))
            edit = by_kind[kind].pop(draw.randrange(len(by_kind[kind])))
            if not by_kind[kind]:
                del by_kind[kind]
            outcome = self.planted(edit)
            if outcome is not None:
                count -= 1
                yield outcome

    def planted(self, edit: Edit) -> Outcome | None:
        """What is told of one fault; None where nothing differs, or where a test ends in an error."""
        path, before = self._folder / edit.file, self._files[edit.file]
        path.write_text(edit.text)
        try:
            done = self._gate("--msdump")
        finally:
            path.write_text(before)
        told = done.stdout + done.stderr
        if done.returncode == 0:
            self.left_out["changed no result"] += 1
            return None
        if " differs from " not in told:
            self.left_out["ended in an error"] += 1
            return None
        old, new = ([*text.splitlines(), ""][edit.line - 1].strip() for text in (before, edit.text))
        new = new if before.count("\n") == edit.text.count("\n") else ""
        place = bool(re.search(rf"\b{re.escape(edit.file)}:{edit.line}\b", told))
        change = place and all(f"{sign} {line}" in told for sign, line in (("-", old), ("+", new)) if line)
        return Outcome(edit, old, new, place, change, tuple(_CAUSE.findall(told)), told)

    def _gate(self, word: str) -> subprocess.CompletedProcess[str]:
        return pytest_run(["-q", word], self._folder, self._environment)

    def _clean(self) -> dict[str, str]:
        kept = {name: each for name, each in os.environ.items() if not name.startswith("GIT_")}
        return {**kept, **self._environment}


_GIT = {f"GIT_{who}_{what}": text for who in ("AUTHOR", "COMMITTER")
        for what, text in (("NAME", "a"), ("EMAIL", "a@b.c"))}  # fmt: skip
