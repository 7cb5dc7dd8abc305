"""The gate's hooks; registered only in a session that asked for it."""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Generator, Sequence
from os import getpid, listdir, sep
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from _pytest._code.code import ReprEntry
from _pytest._io import TerminalWriter

from pytest_msdump import advice, colours, empty, launched, mistakes, options
from pytest_msdump import report as reporting
from pytest_msdump.collection import UNUSED, Collection, stores
from pytest_msdump.garbage import Garbage
from pytest_msdump.options import Settings
from pytest_msdump.scratch import SCRATCH
from pytest_msdump.variants import is_gate_test
from pytest_msdump.xdist import KEY, XdistHooks, is_worker, worker_bundle

if TYPE_CHECKING:
    from pytest_msdump.gate_run import GateRun

NAME = "msdump-gate"
#: endings of the files of a golden
GOLDENS = (".h5", ".manifest.json")
#: suffix of bundles that were made outside CI
DESK = "-desk"


def install(config: pytest.Config, settings: Settings) -> None:
    """Registers the gate.

    Raises ``pytest.UsageError`` for a backend or mode named by flag or ini that does not exist, and if the reviewed
    goldens would be written in CI.
    """
    from harness.freed import keep_freed_memory
    from pytest_msdump.commands import refuse_reviewed
    from pytest_msdump.session import check_names, configure_backends

    refuse_reviewed(config, settings)
    configure_backends(config)
    ranks = launched.install(config, settings)
    follows = ranks is not None and ranks.rank > 0
    check_names(options.resolve(config, "msdump_backend"), options.resolve(config, "msdump_mode"))
    keep_freed_memory()
    if not is_worker(config) and not follows and settings.golden.is_dir():
        from pytest_msdump.manifests import complete

        complete(settings)
    gate = Gate(config, settings)
    config.pluginmanager.register(gate, NAME)
    config.pluginmanager.register(Garbage(config), NAME + "-garbage")
    config.pluginmanager.register(XdistHooks(gate), NAME + "-xdist")
    if (settings.regen or settings.learn) and ranks is None:
        from pytest_msdump import watch

        watch.install(config)


