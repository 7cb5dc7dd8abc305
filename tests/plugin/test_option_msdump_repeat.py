"""``--msdump-repeat`` and ini ``msdump_repeat``: tests held against themselves, and what makes them differ."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pytest_msdump import repeating

pytest_plugins = ["pytester"]

MODULE = """
    import os
    import numpy as np, pytest
    from harness import Tensor, nn

    COUNTED = [0]
    pytestmark = pytest.mark.msdump

    def test_good(msdump):
        msdump.run(nn.Dense(3, 2), Tensor(np.ones((2, 3), np.float32)))
        msdump.check("out", np.arange(5.))

    def test_state(msdump):
        COUNTED[0] += 1
        msdump.check("out", np.arange(5.) * COUNTED[0])

    def test_hash(msdump):
        msdump.check("out", np.float64([hash(each) % 97 for each in "abc"]))

    def test_process(msdump):
        msdump.check("out", np.float64(os.getpid()))

    def test_threads(msdump):
        msdump.check("out", np.float64(float(os.environ.get("OMP_NUM_THREADS", "4"))))
"""


@pytest.mark.long
@pytest.mark.parametrize("by", ["flag", "ini"])
def test_what_differs_is_named(gate: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, by: str) -> None:
    gate.makepyfile(test_net=MODULE)
    if by == "ini":
        gate.makeini("[pytest]\nmsdump_repeat = true\n")
    monkeypatch.setenv("PYTHONHASHSEED", "0")
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    # Its own hash seed is the one that the variable names.
    options = ["--msdump-repeat"] if by == "flag" else []
    ended = gate.runpytest_subprocess(*options, "-p", "no:cacheprovider", "--msdump-json=r.json")
    ended.assert_outcomes(passed=1, failed=4)
    for name, way in (
        ("state", "again in this process"), ("hash", "with hash seed 1 (PYTHONHASHSEED)"),
        ("process", "in another process"), ("threads", "with 1 thread (OMP_NUM_THREADS and others)"),
    ):  # fmt: skip
        ended.stdout.fnmatch_lines([f"msdump: not repeatable: other bits {way}", f"test_net.py::test_{name} *"])
    ended.stdout.fnmatch_lines(
        ["Same bits: again in this process, in another process, with hash seed 1 (PYTHONHASHSEED)"]
    )
    assert not (gate.path / "golden").exists()


@pytest.mark.parametrize("more", [["--msdump-regen"], ["--msdump-learn=2"]])
def test_it_stands_alone(gate: pytest.Pytester, more: list[str]) -> None:
    gate.makepyfile(test_net=MODULE)
    ended = gate.runpytest_inprocess("--msdump-repeat", *more)
    assert ended.ret == pytest.ExitCode.USAGE_ERROR
    ended.stderr.fnmatch_lines(["*--msdump-repeat compares runs with one another: leave out *"])


def test_a_process_that_cannot_run_them_is_an_error(gate: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    gate.makepyfile(
        test_net="import os, pytest\nassert 'MSDUMP_REPEATED' not in os.environ\n"
        + "@pytest.mark.msdump\ndef test_it(msdump):\n    msdump.check('a', 1)\n"
    )
    ended = gate.runpytest_inprocess("--msdump-repeat", "-p", "no:cacheprovider")
    assert ended.ret == pytest.ExitCode.USAGE_ERROR
    ended.stderr.fnmatch_lines(["*--msdump-repeat: the tests cannot run in another process*"])


def test_ways_differ_from_this_process() -> None:
    for environ in ({}, {"PYTHONHASHSEED": "1", "OMP_NUM_THREADS": "1"}):
        process, seed, threads = repeating.ways(environ)
        assert process.environment["PYTHONHASHSEED"] == environ.get("PYTHONHASHSEED", "0")
        assert seed.environment["PYTHONHASHSEED"] != process.environment["PYTHONHASHSEED"]
        assert threads.environment["OMP_NUM_THREADS"] != environ.get("OMP_NUM_THREADS")
    assert ("another hash seed" in repeating.ways({})[0].name, os.sep in repeating.HERE) == (True, False)
    assert Path(repeating.ways({})[2].folder).name == "threads"
