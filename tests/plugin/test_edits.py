"""A failure tells the lines that changed since the commit that holds the golden, where its cause does not name them;
``msdump blame`` finds out which of them it is."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from harness import git as versions
from harness.cli import main
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
import json
from pathlib import Path

from laws import area, half


def test_laws(msdump):
    msdump.check("area", [area(each / 8) for each in range(9)])
    msdump.check("half", half(7))
    msdump.check("size", json.loads(Path("size.json").read_text())["size"])
"""


@pytest.fixture
def git(gate: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """A project whose golden is committed; calls git in it."""
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    for name in ("HOME", "XDG_CONFIG_HOME"):
        monkeypatch.setenv(name, str(gate.path))
    forget()

    def run(*words: str) -> None:
        known = ("-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "commit.gpgsign=false")
        subprocess.run(["git", *known, *words], cwd=gate.path, check=True, capture_output=True)

    Path("laws.py").write_text(LAWS)
    Path("other.py").write_text("x = 1\n")
    Path("size.json").write_text('{\n  "size": 3\n}\n')
    Path("notes.md").write_text("old\n")
    Path("test_laws.py").write_text(TEST)
    Path(".gitignore").write_text("__pycache__\n.msdump\n.pytest_cache\n")
    monkeypatch.syspath_prepend(gate.path)
    gate.runpytest("--msdump-regen").assert_outcomes(passed=1)
    run("init", "-q")
    run("add", "-A")
    run("commit", "-qm", "start")
    return run


def forget() -> None:
    edits._held.cache_clear()
    versions.changed.cache_clear()
    for name in ("laws", "other"):
        sys.modules.pop(name, None)


def said(gate: pytest.Pytester) -> list[str]:
    """The changes that a failing gate tells."""
    forget()
    result = gate.runpytest_inprocess("--msdump")
    result.assert_outcomes(failed=1)
    lines = iter(result.stdout.str().splitlines())
    if not any("Changed since" in line for line in lines):
        return []
    told = [line.strip() for line in iter(lambda: next(lines), "") if line.startswith("  ") or "msdump blame" in line]
    return told[: next(at for at, line in enumerate(told) if "msdump blame" in line)] if told else told


def change(old: str, new: str, file: str = "laws.py") -> None:
    text = Path(file).read_text()
    assert old in text
    Path(file).write_text(text.replace(old, new))


def test_changed_lines_are_told(gate: pytest.Pytester, git: Callable[..., None]) -> None:
    change("3 * r * r", "3 * r * r * r")
    change("x = 1", "x = 2", "other.py")  # this process never loads it
    change("old", "new", "notes.md")  # nothing names it
    first = ["laws.py:2: - return 3 * r * r", "+ return 3 * r * r * r"]
    assert said(gate) == first
    git("commit", "-qam", "a commit later the golden is still the one before")
    change("    return x / 2\n", "    x = x + 0\n    return x / 2\n")
    change("3", "4", "size.json")
    Path("data.bin").write_bytes(b"\0")
    file = ['size.json:2: - "size": 3', '+ "size": 4']
    assert said(gate) == [*first, "laws.py:6: + x = x + 0", *file, "data.bin: new, git does not know it"]
    Path("laws.py").write_text(LAWS.replace("def half(x):\n", "").replace("    return x / 2\n", "half = abs\n"))
    assert said(gate)[:3] == ["laws.py:5: - def half(x):", "- return x / 2", "+ half = abs"]
    # A golden that no commit holds as it is was made from other lines.
    with Path("golden/test_laws/test_laws.h5").open("ab") as store:
        store.write(b" ")
    assert said(gate) == []


def test_an_error_before_anything_ran_tells_them_too(gate: pytest.Pytester, git: Callable[..., None]) -> None:
    change("return x / 2", "return x / 0")
    forget()
    gate.runpytest("--msdump").stdout.fnmatch_lines(
        ["*Changed since the golden's commit*", "*laws.py:6: - return x / 2"]
    )


@pytest.mark.usefixtures("git")
def test_without_git_the_times_of_files_are_told(gate: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    change("3 * r", "4 * r")
    os.utime("laws.py", (time.time() + 9, time.time() + 9))
    monkeypatch.setattr(versions, "_run", lambda *_: None)
    forget()
    told = gate.runpytest_inprocess("--msdump").stdout.str()
    assert "Written after the golden, by the files' times: laws.py\n" in told
    monkeypatch.setattr(edits, "_ASKED", 0)
    assert said(gate) == []


def test_a_shallow_history_says_where_it_begins(gate: pytest.Pytester, git: Callable[..., None]) -> None:
    change("3 * r", "4 * r")
    git("commit", "-qam", "changed")
    git("clone", "-q", "--depth=1", f"file://{gate.path}", "shallow")
    clone = gate.path / "shallow"
    assert versions.held(clone, clone / "golden/test_laws/test_laws.h5").is_cut
    forget()
    golden = clone / "golden/test_laws/test_laws.h5"
    assert edits.since(clone, golden) == []  # nothing is known, and nothing is said
    (clone / "size.json").write_text("{}")
    forget()
    assert "this shallow history begins (earlier changes are not known)" in edits.since(clone, golden)[0]


@pytest.mark.usefixtures("git")
def test_lines_beside_the_directory_of_a_test_are_told(gate: pytest.Pytester) -> None:
    """Of a repository with several projects."""
    (gate.path / "one").mkdir()
    change("3 * r", "4 * r")
    found = versions.changed(gate.path / "one", "HEAD")
    assert [each.place for each in found] == ["../laws.py:2"]


@pytest.mark.long
def test_blame_finds_the_line(
    gate: pytest.Pytester, git: Callable[..., None], capsys: pytest.CaptureFixture[str]
) -> None:
    test = "test_laws.py::test_laws"
    change("3 * r * r", "3 * r + r")
    change("return x\n", "return -x\n")
    git("commit", "-qam", "two changes")
    assert main(["blame", test]) == 1
    assert capsys.readouterr().out.splitlines()[1:] == [
        "  laws.py:2: - return 3 * r * r",
        "             + return 3 * r + r",
        f"With that as it was, {test} holds.",
    ]
    change('"size": 3', '"size": 4', "size.json")
    versions.changed.cache_clear()
    assert main(["blame", test]) == 1
    told = capsys.readouterr().out
    assert "laws.py:2" in told
    assert "size.json:2" in told
    assert "laws.py:10" not in told
    assert f"With all of these as they were, {test} holds." in told
    assert main(["blame", "test_laws.py::test_other"]) == 2
    assert "was not run" in capsys.readouterr().err
