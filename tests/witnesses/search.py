"""Looks for the witness of a fact: the change of its code, and the test that fails with the change, alone.

A plugin of pytest: it collects tests and runs them in forks, each with one change made in memory.
"""

from __future__ import annotations

import gc
import json
import os
import re
import signal
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from _pytest.runner import runtestprotocol

from tests.subprocesses import ROOT
from tests.witnesses.at_import import still_holds
from tests.witnesses.changes import AT_IMPORT, Change, changes, functions_of, parsed_anew, planted
from tests.witnesses.marks import Mark
from tests.witnesses.seen import users_of
from tests.witnesses.tables import WITHOUT, table_at, without
from tests.witnesses.weak import ACCIDENTS

#: how many tests are tried with one change, and how many changes of one fact
TESTS, CHANGES = 3, 8
_SECONDS = 60
_BY_ACCIDENT = 2


class Seen:
    """Which tests run what, as ``tests.witnesses.seen`` noted."""

    def __init__(self, paths: list[Path]) -> None:
        self.by_key: dict[str, list[str]] = {}
        self.seconds: dict[str, float] = {}
        for line in (line for path in paths for line in path.read_text().splitlines()):
            test, seconds, keys = json.loads(line)
            self.seconds[test] = seconds
            for key in keys:
                self.by_key.setdefault(key, []).append(test)

    def of(self, key: str) -> list[str]:
        """The tests that run it, the quick ones first, and rather those beside something recorded."""
        return sorted(self.by_key.get(key, ()), key=self.cost)

    def cost(self, test: str) -> float:
        """Seconds of a test; five times as many where it is not beside something recorded."""
        return (self.seconds[test] + 0.02) * (1 if _is_recorded(test) else 5)


def _is_recorded(test: str) -> bool:
    """Whether the test is in a file that speaks of MindSpore, or reads what was recorded."""
    return _has_recorded(test.partition("::")[0])


@cache
def _has_recorded(path: str) -> bool:
    text = (ROOT / path).read_text(encoding="utf-8")
    return re.search(r"MindSpore|\bDATA\b|tests/data|tests\.data", text) is not None


def _code(reports: list[pytest.TestReport]) -> int:
    """0 for a test that holds, 1 for one that fails, ``_BY_ACCIDENT`` for one that fails by an accident alone."""
    failed = [str(getattr(report.longrepr, "reprcrash", "")) for report in reports if report.failed]
    if not failed:
        return 0
    return _BY_ACCIDENT if any(f": {kind}" in failed[0] for kind in ACCIDENTS) else 1


class Search:
    """Finds witnesses once the tests are collected.

    Args:
        seen: which tests run what.
        work: asks for what it wants to know.
    """

    def __init__(self, seen: Seen, work: Callable[[Search], None]) -> None:
        self.seen, self._work = seen, work
        self.items: dict[str, pytest.Item] = {}
        self._sound: dict[str, bool] = {}
        self.by_accident = False  #: of the last test that failed

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        self.items = {item.nodeid: item for item in session.items}
        functions_of("")  # listed once, for all forks
        gc.freeze()
        self._work(self)
        return True

    def run(self, modules: set[str]) -> None:
        """Collects the tests that may hold a fact of these modules, and does the work."""
        keys = [key for key in self.seen.by_key if key.partition(": ")[0] in modules]
        tests = sorted({test for key in keys for test in self.seen.of(key)[:TESTS]})
        pytest.main(["-q", "-m", "", "-p", "no:cacheprovider", "-p", "no:xdist", *tests], plugins=[self])

    def fails(self, test: str, change: Callable[[], Any] | None) -> bool | None:
        """Whether a test fails with a change; None if the change could not be made, or the time was over."""
        item = self.items[test]
        child = os.fork()
        if child == 0:
            gc.disable()
            signal.alarm(_SECONDS)
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
            code = 3
            try:
                nowhere = os.open(os.devnull, os.O_WRONLY)
                os.dup2(nowhere, 1)
                os.dup2(nowhere, 2)
                if change is None or change() != 0:
                    code = _code(runtestprotocol(item, log=False, nextitem=None))
            except BaseException:
                code = 3
            os._exit(code)
        status = os.waitpid(child, 0)[1]
        ended = os.waitstatus_to_exitcode(status)
        self.by_accident = ended == _BY_ACCIDENT
        return {0: False, 1: True, _BY_ACCIDENT: True}.get(ended)

    def is_sound(self, test: str) -> bool:
        """Whether a test holds as the code is."""
        if test not in self._sound:
            self._sound[test] = test in self.items and self.fails(test, None) is False
        return self._sound[test]

    def of_mark(self, mark: Mark) -> tuple[str, str, str] | None:
        """The function, the change and the test that hold a fact of code: rather a test that fails by a comparison."""
        if mark.is_table and "." not in mark.place:
            return self._of_constant(mark)
        tried, weak = 0, None
        for change in changes(parsed_anew(mark.module), mark.node):
            tests = [test for test in self._tests(mark, change) if test in self.items][:TESTS]
            tried += bool(tests)
            if tried > CHANGES:
                break
            for test in tests:
                if self._fails_changed(test, mark.module, change):
                    by_accident = self.by_accident
                    if self.is_sound(test) and not by_accident:
                        return change.function, change.text, test
                    weak = weak or ((change.function, change.text, test) if self.is_sound(test) else None)
        return weak

    def _fails_changed(self, test: str, module: str, change: Change) -> bool | None:
        if change.function == AT_IMPORT:
            self.by_accident = False
            return not still_holds(module, AT_IMPORT, change.text, test)
        return self.fails(test, lambda: planted(module, change.function, change.text))

    def _of_constant(self, mark: Mark) -> tuple[str, str, str] | None:
        table = table_at(mark.module, mark.place)
        for row in table.rows():
            test = self.of_row(table.name, row, lambda row=row: without(table, row), TESTS)  # type: ignore[misc]
            if test is not None:
                return mark.place, f"{WITHOUT}{row}", test
        return None

    def _tests(self, mark: Mark, change: Change) -> list[str]:
        found = self.seen.of(f"{mark.module}: {mark.place} @")
        name = change.function
        while not found and name:
            found = self.seen.of(f"{mark.module}: {name}")
            name = name.rpartition(".<locals>.")[0]
        return found

    def of_row(self, name: str, word: str, take_out: Callable[[], None], most: int) -> str | None:
        """The test that fails without a row of the table ``name``."""
        tests = {
            test: None
            for module, functions in users_of(name).items()
            for function in sorted(functions)
            for test in self.seen.of(f"{module}: {function}")
            if test in self.items
        }
        pattern = re.compile(rf"(?<![A-Za-z]){re.escape(word)}(?![A-Za-z])", re.IGNORECASE)
        likely = sorted(tests, key=lambda test: (not pattern.search(test), self.seen.cost(test)))
        for test in likely[:most]:
            if self.fails(test, lambda: [take_out()]) and self.is_sound(test):
                return test
        return None
