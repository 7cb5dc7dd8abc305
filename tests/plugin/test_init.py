"""``msdump init`` writes its test where pytest collects it, whatever the project's configuration says."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.ci import VARIABLES
from harness.cli import git, main
from harness.cli.init import _file, _function, first_test
from harness.cli.nearest import configured

pytest_plugins = ["pytester"]
GIT = pytest.mark.skipif(shutil.which("git") is None, reason="there is no git")


def ini(**given_: str) -> str:
    return "[pytest]\n" + "".join(f"{name} = {value}\n" for name, value in given_.items())


@pytest.mark.parametrize(
    ("settings", "place"),
    [
        ({"testpaths": "unit"}, "unit/test_first_golden.py"),
        ({"testpaths": "src/*/checks", "python_files": "check_*.py"}, "src/a/checks/check_first_golden.py"),
        ({"testpaths": "'a b' other"}, "a b/test_first_golden.py"),
        ({"python_files": "*_spec.py *_test.py", "python_functions": "should_"}, "tests/first_golden_spec.py"),
        ({"testpaths": "missing/one.py"}, "tests/test_first_golden.py"),
        ({"msdump_golden": "kept/here", "python_functions": "*_works"}, "tests/test_first_golden.py"),
    ],
)
def test_it_is_collected(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, settings: dict[str, str], place: str
) -> None:
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    pytester.makeini(ini(**settings))
    (pytester.path / "src" / "a" / "checks").mkdir(parents=True)
    assert main(["init"]) == 0
    assert (pytester.path / place).exists()
    golden = pytester.path / settings.get("msdump_golden", "golden")
    assert (golden / "README.md").exists()
    named = [place] if settings.get("testpaths", "").endswith(".py") else []
    result = pytester.runpytest_inprocess("--msdump-regen", *named, "-p", "no:cacheprovider")
    result.assert_outcomes(passed=1)
    assert len(list(golden.rglob("*.h5"))) == 1


def test_what_pytest_would_not_collect_is_named_in_the_next_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pytest.ini").write_text(ini(testpaths="one.py"))
    (tmp_path / "one.py").write_text("")
    assert main(["init"]) == 0
    assert "next: msdump regen tests/test_first_golden.py\n" in capsys.readouterr().out


def test_toml_lists_count_too(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text('[tool.pytest.ini_options]\ntestpaths = ["unit", "more"]\n')
    assert first_test(tmp_path, configured(tmp_path)) == (tmp_path / "unit" / "test_first_golden.py", True)


@given(st.from_regex(r"[a-z*_]{0,8}(\.py)?", fullmatch=True))
def test_a_pattern_gives_a_name_that_fits_or_none(pattern: str) -> None:
    from fnmatch import fnmatch

    name = _file(pattern)
    assert not name or fnmatch(name, pattern)
    assert _function([pattern]).isidentifier()


def test_a_project_above_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    assert main(["init", str(tmp_path / "part")]) == 0
    assert "note: " in (out := capsys.readouterr().out)
    assert "configures pytest too" in out


def run(folder: Path, *words: str, code: int = 0) -> str:
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == code, done.stderr + done.stdout
    return done.stdout + done.stderr


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Path:
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "gitconfig"))
    run(tmp_path, "git", "init", "--quiet", "--initial-branch=main", "repo")
    folder = tmp_path / "repo"
    for name, value in (("user.name", "A"), ("user.email", "a@b.c")):
        run(folder, "git", "config", name, value)
    monkeypatch.chdir(folder)
    (folder / ".gitignore").write_text("*.h5\n")
    assert main(["init"]) == 0
    out = capsys.readouterr().out
    assert "set: git's drivers msdump" in out
    assert "note: git ignores golden/*.h5 (.gitignore:1:*.h5)" in out
    (folder / ".gitignore").unlink()
    return folder


def golden(folder: Path, **runs: float) -> None:
    """Writes a golden with a run of each name, of three values that begin with the given one."""

    from harness.store import RunData, RunId, update
    from tests.store.helpers import record

    data = {
        RunId(name, "tensor"): RunData([record(np.asarray([value, 1, 2], np.float32), "Default/Op-op0")])
        for name, value in runs.items()
    }
    update(folder / "golden" / "net.h5", "Net", data)


def committed(folder: Path, message: str) -> None:
    run(folder, "git", "add", "-A")
    run(folder, "git", "commit", "--quiet", "-m", message)


@GIT
def test_git_shows_what_moved(repository: Path) -> None:
    golden(repository, cpu=0)
    committed(repository, "first")
    golden(repository, cpu=0.5)
    shown = run(repository, "git", "diff")
    told = "cpu/tensor iteration 0, Default/Op-op0, output.0, Float32[3], "
    assert f"\n-{told}[0.0, 1.0, 2.0], digest " in shown
    assert f"\n+{told}[0.5, 1.0, 2.0], digest " in shown
    run(
        repository,
        "git",
        "config",
        "diff.msdump.textconv",
        git.settings()["diff.msdump.textconv"].replace(sys.executable, "/gone"),
    )
    assert "run msdump init again" in run(repository, "git", "show", "--textconv", "HEAD:golden/net.h5")


@GIT
def test_git_merges_runs_that_one_side_changed(repository: Path) -> None:
    from harness.store import GoldenStore, RunId

    golden(repository, cpu=0, gpu=0)
    committed(repository, "first")
    run(repository, "git", "checkout", "--quiet", "-b", "other")
    golden(repository, gpu=2)
    committed(repository, "other")
    run(repository, "git", "checkout", "--quiet", "main")
    golden(repository, cpu=1)
    committed(repository, "main")
    run(repository, "git", "merge", "--no-edit", "other")
    assert not list(repository.glob(".merge*"))
    with GoldenStore.open(repository / "golden" / "net.h5") as store:
        assert [store.run(name, "tensor").record(0).load()[0] for name in ("cpu", "gpu")] == [1, 2]
        assert store.runs() == (RunId("cpu", "tensor"), RunId("gpu", "tensor"))
    run(repository, "git", "checkout", "--quiet", "-b", "third", "other")
    golden(repository, cpu=7)
    committed(repository, "third")
    told = run(repository, "git", "merge", "--no-edit", "main", code=1)
    assert "msdump: golden/net.h5: both sides changed run cpu/tensor;" in told
    assert "CONFLICT (content)" in told
