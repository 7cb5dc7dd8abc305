"""On a terminal, a session that writes goldens or learns shows a bar in place of pytest's letters."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest

pty = pytest.importorskip("pty")
pytest_plugins = ["pytester"]

TESTS = """
import pytest

@pytest.mark.parametrize("n", [1, 2, 3])
def test_values(msdump, n):
    msdump.check("n", n)
"""
#: what the first test's start draws; later ones come at most every tenth of a second
BAR = re.compile(r"test_values\.py::test_values\[cpu-tensor-1\] .*0/3 tests")
LETTERS = re.compile(r"^test_values\.py \.\.\.", re.MULTILINE)


def on_a_terminal(gate: pytest.Pytester, *arguments: str) -> str:
    """What a session shows on a pseudo terminal of 100 columns, without colours and movements of the cursor."""
    inner, outer = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "100", "LINES": "40"}
    environment.pop("NO_COLOR", None)
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *arguments]
    with subprocess.Popen(command, stdin=outer, stdout=outer, stderr=outer, cwd=gate.path, env=environment) as process:
        os.close(outer)
        shown = b""
        while part := _read(inner):
            shown += part
    os.close(inner)
    assert process.returncode == 0, shown.decode()
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown.decode()).replace("\r\n", "\n")


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 1 << 16)
    except OSError:  # Linux: nobody has the other end open any more
        return b""


@pytest.mark.long
def test_a_bar_while_goldens_are_written_and_learned_for(gate: pytest.Pytester) -> None:
    gate.makepyfile(test_values=TESTS)
    for arguments in (["--msdump-regen"], ["--msdump-learn=2"]):
        shown = on_a_terminal(gate, *arguments)
        assert BAR.search(shown), shown
        assert not LETTERS.search(shown)
        assert "3 passed" in shown


@pytest.mark.long
@pytest.mark.parametrize(
    "arguments",
    [["-v"], *(pytest.param([each], marks=pytest.mark.long) for each in ("-q", "-s", "--msdump"))],
    ids=" ".join,
)
def test_whoever_asks_for_other_lines_gets_those(gate: pytest.Pytester, arguments: list[str]) -> None:
    gate.makepyfile(test_values=TESTS)
    if arguments == ["--msdump"]:
        gate.runpytest("--msdump-regen").assert_outcomes(passed=3)
        shown = on_a_terminal(gate, "--msdump")
        assert LETTERS.search(shown)
    else:
        shown = on_a_terminal(gate, "--msdump-regen", *arguments)
    assert not BAR.search(shown)
    assert "3 passed" in shown


@pytest.mark.long
def test_no_bar_where_nobody_looks(gate: pytest.Pytester) -> None:
    gate.makepyfile(test_values=TESTS)
    shown = gate.runpytest_subprocess("--msdump-regen")
    assert not BAR.search(shown.stdout.str() + shown.stderr.str())
    assert LETTERS.search(shown.stdout.str())
