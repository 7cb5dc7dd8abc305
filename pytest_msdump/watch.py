"""What takes long shows on a terminal how far it is: a bar in place of pytest's letters, while goldens are written or
learned for. Whoever asks for more lines (``-v``), fewer (``-q``) or the tests' own output (``-s``) gets those instead.
"""

from __future__ import annotations

import sys
from collections.abc import Generator
from typing import Any

import pytest

from harness.progress import Progress
from pytest_msdump.options import Settings
from pytest_msdump.xdist import is_worker

NAME = "msdump-watch"


def install(config: pytest.Config, settings: Settings) -> None:
    """Registers the bar where there may be one to show."""
    plain = config.get_verbosity() == 0 and config.getoption("capture", default="no") != "no"
    if plain and (settings.regen or settings.learn) and not is_worker(config):
        config.pluginmanager.register(Watch(), NAME)


class Watch:
    """A session's bar."""

    def __init__(self) -> None:
        self._progress: Progress | None = None
        self._failed = 0

    @pytest.hookimpl(wrapper=True)
    def pytest_runtestloop(self, session: pytest.Session) -> Generator[None, object, object]:
        """Shows the bar while tests run, where somebody looks."""
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
        """What is done now."""
        if self._progress is not None:
            failed = f"{self._failed} failed; " if self._failed else ""
            self._progress.step(0, failed + what)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Counts failures."""
        self._failed += report.failed

    def pytest_runtest_logfinish(self) -> None:
        """One more is done."""
        if self._progress is not None:
            self._progress.step()

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_report_teststatus(self) -> Generator[None, Any, Any]:
        """No letters beside the bar; the tests are counted as ever."""
        found = yield
        return (found[0], "", "") if self._progress is not None else found
