"""What holds a fact: recorded networks, calls, programs, crossings, tests; each is tried in a process of its own."""

from __future__ import annotations

import contextlib
import io
import json
import os
import tempfile
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.data.crossings.forms import FORMS
from tests.differential import forking
from tests.framework.compile.test_crossings import crossing, is_nearer
from tests.framework.compile.test_recorded_graphs import KNOWN, RECORDED, compiled
from tests.framework.ops.facts import emitted, recorded
from tests.framework.ops.test_arrays import emission
from tests.framework.programs import DATA, NAMES, told
from tests.subprocesses import ROOT

#: begins the name of a recorded call, of ``CALLS``
CALL = "call: "
#: begins the name of a recorded program, of ``tests/data/programs``
PROGRAM = "program: "
#: the graphs of calls that MindSpore makes (``tests/data/ops``), by the text of the call
CALLS: dict[str, list[str]] = {
    case: lines
    for name in ("graphs", "array_graphs", "function_graphs", "later_graphs")
    for case, lines in recorded(name).items()
    if not isinstance(lines, str)
}


def apart(work: Callable[[], Any]) -> Any:
    """What ``work`` gives (as JSON) in a fork of this process, whose changes nobody else sees.

    Raises:
        RuntimeError: it failed; with its traceback.
    """
    receive, send = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(receive)
        try:
            with open(os.devnull, "w") as nowhere:
                os.dup2(nowhere.fileno(), 1)
                os.dup2(nowhere.fileno(), 2)
            answer = {"found": work()}
        except BaseException:
            answer = {"failed": traceback.format_exc()}
        with os.fdopen(send, "w") as out:
            out.write(json.dumps(answer))
        os._exit(0)
    os.close(send)
    with os.fdopen(receive) as given:
        text = given.read()
    os.waitpid(child, 0)
    answer = json.loads(text or '{"failed": "the process ended"}')
    if "failed" in answer:
        raise RuntimeError(answer["failed"])
    return answer["found"]


def graphs_hold(net: str) -> bool:
    """Whether our graphs of a recorded network are the real ones, but for those that are known to differ."""
    try:
        with contextlib.redirect_stdout(io.StringIO()):
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


def call_holds(case: str) -> bool:
    """Whether our graph of a recorded call is the real one."""
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            return emission(emitted(case)) == emission(CALLS[case])
    except Exception:
        return False


def program_holds(name: str) -> bool:
    """Whether a recorded program prints in this process, a fork, what it prints under the real MindSpore."""
    with tempfile.TemporaryDirectory() as scratch:
        forking.preload(str(ROOT))
        request = {"script": str(DATA / f"{name}.txt"), "out": scratch, "limit": 60, "environment": {}}
        code = forking.carry_out(request)
        return code == 0 and (Path(scratch) / "stdout").read_text(encoding="utf-8").splitlines() == told(name)


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


def failures(*tests: str, first: bool = False) -> list[str]:
    """The tests that fail, or only the first.

    Raises:
        ValueError: no test ran.
    """
    notes = Failures()
    with contextlib.chdir(ROOT):
        options = ["-q", "-m", "", "-p", "no:cacheprovider", "-p", "no:xdist", *(["-x"] if first else [])]
        code = pytest.main([*options, *tests], plugins=[notes])
    if not notes.ran and not notes.failed:
        raise ValueError(f"{', '.join(tests)}: no test ran (pytest ends with {code})")
    return notes.failed


def is_there(witness: str) -> bool:
    """Whether there is such a network, call, program, or test (by its file and its name)."""
    if witness.startswith(CALL):
        return witness.removeprefix(CALL) in CALLS
    if witness.startswith(PROGRAM):
        return witness.removeprefix(PROGRAM) in NAMES
    if "::" not in witness:
        return witness in RECORDED
    path, *_, name = witness.partition("[")[0].split("::")
    return (ROOT / path).is_file() and f"def {name}(" in (ROOT / path).read_text(encoding="utf-8")


def holds(witness: str, row: Any = None) -> bool:
    """Whether a witness holds: a recorded network, a recorded call (``call: ops.exp(x)``), a recorded program
    (``program: in_place``), ``crossings`` of a row, or a test by its id.

    Raises:
        ValueError: there is no such network, call, program or test.
    """
    if witness.startswith(CALL):
        if witness.removeprefix(CALL) not in CALLS:
            raise ValueError(f"{witness} is not a recorded call of tests/data/ops")
        return call_holds(witness.removeprefix(CALL))
    if "::" in witness:
        return not failures(witness)
    if witness.startswith(PROGRAM):
        if witness.removeprefix(PROGRAM) not in NAMES:
            raise ValueError(f"{witness} is not a recorded program of tests/data/programs")
        return bool(apart(lambda: program_holds(witness.removeprefix(PROGRAM))))
    if witness == "crossings":
        return crossings_hold(row)
    if witness not in RECORDED:
        raise ValueError(f"{witness} is not a network of tests/data/graphs/nets")
    return graphs_hold(witness)
