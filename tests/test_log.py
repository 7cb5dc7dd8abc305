"""The log: MindSpore's levels, one line form, never printed twice."""

from __future__ import annotations

import io
import logging
import re
import sys

import pytest

from harness import log


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("0", logging.DEBUG),
        ("1", logging.INFO),
        ("2", logging.WARNING),
        ("3", logging.ERROR),
        ("4", logging.CRITICAL),
        ("5", logging.WARNING),
        ("", logging.WARNING),
        ("x", logging.WARNING),
    ],
)
def test_levels(value: str, expected: int) -> None:
    assert log.level({"GLOG_v": value}) == expected


def test_unset_is_warning() -> None:
    assert log.level({}) == logging.WARNING


def test_one_handler_however_often_it_is_asked_for() -> None:
    assert log.get("a.b").name == "harness.a.b"
    handlers = list(logging.getLogger(log.ROOT).handlers)
    log.get("c")
    assert logging.getLogger(log.ROOT).handlers == handlers
    assert len(handlers) == 1


@pytest.mark.parametrize("application_logs", [False, True])
def test_a_line_is_printed_once(monkeypatch: pytest.MonkeyPatch, application_logs: bool) -> None:
    seen = io.StringIO()
    root = logging.getLogger()
    monkeypatch.setattr(root, "handlers", [logging.StreamHandler(seen)] if application_logs else [])
    monkeypatch.setattr(sys, "stderr", seen)
    log.get("test").error("text %d", 7)
    lines = seen.getvalue().splitlines()
    assert len(lines) == 1
    stamp = r"\d{4}(-\d\d){3}:\d\d:\d\d\.\d{3}\.\d{3}"
    form = rf"\[ERROR\] ME\(\d+,[0-9a-f]+,\w+\):{stamp} \[test_log\.py:\d+ harness\.test\] text 7"
    assert lines[0] == "text 7" if application_logs else re.fullmatch(form, lines[0])


def test_an_exception_is_printed_with_its_line() -> None:
    try:
        raise ValueError("why")
    except ValueError:
        record = logging.LogRecord("harness.x", logging.ERROR, __file__, 1, "text", None, sys.exc_info())
    shown = log.MindSporeFormatter().format(record)
    assert shown.splitlines()[-1] == "ValueError: why"
