"""A pytest plugin that appends how each test went to the file ``$OWN_TESTS_RECORD``, a line of JSON each.

It runs beside the real MindSpore, so it imports nothing of the project. A line is written before the next test begins:
a test that kills the process takes no other's result with it.
"""

from __future__ import annotations

import json
import linecache
import os
from typing import Any

import pytest
from _pytest import raises as raising

_swallowed: list[str] = []
_failures: dict[str, dict[str, str]] = {}


def _failure(error: BaseException) -> dict[str, str]:
    """The class, text and last line of an exception."""
    trace, last = error.__traceback__, None
    while trace is not None:
        trace, last = trace.tb_next, trace
    kind = type(error)
    told = {"kind": f"{kind.__module__}.{kind.__qualname__}", "text": str(error)[:600]}
    if last is not None:
        file = last.tb_frame.f_code.co_filename
        told.update(file=file, line=linecache.getline(file, last.tb_lineno).strip())
    return told


def _write(**row: Any) -> None:
    with open(os.environ["OWN_TESTS_RECORD"], "a", encoding="utf-8") as file:
        file.write(json.dumps(row) + "\n")


_leave = raising.RaisesExc.__exit__


def _watched(self: Any, kind: Any, error: Any, trace: Any) -> Any:
    if kind is not None:
        _swallowed.append(f"{kind.__module__}.{kind.__qualname__}")
    return _leave(self, kind, error, trace)


raising.RaisesExc.__exit__ = _watched  # type: ignore[method-assign]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: Any, call: Any) -> Any:
    """Keeps what a test failed with."""
    if call.excinfo is not None:
        _failures[item.nodeid] = _failure(call.excinfo.value)
    return (yield)


def pytest_runtest_logreport(report: Any) -> None:
    """Writes a test's outcome; a failing set-up or end is an outcome of its own."""
    if report.when == "setup":
        _swallowed.clear()
    if report.when == "call" or report.outcome != "passed":
        told = {} if report.outcome == "passed" else _failures.get(report.nodeid, {})
        _write(test=report.nodeid, when=report.when, outcome=report.outcome, raised=list(_swallowed), **told)


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector: Any) -> Any:
    """Writes a file that cannot be collected, with what it failed with."""
    report = yield
    if report.failed and report.call.excinfo is not None:
        error = report.call.excinfo.value
        error = error.__cause__ or error
        _write(test=collector.nodeid, when="collect", outcome="failed", raised=[], **_failure(error))
    return report
