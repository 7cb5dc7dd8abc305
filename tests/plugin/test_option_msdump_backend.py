"""``--msdump-backend`` and ini ``msdump_backend``: which backends a test runs on."""

from __future__ import annotations

import pytest

pytest_plugins = ["pytester"]


def ids(gate: pytest.Pytester, *arguments: str) -> list[str]:
    """Ids of the tests of one function, as collected."""
    lines = gate.runpytest("--collect-only", "-q", "-k", "test_one", *arguments).outlines
    return [line.partition("::")[2] for line in lines if "::" in line]


@pytest.mark.usefixtures("twin")
@pytest.mark.parametrize(
    "arguments",
    [("--msdump-backend=twin,cpu",), ("--msdump-backend", "twin", "--msdump-backend", "cpu")],
    ids=["commas", "repeated"],
)
def test_each_backend_gives_a_test(nets: pytest.Pytester, arguments: tuple[str, ...]) -> None:
    assert ids(nets, *arguments) == ["test_one[twin-tensor]", "test_one[cpu-tensor]"]


@pytest.mark.usefixtures("twin")
def test_the_ini_twin_and_precedence(nets: pytest.Pytester) -> None:
    nets.makeini("[pytest]\nmsdump_backend = twin, cpu\n")
    assert ids(nets) == ["test_one[twin-tensor]", "test_one[cpu-tensor]"]
    assert ids(nets, "--msdump-backend=cpu") == ["test_one[cpu-tensor]"]
    marked = (
        (nets.path / "test_nets.py")
        .read_text()
        .replace("pytest.mark.msdump\n", 'pytest.mark.msdump(backends="twin")\n')
    )
    nets.makepyfile(test_nets=marked)
    assert ids(nets) == ["test_one[twin-tensor]"]
    assert ids(nets, "--msdump-backend=cpu") == ["test_one[cpu-tensor]"]


def test_the_default_is_the_cpu(nets: pytest.Pytester) -> None:
    assert ids(nets) == ["test_one[cpu-tensor]"]


def test_an_unknown_backend_is_a_usage_error(nets: pytest.Pytester) -> None:
    result = nets.runpytest("--msdump", "--msdump-backend=cpv")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: msdump: no backend is called 'cpv'; did you mean cpu? Known are *cpu*"])


@pytest.mark.parametrize("given", ["", ",", " , "])
def test_an_empty_list_is_refused(nets: pytest.Pytester, given: str) -> None:
    result = nets.runpytest("--msdump", f"--msdump-backend={given}")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: --msdump-backend: at least one name is needed, got *"])


@pytest.mark.usefixtures("twin")
def test_an_unavailable_backend_is_skipped_and_counted(made: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    from harness.backends import get

    monkeypatch.setattr(get("twin"), "available", lambda: "no such device", raising=False)
    result = made.runpytest("--msdump", "--msdump-backend=cpu,twin", "-k", "test_one", "-rs")
    result.assert_outcomes(passed=1, skipped=1)
    result.stdout.fnmatch_lines(
        ["*skipped 1; *", "skipped 1: msdump: backend twin cannot run here: no such device", "SKIPPED*no such device"]
    )


@pytest.mark.usefixtures("twin")
def test_a_run_missing_in_an_existing_store_is_named(made: pytest.Pytester) -> None:
    result = made.runpytest("--msdump", "--msdump-backend=twin", "-k", "test_one")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        ["msdump: no golden for run twin/tensor of *", "*test_one.h5 (the store holds cpu/tensor)"]
    )
