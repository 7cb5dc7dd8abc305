"""Several workers: the same summary, the same bytes."""

from __future__ import annotations

from collections.abc import Callable

import pytest

pytest_plugins = ["pytester"]
pytest.importorskip("xdist")
Files = Callable[..., dict[str, bytes]]


def closing(result: pytest.RunResult) -> list[str]:
    """The lines of the closing section."""
    start = next(at for at, line in enumerate(result.outlines) if line.strip("= ") == "msdump")
    end = next(at for at in range(start + 1, len(result.outlines)) if result.outlines[at].startswith("="))
    return [line for line in result.outlines[start + 1 : end] if line]


@pytest.mark.long
def test_regeneration_gives_the_same_bytes(nets: pytest.Pytester, files: Files) -> None:
    serial = nets.runpytest_subprocess("--msdump-regen", "--msdump-golden=serial")
    several = nets.runpytest_subprocess("--msdump-regen", "--msdump-golden=several", "-n", "2")
    several.assert_outcomes(passed=4)
    assert files(nets, "serial") == files(nets, "several")
    assert closing(several) == closing(serial)


@pytest.mark.long
def test_workers_that_write_one_store_give_the_same_bytes(nets: pytest.Pytester, files: Files) -> None:
    """Each run of one network on its own worker."""
    nets.makeconftest(
        """
        from harness.backends import BACKENDS
        from harness.backends.cpu import Cpu
        for name in "abc":
            BACKENDS.register(name, type("Twin", (Cpu,), {"name": name})())
        """
    )
    arguments = ("--msdump-regen", "--msdump-backend=a,b,c,cpu", "-k", "test_one")
    nets.runpytest_subprocess(*arguments, "--msdump-golden=serial").assert_outcomes(passed=4)
    nets.runpytest_subprocess(*arguments, "--msdump-golden=several", "-n", "3").assert_outcomes(passed=4)
    assert files(nets, "serial") == files(nets, "several")


@pytest.mark.long
def test_a_check_says_the_same(made: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ADDED", "1.5")
    serial = made.runpytest_subprocess("--msdump")
    several = made.runpytest_subprocess("--msdump", "-n", "2", "--dist=load")
    several.assert_outcomes(passed=3, failed=1)
    assert closing(several) == closing(serial)
    assert "test_nets.py::test_one" in "\n".join(closing(several))


@pytest.mark.long
def test_candidates_of_all_workers_are_one_bundle(nets: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI", "1")
    nets.runpytest_subprocess("--msdump", "-n", "2").assert_outcomes(failed=4)
    (bundle,) = (nets.path / ".msdump" / "candidates").iterdir()
    assert len(list(bundle.rglob("*.h5"))) == 4
    assert (bundle / "msdump-bundle.txt").exists()


@pytest.mark.long
def test_a_worker_that_dies_takes_nothing_with_it(made: pytest.Pytester) -> None:
    made.makepyfile(test_dies="import os\ndef test_dies():\n    os._exit(3)\n")
    result = made.runpytest_subprocess("--msdump", "-n", "2", "--max-worker-restart=1")
    result.assert_outcomes(passed=4, failed=1)
    result.stdout.fnmatch_lines(["compared 48 slots in 4 runs; *; unused goldens 0"])


@pytest.mark.long
@pytest.mark.parametrize("name", ["xdist", "xdist.plugin"])
def test_either_name_of_the_plugin(
    made: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, name: str, plugin_name: str
) -> None:
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.delenv("PYTEST_PLUGINS")
    result = made.runpytest_subprocess("-p", plugin_name, "-p", name, "--msdump", "-n", "1")
    result.assert_outcomes(passed=4)
    result.stdout.fnmatch_lines(["compared 48 slots in 4 runs; *; unused goldens 0"])


@pytest.mark.long
def test_without_xdist(made: pytest.Pytester) -> None:
    made.runpytest_subprocess("-p", "no:xdist", "--msdump").assert_outcomes(passed=4)
