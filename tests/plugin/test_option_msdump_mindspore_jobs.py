"""``--msdump-mindspore-jobs`` and ini ``msdump_mindspore_jobs``: how many tests run in other processes at a time."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.plugin.stand_in_mindspore import HEAD, indented

pytest_plugins = ["pytester"]

#: With two jobs the first test waits for the second; with one the second finds that the first has ended.
TESTS = """
    JOBS = {jobs}

    def test_first(msdump):
        msdump.run(Net())
        deadline = time.monotonic() + 100
        while JOBS == 2 and not (HERE / "second").exists():
            assert time.monotonic() < deadline, "the other one does not run"
            time.sleep(0.02)
        note("first", os.getpid())

    def test_second(msdump):
        msdump.run(Net())
        assert (HERE / "first").exists() == (JOBS == 1)
        note("second", os.getpid())
"""


@pytest.mark.sampled(4)
@pytest.mark.parametrize(("by", "jobs"), [("flag", 1), ("flag", 2), ("ini", 1), ("ini", 2)])
def test_the_next_test_runs_meanwhile(on_mindspore: pytest.Pytester, python: Path, by: str, jobs: int) -> None:
    on_mindspore.makepyfile(test_nets=HEAD + indented(TESTS.format(jobs=jobs)))
    if by == "ini":
        on_mindspore.makeini(
            f"[pytest]\nmsdump_backend = mindspore\nmsdump_mindspore = {python}\nmsdump_mindspore_jobs = {jobs}\n"
        )
    result = on_mindspore.runpytest("--msdump-regen", *([f"--msdump-mindspore-jobs={jobs}"] if by == "flag" else []))
    result.assert_outcomes(passed=2)


@pytest.mark.parametrize("given", ["many", "0", "-1", "1.5"])
def test_what_is_no_number(on_mindspore: pytest.Pytester, given: str) -> None:
    result = on_mindspore.runpytest("--msdump", f"--msdump-mindspore-jobs={given}")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"*--msdump-mindspore-jobs: a number above 0 is accepted, got '{given}'"])
