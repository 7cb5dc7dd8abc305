"""``msdump init``, ``review``, ``accept --only`` and ``prune``, on a project of a few files."""

from __future__ import annotations

import io
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.ci import VARIABLES as CI_VARIABLES
from harness.cli import main
from tests.subprocesses import ROOT

pytest_plugins = ["pytester"]

TESTS = """
import os
import numpy as np

def test_{name}(msdump):
    values = np.arange(6.0)
    values[2] += float(os.environ.get("FAULT", 0))
    msdump.check("{name}", values)
"""


@pytest.fixture
def project(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    for name in CI_VARIABLES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setenv("PYTEST_ADDOPTS", "-p no:hypothesispytest -p no:cacheprovider")
    assert main(["init", "."]) == 0
    for name in ("one", "two"):
        (pytester.path / "tests" / f"test_{name}.py").write_text(TESTS.format(name=name))
    pytester.runpytest("--msdump-regen").assert_outcomes(passed=3)
    return pytester


@pytest.fixture
def changed(project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    monkeypatch.setenv("FAULT", "1")
    project.runpytest("--msdump").assert_outcomes(passed=1, failed=2)
    return project


@pytest.fixture
def answers(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], int]:
    def review(text: str) -> int:
        monkeypatch.setattr("sys.stdin", io.StringIO(text))
        return main(["review"])

    return review


def test_init_overwrites_nothing(project: pytest.Pytester, capsys: pytest.CaptureFixture[str]) -> None:
    before = {path: path.read_bytes() for path in project.path.rglob("*") if path.is_file()}
    capsys.readouterr()
    assert main(["init"]) == 0
    assert "written" not in capsys.readouterr().out
    assert {path: path.read_bytes() for path in project.path.rglob("*") if path.is_file()} == before


def test_init_says_what_a_file_of_the_projects_lacks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / ".gitattributes").write_text("*.png binary\n/golden/**/*.h5 binary diff=msdump merge=msdump\n")
    assert main(["init", str(tmp_path)]) == 0
    assert "add to it: '/golden/**/*.json text eol=lf'\n" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("name", "text", "written"),
    [
        ("pyproject.toml", "[tool.pytest.ini_options]\n", False),
        ("pyproject.toml", "[project]\n", True),
        ("pyproject.toml", "[broken", False),
        ("tox.ini", "[pytest]\n", False),
        ("tox.ini", "[tox]\n", True),
    ],
)
def test_init_leaves_a_configuration_alone(tmp_path: Path, name: str, text: str, written: bool) -> None:
    (tmp_path / name).write_text(text)
    assert main(["init", str(tmp_path)]) == 0
    assert (tmp_path / "pytest.ini").exists() is written