class Gate:
    """One session's gate.

    Attributes:
        config, settings: the session's.
        collection: the collected and the selected tests.
        summary: the results; under xdist only the controller's counts.
        bundle: name of this session's candidate bundle, the same on every worker.
    """

    def __init__(self, config: pytest.Config, settings: Settings) -> None:
        self.config = config
        self.settings = settings
        self.collection = Collection(config)
        self.summary = reporting.Summary()
        self.bundle = worker_bundle(config) or _bundle_name(settings)
        self._golden = f"{settings.golden}{sep}"

    def pytest_report_header(self) -> str:
        """One line: what the session does, on which backends (and whether they are emulated), with which goldens."""
        from harness.words import counted
        from pytest_msdump.session import described

        golden = self.settings.golden
        shown = golden.relative_to(self.settings.root) if golden.is_relative_to(self.settings.root) else golden
        backends = described(options.resolve(self.config, "msdump_backend"))
        modes = options.resolve(self.config, "msdump_mode")
        act = "regenerate" if self.settings.regen else f"learn from {counted(self.settings.learn, 'run')}"
        if not (self.settings.regen or self.settings.learn):
            act = "repeat" if self.settings.repeat else "check"
        return reporting.header(act, backends, modes, str(shown), len(stores(golden)))

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_make_collect_report(
        self, collector: pytest.Collector
    ) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
        """Notes each file before ``--lf`` filters it; explains an ``import mindspore`` that fails because MindSpore is
        not installed, and an import of the fixture."""
        self.collection.saw_collector(collector)
        made = yield
        if made.failed:
            told = str(made.longrepr)
            fixture = advice.on_import(told)
            if "No module named 'mindspore" in told:
                made.longrepr = f"{collector.nodeid}: No module named 'mindspore'\n  {mistakes.without_mindspore()}"
            elif fixture:
                made.longrepr = f"{collector.nodeid}: {fixture}"
        return made

    @pytest.hookimpl(tryfirst=True)
    def pytest_ignore_collect(self, collection_path: Path) -> bool | None:
        """Goldens and their manifests are no tests: pytest need not look at each of them, nor at a directory that holds
        nothing else."""
        if not str(collection_path).startswith(self._golden):
            return None
        if collection_path.name.endswith(GOLDENS):
            return True
        try:
            return all(name.endswith(GOLDENS) for name in listdir(collection_path)) or None
        except OSError:
            return None

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Notes which files were collected."""
        self.collection.saw_report(report)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> Generator[None, None, None]:
        """Looks at the tests before any deselection, and at those left after it."""
        for collision in self.collection.saw_items(items):
            # A failed collection report stops the session as any broken test file does.
            self.config.hook.pytest_collectreport(report=collision)
        yield
        self.collection.saw_selection(items)
        self.summary.unused = None if self.settings.repeat else self.collection.unused(self.settings.golden)
        self.config.stash[UNUSED] = self.summary.unused

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """With ``--msdump-repeat``, runs the tests in other processes first."""
        if self.settings.repeat and session.items and not session.testsfailed and not self.config.option.collectonly:
            from pytest_msdump.repeating import prepare

            prepare(self.config, self.settings)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
        """With ``--msdump-learn``, runs a test several times to see how far its results scatter; the last run is
        pytest's own. A regeneration runs tests of PyTorch twice, to see whether their bits are equal. A check runs one
        that fails again, to see whether all holds with the golden's tensors in the place of what is suspected."""
        if not is_gate_test(item):
            return None
        if not (self.settings.learn or self.settings.repeat or self.settings.regen):
            from pytest_msdump import grafting

            return (grafting.is_asked(item) and grafting.run(item, nextitem, self._check)) or None
        if self.settings.regen:
            from pytest_msdump import twice

            return (twice.is_asked(item) and twice.run(item, nextitem)) or None
        if self.settings.repeat:
            from pytest_msdump import repeating

            return repeating.repeat(item, nextitem) or None
        from pytest_msdump.learning import repeat

        return repeat(item, nextitem, self.settings.learn) or None

    def _check(self, run: GateRun) -> tuple[list[reporting.Result], list[str]]:
        from pytest_msdump.judge import check

        return check(run.test, self.bundle, run)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None, Any, Any]:
        """Checks what the test captured, in its call phase, so that a difference counts as a failure, not as an
        error."""
        if not is_gate_test(item):
            return (yield)
        from pytest_msdump.session import abandon, finish, unreadable

        wrong = mistakes.GIVEN if mistakes.draws(item) else unreadable(item)
        if wrong is not None:
            abandon(item, self.bundle)
            pytest.fail(wrong, pytrace=False)

        try:
            outcome = yield
        except pytest.skip.Exception as why:
            self._ended_here(item, f"skipped: {why}")
            raise
        except BaseException as error:
            abandon(item, self.bundle, error)
            raise
        failure = finish(item, self.bundle)
        if failure is not None:
            from harness.escape import text

            pytest.fail(text(failure), pytrace=False)
        return outcome

    @pytest.hookimpl(tryfirst=True)
    def pytest_pyfunc_call(self, pyfuncitem: pytest.Function) -> bool | None:
        """Calls a gate test's function in the process in which its backend runs programs."""
        __tracebackhide__ = True
        if not is_gate_test(pyfuncitem):
            return None
        from pytest_msdump.deferred import Deferred
        from pytest_msdump.gate_test import current

        test = current(pyfuncitem)
        if test is None or isinstance(test.process, Deferred):
            return None
        from pytest_msdump.worker_call import call_in_worker

        return call_in_worker(pyfuncitem) or None

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Attaches the results to the test's report, which xdist sends to the controller."""
        made = yield
        if is_gate_test(item):
            from pytest_msdump.session import results_of

            made.msdump = results_of(item) if made.when == "call" else []  # type: ignore[attr-defined]
            if call.excinfo is not None and made.failed and not item.config.getoption("fulltrace", False):
                mistakes.explain(item, made, call.excinfo)
            if made.failed:
                _escape(made)
            if made.when == "call" and made.failed:
                _shorten(made, made.msdump)
            if made.when == "setup" and not made.passed:
                self._ended_here(item, "skipped" if made.skipped else "its setup failed")
            made.msdump_told = "msdump: told by rank 0" in made.longreprtext  # type: ignore[attr-defined]
        elif call.excinfo is not None and made.failed and not item.config.getoption("fulltrace", False):
            mistakes.explain_stranger(item, made, call.excinfo)
        return made

    def _ended_here(self, item: pytest.Item, why: str) -> None:
        """Tells other ranks of a test that is not judged here."""
        ranks = launched.of(self.config)
        if ranks is not None:
            ranks.ended(item, why)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Collects results; on the controller those of all workers."""
        self.summary.add(report)
        if report.failed and getattr(report, "msdump", None) and not is_worker(self.config):
            in_colour(report)

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Writes the manifest once all stores are written; fails a session that found stale goldens."""
        stores_opened = sys.modules.get("harness.gate.stores")
        if stores_opened is not None:
            stores_opened.OPENED.close()
        ranks = launched.of(self.config)
        if ranks is not None and ranks.rank:
            return  # rank 0 writes and tells
        if is_worker(self.config):
            found = list(self.collection.found)
            self.config.workeroutput[KEY] = {"unused": self.summary.unused, "found": found}  # type: ignore[attr-defined]
            return
        if self.summary.results:
            from pytest_msdump import manifests

            broken = session.exitstatus in (pytest.ExitCode.INTERRUPTED, pytest.ExitCode.INTERNAL_ERROR)
            self.summary.problems += manifests.rebuild(self.config, self.settings, self.summary, interrupted=broken)
            manifests.inspect(self.settings, self.summary)
        _forget_older(self.settings, self.bundle)
        self._group(session)
        self._publish()
        unattended = self.summary.undescribed or (self.summary.stale and not self.settings.regen)
        if (self.summary.problems or unattended) and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED
        self._write_json(session)
        self._say_nothing_done(session)

    def _say_nothing_done(self, session: pytest.Session) -> None:
        """Notes that nothing was compared or written; a session that should have written does not end with 0."""
        ended = (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED)
        if session.exitstatus not in ended or self.config.getoption("collectonly", default=False):
            return
        why = empty.told(self.config, self.settings, self.collection.found, self.summary)
        if why:
            self.summary.notes.insert(0, why)
            if self.settings.regen or self.settings.learn:
                session.exitstatus = pytest.ExitCode.NO_TESTS_COLLECTED

    def _group(self, session: pytest.Session) -> None:
        """Groups the failures by what they share; of a large group pytest tells the first one alone, without ``-v``."""
        if not session.testsfailed or self.settings.regen or self.settings.learn:
            return
        from pytest_msdump import sharing

        self.summary.groups = sharing.groups(self.summary.results)
        reporter = self.config.pluginmanager.get_plugin("terminalreporter")
        if reporter is not None and self.config.get_verbosity() <= 0:
            sharing.hide(self.summary.groups, reporter.stats.get("failed", ()))

    def _publish(self) -> None:
        """Writes the session's page, if requested, and the report for the CI service."""
        from harness.errors import HarnessError, told
        from pytest_msdump import annotations

        summary, settings = self.summary, self.settings
        try:
            if settings.in_ci:
                summary.notes += annotations.publish(summary.results, settings.root, groups=summary.groups)
            if settings.report is not None and not (settings.regen or settings.learn):
                from pytest_msdump import pages

                summary.notes.append(pages.publish(settings, self.bundle, summary.groups))
        except (OSError, HarnessError) as error:
            summary.problems.append(f"msdump: a report was not written: {told(error)}")

    def _write_json(self, session: pytest.Session) -> None:
        """Writes the session's results for programs, if a file is named; it fails if that cannot be."""
        if self.settings.as_json is None:
            return
        from harness.errors import told
        from pytest_msdump import as_json

        try:
            self.summary.notes.append(as_json.write(self.summary, self.settings, int(session.exitstatus)))
        except OSError as error:
            self.summary.problems.append(f"msdump: the results were not written: {told(error)}")
            session.exitstatus = session.exitstatus or pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Prints the closing section, if it has any content."""
        from pytest_msdump.closing import closing

        start = self.config.invocation_params.dir
        ranks = launched.of(self.config)
        if ranks is not None and ranks.rank:
            return
        lines = list(closing(self.summary, self.settings, start, self.config.get_verbosity()))
        if lines:
            from harness.escape import text

            terminalreporter.section("msdump")
            for line, markup in colours.painted(lines, self.summary):
                terminalreporter.line(text(line), **markup)


def _bundle_name(settings: Settings) -> str:
    """A name that sorts by time. A bundle made outside CI serves ``msdump review``; only the newest is kept."""
    name = f"{time.strftime('%Y%m%dT%H%M%S')}-{getpid()}"
    return name if settings.in_ci else f"{name}{DESK}"


def _forget_older(settings: Settings, bundle: str) -> None:
    """Removes the bundles of earlier sessions outside CI, if this session left one of its own."""
    folder = settings.root / SCRATCH / "candidates"
    if settings.in_ci or not (folder / bundle).is_dir():
        return
    for each in folder.iterdir():
        if each.name.endswith(DESK) and each.name != bundle:
            shutil.rmtree(each, ignore_errors=True)


class Painted(ReprEntry):
    """A failure's text that a terminal shows in colours; files and other processes receive it without colours."""

    def toterminal(self, tw: TerminalWriter) -> None:
        """See ``ReprEntry``."""
        if not tw.hasmarkup:
            super().toterminal(tw)
            return
        from harness.explain import painted

        for text in self.lines:
            tw.line(painted(text))


