"""A test that ended with an error of its own: whether what it had given by then differs from its golden, and why."""

from __future__ import annotations

from dataclasses import replace

from harness.compare import Verdict
from harness.compare.policy import Judgement, Party
from harness.compare.policy import judge as decide
from harness.errors import HarnessError
from harness.gate.bounded import bounded
from harness.gate.lazily import lay_beside, settle
from harness.gate.stores import OPENED
from harness.store import StoredRun
from pytest_msdump import judge as judging
from pytest_msdump.gate_run import GateRun
from pytest_msdump.gate_test import GateTest
from pytest_msdump.report import Result

LEAD = "msdump: the test failed by itself; what it ran until then differs from its golden:"


def told(test: GateTest, result: Result) -> str:
    """The first divergence and its cause in a few lines, also noted in ``result``; empty where what was given agrees,
    or nothing can be told. What is missing is not told: the test ended early."""
    try:
        run = GateRun(test)
        if not run.records:
            return ""
        expected = OPENED.open(test.store).run(*run.run)
        asked, by = run.tolerance(run.run.backend, test.marker.get("tolerance"))
        sides = Party.of_run(expected), run.party()
        judged = _shared(decide(*sides, asked, lay=lay_beside, settle=settle, match="names", by=by))
        return "" if judged.holds else _text(run, run.noted(run.run, judged), expected, result)
    except (FileNotFoundError, HarnessError):
        return ""


def _shared(judged: Judgement) -> Judgement:
    """The judgement of the slots that both sides have."""
    kept = [slot for slot in judged.comparison.slots if slot.verdict is not Verdict.MISSING]
    return replace(judged, comparison=replace(judged.comparison, slots=kept, order=None, renames=[]))


def _text(run: GateRun, judged: Judgement, expected: StoredRun, result: Result) -> str:
    result["golden"] = run.test.golden
    result["where"], result["source"] = judging.first(judged.comparison)
    _, text = judging.explain(run, run.run, judged, expected, result)
    return f"{LEAD}\n{bounded(text)}"
