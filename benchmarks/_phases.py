"""CPU seconds of pytest's processes, and of the tests inside them."""

from __future__ import annotations

import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

#: Beside the tests: the CPU seconds of collection, of each test, and of what follows; or the calls of each test.
PHASES = """
import atexit, cProfile, json, os, time
import pytest

clock, calls = time.process_time, os.environ.get("BENCH_CALLS")
found = {"collection": 0.0, "tests": [], "calls": []}


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection(session):
    start = clock()
    result = yield
    found["collection"] = clock() - start
    return result


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item, nextitem):
    profile = cProfile.Profile() if calls else None
    start = clock()
    if profile:
        profile.enable()
    result = yield
    if profile:
        profile.disable()
        found["calls"].append(sum(each.callcount for each in profile.getstats()))
    found["tests"].append(clock() - start)
    found["last"] = clock()
    return result


@atexit.register
def written():
    found["end"] = clock() - found["last"]
    with open(os.environ["BENCH_PHASES"], "w") as file:
        json.dump(found, file)
"""


def cpu_seconds(
    arguments: Sequence[str],
    directory: Path,
    loads: Sequence[str],
    *,
    may_fail: bool = False,
    environ: Mapping[str, str] | None = None,
) -> float:
    """CPU seconds of one pytest process tree; ``RuntimeError`` with its output where it fails."""
    environment = {
        key: value for key, value in os.environ.items() if key not in ("CI", "BUILD_NUMBER", "PYTEST_ADDOPTS")
    }
    environment |= {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONDONTWRITEBYTECODE": "", **(environ or {})}
    environment.setdefault("BENCH_PHASES", os.devnull)
    plugins = [word for name in loads for word in ("-p", name)]
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *plugins, *arguments]
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(
            command, cwd=directory, env=environment, stdin=subprocess.DEVNULL, stdout=output, stderr=output
        )
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode and not may_fail:
            output.seek(0)
            raise RuntimeError(f"{' '.join(command)}\n{output.read().decode(errors='replace')[-2000:]}")
    return used.ru_utime + used.ru_stime


@dataclass
class Phases:
    """Runs of the same tests.

    Attributes:
        least: least CPU seconds of a whole process.
        rounds: of each round, the CPU seconds of each test.
        around: least CPU seconds of collection, and of what follows the last test.
        calls: calls of functions in each test.
    """

    least: float = math.inf
    rounds: list[list[float]] = field(default_factory=list)
    around: list[float] = field(default_factory=lambda: [math.inf, math.inf])
    calls: list[int] = field(default_factory=list)

    def run(self, arguments: Sequence[str], directory: Path, loads: Sequence[str]) -> None:
        """One round more; the first also counts the calls, in a process of its own."""
        file = directory / "phases.json"
        environ = {"BENCH_PHASES": str(file)}
        self.least = min(self.least, cpu_seconds(arguments, directory, loads, environ=environ))
        found = json.loads(file.read_text())
        self.rounds.append(found["tests"])
        self.around = list(map(min, self.around, (found["collection"], found["end"])))
        if not self.calls:
            cpu_seconds(arguments, directory, loads, environ=environ | {"BENCH_CALLS": "1"})
            self.calls = json.loads(file.read_text())["calls"]

    def further(self, one: Phases) -> float:
        """CPU seconds of a further test; ``one`` ran the first alone."""
        count = len(self.rounds[0]) - 1
        tests = [min(times) for times in zip(*self.rounds, strict=True)][1:]
        around = sum(self.around) - sum(one.around)
        return (sum(tests) + around) / count

    def each_round(self) -> list[float]:
        """Of each round, the mean CPU seconds of a further test alone."""
        return [statistics.mean(times[1:]) for times in self.rounds]
