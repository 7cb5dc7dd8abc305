"""Slots that could not be read: a verdict of their own, and none passes unless somebody named it."""

from __future__ import annotations

import json
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness import explain
from harness.capture import Capture, Problem
from harness.capture.keeping import declared_by
from harness.compare.gaps import patterns_of
from harness.compare.policy import Judgement, Party, judge
from harness.compare.rejudge import rejudged
from harness.compare.table import stored
from harness.compare.tolerances import Tolerances
from harness.compare.verdict import GAPS, Verdict
from harness.errors import SettingError
from harness.exit_status import CANNOT_TELL, DIFFERS, HOLDS
from harness.gate.lazily import lay_beside
from harness.gate.sides import party_of
from harness.records import Record, SlotKey
from harness.report.results import comparison as as_json
from harness.store import GoldenStore, RunData, RunId, update

RUN = RunId("tinyrt", "tensor")
OPERATORS = ["Net/fc1/Mul-op0", "Net/fc2/Add-op0", "Net/Relu-op0"]
KEYS = [
    SlotKey(0, 0, 0, name, 0, io, slot)
    for name in OPERATORS
    for io, slot in (("input", 0), ("input", 1), ("output", 0))
]
KINDS = ("gap", "skipped", "incomplete", "damaged")


def capture(gaps: dict[SlotKey, str], changed: frozenset[SlotKey] = frozenset(), kind: str = "gap") -> Capture:
    """A run of nine slots, but for those that could not be read."""
    records = []
    for at, key in enumerate(KEYS):
        if key not in gaps:
            array = np.float32([at, at + (key in changed)])
            records.append(Record(key, key.operator.rpartition("/")[2][:-4], "Float32", (2,), values=array))
    problems = [Problem(f"{key.operator} {key.slot_name}", kind, why, key, "Mul") for key, why in gaps.items()]
    return Capture("Net", "tinyrt", False, records, problems=problems)


def judged(expected: Capture | Party, found: Capture, patterns: Any = ()) -> Judgement:
    one = expected if isinstance(expected, Party) else party_of(expected)
    return judge(one, replace(party_of(found), named=patterns_of(patterns)), "exact", lay=lay_beside)


drawn = st.dictionaries(st.sampled_from(KEYS), st.sampled_from(["it lies elsewhere", "its dtype is odd"]), max_size=4)
named = st.lists(
    st.sampled_from(["*", "Net/fc1/*", "*:output.0", "Net/Relu-op0", "Net/fc2/Add-op0:input.1", "x"]), max_size=2
)


@given(drawn, drawn, st.frozensets(st.sampled_from(KEYS), max_size=2), named, st.sampled_from(KINDS))
def test_no_gap_passes_unnamed(
    mine: dict[SlotKey, str], theirs: dict[SlotKey, str], changed: frozenset[SlotKey], patterns: list[str], kind: str
) -> None:
    found = judged(capture(mine, kind=kind), capture(theirs, changed, kind), patterns)
    gaps = set(mine) | set(theirs)
    free = {
        k
        for k in gaps
        if not any(fnmatchcase(k.operator, p) or fnmatchcase(f"{k.operator}:{k.slot_name}", p) for p in patterns)
    }
    differs = changed - gaps
    counts = found.comparison.counts
    assert counts[Verdict.NOT_COMPARED] == len(free)
    assert counts[Verdict.ACCEPTED] == len(gaps - free)
    assert counts[Verdict.IDENTICAL] + counts[Verdict.DIFFERS] == len(KEYS) - len(gaps)
    assert counts[Verdict.MISSING] == counts[Verdict.UNEXPECTED] == 0
    assert found.holds == (not free and not differs)
    assert found.code == (DIFFERS if differs else CANNOT_TELL if free else HOLDS)
    assert all(each.reason for each in found.comparison.gaps)


@given(drawn, drawn)
def test_a_goldens_gaps_are_accepted_and_no_others(mine: dict[SlotKey, str], theirs: dict[SlotKey, str]) -> None:
    expected = replace(party_of(capture(mine)), accepts=True)
    found = judged(expected, capture(theirs))
    assert {gap.key for gap in found.comparison.unnamed} == set(theirs) - set(mine)
    assert found.holds == (not set(theirs) - set(mine))


