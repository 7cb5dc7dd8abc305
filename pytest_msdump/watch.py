"""Shows a progress bar in place of pytest's letters on a terminal, while goldens are written or learned for. With
``-v``, ``-q`` or ``-s`` pytest's own output stays.
"""

from __future__ import annotations

import sys
from collections.abc import Generator
from typing import Any

import pytest

from harness.progress import Progress
from pytest_msdump.xdist import is_worker

NAME = "msdump-watch"


def install(config: pytest.Config) -> None:
    """Registers the bar if it may be shown."""
    plain = config.get_verbosity() == 0 and config.getoption("capture", default="no") != "no"
    if plain and not is_worker(config):
        config.pluginmanager.register(Watch(), NAME)


class Watch:
    """A session's bar."""

    def __init__(self) -> None:
        self._progress: Progress | None = None
        self._failed = 0

    @pytest.hookimpl(wrapper=True)
    def pytest_runtestloop(self, session: pytest.Session) -> Generator[None, object, object]:
        """Shows the bar while tests run, on a terminal."""
        reporter: Any = session.config.pluginmanager.get_plugin("terminalreporter")
        if reporter is None or not (reporter.isatty and sys.stderr.isatty()):
            return (yield)
        reporter.showfspath = False
        reporter._show_progress_info = False  # the percentage at the end of pytest's lines of letters
        with Progress("", lambda: session.testscollected or None, "tests", after=0.0) as self._progress:
            try:
                return (yield)
            finally:
                self._progress = None

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        """Names the test that begins."""
        self.say(nodeid)

    def say(self, what: str) -> None:
        """Shows the current work."""
        if self._progress is not None:
            failed = f"{self._failed} failed; " if self._failed else ""
            self._progress.step(0, failed + what)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Counts failures."""
        self._failed += report.failed

    def pytest_runtest_logfinish(self) -> None:
        """Counts one more test."""
        if self._progress is not None:
            self._progress.step()

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_report_teststatus(self) -> Generator[None, Any, Any]:
        """No letters beside the bar; the tests are counted as usual."""
        found = yield
        return (found[0], "", "") if self._progress is not None else found
