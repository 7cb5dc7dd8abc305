"""A failure names the lines that changed since the commit that holds the golden, where its cause does not."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from pytest_msdump import edits

pytest_plugins = ["pytester"]

LAWS = """\
def area(r):
    return 3 * r * r


def half(x):
    return x / 2


def unused(x):
    return x
"""
TEST = """\
from laws import area, half


def test_laws(msdump):
    msdump.check("area", [area(each / 8) for each in range(9)])
    msdump.check("half", half(7))
"""


@pytest.fixture
def git(gate: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """A project whose golden is committed; calls git in it."""
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    for name in ("HOME", "XDG_CONFIG_HOME"):
        monkeypatch.setenv(name, str(gate.path))
    edits._commit.cache_clear()
    edits._changed.cache_clear()

    def run(*words: str) -> None:
        known = ("-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "commit.gpgsign=false")
        subprocess.run(["git", *known, *words], cwd=gate.path, check=True, capture_output=True)
        edits._commit.cache_clear()
        edits._changed.cache_clear()

    Path("laws.py").write_text(LAWS)
    Path("other.py").write_text("x = 1\n")
    Path("test_laws.py").write_text(TEST)
    monkeypatch.syspath_prepend(gate.path)
    gate.runpytest("--msdump-regen").assert_outcomes(passed=1)
    run("init", "-q")
    run("add", "-A")
    run("commit", "-qm", "start")
    return run


def said(gate: pytest.Pytester) -> list[str]:
    """The places that a failing gate names."""
    edits._changed.cache_clear()
    result = gate.runpytest_inprocess("--msdump")
    result.assert_outcomes(failed=1)
    found = re.search(r"Changed since the golden's commit [0-9a-f]{7,}: (.*)", result.stdout.str())
    return found[1].split(", ") if found else []


def change(old: str, new: str, file: str = "laws.py") -> None:
    text = Path(file).read_text()
    assert old in text
    Path(file).write_text(text.replace(old, new))


def test_changed_lines_are_named(gate: pytest.Pytester, git: Callable[..., None]) -> None:
    change("3 * r * r", "3 * r * r * r")
    change("x = 1", "x = 2", "other.py")  # this process never loads it
    assert said(gate) == ["laws.py:2"]
    git("commit", "-qam", "a commit later the golden is still the one before")
    change("    return x / 2\n", "    x = x + 0\n    return x / 2\n")
    assert said(gate) == ["laws.py:2", "laws.py:6"]
    Path("laws.py").write_text(LAWS.replace("    return x / 2\n", ""))
    Path("laws.py").write_text(LAWS.replace("def half(x):\n", "").replace("    return x / 2\n", "half = abs\n"))
    assert said(gate) == ["laws.py:5"]
    # A golden that no commit holds as it is was made from other lines.
    with Path("golden/test_laws/test_laws.h5").open("ab") as file:
        file.write(b" ")
    assert "Changed since" not in gate.runpytest("--msdump").stdout.str()


def test_an_error_before_anything_ran_names_them_too(gate: pytest.Pytester, git: Callable[..., None]) -> None:
    change("return x / 2", "return x / 0")
    assert said(gate) == ["laws.py:6"]


@pytest.mark.usefixtures("git")
def test_without_git_or_history_nothing_is_said(gate: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    change("3 * r", "4 * r")
    with monkeypatch.context() as without:
        without.setattr(edits, "_git", lambda *_: "")
        assert said(gate) == []
    edits._commit.cache_clear()
    monkeypatch.setattr(edits, "_ASKED", 0)
    assert said(gate) == []
