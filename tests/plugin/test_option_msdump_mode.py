"""``--msdump-mode`` and ini ``msdump_mode``: which dump modes a test runs in."""

from __future__ import annotations

import pytest

pytest_plugins = ["pytester"]


@pytest.mark.usefixtures("twin")
@pytest.mark.parametrize("by", ["flag", "ini", "marker"])
def test_each_mode_gives_a_test(nets: pytest.Pytester, by: str) -> None:
    arguments = ["--msdump-backend=twin"]
    if by == "flag":
        arguments.append("--msdump-mode=tensor,other")
    elif by == "ini":
        nets.makeini("[pytest]\nmsdump_mode = tensor other\n")
    else:
        text = (nets.path / "test_nets.py").read_text()
        nets.makepyfile(test_nets=text.replace("mark.msdump\n", 'mark.msdump(modes=["tensor", "other"])\n'))
    result = nets.runpytest("--msdump-regen", "-v", "-k", "test_one", *arguments)
    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines(["*::test_one[[]twin-tensor[]] PASSED*", "*::test_one[[]twin-other[]] PASSED*"])
    result.stdout.fnmatch_lines(["test_nets.py::test_one * twin * other *", "test_nets.py::test_one * twin * tensor *"])


def test_a_mode_the_backend_lacks_is_a_usage_error(nets: pytest.Pytester) -> None:
    result = nets.runpytest("--msdump", "--msdump-mode=statistics")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: msdump: backend cpu has no dump mode 'statistics'; it has *tensor*"])


def test_a_documented_refusal_is_the_reason(nets: pytest.Pytester) -> None:
    """Alone it is an error; beside a backend that has the mode, the test is skipped with it."""
    why = "*backend cpu has no dump mode 'statistic': saved_data statistic is for GPU and Ascend only; it has tensor"
    result = nets.runpytest("--msdump", "--msdump-mode=statistic")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([why])
    both = ("--msdump-backend=cpu,gpu", "--msdump-mode=statistic", "-k", "test_one", "-rs")
    nets.runpytest("--msdump-regen", *both).assert_outcomes(passed=1, skipped=1)
    result = nets.runpytest("--msdump", *both)
    result.assert_outcomes(passed=1, skipped=1)
    result.stdout.fnmatch_lines(["*skipped 1; *", f"skipped 1: msdump: {why[1:]}"])


@pytest.mark.parametrize(
    "given", ["modes='exception'", "backends={'cpu': 'exception'}", "backends={'gpu': 'tensor', 'cpu': 'exception'}"]
)
def test_a_marker_that_asks_for_what_the_backend_lacks_fails(nets: pytest.Pytester, given: str) -> None:
    text = (nets.path / "test_nets.py").read_text()
    nets.makepyfile(test_nets=text.replace("mark.msdump\n", f"mark.msdump({given})\n"))
    result = nets.runpytest("--msdump-regen", "-k", "test_one and cpu")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*backend cpu has no dump mode 'exception': op_debug_mode 4 is for Ascend only; *"])


def test_the_command_line_wins_over_the_marker(nets: pytest.Pytester) -> None:
    text = (nets.path / "test_nets.py").read_text()
    nets.makepyfile(test_nets=text.replace("mark.msdump\n", 'mark.msdump(modes="never")\n'))
    nets.runpytest("--msdump-regen", "--msdump-mode=tensor").assert_outcomes(passed=4)
    result = nets.runpytest("--msdump", "-k", "test_one")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*backend cpu has no dump mode 'never'*"])
