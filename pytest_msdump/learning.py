"""``--msdump-learn N``: runs each gate test N times, and keeps with its golden how far the results scatter, as
tolerances.

Imports ``harness``; imported when needed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from _pytest.runner import runtestprotocol

from harness.compare import Tolerances
from harness.compare.audit import audit, summary
from harness.compare.learn import Learning, Scatter, learned, refusal, remembered
from harness.compare.policy import Party, exactly
from harness.errors import HarnessError, StoreWriteError
from harness.store import GoldenStore, StoredRun
from harness.words import counted
from pytest_msdump import commands, watch
from pytest_msdump.gate_run import GateRun
from pytest_msdump.manifests import staged
from pytest_msdump.report import Result

if TYPE_CHECKING:
    from pytest_msdump.gate_test import GateTest

#: The tolerance is this many times the scatter that was seen.
MARGIN = 2.0
_NAMED = 10
FORCE = "--msdump-force"
_LEARNING: pytest.StashKey[Learning] = pytest.StashKey()


def repeat(item: pytest.Item, nextitem: pytest.Item | None, times: int) -> bool:
    """Runs a test N - 1 times and leaves the last run to pytest; True if an earlier run failed and was reported
    instead."""
    item.stash[_LEARNING] = Learning()
    bar = item.config.pluginmanager.get_plugin(watch.NAME)
    for at in range(times):
        if isinstance(bar, watch.Watch):
            bar.say(f"run {at + 1} of {times}: {item.nodeid}")
        if at == times - 1:
            break
        # Each run has its own setup and teardown, as in pytest-rerunfailures, so no run sees what another left.
        reports = runtestprotocol(item, log=False, nextitem=nextitem)
        if all(report.passed for report in reports):
            continue
        item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
        for report in reports:
            item.ihook.pytest_runtest_logreport(report=report)
        item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
        return True
    return False


def learn(test: GateTest, times: int) -> tuple[list[Result], list[str]]:
    """Takes one more run of a test; after the last one, stores the learned tolerances in the golden.

    Returns:
        The result, and the failure if there is one.
    """
    judge = GateRun(test)
    try:
        with GoldenStore.open(judge.path) as store:
            return _learn(judge, store, store.run(*judge.run), times)
    except StoreWriteError as error:
        result = judge.empty("not compared")
        result["unwritten"] = str(error)
        return [result], [f"msdump: the golden was not written: {error}"]
    except (FileNotFoundError, HarnessError) as error:
        why = "there is no golden yet" if isinstance(error, FileNotFoundError) else str(error)
        make = commands.again(test, "msdump", "regen")
        text = f"msdump: {test.network}, run {judge.run}: nothing to learn for: {why}; make it with {make}"
        return [judge.empty("not compared")], [text]


def _learn(judge: GateRun, store: GoldenStore, expected: StoredRun, times: int) -> tuple[list[Result], list[str]]:
    learning = judge.test.item.stash[_LEARNING]
    learning.add(exactly(Party.of_run(expected), judge.party()))
    result = judge.empty("identical")
    result["checksum"], result["slots"] = expected.checksum, len(expected)
    if learning.runs < times:
        return [result], []
    found = learning.scattered()
    unstable = [each for each in found if each.reason]
    if unstable:
        result["verdict"], result["differing"] = "differs", len(unstable)
        result["where"] = f"{unstable[0].name}: {unstable[0].reason}"[:400]
        return [result], [_unstable_text(judge, unstable, times)]
    table = learned(found, MARGIN)
    would = list(summary(audit(expected.records(), Tolerances.parse(table)))) if found else []
    if refused := refusal(found, times, judge.test.settings.force, FORCE):
        result["verdict"], result["differing"], result["where"] = "differs", len(found), refused[:400]
        return [result], [_refused_text(judge, refused, would)]
    result["identical"], result["within"] = len(expected) - len(found), len(found)
    result["learned"] = "; ".join([_told(found, times), *would[-1:]])
    # An emulated backend gives the same bits every time, and is compared exactly anyway.
    if found or not expected.attrs.get("emulated"):
        test, data = judge.test, remembered(expected, table, times, MARGIN)
        done = staged(test.item.config, test.settings).update(test.golden, store.network, {expected.id: data})
        result["verdict"] = "updated" if done.changed else "identical"
        result["checksum"] = ""
    return [result], []


def _refused_text(judge: GateRun, refused: str, would: list[str]) -> str:
    lines = [f"msdump: {judge.test.network}, run {judge.run}: {refused}", "what its tolerances would let through:"]
    return "\n".join([*lines, *(f"  {line}" for line in would[-_NAMED:]), "nothing was kept"])


def _told(found: list[Scatter], times: int) -> str:
    if not found:
        return f"bit-exact in {counted(times, 'run')}"
    most = max(found, key=lambda each: each.max_abs)
    slots = f"slots of {counted(len(found), 'operator')}"
    return f"{slots} scatter in {counted(times, 'run')}, most {most.name}: max abs {most.max_abs:.3g}"


def _unstable_text(judge: GateRun, unstable: list[Scatter], times: int) -> str:
    lines = [
        f"msdump: {judge.test.network}, run {judge.run}: in {counted(times, 'run')} no tolerance can be learned for"
    ]
    lines += [f"  {each.name}: {each.reason}" for each in unstable[:_NAMED]]
    lines += [f"  and {len(unstable) - _NAMED} more"] if len(unstable) > _NAMED else []
    meant = commands.again(judge.test, "msdump", "regen")
    return "\n".join([*lines, f"nothing was kept; if it changed on purpose: {meant}"])
