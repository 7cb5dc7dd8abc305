"""Mutants are what they say: each can be compiled, changes one place, and a test that asks for it fails."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from tests.mutants import covering
from tests.mutants.mutations import mutants
from tests.mutants.rooms import TESTS, TOP, modules

_SOURCE = b'''"""Text."""
from typing import TYPE_CHECKING
__all__ = ["f"]
if TYPE_CHECKING:
    import os

def f(a: int, b: "int" = 2) -> bool:
    """Text 1."""
    if a < b and not a == 3:
        g(a)
        return a + 1
    for each in a:
        break
    raise ValueError(f"{a} 1")
'''


def test_each_change_is_one_of_what_is_run() -> None:
    found = mutants("f.py", _SOURCE)
    assert {(each.line, each.old, each.new) for each in found} >= {
        (7, "2", "(2 + 1)"), (9, "a < b", "(a <= b)"), (9, "not a == 3", "(a == 3)"), (9, "a == 3", "(a != 3)"),
        (9, "a < b and not a == 3", "(a < b or not a == 3)"),
        (9, "a < b and not a == 3", "(not (a < b and (not a == 3)))"),
        (10, "g(a)", "pass"), (11, "return a + 1", "return None"), (11, "a + 1", "(a - 1)"), (13, "break", "continue"),
        (14, 'raise ValueError(f"{a} 1")', "pass"),
    }  # fmt: skip
    assert not {each.line for each in found} & {1, 2, 3, 4, 5, 8}
    for each in found:
        assert ast.dump(ast.parse(each.of(_SOURCE))) != ast.dump(ast.parse(_SOURCE)), each
        assert str(each).startswith(f"f.py:{each.line}: ")


def test_the_rooms_and_their_tests_are_there() -> None:
    assert len(modules()) > 30
    assert [each for each in TESTS if not (TOP / each).exists()] == []


@pytest.mark.long
def test_a_mutant_that_changes_nothing_is_not_noticed(tmp_path: Path) -> None:
    """Else every mutant would count as noticed, whatever the tests say. A test that fails anyway is not asked."""
    (tmp_path / "test_failing.py").write_text("def test_it():\n    assert False\n")
    code = (
        "import sys\nfrom pathlib import Path\nfrom tests.mutants.__main__ import Asked, _warm\n"
        f"_warm()\nasked = Asked(Path({str(TOP)!r}))\n"
        f"tests = ['tests/test_inflating.py', {str(tmp_path / 'test_failing.py')!r}]\n"
        "sound = asked.sound(tests)\nprint(sound == tests[:1], asked.passes(sound))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=TOP, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "True True", done.stdout + done.stderr


_DRAWN = """
from hypothesis import given, strategies as st
from harness.inflating import inflate
import zlib

@given(st.binary())
def test_drawn(data):
    assert inflate(zlib.compress(data), len(data), "x", ValueError) == data
"""


@pytest.mark.long
def test_a_test_with_drawn_inputs_is_known_by_the_lines_it_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("coverage")
    (tmp_path / "test_it.py").write_text(_DRAWN)
    monkeypatch.setattr(covering, "TESTS", (str(tmp_path / "test_it.py"),))
    measured = covering.Covering(tmp_path)
    assert measured.measure() == 0
    lines = measured.tests["harness/inflating.py"]
    assert any(name.endswith("test_it.py::test_drawn") for names in lines.values() for name in names)
