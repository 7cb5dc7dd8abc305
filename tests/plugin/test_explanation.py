"""The block of a failing gate test: what it offers works as it stands there."""

from __future__ import annotations

import re
import shlex

import pytest

from harness.cli import main

pytest_plugins = ["pytester"]


@pytest.fixture
def failed(made: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Lines of a failing session."""
    monkeypatch.setenv("ADDED", "1.5")
    return list(made.runpytest("--msdump").outlines)


def test_the_command_for_more_works_as_printed(failed: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    (line,) = [line for line in failed if line.startswith("See: ")]
    command = re.split(r"   (?:Picture|Meant): ", line.removeprefix("See: "))[0]
    words = shlex.split(command)
    assert words[0] == "msdump"
    capsys.readouterr()
    assert main(words[1:]) == 0
    assert "Default/Add-op0" in capsys.readouterr().out


def test_the_cause_is_in_the_first_three_lines(failed: list[str]) -> None:
    first = next(at for at, line in enumerate(failed) if "differs from golden" in line)
    assert any(line.startswith("Cause, proven by replay: y 1 -> 1.5") for line in failed[first : first + 3])
    assert "\033[" not in "".join(failed)


@pytest.mark.parametrize(("factor", "says"), [(1, "proven bit for bit: renamed:"), (2, "likely: replaced:")])
def test_a_given_value_with_another_name(gate: pytest.Pytester, factor: int, says: str) -> None:
    """The same value is renamed; another one takes its place."""
    body = (
        "import numpy as np\ndef test_it(msdump):\n"
        "    msdump.check('one', np.arange(3.0) * {})\n    msdump.check('two', 2)\n"
    )
    gate.makepyfile(test_it=body.format(1))
    gate.runpytest("--msdump-regen").assert_outcomes(passed=1)
    gate.makepyfile(test_it=body.format(factor).replace("'one'", "'first'"))
    result = gate.runpytest("--msdump")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines([f"Cause, {says} check/one *check/first"])
