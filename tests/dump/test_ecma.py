"""Patterns: what is taken, what they match (both measured), and that no pattern can run away."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.dump.ecma import MAX_NESTING, RegexError
from harness.dump.ecma_match import Matcher
from harness.dump.selection import Selection, entry_text, read_rule
from harness.errors import DumpConfigError
from tests.dump.build import DATA
from tests.examples import examples

MEASURED = json.loads((DATA / "regex.json").read_text())

# The two that differ on purpose, with what the original does (docs/differences.md).
BACK_REFERENCE = 'name-regex((a)"1)'
LARGEST = "name-regex(a{99999})"


@pytest.mark.parametrize(("entry", "accepted"), MEASURED["accepted"])
def test_patterns_are_taken_or_refused_as_measured(entry: str, accepted: bool) -> None:
    if entry in (BACK_REFERENCE, LARGEST):
        accepted = not accepted
    if accepted:
        assert read_rule(entry_text(entry)).kind == "regex"
    else:
        with pytest.raises(RegexError, match=r"\(byte \d+\)|states"):
            read_rule(entry_text(entry))


@pytest.mark.parametrize(("entry", "matched"), MEASURED["matches"])
def test_patterns_match_as_measured(entry: str, matched: list[str]) -> None:
    selection = Selection([read_rule(entry_text(entry))])
    assert [name for name in MEASURED["names"] if selection.takes(name)] == matched


def patterns() -> st.SearchStrategy[str]:
    """Patterns that mean the same in Python's dialect."""
    atoms = st.sampled_from(["a", "b", "c", ".", "[ab]", "[^a]", "[a-c]", r"\.", "^", "$", r"\b", r"\w", r"\d", "1"])
    return st.recursive(
        atoms,
        lambda inner: st.one_of(
            st.tuples(inner, inner).map("".join),
            st.tuples(inner, inner).map("|".join),
            inner.map("(?:{})".format),
            inner.map("({})".format),
            inner.map("(?={})".format),
            inner.map("(?!{})".format),
            st.tuples(inner, st.sampled_from(["*", "+", "?", "{2}", "{1,2}", "{0}", "{1,}", "*?", "+?"])).map(
                lambda pair: f"(?:{pair[0]}){pair[1]}"
            ),
        ),
        max_leaves=8,
    )


@examples(50, 400)
@given(patterns(), st.lists(st.text("abc1.", max_size=6), min_size=1, max_size=6))
def test_agrees_with_python_on_the_common_dialect(pattern: str, names: list[str]) -> None:
    matcher = Matcher(pattern)
    reference = re.compile(pattern, re.ASCII)
    for name in names:
        assert matcher.fullmatch(name) == (reference.fullmatch(name) is not None)


@examples(37, 300)
@given(st.text("ab(){}[]*+?|^$\\.,-:=!<1d", max_size=14))
def test_any_text_is_a_pattern_or_one_error(pattern: str) -> None:
    try:
        matcher = Matcher(pattern)
    except RegexError:
        return
    assert matcher.fullmatch("ab") in (True, False)


@pytest.mark.parametrize("pattern", ["(a*)*b", "(a|a?)+b", "(.*)*x", "((a+)+)+b", "(a?){50}a{50}b", "(?=(a*)*b).*"])
def test_a_runaway_pattern_is_answered(pattern: str) -> None:
    """A plain backtracking matcher needs more than 2 to the 1000 steps for these."""
    assert Matcher(pattern).fullmatch("a" * 1000) is False


def test_a_costly_pattern_ends_in_one_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("harness.dump.ecma_match.SECONDS", 0.05)
    selection = Selection([read_rule("name-regex((a|aa)+b)")])
    with pytest.raises(DumpConfigError, match="too costly") as caught:
        selection.takes("a" * 5000)
    assert caught.value.kind == "regex"


@pytest.mark.parametrize("pattern", ["(" * 5000, "(" * 101 + ")" * 101, "a" + "*" * 5000, "[" * 5000])
def test_depth_is_bounded(pattern: str) -> None:
    with pytest.raises(RegexError):
        Matcher(pattern)


def test_nesting_up_to_the_bound_is_taken() -> None:
    assert Matcher("(" * MAX_NESTING + "a" + ")" * MAX_NESTING).fullmatch("a")


def test_an_empty_repetition_needs_no_states() -> None:
    assert Matcher("(){2000000000}a").fullmatch("a")
