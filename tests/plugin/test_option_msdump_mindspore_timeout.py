"""``--msdump-mindspore-timeout`` and ini ``msdump_mindspore_timeout``: how long a test may take elsewhere."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.plugin.stand_in_mindspore import HEAD, indented

pytest_plugins = ["pytester"]

TESTS = """
    def test_sleeps(msdump):
        msdump.run(Net())
        time.sleep(1000)
"""


@pytest.mark.long
@pytest.mark.sampled(2)
@pytest.mark.parametrize("by", ["flag", "ini"])
def test_a_test_that_takes_longer_fails(on_mindspore: pytest.Pytester, python: Path, by: str) -> None:
    on_mindspore.makepyfile(test_nets=HEAD + indented(TESTS))
    if by == "ini":
        on_mindspore.makeini(
            f"[pytest]\nmsdump_backend = mindspore\nmsdump_mindspore = {python}\nmsdump_mindspore_timeout = 1.5\n"
        )
    result = on_mindspore.runpytest("--msdump-regen", *(["--msdump-mindspore-timeout=1.5"] if by == "flag" else []))
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*was killed after 1.5 s (--msdump-mindspore-timeout)*"])


@pytest.mark.parametrize("given", ["soon", "0", "-1", "nan", "inf"])
def test_what_is_no_time(on_mindspore: pytest.Pytester, given: str) -> None:
    result = on_mindspore.runpytest("--msdump", f"--msdump-mindspore-timeout={given}")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        [f"*--msdump-mindspore-timeout: a number of seconds above 0 is accepted, got '{given}'"]
    )
