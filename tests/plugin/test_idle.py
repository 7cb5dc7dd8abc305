"""The plugin installed but not asked for: marked tests are skipped, nothing heavy is imported."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytest_plugins = ["pytester"]

ROOT = Path(__file__).resolve().parents[2]
HEAVY = ("numpy", "h5py", "harness", "xxhash", "typer", "rich", "filelock", "pydantic", "ml_dtypes")
REASON = "*msdump: nothing was compared; --msdump (or ini msdump = true) checks it"
TESTS = """
    import pytest

    @pytest.mark.msdump
    def test_marked():
        pass

    def test_fixture(msdump):
        msdump.run(print)

    def test_late(request):
        request.getfixturevalue("msdump")

    @pytest.mark.msdump(backends="cpu")
    class TestMarked:
        def test_method(self):
            pass

    def test_plain():
        pass
"""


def test_a_marked_test_is_skipped_with_the_reason(gate: pytest.Pytester) -> None:
    gate.makepyfile(TESTS)
    result = gate.runpytest("-rs")
    result.assert_outcomes(passed=1, skipped=4)
    result.stdout.fnmatch_lines([REASON])
    result.stdout.no_fnmatch_line("*= msdump =*")
    said = [line for line in result.outlines if line.startswith("msdump:")]
    assert said == ["msdump: 4 tests compared nothing; --msdump checks against the goldens"]
    assert "msdump:" not in gate.runpytest("-k", "plain").stdout.str()


@pytest.mark.parametrize("without", ["skipping", "terminal", "cacheprovider", "junitxml"])
def test_skipping_needs_no_other_plugin(gate: pytest.Pytester, without: str) -> None:
    gate.makepyfile(TESTS)
    done = gate.inline_run("-p", f"no:{without}")
    passed, skipped, failed = done.listoutcomes()
    assert (len(passed), len(skipped), len(failed)) == (1, 4, 0)


def test_nothing_heavy_is_imported(gate: pytest.Pytester) -> None:
    gate.makepyfile(
        TESTS
        + f"""
    def test_modules():
        import sys
        assert [name for name in {HEAVY!r} if name in sys.modules] == []
    """
    )
    gate.runpytest_subprocess().assert_outcomes(passed=2, skipped=4)


def test_importing_the_plugin_imports_nothing_heavy() -> None:
    code = f"import sys, pytest_msdump.plugin as p; print([n for n in {HEAVY!r} if n in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.long
@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    "arguments",
    [
        ("-W", "error"),
        ("--strict-markers",),
        ("--import-mode=importlib",),
        ("-p", "no:cacheprovider"),
        ("-p", "no:assertion"),
        ("--collect-only",),
        ("-n", "1"),
        ("-n", "0"),
    ],
    ids=" ".join,
)
def test_it_lives_with(gate: pytest.Pytester, arguments: tuple[str, ...]) -> None:
    gate.makepyfile(TESTS)
    result = gate.runpytest_subprocess(*arguments)
    assert result.ret == 0
    result.stdout.no_fnmatch_line("*warning*")
    result.stderr.no_fnmatch_line("*rror*")


def test_the_marker_and_the_fixture_are_described(gate: pytest.Pytester) -> None:
    gate.runpytest("--markers").stdout.fnmatch_lines(["@pytest.mark.msdump(backends=*"])
    gate.runpytest("--fixtures").stdout.fnmatch_lines(["msdump*", "*checks what they dump against the test's golden*"])


def test_the_plugin_can_be_blocked(gate: pytest.Pytester, plugin_name: str) -> None:
    gate.makepyfile("def test_plain(): pass")
    result = gate.runpytest_subprocess("-p", f"no:{plugin_name}", "--msdump")
    result.stderr.fnmatch_lines(["*unrecognized arguments: --msdump*"])
