"""``--msdump-repeat``: whether tests give the same bits again: twice in this process, in another one, with another hash
seed, with other threads. No golden is needed. Each failure says which of these it is.

Imports ``harness``; imported when needed.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import pytest
from _pytest.runner import runtestprotocol

from harness.compare.policy import HOLDING, Judgement, Party
from harness.compare.policy import judge as decide
from harness.errors import HarnessError
from harness.explain import Subject, explained, side_of, told
from harness.gate.lazily import lay_beside, settle
from harness.store import GoldenStore
from pytest_msdump.gate_run import GateRun
from pytest_msdump.gate_test import GateTest
from pytest_msdump.options import REPEATED, SETTINGS, Settings
from pytest_msdump.report import Result
from pytest_msdump.scratch import scratch

_FIRST: pytest.StashKey[GateRun] = pytest.StashKey()
_PLUGIN = f"{__package__}.plugin"
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS")
#: options of this session that another one does not get, with a value of their own and without
_OWN = ("--msdump-golden", "--msdump-report", "--msdump-json", "--junit-xml", "--junitxml", "--basetemp")


class Way(NamedTuple):
    """One way of running again.

    Attributes:
        name: in words.
        environment: variables that another process gets.
        folder: name of the directory of its results.
    """

    name: str
    environment: Mapping[str, str]
    folder: str


HERE = "again in this process"


def ways(environ: Mapping[str, str] = os.environ) -> list[Way]:
    """The other processes: one as this, one with another hash seed, one with other threads."""
    seed = environ.get("PYTHONHASHSEED", "random")
    known = "0" if seed == "random" else seed
    unlike = " (of another hash seed: with PYTHONHASHSEED=0 both have one)" if seed == "random" else ""
    other = "1" if known != "1" else "2"
    threads = "1" if environ.get("OMP_NUM_THREADS") != "1" else "2"
    return [
        Way(f"in another process{unlike}", {"PYTHONHASHSEED": known}, "process"),
        Way(f"with hash seed {other} (PYTHONHASHSEED)", {"PYTHONHASHSEED": other}, "hash-seed"),
        Way(
            f"with {threads} thread{'s' * (threads != '1')} (OMP_NUM_THREADS and others)",
            {"PYTHONHASHSEED": known, **dict.fromkeys(_THREADS, threads)}, "threads",
        ),
    ]  # fmt: skip


def prepare(config: pytest.Config, settings: Settings) -> None:
    """Runs the session's tests in the other processes; ``pytest.UsageError`` if one cannot run them."""
    for way in ways():
        folder = _folder(settings, way)
        shutil.rmtree(folder, ignore_errors=True)
        load = [] if config.pluginmanager.has_plugin("msdump") else ["-p", _PLUGIN]
        command = [sys.executable, "-m", "pytest", *load, *_arguments(config), "--msdump-regen",
                   f"--msdump-golden={folder}", "-p", "no:cacheprovider", "-q", "--tb=line"]  # fmt: skip
        environment = {**os.environ, **way.environment, REPEATED: "1"}
        ended = subprocess.run(
            command, cwd=config.invocation_params.dir, env=environment, capture_output=True, text=True, check=False,
            stdin=subprocess.DEVNULL,
        )  # fmt: skip
        if ended.returncode not in (0, 1):
            why = (ended.stderr.strip() or ended.stdout.strip()).splitlines()[-1:]
            raise pytest.UsageError(f"--msdump-repeat: the tests cannot run {way.name}: {''.join(why)}")


def _folder(settings: Settings, way: Way) -> Path:
    return scratch(settings.root, "repeat") / way.folder


def _arguments(config: pytest.Config) -> Iterator[str]:
    """This session's arguments that choose tests and configure them."""
    given = iter(map(str, config.invocation_params.args))
    for each in given:
        name, equals, _ = each.partition("=")
        if name in _OWN:
            if not equals:
                next(given, None)
        elif each not in ("--msdump-repeat", "--msdump"):
            yield each


def repeat(item: pytest.Item, nextitem: pytest.Item | None) -> bool:
    """Runs a test once and leaves its second run to pytest; True if the first failed and was reported instead."""
    if _FIRST in item.stash:
        del item.stash[_FIRST]
    reports = runtestprotocol(item, log=False, nextitem=nextitem)
    if all(report.passed for report in reports):
        return False
    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    for report in reports:
        item.ihook.pytest_runtest_logreport(report=report)
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    return True


def judge(test: GateTest) -> tuple[list[Result], list[str]]:
    """Keeps a test's first run; holds the second, and those of the other processes, against it."""
    run = GateRun(test)
    result = run.empty("identical")
    result["slots"] = result["identical"] = len(run.records)
    first = test.item.stash.get(_FIRST, None)
    if first is None:
        test.item.stash[_FIRST] = run
        return [result], []
    same: list[str] = []
    for name, other in _others(run, test.item.config.stash[SETTINGS]):
        failure = _failure(first, name, other)
        if failure:
            kept = f"\nSame bits: {', '.join(same)}" if same else ""
            result["verdict"], result["differing"], result["identical"] = "differs", 1, 0
            result["where"] = result["shares"] = f"not repeatable: other bits {name}"
            return [result], [failure + kept]
        same.append(name)
    return [result], []


def _others(run: GateRun, settings: Settings) -> Iterator[tuple[str, Party | None]]:
    """The other runs of a test; None for one that left nothing."""
    yield HERE, run.party()
    for way in ways():
        try:
            with GoldenStore.open(_folder(settings, way) / run.test.golden) as store:
                yield way.name, Party.of_run(store.run(*run.run))
        except (FileNotFoundError, HarnessError):
            yield way.name, None


def _failure(first: GateRun, name: str, other: Party | None) -> str:
    """What differs from the first run, in the words of a failure; empty if nothing does."""
    title = f"{first.test.network} [{first.run.backend}-{first.run.mode}]"
    if other is None:
        return f"msdump: {title} is not repeatable: {name} the test left nothing; it failed there, or was skipped"
    judged: Judgement = decide(first.party(), other, "exact", lay=lay_beside, settle=settle, by="--msdump-repeat")
    if judged.verdict in HOLDING and judged.comparison.holds:
        return ""
    if not first.records and not judged.comparison.total:
        return ""
    # Both are runs of one test: what describes the first describes the other.
    sides = side_of(first.capture, lambda: first.records), side_of(first.capture, other.records)
    subject = Subject(f"{title}, {name},", "its first run")
    return f"msdump: not repeatable: other bits {name}\n{told(judged, subject, explained(judged, subject, *sides))}"
