"""A session that compared, or wrote, nothing says so; one that should have written does not end with 0."""

from __future__ import annotations

import pytest

pytest_plugins = ["pytester"]
PLAIN = "def test_plain():\n    pass\n"
GATE = "def test_gate(msdump):\n    msdump.check('v', 1.0)\n"
NOTHING = pytest.ExitCode.NO_TESTS_COLLECTED


@pytest.mark.parametrize("workers", ["", "-n1"])
def test_no_gate_test_was_collected(gate: pytest.Pytester, workers: str) -> None:
    gate.makepyfile(test_plain=PLAIN)
    words = [workers] * bool(workers)
    checked = gate.runpytest("--msdump", *words)
    assert checked.ret == 0
    checked.stdout.fnmatch_lines(["nothing was compared: no gate test in *; a gate test takes the fixture msdump or *"])
    written = gate.runpytest("--msdump-regen", *words)
    assert written.ret == NOTHING
    written.stdout.fnmatch_lines(["nothing was written: no gate test in *"])


def test_a_directory_outside_of_testpaths_is_named(gate: pytest.Pytester) -> None:
    gate.makeini("[pytest]\ntestpaths = unit\n")
    gate.mkdir("unit").joinpath("test_plain.py").write_text(PLAIN)
    gate.mkdir("tests").joinpath("test_gate.py").write_text(GATE)
    result = gate.runpytest("--msdump-regen")
    assert result.ret == NOTHING
    result.stdout.fnmatch_lines(["nothing was written: no gate test in unit; *; testpaths of the configuration *"])


def test_what_was_deselected_is_counted(gate: pytest.Pytester) -> None:
    gate.makepyfile(test_both=PLAIN + GATE)
    for flag, done in (("--msdump", "compared"), ("--msdump-regen", "written")):
        result = gate.runpytest(flag, "-k", "plain")
        assert result.ret == (NOTHING if done == "written" else 0)
        result.stdout.fnmatch_lines([f"nothing was {done}: 1 gate test was collected, and deselected (*)"])


def test_a_regeneration_that_skipped_all(gate: pytest.Pytester) -> None:
    gate.makepyfile(test_gate="import pytest\n\n@pytest.mark.skip\n" + GATE)
    result = gate.runpytest("--msdump-regen")
    assert result.ret == NOTHING
    result.stdout.fnmatch_lines(["nothing was written: 1 gate test was selected (1 skipped)"])
    gate.runpytest("--msdump").stdout.fnmatch_lines(["nothing was compared: 1 gate test was selected (1 skipped)"])


def test_chosen_files_need_no_gate_test_where_the_configuration_asks(gate: pytest.Pytester) -> None:
    gate.makeini("[pytest]\nmsdump = true\n")
    gate.makepyfile(test_plain=PLAIN)
    gate.runpytest("test_plain.py").stdout.no_fnmatch_line("*nothing was*")
    gate.runpytest("--collect-only", "--msdump").stdout.no_fnmatch_line("*nothing was*")
    gate.runpytest().stdout.fnmatch_lines(["nothing was compared: no gate test*"])
