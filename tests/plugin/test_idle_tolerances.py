"""A session counts the keys of tables of tolerances that apply to nothing in any of its tests."""

from __future__ import annotations

import json

import pytest

pytest_plugins = ["pytester"]
TESTS = """
import numpy as np
import pytest

pytestmark = pytest.mark.msdump(tolerance={"default": "default", "one": 1e-3, "two": 1e-3, "thre": 1e-3})

def test_one(msdump):
    msdump.check("one", np.ones(3))

def test_two(msdump):
    msdump.check("two", np.ones(3))
"""


def test_a_session_counts_what_applies_nowhere(gate: pytest.Pytester) -> None:
    gate.makepyfile(test_values=TESTS)
    assert gate.runpytest("--msdump-regen").ret == 0
    result = gate.runpytest("--msdump", "--msdump-json=out.json")
    assert result.ret == 0
    result.stdout.fnmatch_lines(
        [
            "tolerances that apply to nothing in this session: 1",
            "*a tolerance is stated for 'thre', the type or name of nothing here* (the marker of test_values.py)",
        ]
    )
    (told,) = json.loads((gate.path / "out.json").read_text())["idle_tolerances"]
    assert "'thre'" in told
    # The golden keeps the marker's table; without the marker it is the golden that states it.
    gate.makepyfile(test_values=TESTS.replace("pytestmark", "unused"))
    result = gate.runpytest("--msdump")
    result.stdout.fnmatch_lines(["*'thre'*(the golden of test_values.py::test_one)"])


def test_a_hook_is_asked_about_all_tests(gate: pytest.Pytester) -> None:
    gate.makepyfile(test_values=TESTS.replace("pytestmark", "unused"))
    gate.makeconftest(
        "def pytest_msdump_tolerance(item): return {'default': 'default', 'one': 1e-3, 'two': 1e-3, 'thr*': 1}"
    )
    assert gate.runpytest("--msdump-regen").ret == 0
    result = gate.runpytest("--msdump")
    result.stdout.fnmatch_lines(["tolerances that apply to nothing in this session: 1", "*'thr[*]'*(the hook *)"])
