"""Runs a failed test again with the golden's tensors in the place of what is suspected: if all that follows holds, the
origin is proven, also where no operator can be run again.

By itself where a test of PyTorch fails and nothing proves its cause; with ``--msdump-graft`` always, and at a slot of
one's own choice. Imports ``harness`` only when a test failed.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest
from _pytest.runner import runtestprotocol

from pytest_msdump import launched
from pytest_msdump.options import resolve
from pytest_msdump.report import Result
from pytest_msdump.sharing import ENVIRONMENT
from pytest_msdump.variants import variant_of

if TYPE_CHECKING:
    from harness.compare.policy import Judgement
    from harness.compare.verdict import Comparison
    from harness.explain import Explanation
    from harness.explain.grafting import Grafts
    from harness.store import StoredRun
    from pytest_msdump.gate_run import GateRun
    from pytest_msdump.gate_test import GateTest

#: values of the option: where nothing proves a cause, never, wherever a test fails; else a slot
AUTO, OFF, ALWAYS = "auto", "off", "always"
#: backends whose failed tests are run again without being asked
_BY_ITSELF = ("torch",)
#: so often a test is run again: by itself, and if asked
_ROUNDS = {AUTO: 4}
_MOST = 16
#: seconds that a test may take to be run again by itself
LONGEST = 60.0
_ENDED = "Run again with the golden's tensors, the test ended before it could be judged"
#: judges a run: results and failures
Check = Callable[["GateRun"], tuple[list[Result], list[str]]]
_STATE: pytest.StashKey[State] = pytest.StashKey()


class State:
    """A test that may be run again.

    Attributes:
        asked: the option.
        seconds: how long the first run took until it was judged.
        first: the first run; None before it was judged.
        grafts: the golden's tensors of the next run; None if there is none.
        values: these tensors.
        rounds: number of runs so far, without the first.
        told: whether the first run was judged again, with what the others showed.
        why: why it is not run again, in words.
        left: what does not hold with the grafts; None if everything does.
    """

    def __init__(self, asked: str) -> None:
        self.asked = asked
        self.began = time.monotonic()
        self.first: GateRun | None = None
        self.grafts: Grafts | None = None
        self.values: dict[Any, Any] = {}
        self.rounds = 0
        self.told = False
        self.why = ""
        self.left: Comparison | None = None

    @property
    def comes(self) -> bool:
        """Whether another run follows."""
        return self.grafts is not None and not self.told

    @property
    def most(self) -> int:
        """So often the test is run again."""
        return _ROUNDS.get(self.asked, _MOST)


def is_asked(item: pytest.Item) -> bool:
    """Whether a test is one to run again if it fails; not where each rank is a process of its own, nor where another
    plugin, or a debugger, deals with what failed."""
    asked = resolve(item.config, "msdump_graft")
    if asked == OFF or launched.of(item.config) is not None or item.config.getoption("usepdb", False):
        return False
    if asked != AUTO:
        return True
    variant = variant_of(item)
    return (
        variant is not None
        and variant.backend in _BY_ITSELF
        and not item.config.pluginmanager.has_plugin("rerunfailures")
    )


def run(item: pytest.Item, nextitem: pytest.Item | None, check: Check) -> bool:
    """Runs a test, and again with grafts as long as that may prove its origin; reports it once."""
    state = item.stash[_STATE] = State(resolve(item.config, "msdump_graft"))
    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    try:
        reports = runtestprotocol(item, log=False, nextitem=nextitem)
        while state.comes:
            state.rounds += 1
            before = state.grafts
            sections = list(item._report_sections)
            again = runtestprotocol(item, log=False, nextitem=nextitem)
            item._report_sections[:] = sections
            if state.told:
                reports = again
            elif state.grafts is before:  # it ended before it could be judged
                state.grafts = None
                for report in reports:
                    report.sections += [("msdump", _ENDED)] if report.when == "call" else []
                _keep_page(state, check)
    finally:
        del item.stash[_STATE]
    for report in reports:
        item.ihook.pytest_runtest_logreport(report=report)
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    return True


def is_again(item: pytest.Item) -> bool:
    """Whether a test runs again, with grafts."""
    state = item.stash.get(_STATE, None)
    return state is not None and state.comes


def comes(test: GateTest) -> bool:
    """Whether a test that was judged is run again before it is told."""
    return is_again(test.item)


def begin(test: GateTest) -> None:
    """Gives a test that runs again the tensors that it goes on with."""
    state = test.item.stash.get(_STATE, None)
    if state is not None and state.comes:
        test.process.graft(state.values)


def consider(judge: GateRun, judged: Judgement, expected: StoredRun, explanation: Explanation) -> Explanation:
    """Notes whether a test that failed is to be run again; gives its explanation, with what that showed afterwards."""
    state = judge.test.item.stash.get(_STATE, None)
    if state is None:
        return explanation
    from harness.explain import grafting

    if state.told and state.grafts is not None:
        if state.left is not None:
            return grafting.refuted(explanation, state.grafts, state.left)
        return grafting.proven(explanation, state.grafts)
    if state.first is None:
        _plan(state, judge, judged, expected, explanation)
    if state.why:
        return grafting.without(explanation, state.why)
    return explanation


def _plan(state: State, judge: GateRun, judged: Judgement, expected: StoredRun, explanation: Explanation) -> None:
    state.first = judge
    seconds = time.monotonic() - state.began
    from harness.explain.grafting import lacks_proof, proposed

    by_itself = state.asked == AUTO
    if by_itself and (not lacks_proof(explanation) or explanation.filed == ENVIRONMENT):
        return
    if by_itself and seconds > LONGEST:
        state.why = f"the test takes {seconds:.0f} s; to do so: msdump graft {judge.test.item.nodeid}"
        return
    slot = "" if state.asked in (AUTO, ALWAYS) else state.asked
    _go_on(state, proposed(judged.comparison, slot), expected)
    if state.grafts is None and not state.why and not by_itself:
        state.why = f"both sides have no tensor {slot}" if slot else "there is no tensor that both sides have"


def _go_on(state: State, grafts: Grafts | None, expected: StoredRun) -> bool:
    """Takes grafts for the next run; False if there are none, or the golden kept no values of theirs."""
    from harness.explain import side_of

    values = grafts.values(side_of(expected)) if grafts is not None else None
    if grafts is None:
        return False
    if values is None:
        state.why = "the golden kept no values of them" if state.asked != AUTO else ""
        return False
    state.grafts, state.values = grafts, values
    return True


def second(test: GateTest, check: Check) -> tuple[list[Result], list[str]] | None:
    """Judges a run with grafts; after the last one, the first run with what they showed. None for the first run.

    Another run is needed where a difference of the suspects' kind begins elsewhere; what it gives is not told then.
    """
    state = test.item.stash.get(_STATE, None)
    if state is None or state.first is None or state.grafts is None:
        return None
    from harness.explain import grafting
    from harness.gate import against
    from harness.gate.stores import OPENED
    from pytest_msdump.gate_run import GateRun

    run = GateRun(test)
    expected = OPENED.open(test.store).run(*run.run)
    asked = run.tolerance(run.run.backend, test.marker.get("tolerance"))
    judged = against.judged(expected, run.found(), *asked)
    state.left = grafting.rest(judged, state.grafts)
    if state.left is not None and state.rounds < state.most and state.asked in (AUTO, ALWAYS):
        more = grafting.further(state.left, state.grafts)
        if more is not None and _go_on(state, more, expected):
            return [run.empty("identical")], []
    state.told = True
    return check(state.first)


def judged_test(test: GateTest) -> GateTest:
    """The test whose run is told: the first, of one that ran again."""
    state = test.item.stash.get(_STATE, None)
    return test if state is None or state.first is None else state.first.test


def _keep_page(state: State, check: Check) -> None:
    """Judges the first run once more, which keeps its part of the session's page."""
    if state.first is not None and state.first.test.settings.report is not None:
        check(state.first)
