"""In CI: nothing is written among the goldens; a candidate bundle is left for ``msdump accept``."""

from __future__ import annotations

import os
import re
import shlex
import sys
import xml.etree.ElementTree
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.ci import CHECKOUTS, HIDERS, STATED, VARIABLES, sign
from harness.cli import main
from pytest_msdump.annotations import markdown
from pytest_msdump.report import empty_result

pytest_plugins = ["pytester"]
Files = Callable[..., dict[str, bytes]]


@pytest.mark.parametrize("name", VARIABLES)
def test_each_variable_says_ci(name: str) -> None:
    assert sign({name: "true"}) == f"{name}=true"
    assert not sign({name: "false", "OTHER": "1"})


@pytest.mark.parametrize("value", ["", "0", "false", "No", " off "])
def test_a_variable_may_say_no(value: str) -> None:
    assert not sign({"CI": value})


def test_what_is_stated_decides_alone() -> None:
    assert not sign({STATED: "false", "CI": "true"})
    assert sign({STATED: "1", "CI": "false"}) == f"{STATED}=1"


@pytest.mark.parametrize("checkout", CHECKOUTS)
def test_a_checkout_of_a_service_says_ci(checkout: str) -> None:
    assert "check out" in sign({}, checkout.rstrip("/") + "/project")
    assert not sign({"CI": "false"}, checkout)
    assert not sign({}, "/home/me" + checkout)


@pytest.fixture
def processes(tmp_path: Path) -> Path:
    """A list of processes: this one's parent, which knows nothing, and its parent, which CI started."""
    for number, above, environ in ((os.getppid(), 5, "HOME=/root"), (5, 1, "A=b\0CI=true\0C=d"), (1, 0, "")):
        (tmp_path / f"{number}").mkdir(exist_ok=True)
        (tmp_path / f"{number}" / "environ").write_bytes(environ.encode())
        (tmp_path / f"{number}" / "stat").write_text(f"{number} (a) b c) S {above} 1 1")
    return tmp_path


@pytest.mark.parametrize("hider", HIDERS)
def test_a_program_that_hides_the_variables_hides_nothing(hider: str, processes: Path) -> None:
    assert sign({hider: "py"}, processes=processes) == "CI=true of process 5, which started this one"
    assert not sign({hider: "py", "CI": "0"}, processes=processes)
    assert not sign({}, processes=processes)
    assert not sign({hider: "py"}, processes=processes / "none")


