"""``--msdump-regen`` and ini ``msdump_regen``."""

from __future__ import annotations

from collections.abc import Callable

import pytest

pytest_plugins = ["pytester"]
Files = Callable[..., dict[str, bytes]]


def test_it_writes_a_store_per_network_and_a_manifest(nets: pytest.Pytester, files: Files) -> None:
    result = nets.runpytest("--msdump-regen")
    result.assert_outcomes(passed=4)
    result.stdout.fnmatch_lines(
        [
            "msdump: regenerate, *",
            "test_nets.py::test_one * cpu * tensor * 8 * 0 * 0 * 0 * 0 * 0 * 8",
            "compared 0 slots in 0 runs; new 48; *",
        ]
    )
    assert sorted(files(nets)) == [
        "test_nets/+test+in.test_class.h5",
        "test_nets/+test+in.test_class.manifest.json",
        "test_nets/test_one.h5",
        "test_nets/test_one.manifest.json",
        "test_nets/test_two@0.5.h5",
        "test_nets/test_two@0.5.manifest.json",
        "test_nets/test_two@3.h5",
        "test_nets/test_two@3.manifest.json",
    ]
    nets.runpytest("--msdump").assert_outcomes(passed=4)


def test_the_ini_twin_writes(nets: pytest.Pytester) -> None:
    nets.makeini("[pytest]\nmsdump_regen = true\n")
    nets.runpytest().assert_outcomes(passed=4)
    assert (nets.path / "golden" / "test_nets" / "test_one.manifest.json").exists()


def test_unchanged_results_leave_every_byte(made: pytest.Pytester, files: Files) -> None:
    before = files(made)
    result = made.runpytest("--msdump-regen")
    assert files(made) == before
    result.stdout.fnmatch_lines(["test_nets.py::test_one * cpu * tensor * 8 * 8 * 0 * 0 * 0 * 0 * 0"])


def test_a_partial_run_leaves_the_rest_alone(
    made: pytest.Pytester, files: Files, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = files(made)
    monkeypatch.setenv("ADDED", "1.5")
    result = made.runpytest("--msdump-regen", "-k", "test_one")
    result.stdout.fnmatch_lines(["test_nets.py::test_one * cpu * tensor * 8 * 6 * 0 * 0 * 0 * 0 * 2"])
    after = files(made)
    changed = {name for name in before if after[name] != before[name]}
    assert changed == {"test_nets/test_one.h5", "test_nets/test_one.manifest.json"}
    made.runpytest("--msdump").assert_outcomes(passed=4)


@pytest.mark.usefixtures("twin")
def test_one_backend_leaves_the_others_runs_alone(nets: pytest.Pytester, files: Files) -> None:
    from harness.store import GoldenStore, RunId

    nets.runpytest("--msdump-regen", "--msdump-backend=cpu,twin").assert_outcomes(passed=8)
    whole = files(nets)
    nets.runpytest("--msdump-regen", "--msdump-backend=twin").assert_outcomes(passed=4)
    assert files(nets) == whole
    with GoldenStore.open(nets.path / "golden" / "test_nets" / "test_one.h5") as store:
        assert store.runs() == (RunId("cpu", "tensor"), RunId("twin", "tensor"))


def test_a_failing_test_writes_nothing(gate: pytest.Pytester, nets: pytest.Pytester, files: Files) -> None:
    nets.makepyfile(
        test_nets=(nets.path / "test_nets.py").read_text()
        + "\ndef test_bad(msdump):\n    msdump.run(Net(), X)\n    assert False\n"
    )
    nets.runpytest("--msdump-regen").assert_outcomes(passed=4, failed=1)
    assert "test_nets/test_bad.h5" not in files(nets)


def test_it_is_refused_in_ci(made: pytest.Pytester, files: Files, monkeypatch: pytest.MonkeyPatch) -> None:
    before = files(made)
    monkeypatch.setenv("CI", "true")
    result = made.runpytest("--msdump-regen")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: --msdump-regen does not write */golden in CI (CI=true): *"])
    made.runpytest("--msdump-regen", "--msdump-golden", "golden/below").stderr.fnmatch_lines(["*does not write*"])
    assert files(made) == before


def test_in_ci_another_directory_may_be_written(
    made: pytest.Pytester, files: Files, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CI", "true")
    made.runpytest("--msdump-regen", "--msdump-golden", "elsewhere").assert_outcomes(passed=4)
    assert files(made, "elsewhere").keys() == files(made).keys()


def test_what_cannot_be_written_fails_the_test(nets: pytest.Pytester) -> None:
    (nets.path / "golden" / "test_nets" / "test_one.h5").mkdir(parents=True)
    result = nets.runpytest("--msdump-regen", "-k", "test_one")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["msdump: the golden was not written: *test_one.h5*"])
