"""What runs where: block 2 of the README and ``tox -e long`` together run every case of a test that is sampled; CI runs
block 2's and a third of the others."""

from __future__ import annotations

import pytest

from tests import examples

pytest_plugins = ["pytester"]
CONFTEST = """
import pytest
from tests.examples import sample


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    sample(items)
"""
TESTS = """
import pytest


@pytest.mark.sampled(2)
@pytest.mark.parametrize("how", "ab")
@pytest.mark.parametrize("number", range(3))
def test_two(number, how): pass


@pytest.mark.sampled(4)
@pytest.mark.parametrize("number", range(3))
def test_one(number): pass


def test_plain(): pass
"""


def test_a_sample_and_the_rest_are_all(pytester: pytest.Pytester) -> None:
    pytester.makeini("[pytest]\nmarkers =\n    long: x\n    sampled(n): y\n")
    pytester.makeconftest(CONFTEST)
    path = pytester.makepyfile(TESTS)
    names = {}
    for chosen in ("not long", "long", "long or not long"):
        listed = pytester.runpytest("--collect-only", "-q", "-m", chosen, "-p", "no:hypothesispytest", str(path))
        names[chosen] = [line.partition("::")[2] for line in listed.outlines if "::" in line]
    # One of each two, by turns, so that "a" and "b" both are there.
    assert names["not long"] == ["test_two[0-a]", "test_two[1-b]", "test_two[2-a]", "test_one[0]", "test_plain"]
    assert sorted(names["not long"] + names["long"]) == sorted(names["long or not long"])


def test_ci_runs_a_third_of_the_rest(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(examples, "SOME", True)
    pytester.makeini("[pytest]\nmarkers =\n    long: x\n    deep: z\n    sampled(n): y\n")
    pytester.makeconftest(CONFTEST)
    path = pytester.makepyfile(TESTS.replace("range(3)", "range(9)"))
    counts = {}
    for chosen in ("not long and not deep", "long", "deep"):
        listed = pytester.runpytest("--collect-only", "-q", "-m", chosen, "-p", "no:hypothesispytest", str(path))
        counts[chosen] = sum("::" in line for line in listed.outlines)
    # Of test_two 9 of 18 are left out, of test_one 7 of 9.
    assert counts == {"not long and not deep": 12, "long": 6, "deep": 10}
    assert examples._here(30) == 20
