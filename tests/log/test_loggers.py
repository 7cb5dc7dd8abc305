"""The harness's own lines: form, sub-modules, levels, printed once."""

from __future__ import annotations

import io
import logging
import os
import re
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness import log
from harness.log import loggers
from harness.log.lines import SubmoduleLine
from harness.log.settings import LogSettings, at_import, read
from harness.log.submodules import NAMES, SUBMODULES

ROOT = Path(__file__).parents[2]
FORM = re.compile(
    r"\[(DEBUG|INFO|WARNING|ERROR|CRITICAL)\] ([A-Z_]+)\((\d+),([0-9a-f]+),[^)]*\):"
    r"\d{4}-\d\d-\d\d-\d\d:\d\d:\d\d\.\d{3}\.\d{3} \[([^\]]+):(\d+)\] ([^\]]+)\] (.*)",
    re.DOTALL,
)


@pytest.fixture(autouse=True)
def settings_of_this_process() -> Iterator[None]:
    """Whatever a test sets up, the next one starts from what the process was started with."""
    yield
    loggers.set_up(at_import())


def alone(monkeypatch: pytest.MonkeyPatch) -> io.StringIO:
    """From now on the standard error of a process that has no logging of its own (pytest's comes with each phase)."""
    seen = io.StringIO()
    monkeypatch.setattr(logging.getLogger(), "handlers", [])
    monkeypatch.setattr(sys, "stderr", seen)
    return seen


def test_one_handler_however_often_it_is_asked_for() -> None:
    assert log.get("dump.a").name == "harness.dump.a"
    handlers = list(logging.getLogger(log.ROOT).handlers)
    log.get("nn.c")
    assert logging.getLogger(log.ROOT).handlers == handlers
    assert len(handlers) == 1


@pytest.mark.parametrize("application_logs", [False, True])
def test_a_line_is_printed_once(monkeypatch: pytest.MonkeyPatch, application_logs: bool) -> None:
    seen = io.StringIO()
    monkeypatch.setattr(logging.getLogger(), "handlers", [logging.StreamHandler(seen)] if application_logs else [])
    monkeypatch.setattr(sys, "stderr", seen)
    log.get("dump.test").error("text %d", 7)
    lines = seen.getvalue().splitlines()
    assert len(lines) == 1
    assert lines[0] == "text 7" if application_logs else FORM.fullmatch(lines[0])


def test_the_form_of_a_line(monkeypatch: pytest.MonkeyPatch) -> None:
    stderr = alone(monkeypatch)
    log.get("dump.config").warning("two\nlines, é")
    found = FORM.fullmatch(stderr.getvalue().removesuffix("\n"))
    assert found is not None
    level, module, process, thread, path, _line, function, text = found.groups()
    assert (level, module, function, text) == ("WARNING", "DEBUG", "test_the_form_of_a_line", "two\nlines, é")
    assert (int(process), int(thread, 16)) == (os.getpid(), threading.get_ident())
    assert path == __file__  # no file of the harness


def test_files_of_the_harness_are_named_from_its_package_on() -> None:
    record = logging.LogRecord(
        "harness.dump.x", logging.INFO, "/a/harness/b/harness/dump/x.py", 3, "t", None, None, "f"
    )
    assert SubmoduleLine().format(record).endswith(" [harness/dump/x.py:3] f] t")


def test_every_package_that_is_named_exists_and_every_submodule_is_one_of_mindspore() -> None:
    there = {path.stem for home in ("harness", "harness/framework") for path in (ROOT / home).iterdir()}
    assert set(SUBMODULES.values()) <= set(NAMES)
    assert set(SUBMODULES) - there <= {"rdr"}


def test_python_parts_have_the_form_of_pythons_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    stderr = alone(monkeypatch)
    log.get("nn.cell").error("text")
    assert re.fullmatch(r"\[ERROR\] ME\(\d+:\d+,MainProcess\):\S+ \[\S+:\d+\] text\n", stderr.getvalue())


@pytest.mark.parametrize("level", range(5))
def test_levels(monkeypatch: pytest.MonkeyPatch, level: int) -> None:
    stderr = alone(monkeypatch)
    loggers.set_up(LogSettings(level=level))
    for number in range(5):
        log.get("dump.x").log(10 * number + 10, "%d", number)
    assert [line[-1] for line in stderr.getvalue().splitlines()] == [str(number) for number in range(level, 5)]


@pytest.mark.parametrize(("text", "shown"), [("{DEBUG:1}", "ab"), ("{DEBUG:3}", ""), ("{KERNEL:0}", "a")])
def test_levels_of_submodules_stand_instead_of_the_general_one(
    monkeypatch: pytest.MonkeyPatch, text: str, shown: str
) -> None:
    stderr = alone(monkeypatch)
    loggers.set_up(read({"GLOG_v": "2", "MS_SUBMODULE_LOG_v": text}))
    log.get("dump.x").warning("a")
    log.get("dump.x").info("b")
    log.get("runtime.x").info("c")
    assert "".join(line[-1] for line in stderr.getvalue().splitlines()) == shown


def test_problems_of_the_submodules_setting_are_warnings(monkeypatch: pytest.MonkeyPatch) -> None:
    stderr = alone(monkeypatch)
    loggers.set_up(read({"MS_SUBMODULE_LOG_v": "{debug:1,IR:9}"}))
    found = [FORM.fullmatch(line) for line in stderr.getvalue().splitlines()]
    assert [match and match.group(1, 2) for match in found] == [("WARNING", "CORE")] * 2


def test_an_exception_is_printed_with_its_line() -> None:
    try:
        raise ValueError("why")
    except ValueError:
        record = logging.LogRecord("harness.x", logging.ERROR, __file__, 1, "text", None, sys.exc_info())
    assert SubmoduleLine().format(record).splitlines()[-1] == "ValueError: why"


def test_a_line_that_cannot_be_made_does_not_stop_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    stderr = alone(monkeypatch)
    log.get("dump.x").error("%d", "no number")
    assert "Logging error" in stderr.getvalue()
