"""``--msdump-golden`` and ini ``msdump_golden``: where the stores lie."""

from __future__ import annotations

import pytest

pytest_plugins = ["pytester"]


def test_the_default_lies_in_rootdir(nets: pytest.Pytester) -> None:
    folder = nets.mkdir("deep")
    nets.makeini("[pytest]\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        nets.runpytest("--msdump-regen", "..").assert_outcomes(passed=4)
    assert (nets.path / "golden" / "test_nets" / "test_one.h5").exists()


def test_the_flag_is_relative_to_where_pytest_starts(nets: pytest.Pytester) -> None:
    folder = nets.mkdir("deep")
    nets.makeini("[pytest]\nmsdump_golden = from_ini\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        nets.runpytest("--msdump-regen", "--msdump-golden=here", "..").assert_outcomes(passed=4)
    assert list((folder / "here").rglob("*.manifest.json"))
    assert not (nets.path / "from_ini").exists()


def test_the_ini_twin_is_relative_to_rootdir(nets: pytest.Pytester) -> None:
    nets.makeini("[pytest]\nmsdump_golden = data/stores\n")
    nets.runpytest("--msdump-regen").assert_outcomes(passed=4)
    assert (nets.path / "data" / "stores" / "test_nets" / "test_one.h5").exists()
    nets.runpytest("--msdump").stdout.fnmatch_lines(["msdump: check, * goldens in data/stores (4 stores)"])


def test_an_absolute_directory(nets: pytest.Pytester, tmp_path_factory: pytest.TempPathFactory) -> None:
    outside = tmp_path_factory.mktemp("outside")
    nets.runpytest("--msdump-regen", f"--msdump-golden={outside}").assert_outcomes(passed=4)
    nets.runpytest("--msdump", f"--msdump-golden={outside}").assert_outcomes(passed=4)
    assert not (nets.path / "golden").exists()


def test_nothing_else_is_written(nets: pytest.Pytester) -> None:
    before = set(nets.path.iterdir())
    nets.runpytest("--msdump-regen", "-p", "no:cacheprovider").assert_outcomes(passed=4)
    new = {path.name for path in set(nets.path.iterdir()) - before}
    assert new - {"__pycache__"} == {"golden"}


@pytest.mark.parametrize("flag", ["--msdump", "--msdump-regen"])
def test_a_file_is_refused(nets: pytest.Pytester, flag: str) -> None:
    nets.path.joinpath("golden").write_text("no directory")
    result = nets.runpytest(flag)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*--msdump-golden: a directory is accepted; *golden is not one"])


@pytest.mark.long
@pytest.mark.sampled(3)
@pytest.mark.parametrize("flag", ["--msdump-golden", "--msdump-report", "--msdump-mindspore"])
def test_a_path_after_a_blank_does_not_move_the_root(nets: pytest.Pytester, flag: str) -> None:
    """Pytest takes it for one of tests, as long as it does not know the option."""
    outside = nets.mkdir("outside")
    inside = nets.mkdir("inside")
    nets.path.joinpath("test_nets.py").rename(inside / "test_nets.py")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(inside)
        result = nets.runpytest_subprocess("--msdump-regen", flag, "../outside", "test_nets.py")
        assert result.ret == pytest.ExitCode.USAGE_ERROR
        result.stderr.fnmatch_lines([f"*{flag} ../outside: *(now {nets.path}); write {flag}=../outside"])
        assert not list(nets.path.rglob("*.manifest.json"))
        patch.setenv("PYTEST_ADDOPTS", f"{flag} {outside}")
        assert nets.runpytest_subprocess("test_nets.py").ret == pytest.ExitCode.USAGE_ERROR
        patch.delenv("PYTEST_ADDOPTS")
        if flag == "--msdump-golden":
            nets.runpytest_subprocess("--msdump-regen", f"{flag}=../outside", "test_nets.py").assert_outcomes(passed=4)
            assert list(outside.rglob("*.manifest.json"))


def test_a_path_after_a_blank_that_moves_nothing_is_taken(nets: pytest.Pytester) -> None:
    nets.mkdir("stores")
    nets.runpytest("--msdump-regen", "--msdump-golden", "stores").assert_outcomes(passed=4)
    outside = nets.mkdir("outside")
    folder = nets.mkdir("deep")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        nets.runpytest(
            f"--rootdir={nets.path}", "--msdump-regen", "--msdump-golden", str(outside), ".."
        ).assert_outcomes(passed=4)
    assert list(outside.rglob("*.manifest.json"))
