"""A session's failures by what they share, and what changed of the environment: in the text, annotations, page."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from harness import environment
from harness.cli import main
from harness.store import manifest
from pytest_msdump import sharing
from pytest_msdump.report import Result, empty_result

pytest_plugins = ["pytester"]
MANY = 133
MODULE = f"""
    import os
    import numpy as np, pytest

    DRIFT, FAULT = (float(os.environ.get(name, 0)) for name in ("DRIFT", "FAULT"))

    @pytest.mark.msdump(tolerance="exact")
    @pytest.mark.parametrize("case", range({MANY}))
    def test_many(msdump, case):
        value = np.linspace(1, 2, 7, dtype=np.float32) + np.float32(case)
        msdump.check("out", value * np.float32(1 + DRIFT) if DRIFT else value)

    @pytest.mark.msdump(tolerance="exact")
    def test_one(msdump):
        msdump.check("out", np.arange(1, 7, dtype=np.float32) * np.float32(1 + FAULT))
"""


def ran(gate: pytest.Pytester, *more: str) -> list[str]:
    return gate.runpytest_inprocess("--msdump", "-p", "no:cacheprovider", "-q", *more).outlines


def in_another(monkeypatch: pytest.MonkeyPatch) -> None:
    """The environment is another one from now on."""
    facts = environment.facts

    def others(seed: int | None = None) -> dict[str, object]:
        return facts(seed) | {"numpy": "99.5", "threads": 99}

    monkeypatch.setattr(environment, "facts", others)


@pytest.mark.long
def test_one_cause_is_one_text(gate: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    gate.makepyfile(test_net=MODULE)
    assert gate.runpytest_inprocess("--msdump-regen", "-p", "no:cacheprovider").ret == 0
    in_another(monkeypatch)
    assert not [line for line in ran(gate) if "one cause" in line or "Environment" in line]
    for name, value in (("DRIFT", "1e-7"), ("FAULT", "0.5")):
        monkeypatch.setenv(name, value)
    summary = gate.path / "summary.md"
    for name in ("CI", "GITHUB_ACTIONS"):
        monkeypatch.setenv(name, "true")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    lines = ran(gate, "--msdump-report=page.html")
    text = "\n".join(lines)
    told = f"{MANY} tests, one cause: the environment, numpy "
    (head,) = [line for line in lines if line.startswith(told)]
    assert "-> 99.5" in head
    # The text of one of them, and of the test that has another cause.
    titles = [line for line in lines if " differs from golden" in line]
    assert [title.partition(" ")[0] for title in titles] == ["test_net.py::test_many[0]", "test_net.py::test_one"]
    assert text.count("Environment: numpy ") == 2
    assert "Cause, proven bit for bit: output.0: found is expected times 1.5" in text
    assert "... and 132 more whose causes stand above them (-v lists them)" in text
    assert f"{MANY + 1} failed" in lines[-1]
    errors = [line for line in lines if line.startswith("::error")]
    assert len(errors) == 2
    assert told.replace(":", "%3A") in errors[0] or told in errors[0]
    assert f"* {MANY} tests, one cause" in summary.read_text()
    page = (gate.path / "page.html").read_text()
    assert told in re.search("<title>(.*)</title>", page)[1]  # type: ignore[index]
    runs = json.loads(page.partition(' id="data">')[2].partition("</script>")[0])["runs"]
    sharing_it = [run["name"] for run in runs if any(note.startswith(told) for note in run["notes"])]
    assert len(sharing_it) == MANY
    # All of them whole, if they are asked for.
    assert sum(" differs from golden" in line for line in ran(gate, "-vv")) == MANY + 1


def test_facts_stand_in_the_manifest_alone(gate: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    gate.makepyfile(test_net=MODULE.replace(str(MANY), "1"))
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    assert gate.runpytest_inprocess("--msdump-regen", "-p", "no:cacheprovider").ret == 0
    golden = gate.path / "golden"
    stores = {path: path.read_bytes() for path in golden.rglob("*.h5")}
    known = manifest.provenance_of(golden)
    assert {each["environment"]["OMP_NUM_THREADS"] for each in known.values()} == {"3"}
    in_another(monkeypatch)
    # Equal goldens keep the facts they were made with, and their bytes.
    assert gate.runpytest_inprocess("--msdump-regen", "-p", "no:cacheprovider").ret == 0
    assert manifest.provenance_of(golden) == known
    assert {path: path.read_bytes() for path in golden.rglob("*.h5")} == stores
    # A candidate brings its own, also to those who review it and compare the two.
    monkeypatch.setenv("FAULT", "1")
    ran(gate)
    (bundle,) = (gate.path / ".msdump" / "candidates").iterdir()
    (made,) = manifest.provenance_of(bundle).values()
    assert made["environment"]["numpy"] == "99.5"


def test_diff_and_review_say_what_changed(
    gate: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    gate.makepyfile(test_net=MODULE.replace(str(MANY), "1"))
    assert gate.runpytest_inprocess("--msdump-regen", "-p", "no:cacheprovider").ret == 0
    in_another(monkeypatch)
    monkeypatch.setenv("FAULT", "1")
    ran(gate)
    (bundle,) = (gate.path / ".msdump" / "candidates").iterdir()
    name = "test_net/test_one.h5"
    capsys.readouterr()
    assert main(["diff", str(gate.path / "golden" / name), str(bundle / name), "--json", "d.json"]) == 1
    assert "Environment: numpy " in capsys.readouterr().out
    explanation = json.loads(Path("d.json").read_bytes())["explanation"]
    assert explanation["filed"] == "fault"
    assert explanation["environment"][0]["run"] == "99.5"
    main(["review", str(bundle), "--golden", str(gate.path / "golden"), "--list"])
    assert "  environment: numpy " in capsys.readouterr().out


def failed(number: int, shares: str, filed: str = "fault", cause: str = "") -> tuple[str, list[Result]]:
    result = empty_result(f"test_a.py::test_{number}", "a.h5", "cpu", "tensor", "differs")
    result["shares"], result["filed"], result["cause"], result["where"] = shares, filed, cause, "there"
    return result["network"], [result]


def test_groups_are_of_one_kind() -> None:
    changed = "numpy 1 -> 2"
    results = dict(
        [failed(at, "fc1.weight", cause=f"likely: fc1.weight {at}") for at in range(27)]
        + [failed(at, changed, "environment", f"likely: the environment, {changed}") for at in range(30, 34)]
        + [failed(at, changed, "cannot tell") for at in range(40, 42)]
        + [failed(50, changed)]
        + [failed(60, "")]
    )
    first, second, third = sharing.groups(results)
    assert sharing.head(first) == "27 tests: fc1.weight"
    told = f"6 tests, one cause: the environment, {changed} (2 comparisons beyond rounding: cannot tell)"
    assert sharing.head(second) == told
    assert (third.filed, third.tests) == ("fault", ["test_a.py::test_50"]), "a fault among drifts is filed as drift"
    alike = sharing.others([first, second, third])
    assert len(alike) == 26 + 5
    assert not alike & {"test_a.py::test_0", "test_a.py::test_30", "test_a.py::test_50", "test_a.py::test_60"}


def test_what_cannot_be_told_is_no_one_cause() -> None:
    kept, order = "hash seed 1 -> 2", "output.0: another order"
    given = [failed(at, f"{kept}: permuted", "cannot tell", f"likely: {order}") for at in range(3)]
    found = {group.shares: group for group in sharing.groups(dict([*given, failed(9, kept, "cannot tell")]))}
    assert {name: (group.filed, len(group.tests)) for name, group in found.items()} == {
        order: ("cannot tell", 3),
        kept: ("cannot tell", 1),
    }
    (line,) = [line for line in sharing.lines(found.values()) if "tests" in line]
    assert line == f"3 tests: maybe the environment, {order} (3 comparisons beyond rounding: cannot tell)"
