"""``--msdump-variants``: further accepted results of a test, each for other facts of the environment."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import harness
from harness.cli import main
from harness.gate.variants import name_of, stated
from harness.store import GoldenStore, RunId, manifest
from pytest_msdump.options import BY_NAME
from tests.examples import examples

pytest_plugins = ["pytester"]
#: a fact that reaches nothing of what the tests compute
FACT = "XLA_FLAGS"
BASE = RunId("cpu", "tensor")
TEST = """
    import os
    import numpy as np

    OFF = float(os.environ.get("OFF", 0))

    def test_sums(msdump):
        msdump.check("sums", np.arange(4.0) + OFF)
        msdump.check("table", np.arange(100.0))
        held = msdump.golden("sums")
        assert held is None or os.environ.get("ANY") or held[0] == OFF
"""


@pytest.fixture
def project(gate: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """A project whose goldens may have variants by one fact."""
    for name in (FACT, "OFF", "ANY"):
        monkeypatch.delenv(name, raising=False)
    gate.makeini(f"[pytest]\nmsdump_variants = {FACT}\n")
    gate.makepyfile(test_sums=TEST)
    return gate


class Machine:
    """Runs a project with the facts of a machine."""

    def __init__(self, project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
        self._project, self._patched = project, monkeypatch

    def __call__(self, fact: str, off: float, *arguments: str, code: int = 0) -> str:
        for name, value in (
            (FACT, fact),
            ("OFF", str(off)),
            ("ANY", "1" if code or "--msdump-regen" in arguments else ""),
        ):
            self._patched.setenv(name, value)
        result = self._project.runpytest("-p", "no:cacheprovider", *arguments)
        assert result.ret == code, result.stdout.str()
        return result.stdout.str()


@pytest.fixture
def on(project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Machine:
    return Machine(project, monkeypatch)


def variant(fact: str) -> RunId:
    return BASE._replace(variant=f"{FACT}={fact}")


def store(project: pytest.Pytester) -> Path:
    return project.path / "golden" / "test_sums" / "test_sums.h5"


def runs(project: pytest.Pytester) -> list[RunId]:
    with GoldenStore.open(store(project)) as opened:
        return list(opened.runs())


def test_no_facts_by_default(project: pytest.Pytester) -> None:
    assert BY_NAME["msdump_variants"].default == ()
    project.makeini("[pytest]\n")
    project.runpytest("--msdump-regen").stdout.no_fnmatch_line("*variants:*")
    project.runpytest("--msdump").stdout.no_fnmatch_line("*variants:*")


def test_the_facts_of_a_run_choose(project: pytest.Pytester, on: Machine) -> None:
    assert f"variants: 1 run wrote the base, for {FACT}=a" in on("a", 0, "--msdump-regen")
    assert f"judged by the base, made with this run's facts ({FACT}=a)" in on("a", 0, "--msdump")
    told = on("b", 0, "--msdump")
    assert f"1 run judged by the base, made with {FACT}=a: there is no variant for {FACT}=b" in told

    told = on("b", 1, "--msdump-regen")
    assert f"wrote variant {FACT}=b, 1 of 2 slots differ from the base" in told
    assert runs(project) == [BASE, variant("b")]
    assert f"judged by variant {FACT}=b, which this run's facts name" in on("b", 1, "--msdump")
    assert f"made with this run's facts ({FACT}=a)" in on("a", 0, "--msdump")
    # Each is held to its own alone, also by what a failure and `msdump.golden` say.
    assert f"Judged by variant {FACT}=b, which" in on("b", 2, "--msdump", "-o", "msdump_tolerance=exact", code=1)
    assert f"Judged by the base, made with this run's facts ({FACT}=a)" in on("a", 1, "--msdump", code=1)
    assert f"there is no variant for {FACT}=c" in on("c", 1, "--msdump", code=1)


def test_what_a_variant_shares_is_stored_once(project: pytest.Pytester, on: Machine) -> None:
    on("a", 0, "--msdump-regen")
    on("b", 1, "--msdump-regen")
    with GoldenStore.open(store(project)) as opened:
        base, other = opened.run(*BASE), opened.run(*variant("b"))
        shared = set(base.index.digests) & set(other.index.digests)
        assert len(shared) == 1
        assert len({*base.index.digests, *other.index.digests}) == 3
        assert not opened.verify()
    assert manifest.stale(project.path / "golden") == []
    made = manifest.environment_of(project.path / "golden", "test_sums/test_sums.h5", variant("b"))
    assert made[FACT] == "b"


def test_results_of_the_base_make_no_variant(project: pytest.Pytester, on: Machine) -> None:
    on("a", 0, "--msdump-regen")
    assert f"kept no variant for {FACT}=b: its results are the base's" in on("b", 0, "--msdump-regen")
    assert runs(project) == [BASE]
    on("b", 1, "--msdump-regen")
    on("b", 0, "--msdump-regen")
    assert runs(project) == [BASE]


def test_a_new_base_leaves_its_variants_and_says_so(project: pytest.Pytester, on: Machine) -> None:
    on("a", 0, "--msdump-regen")
    on("b", 1, "--msdump-regen")
    told = on("a", 3, "--msdump-regen")
    assert f"wrote the base, for {FACT}=a; 1 variant has what ran before" in told
    assert runs(project) == [BASE, variant("b")]
    on("b", 1, "--msdump")


def test_a_candidate_is_for_the_facts_of_its_run(
    project: pytest.Pytester, on: Machine, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    on("a", 0, "--msdump-regen")
    on("b", 1, "--msdump", code=1)
    monkeypatch.chdir(project.path)
    assert main(["review", "--list"]) == 1
    told = capsys.readouterr().out
    assert f"run {variant('b')}" in told
    assert "2 slots: 1 differing" in told  # beside the base
    (bundle,) = (project.path / ".msdump" / "candidates").iterdir()
    assert main(["accept", str(bundle), "--only", f"test_sums[cpu-tensor-@{FACT}=b]"]) == 0
    assert runs(project) == [BASE, variant("b")]
    on("b", 1, "--msdump")
    on("a", 0, "--msdump")


def test_what_is_no_longer_declared_has_no_owner(
    project: pytest.Pytester, on: Machine, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    on("a", 0, "--msdump-regen")
    on("b", 1, "--msdump-regen")
    monkeypatch.chdir(project.path)
    assert main(["prune", "--dry-run"]) == 0
    assert "nothing to remove" in capsys.readouterr().out
    project.makeini("[pytest]\nmsdump_variants = gpu\n")
    assert f"test_sums.h5: {variant('b')}" in on("a", 0, "--msdump", code=1)
    assert main(["prune"]) == 0
    assert f"removed: test_sums/test_sums.h5: run {variant('b')}" in capsys.readouterr().out
    assert runs(project) == [BASE]


def test_commands_say_that_there_are_variants(
    project: pytest.Pytester, on: Machine, capsys: pytest.CaptureFixture[str]
) -> None:
    on("a", 0, "--msdump-regen")
    on("b", 1, "--msdump-regen")
    golden = str(store(project))
    assert main(["show", golden]) == 0
    assert f"run {variant('b')}: level tensors, 2 slots, real, variant of cpu/tensor" in capsys.readouterr().out
    assert main(["diff", golden, f"{golden}::{variant('b')}"]) == 1
    assert (
        f"Compared with the base, run cpu/tensor; its golden has 1 variant: {variant('b')}" in capsys.readouterr().out
    )
    assert main(["diff", f"{golden}::{variant('b')}", f"{golden}::{variant('b')}"]) == 0
    assert "Compared with the base" not in capsys.readouterr().out
    assert main(["verify", str(project.path / "golden")]) == 0


def test_values_without_pytest_are_held_to_the_same_run(
    project: pytest.Pytester, on: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    on("a", 0, "--msdump-regen")
    on("b", 1, "--msdump-regen")
    values = {"sums": np.arange(4.0) + 1, "table": np.arange(100.0)}
    monkeypatch.setenv(FACT, "b")
    judged = harness.check(store(project), values)
    assert judged.verdict == "identical"
    assert judged.notes == (f"Judged by variant {FACT}=b, which this process's facts name",)
    monkeypatch.setenv(FACT, "c")
    with pytest.raises(AssertionError, match=f"Judged by the base: there is no variant for {FACT}=c"):
        harness.check(store(project), values)


def test_programs_are_told(project: pytest.Pytester, on: Machine) -> None:
    on("a", 0, "--msdump-regen")
    on("b", 1, "--msdump-regen")
    on("b", 2, "--msdump", "--msdump-json=out.json", "--msdump-report=out.html", "-o", "msdump_tolerance=exact", code=1)
    (found,) = json.loads((project.path / "out.json").read_text())["comparisons"]
    assert (found["variant"], found["chosen"]) == (
        f"{FACT}=b", f"judged by variant {FACT}=b, which this run's facts name"
    )  # fmt: skip
    assert f"judged by variant {FACT}=b, which this run" in (project.path / "out.html").read_text()


@pytest.mark.long
def test_under_xdist(project: pytest.Pytester, on: Machine) -> None:
    on("a", 0, "--msdump-regen")
    assert "wrote variant" in on("b", 1, "--msdump-regen", "-n", "2")
    assert "judged by variant" in on("b", 1, "--msdump", "-n", "2")


def test_a_name_that_is_no_fact_is_refused(project: pytest.Pytester) -> None:
    result = project.runpytest("--msdump", "--msdump-variants=blas kernl")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*'blas kernl' is no fact of the environment; did you mean 'blas kernel'?*"])
    project.runpytest("--msdump", "--msdump-variants=none").stdout.no_fnmatch_line("*variants:*")


@given(
    facts=st.dictionaries(st.sampled_from(["gpu", "blas", "numpy"]), st.one_of(st.text(), st.integers())),
    others=st.dictionaries(st.sampled_from(["gpu", "blas", "numpy"]), st.one_of(st.text(), st.integers())),
)
@examples(50, 2000)
def test_a_name_states_its_facts(facts: dict[str, object], others: dict[str, object]) -> None:
    names = ["numpy", "gpu", "blas"]
    name = name_of(names, facts)
    assert name.isprintable()
    assert sorted(stated(name)) == sorted(names)
    for fact, value in stated(name).items():
        text = str(facts.get(fact, "none"))
        assert value == text or not text.isprintable() or len(text) > 60
    same = all(str(facts.get(each, "none")) == str(others.get(each, "none")) for each in names)
    odd = any(not str(each).isprintable() for each in (*facts.values(), *others.values()))
    assert odd or (name == name_of(names, others)) == same