def in_colour(report: pytest.TestReport) -> None:
    """Shows the text of a failed comparison in colours on a terminal."""
    entries = getattr(getattr(report.longrepr, "reprtraceback", None), "reprentries", [])
    for at, entry in enumerate(entries):
        if type(entry) is ReprEntry and entry.style == "value":
            entries[at] = Painted(entry.lines, entry.reprfuncargs, entry.reprlocals, entry.reprfileloc, entry.style)


def _escape(report: pytest.TestReport) -> None:
    """Leaves no control character in a failure's text: an error may name an operator of a golden or a tree."""
    from harness.escape import text

    if isinstance(report.longrepr, str):
        report.longrepr = text(report.longrepr)
    chain = getattr(report.longrepr, "chain", None) or [(getattr(report.longrepr, "reprtraceback", None), None, None)]
    for trace, crash, _ in chain:
        for entry in getattr(trace, "reprentries", []):
            entry.lines[:] = map(text, entry.lines)
        if crash is not None:
            crash.message = text(crash.message)
    crash = getattr(report.longrepr, "reprcrash", None)
    if crash is not None:
        crash.message = text(crash.message)


def _shorten(report: pytest.TestReport, results: Sequence[reporting.Result]) -> None:
    """Shortens the entry in pytest's list of failures to one line: the cause, else the first difference; in CI it would
    repeat the whole text."""
    crash = getattr(report.longrepr, "reprcrash", None)
    if crash is not None:
        from harness.escape import line

        own = crash.message.partition("\n")[0]
        found = next((each for each in results if each["where"]), None)
        # A test that ended by itself has an error of its own.
        lead = f"{own}; " if found is not None and found["verdict"] == "not compared" else ""
        crash.message = line(lead + reporting.shortly(found)) if found is not None else own