def test_a_golden_store_accepts_what_it_was_made_with(tmp_path: Path) -> None:
    gaps = {KEYS[0]: "it lies elsewhere"}
    made = capture(gaps)
    data = RunData(list(made.records()), declared=declared_by(made))
    update(tmp_path / "x.h5", "Net", {RUN: data})
    with GoldenStore.open(tmp_path / "x.h5") as store:
        golden = store.run(*RUN)
        assert judged(Party.of_run(golden), capture(gaps)).holds
        read = judged(Party.of_run(golden), capture({}))
        assert read.holds
        assert read.comparison.gaps[0].reason == "the golden could not read it: it lies elsewhere; this run can"
        other = judged(Party.of_run(golden), capture({KEYS[3]: "it lies elsewhere"}))
        assert other.code == CANNOT_TELL
        assert [gap.key for gap in other.comparison.unnamed] == [KEYS[3]]


def test_nothing_but_gaps_was_compared_with_nothing() -> None:
    whole = dict.fromkeys(KEYS, "it lies elsewhere")
    assert judged(capture(whole), capture(whole), "*").code == CANNOT_TELL


def test_a_gap_is_no_agreement_for_an_explanation() -> None:
    gaps = {KEYS[3]: "it lies elsewhere"}  # an input of Add
    found = judged(capture(gaps), capture(gaps, frozenset({KEYS[5]})), "*")
    sides = explain.side_of(capture(gaps)), explain.side_of(capture(gaps, frozenset({KEYS[5]})))
    subject = explain.Subject("run", "golden")
    text = explain.told(found, subject, explain.explained(found, subject, *sides))
    assert "inputs agree" not in text
    assert "input agrees" not in text
    whole = judged(capture({}), capture({}, frozenset({KEYS[5]})))
    sides = explain.side_of(capture({})), explain.side_of(capture({}, frozenset({KEYS[5]})))
    assert "its inputs agree" in explain.told(whole, subject, explain.explained(whole, subject, *sides))


def test_what_failed_is_named_with_how_to_go_on() -> None:
    found = judged(capture({}), capture({KEYS[2]: "it lies elsewhere"}))
    subject = explain.Subject("run", "golden")
    sides = explain.side_of(capture({})), explain.side_of(capture({KEYS[2]: "it lies elsewhere"}))
    text = explain.told(found, subject, explain.explained(found, subject, *sides))
    assert text.splitlines() == [
        "run cannot be told from golden",
        "Not compared: Net/fc1/Mul-op0 output.0: this run could not read it: it lies elsewhere",
        "What cannot be read fails unless it is named: gaps='Net/fc1/Mul-op0:output.0'",
        "8 of 9 slots are identical",
    ]


def test_they_are_counted_in_json_and_judged_again() -> None:
    for patterns, code in ((), CANNOT_TELL), ("*", HOLDS):
        found = judged(capture({}), capture({KEYS[2]: "it lies elsewhere"}), patterns)
        told = as_json(found, None, network="Net", backend="a", mode="b", golden="g", found="f")
        name = (Verdict.ACCEPTED if patterns else Verdict.NOT_COMPARED).value
        assert told["counts"][name] == 1
        rows = json.loads(json.dumps([stored(slot) for slot in found.comparison.reasoned()]))
        again = rejudged({"slots": rows, "counts": told["counts"]}, Tolerances.parse("default"))
        assert again.code == code


def test_files_that_were_lost_still_fail() -> None:
    lost = capture({})
    lost.problems.append(Problem("a.npy", "incomplete", "it is cut short"))
    assert judged(capture({}), lost, "*").code == CANNOT_TELL


def test_notes_are_no_gaps() -> None:
    noted = capture({})
    noted.problems.append(Problem("x output.0", "note", "it lies on device meta", KEYS[0]))
    assert judged(capture({}), noted).holds


def test_gaps_of_every_slot_have_a_verdict_of_their_own() -> None:
    assert [each.holds for each in GAPS] == [False, True]


@pytest.mark.parametrize("given", [1, [""], [1], {"a": 1}, ""])
def test_what_is_no_pattern(given: Any) -> None:
    with pytest.raises(SettingError, match="gaps: a pattern for names"):
        patterns_of(given)
