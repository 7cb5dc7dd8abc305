"""``--msdump-rdr``, ini ``msdump_rdr`` and marker ``rdr``: what the Running Data Recorder writes is checked as well."""

from __future__ import annotations

import re

import pytest

from harness.store import GoldenStore
from tests.plugin.conftest import NETWORKS

pytest_plugins = ["pytester"]


def recorded(store: GoldenStore, backend: str, mode: str) -> list[str]:
    return [name for name in store.run(backend, mode).artefacts() if name.startswith("rdr/")]


def texts(nets: pytest.Pytester, name: str = "test_one", mode: str = "tensor") -> list[str]:
    with GoldenStore.open(nets.path / "golden" / "test_nets" / f"{name}.h5") as store:
        return recorded(store, "cpu", mode)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("by", ["flag", "ini", "marker"])
def test_goldens_hold_what_the_recorder_wrote(nets: pytest.Pytester, by: str) -> None:
    if by == "ini":
        nets.makeini("[pytest]\nmsdump_rdr = true\n")
    if by == "marker":
        text = (nets.path / "test_nets.py").read_text()
        nets.makepyfile(test_nets=text.replace("mark.msdump\n", "mark.msdump(rdr=True)\n"))
    flags = ["--msdump-rdr"] if by == "flag" else []
    nets.runpytest("--msdump-regen", *flags).assert_outcomes(passed=4)
    found = texts(nets)
    assert len(found) == 28
    assert "rdr/2/SESSION.graph_exec_order.0.txt" in found
    result = nets.runpytest("--msdump", *flags)
    result.assert_outcomes(passed=4)
    result.stdout.fnmatch_lines(["compared * slots and 112 texts in 4 runs; *"])


def test_without_it_there_is_nothing(nets: pytest.Pytester) -> None:
    nets.runpytest("--msdump-regen").assert_outcomes(passed=4)
    assert texts(nets) == []
    result = nets.runpytest("--msdump")
    assert " texts in " not in result.stdout.str()


def test_a_difference_is_shown_line_by_line(nets: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    nets.runpytest("--msdump-regen", "--msdump-rdr").assert_outcomes(passed=4)
    monkeypatch.setenv("ADDED", "1.5")
    result = nets.runpytest("--msdump", "--msdump-rdr")
    result.assert_outcomes(passed=3, failed=1)
    result.stdout.fnmatch_lines(
        ["msdump: 25 of 28 texts differ", "rdr/2/PIPELINE.01_type_inference.ir: *", "  line *:"]
    )
    text = (nets.path / "test_nets.py").read_text()
    nets.makepyfile(test_nets=text.replace("mark.msdump\n", "mark.msdump(tolerance=1.0)\n"))
    result = nets.runpytest("--msdump", "--msdump-rdr")
    result.assert_outcomes(passed=3, failed=1)
    result.stdout.fnmatch_lines(
        [
            "test_nets.py::test_one * texts are not those of its golden golden/test_nets/test_one.h5",
            "28 texts: * identical, * differing, 0 missing, 0 unexpected",
            "rdr/2/PIPELINE.01_type_inference.ir: golden * lines, found *",
            "  line *:",
            "  - *value=1)*",
            "  + *value=1.5)*",
        ],
        consecutive=False,
    )
    failure = re.search(r"___ test_one.*?\n=====", result.stdout.str(), re.DOTALL)
    assert failure is not None
    assert len(failure[0].splitlines()) <= 42
    assert len(failure[0].encode()) <= 4300


@pytest.mark.long
def test_what_the_golden_has_and_the_run_lacks_fails(nets: pytest.Pytester) -> None:
    nets.runpytest("--msdump-regen", "--msdump-rdr").assert_outcomes(passed=4)
    result = nets.runpytest("--msdump")
    result.assert_outcomes(failed=4)
    result.stdout.fnmatch_lines(["28 texts: 0 identical, 0 differing, 28 missing, 0 unexpected"])
    nets.runpytest("--msdump-regen").assert_outcomes(passed=4)
    nets.runpytest("--msdump").assert_outcomes(passed=4)
    nets.runpytest("--msdump", "--msdump-rdr").assert_outcomes(failed=4)


@pytest.mark.long
def test_one_mode_has_it(nets: pytest.Pytester) -> None:
    given = ("--msdump-rdr", "--msdump-backend=gpu", "--msdump-mode=tensor,statistic")
    nets.runpytest("--msdump-regen", *given).assert_outcomes(passed=8)
    with GoldenStore.open(nets.path / "golden" / "test_nets" / "test_one.h5") as store:
        assert [len(recorded(store, "gpu", mode)) for mode in ("tensor", "statistic")] == [28, 0]
    nets.runpytest("--msdump", *given).assert_outcomes(passed=8)


def test_a_marker_that_asks_for_it_where_it_never_runs(gate: pytest.Pytester) -> None:
    test = "@pytest.mark.msdump(backends='gpu', modes='statistic', rdr=True)\n    def test_one(msdump): ..."
    gate.makepyfile(test_nets=NETWORKS + "    " + test)
    result = gate.runpytest("--msdump")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*the recorder runs in mode tensor, which this test lacks*"])


def test_a_value_that_is_none(gate: pytest.Pytester) -> None:
    gate.makepyfile(test_nets=NETWORKS + "    @pytest.mark.msdump(rdr='yes')\n    def test_one(msdump): ...")
    result = gate.runpytest("--msdump")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*marker msdump(rdr=...): True or False is accepted, got 'yes'*"])


def test_in_ci_a_changed_text_leaves_a_candidate(nets: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    nets.runpytest("--msdump-regen").assert_outcomes(passed=4)
    monkeypatch.setenv("CI", "1")
    result = nets.runpytest("--msdump", "--msdump-rdr", "-k", "test_one")
    result.assert_outcomes(failed=1, deselected=3)
    result.stdout.fnmatch_lines(["candidate left; take it over: msdump accept *"])