def test_review_lists(changed: pytest.Pytester, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    assert main(["review", "--list"]) == 1
    out = capsys.readouterr().out
    assert "[2/2] tests/test_two.py::test_two, run cpu/tensor" in out
    assert "moved first: iteration 0, check/two output.0 at tests/test_two.py:8" in out
    assert "expected 2.0 -> found 3.0 at [2]; max abs 1, 1 of 6 elements differ" in out


def test_review_takes_over_and_drops(changed: pytest.Pytester, answers: Callable[[str], int]) -> None:
    assert answers("?\np\ny\nn\n") == 0
    assert "<html" in (changed.path / ".msdump" / "review.html").read_text()
    assert not (changed.path / "review.html").exists()
    changed.runpytest("--msdump").assert_outcomes(passed=2, failed=1)


def test_review_writes_its_page_where_it_is_told(changed: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("p\nq\n"))
    assert main(["review", "--picture", "shown.html"]) == 1
    assert "<html" in (changed.path / "shown.html").read_text()


def test_review_skips_quits_and_ends_with_its_input(
    changed: pytest.Pytester,
    answers: Callable[[str], int],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert answers("s\nq\n") == 1
    capsys.readouterr()
    assert answers("q\n") == 1
    out = capsys.readouterr().out
    assert "[1/2]" in out
    assert "[2/2]" not in out
    assert "2 candidates left in" in out
    assert answers("") == 1
    monkeypatch.chdir(changed.path / "tests")
    bundle = next((changed.path / ".msdump" / "candidates").iterdir())
    shutil.copytree(bundle, changed.path / "kept")
    assert answers("y\ny\n") == 0
    assert answers("") == 0
    monkeypatch.chdir(changed.path)
    changed.runpytest("--msdump").assert_outcomes(passed=3)
    capsys.readouterr()
    assert main(["review", "--list", "kept"]) == 0  # the goldens hold both
    out = capsys.readouterr().out
    assert out.count("nothing to take over") == 2
    assert "0 candidates left in kept" in out


def test_accept_only_some(changed: pytest.Pytester, capsys: pytest.CaptureFixture[str]) -> None:
    (bundle,) = (changed.path / ".msdump" / "candidates").iterdir()
    assert main(["accept", str(bundle), "--only", "test_o*"]) == 0
    assert "test_two" not in capsys.readouterr().out
    capsys.readouterr()
    assert main(["accept", str(bundle), "--only", "test_one"]) == 0
    assert "0 changed, 0 new, 0 removed; the golden held it" in capsys.readouterr().out
    assert main(["review", str(bundle), "--list"]) == 1
    out = capsys.readouterr().out
    assert out.count("nothing to take over: the golden holds it") == 1
    assert out.count("moved first: ") == 1
    assert main(["accept", str(bundle), "--only", "*nobody*"]) == 2
    assert "--only '*nobody*' fits no candidate" in capsys.readouterr().err
    other = shutil.copytree(bundle, changed.path / "other")
    changed.runpytest("--msdump").assert_outcomes(passed=2, failed=1)
    assert main(["accept", str(other), str(other)]) == 0
    changed.runpytest("--msdump").assert_outcomes(passed=3)


def test_prune_removes_what_nobody_owns(project: pytest.Pytester, capfd: pytest.CaptureFixture[str]) -> None:
    (project.path / "tests" / "test_one.py").unlink()
    result = project.runpytest("--msdump")
    result.stdout.fnmatch_lines(["*the session fails until `msdump prune` has removed them:", "  tests/test_one/*"])
    assert result.ret == 1
    capfd.readouterr()
    assert main(["prune"]) == 0
    assert "removed: tests/test_one/test_one.h5" in capfd.readouterr().out
    assert project.runpytest("--msdump").ret == 0
    assert not list(project.path.glob("golden/**/*one*.*"))


@pytest.mark.long
def test_prune_from_below_names_the_command(
    project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    (project.path / "tests" / "test_one.py").unlink()
    before = sorted(project.path.rglob("*.h5"))
    for folder in (project.path / "tests", project.mkdir("empty")):
        monkeypatch.chdir(folder)
        assert main(["prune"]) == 2
        assert "not every test is collected; `(cd .. && msdump prune)`" in capfd.readouterr().err
    assert sorted(project.path.rglob("*.h5")) == before


def test_prune_says_what_it_did_not_judge(project: pytest.Pytester, capfd: pytest.CaptureFixture[str]) -> None:
    (project.path / "pytest.ini").write_text("[pytest]\ntestpaths = other\n")
    (project.mkdir("other") / "test_other.py").write_text("def test_nothing(): pass\n")
    assert main(["prune"]) == 0
    assert "not judged: 3 goldens whose files or tests pytest did not collect, such as tests/" in capfd.readouterr().out


@pytest.mark.long
def test_prune_refuses_a_part(project: pytest.Pytester, capfd: pytest.CaptureFixture[str]) -> None:
    (project.path / "tests" / "test_two.py").write_text("import nothing_of_this_name\n")
    for arguments, why in (
        (["-k", "one"], "-k leaves tests or runs out"),
        (["tests/test_one.py::test_one"], "every test must be collected; leave the names out"),
        (["--msdump-backend=gpu"], "--msdump-backend leaves tests or runs out"),
        ([], "nothing was removed"),
    ):
        assert main(["prune", *arguments]) == 2
        assert why in capfd.readouterr().err
    assert (project.path / "golden" / "tests" / "test_two" / "test_two.h5").exists()


def test_accept_without_arguments_takes_the_last_bundle_after_showing_it(
    changed: pytest.Pytester, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    capsys.readouterr()
    assert main(["accept", "--only", "test_two"]) == 0
    out = capsys.readouterr().out
    assert out.index("[2/2] tests/test_two.py::test_two") < out.index("1 changed, 0 new, 0 removed")
    changed.runpytest("--msdump").assert_outcomes(passed=2, failed=1)
    assert main(["accept"]) == 0
    changed.runpytest("--msdump").assert_outcomes(passed=3)
    shutil.rmtree(changed.path / ".msdump")
    assert main(["accept"]) == 2
    assert "nothing to accept" in capsys.readouterr().err


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_on_a_terminal_accept_asks_first(
    changed: pytest.Pytester, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for answer, code in (("\n", 1), ("no\n", 1), ("y\n", 0)):
        monkeypatch.setattr("sys.stdin", _Terminal(answer))
        assert main(["accept"]) == code
    assert capsys.readouterr().out.count("nothing was taken over") == 2
    changed.runpytest("--msdump").assert_outcomes(passed=3)


def test_review_takes_over_all(changed: pytest.Pytester, answers: Callable[[str], int]) -> None:
    assert answers("a\n") == 0
    changed.runpytest("--msdump").assert_outcomes(passed=3)


def test_review_makes_one_page_of_all(changed: pytest.Pytester, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["review", "--page", "all.html"]) == 1
    assert "page: all.html\n" in capsys.readouterr().out
    text = (changed.path / "all.html").read_text()
    assert "test_one.py::test_one" in text
    assert "test_two.py::test_two" in text