def test_hidden_variables_protect_the_goldens(
    made: pytest.Pytester, files: Files, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As tox does it: a process that knows CI starts one that does not."""
    before = files(made)
    inner = (
        "import os, sys; del os.environ['CI']; os.environ['TOX_ENV_NAME'] = 'py'; os.execv(sys.argv[1], sys.argv[1:])"
    )
    outer = f"import subprocess, sys; sys.exit(subprocess.call([sys.executable, '-c', {inner!r}, *sys.argv[1:]]))"
    monkeypatch.setenv("CI", "true")
    result = made.run(
        sys.executable, "-c", outer, sys.executable, "-m", "pytest", "--msdump-regen", "-p", "no:cacheprovider"
    )
    assert result.ret == 4
    result.stderr.fnmatch_lines(["*--msdump-regen does not write * in CI (CI=true of process *)*"])
    assert files(made) == before


def test_a_missing_golden_leaves_a_candidate(
    nets: pytest.Pytester, files: Files, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CI", "true")
    result = nets.runpytest("--msdump")
    result.assert_outcomes(failed=4)
    assert not (nets.path / "golden").exists()
    (bundle,) = (nets.path / ".msdump" / "candidates").iterdir()
    shown = bundle.relative_to(nets.path).as_posix()
    result.stdout.fnmatch_lines(
        [
            f"candidate left; take it over: msdump accept {shown}",
            f"candidate bundle left: look at it with `msdump review {shown}`, "
            f"take it over with `msdump accept {shown}`",
        ]
    )
    assert main(["review", shown, "--list"]) == 1
    assert main(["accept", shown]) == 0
    monkeypatch.delenv("CI")
    accepted = files(nets)
    nets.runpytest("--msdump").assert_outcomes(passed=4)
    nets.runpytest("--msdump-regen").assert_outcomes(passed=4)
    assert files(nets) == accepted


def test_a_changed_golden_leaves_only_what_changed(
    made: pytest.Pytester, files: Files, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = files(made)
    monkeypatch.setenv("ADDED", "1.5")
    monkeypatch.setenv("CI", "true")
    made.runpytest("--msdump").assert_outcomes(passed=3, failed=1)
    assert files(made) == before
    (bundle,) = (made.path / ".msdump" / "candidates").iterdir()
    assert [path.name for path in bundle.rglob("*.h5")] == ["test_one.h5"]
    assert main(["accept", str(bundle)]) == 0
    after = files(made)
    assert {name for name in after if after[name] != before[name]} == {
        "test_nets/test_one.h5",
        "test_nets/test_one.manifest.json",
    }
    made.runpytest("--msdump").assert_outcomes(passed=4)


def test_at_the_desk_candidates_are_left_for_review(made: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ADDED", "1.5")
    for _ in range(2):
        result = made.runpytest("--msdump")
        result.stdout.fnmatch_lines(["to see what changed, and take it over or not: `msdump review`"])
    (bundle,) = (made.path / ".msdump" / "candidates").iterdir()
    assert bundle.name.endswith("-desk")


def test_a_session_where_all_holds_leaves_nothing(made: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI", "true")
    made.runpytest("--msdump").assert_outcomes(passed=4)
    assert not (made.path / ".msdump").exists()


@pytest.mark.sampled(6)
@pytest.mark.parametrize("environment", ["desk", "ci"])
@pytest.mark.parametrize("verbosity", ["-q", "-v", "-vv"])
def test_a_failure_is_short_whatever_differs(
    gate: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, environment: str, verbosity: str
) -> None:
    """1 MiB all different, in many operators of long names: at most 40 lines and 4 kB, also in CI."""
    gate.makepyfile(
        test_large="""
        import os
        import numpy as np
        from harness import Tensor, nn

        class Net(nn.Cell):
            def __init__(self, added):
                super().__init__()
                self.added = added

            def construct(self, x):
                for _ in range(30):
                    x = x + self.added
                return x

        def test_large(msdump):
            x = Tensor(np.zeros(2**18, np.float32))
            msdump.run(Net(float(os.environ.get("ADDED", 1))), x)
        """
    )
    gate.runpytest("--msdump-regen", "--msdump-level=digest").assert_outcomes(passed=1)
    monkeypatch.setenv("ADDED", "1.5")
    if environment == "ci":
        monkeypatch.setenv("CI", "true")
    gate.runpytest("--msdump", verbosity, "--junitxml=out.xml").assert_outcomes(failed=1)
    text = xml.etree.ElementTree.parse(gate.path / "out.xml").findtext(".//failure")
    assert text is not None
    assert "First divergence" in text
    assert text.count("\n") + 1 <= 25
    assert len(text.encode()) <= 4000


def test_the_failure_is_the_same_in_ci_but_for_what_to_run_next(
    made: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ADDED", "1.5")

    def lines() -> list[str]:
        made.runpytest("--msdump", "--junitxml=out.xml").assert_outcomes(passed=3, failed=1)
        text = xml.etree.ElementTree.parse(made.path / "out.xml").findtext(".//failure") or ""
        return [line for line in text.splitlines() if "msdump " not in line]

    desk = lines()
    monkeypatch.setenv("CI", "true")
    assert lines() == desk


def test_the_command_that_takes_over_names_the_golden_directory_of_the_project(
    nets: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    nets.makeini("[pytest]\nmsdump_golden = kept/here\n")
    monkeypatch.setenv("CI", "true")
    text = nets.runpytest("--msdump").stdout.str()
    (closing,) = re.findall(r"take it over with `msdump (.*)`", text)
    assert set(re.findall(r"take it over: msdump (.*)", text)) == {closing}
    assert main(shlex.split(closing)) == 0
    nets.runpytest("--msdump").assert_outcomes(passed=4)


def test_in_ci_a_failure_is_printed_once(made: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ADDED", "1.5")
    texts = []
    for value in ("true", "false"):
        monkeypatch.setenv("CI", value)
        texts.append(made.runpytest("--msdump").stdout.str())
    assert [text.count("First divergence") for text in texts] == [1, 1]


def test_a_summary_of_the_job(made: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    summary = tmp_path / "summary.md"
    summary.write_text("before\n")
    for name, value in (("GITHUB_ACTIONS", "true"), ("GITHUB_STEP_SUMMARY", str(summary)), ("ADDED", "1.5")):
        monkeypatch.setenv(name, value)
    made.runpytest("--msdump").assert_outcomes(passed=3, failed=1)
    text = summary.read_text()
    assert text.startswith("before\n## Golden networks\n")
    assert "**1 does not hold**" in text
    (row,) = [line for line in text.splitlines() if "test&#95;one" in line]
    assert "iteration 0, Default/Add-op0 output.0" in row


def test_a_missing_golden_is_annotated_at_its_test(nets: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("CI", "true")
    result = nets.runpytest("--msdump", "-k", "test_class")
    text = (nets.path / "test_nets.py").read_text().splitlines()
    line = next(at for at, each in enumerate(text, 1) if "def test_class" in each)
    result.stdout.fnmatch_lines([f"::error file=test_nets.py,line={line},*"])


def test_a_summary_has_its_size() -> None:
    result = empty_result("a|<b>" * 30, "g.h5", "cpu", "tensor", "differs")
    text = markdown({str(at): [result] for at in range(200)}, 10_000)
    assert len(text.encode()) <= 10_000
    assert "more are left out" in text
    assert "<b>" not in text
