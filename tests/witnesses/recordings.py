"""What holds a fact: recorded networks, crossings, tests; whether it holds, in a process of its own."""

from __future__ import annotations

import contextlib
import json
import os
import sys
import tempfile
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.data.crossings.forms import FORMS
from tests.framework.compile.test_crossings import crossing, is_nearer
from tests.framework.compile.test_recorded_graphs import KNOWN, RECORDED, compiled
from tests.subprocesses import ROOT


def apart(work: Callable[[], Any]) -> Any:
    """What ``work`` gives (as JSON) in a fork of this process, whose changes nobody else sees; None where it fails."""
    receive, send = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(receive)
            with open(os.devnull, "w") as nowhere:
                os.dup2(nowhere.fileno(), 1)
                if not os.environ.get("VERBOSE"):
                    os.dup2(nowhere.fileno(), 2)
            found = work()
            with os.fdopen(send, "w") as out:
                out.write(json.dumps(found))
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(0)
    os.close(send)
    with os.fdopen(receive) as given:
        text = given.read()
    os.waitpid(child, 0)
    return json.loads(text) if text else None


def graphs_hold(net: str) -> bool:
    """Whether our graphs of a recorded network are the real ones, but for those that are known to differ."""
    try:
        found = compiled(net)[1]
    except Exception:
        return False
    real = RECORDED[net]
    if [graph["graph"] for graph in found] != [graph["graph"] for graph in real]:
        return False
    return all(
        ours[part] == theirs[part]
        for number, (ours, theirs) in enumerate(zip(found, real, strict=True))
        if (net, number) not in KNOWN
        for part in ("nodes", "parameters", "launch")
    )


def crossings_hold(row: Any) -> bool:
    """Whether the forms of a row of ``observed`` cross where the real ones do."""
    pairs = [(n, crossing(form) - at) for n, form in enumerate(FORMS) if form.row == row for at in (1, 0)]
    with tempfile.TemporaryDirectory() as scratch:
        return is_nearer(pairs, Path(scratch)) == [True, False] * (len(pairs) // 2)


class Failures:
    """Notes the tests that fail, and how many ran."""

    def __init__(self) -> None:
        self.failed: list[str] = []
        self.ran = 0

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.ran += report.when == "call"
        if report.failed:
            self.failed.append(report.nodeid)


def failures(*tests: str, first: bool = False) -> list[str] | None:
    """The tests that fail; None where none ran."""
    notes = Failures()
    with contextlib.chdir(ROOT):
        options = ["-q", "-m", "", "-p", "no:cacheprovider", "-p", "no:xdist", *(["-x"] if first else [])]
        code = pytest.main([*options, *tests], plugins=[notes])
    if code not in (0, 1):
        return ["collection"] if notes.ran == 0 and code in (2, 3) else None
    return notes.failed if notes.ran else None


def holds(witness: str, row: Any = None) -> bool:
    """Whether a witness holds: a recorded network, ``crossings`` of a row, or a test by its id.

    Raises:
        ValueError: there is no such network or test.
    """
    if "::" in witness:
        failed = failures(witness)
        if failed is None:
            raise ValueError(f"{witness} is no test")
        return not failed
    if witness == "crossings":
        return crossings_hold(row)
    if witness not in RECORDED:
        raise ValueError(f"{witness} is no network of tests/data/graphs/nets")
    return graphs_hold(witness)


assert sys.platform != "win32"
