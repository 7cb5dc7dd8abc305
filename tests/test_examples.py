"""What runs where: block 2 of the README and ``tox -e long`` together run every case of a test that is sampled."""

from __future__ import annotations

import pytest

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
