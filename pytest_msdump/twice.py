"""A regeneration runs a test of PyTorch twice: if both runs have equal bits, its golden says so, and in the same
environment equal bits are asked of later runs.

The golden is of the first run, as a later check sees one run, too. Imports ``harness`` only when a test was run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from _pytest.runner import runtestprotocol

from pytest_msdump import launched
from pytest_msdump.report import Result
from pytest_msdump.variants import variant_of

if TYPE_CHECKING:
    from pytest_msdump.gate_run import GateRun

#: the backend whose bits depend on the machine
BACKEND = "torch"
_Bits = dict[object, tuple[bytes | None, str]]
_RUNNING: pytest.StashKey[bool] = pytest.StashKey()
_FIRST: pytest.StashKey[tuple[_Bits, list[Result], list[str]]] = pytest.StashKey()


def is_asked(item: pytest.Item) -> bool:
    """Whether a test is one to run twice; not where each rank is a process of its own, which would have to agree."""
    if launched.of(item.config) is not None:
        return False
    variant = variant_of(item)
    return variant is not None and variant.backend == BACKEND


def run(item: pytest.Item, nextitem: pytest.Item | None) -> bool:
    """Runs a test once and leaves its second run to pytest; True if the first failed, or wrote nothing, and was
    reported instead."""
    item.stash[_RUNNING] = True
    if _FIRST in item.stash:
        del item.stash[_FIRST]
    reports = runtestprotocol(item, log=False, nextitem=nextitem)
    if item.stash.get(_FIRST, None) is not None and all(report.passed for report in reports):
        return False
    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    for report in reports:
        item.ihook.pytest_runtest_logreport(report=report)
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    return True


def wrote(item: pytest.Item, judge: GateRun, result: Result) -> None:
    """Notes the first run of a test, whose golden was written."""
    if _RUNNING in item.stash and not judge.capture.emulated:
        item.stash[_FIRST] = _bits(judge), [result], []


def second(item: pytest.Item, judge: GateRun) -> tuple[list[Result], list[str]] | None:
    """What the first run gave, with whether the second gave the same bits; None for the first run."""
    first = item.stash.get(_FIRST, None)
    if first is None:
        return None
    del item.stash[_FIRST], item.stash[_RUNNING]
    bits, results, failures = first
    if bits == _bits(judge):
        from harness.store.manifest import REPEATED

        results[0]["facts"] = {**results[0]["facts"], REPEATED: True}
    return results, failures


def _bits(judge: GateRun) -> _Bits:
    from harness.stats import digest

    found: _Bits = {}
    for each in judge.records:
        values = each.load() if each.digest is None else None
        found[each.key] = (each.digest if values is None else digest(values, each.dtype)), each.dtype
    return found
