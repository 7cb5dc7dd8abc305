"""What stays possible beside the mistakes of ``test_mistakes.py``: examples, whole tracebacks, expected errors."""

from __future__ import annotations

import pytest

from tests.plugin.test_mistakes import HEAD

pytest_plugins = ["pytester"]

EXAMPLES = """
from hypothesis import Phase, example

@settings(phases=[Phase.explicit], suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(n=st.integers())
@example(n=2)
@example(n=3)
def test_examples(msdump, n):
    assert n < 9
    msdump.run(Net(), X[:n])
    msdump.check(f"rows {n}", X * n)
"""


def test_explicit_examples_are_held(gate: pytest.Pytester) -> None:
    gate.makepyfile(test_examples=HEAD + EXAMPLES)
    gate.runpytest("--msdump-regen").assert_outcomes(passed=1)
    gate.runpytest("--msdump").assert_outcomes(passed=1)
    for changed, told in (("n=3", "n=9"), "*assert 9 < 9*"), (("X * n", "X * (n + (n == 3))"), "*check/rows 3*"):
        gate.makepyfile(test_examples=HEAD + EXAMPLES.replace(*changed))
        result = gate.runpytest("--msdump")
        result.assert_outcomes(failed=1)
        result.stdout.fnmatch_lines([told])


def test_the_whole_traceback_is_there_when_asked_for(gate: pytest.Pytester) -> None:
    gate.makepyfile(test_mistakes=HEAD + "\ndef test_it(msdump):\n    msdump.run(Net(), np.ones((2, 3), np.float32))\n")
    assert "trace.py" in gate.runpytest("--msdump", "--full-trace").stdout.str()


def test_a_test_may_expect_the_error(gate: pytest.Pytester) -> None:
    body = (
        "    with pytest.raises(ValueError, match='inner'):\n        msdump.run(Net(), np.ones((2, 3), np.float32))\n"
    )
    gate.makepyfile(test_mistakes=HEAD + f"\ndef test_it(msdump):\n{body}    msdump.check('a', 1)\n")
    gate.runpytest("--msdump-regen").assert_outcomes(passed=1)


OWN = """
class OwnAssert(nn.Cell):
    def construct(self, x):
        assert x.shape == (3, 4), "rows"

def test_it(msdump):
    msdump.run(OwnAssert(), X)
"""


def test_an_assertion_of_a_network_is_shown_without_our_frames(gate: pytest.Pytester) -> None:
    gate.makepyfile(test_own=HEAD + OWN)
    text = gate.runpytest("--msdump").stdout.str()
    assert "AssertionError: rows" in text
    assert "msdump.run(OwnAssert(), X)" in text
    assert "session.py" not in text
    assert "calls.py" not in text


PROJECT = "def test_it(msdump):\n    msdump.check('a', 1)\n"


UNITTEST = """
import unittest
import harness
import pytest

class TestPlain(unittest.TestCase):
    def test_values(self):
        harness.check("no.h5", [1.0])

class TestTaken(unittest.TestCase):
    @pytest.fixture(autouse=True)
    def take(self, msdump):
        self.msdump = msdump
    def test_argument(self, msdump):
        msdump.check("x", 1.0)
"""


def test_tests_of_unittest_show_their_own_lines(gate: pytest.Pytester) -> None:
    """One that calls ``harness.check``, and one that takes the fixture although its class has it."""
    gate.makepyfile(UNITTEST)
    told = gate.runpytest("--msdump", "--no-header").stdout.str()
    assert "harness.DiffersError: msdump: no golden for these values: no.h5" in told
    assert "takes no fixture as an argument" in told
    assert "Examples:" not in told
    assert "checking.py" not in told
    assert "case.py" not in told


@pytest.mark.sampled(2)
@pytest.mark.parametrize("version", [".git", "pytest.ini", "setup.py", None])
def test_goldens_are_found_from_every_directory(
    gate: pytest.Pytester, version: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    if version == ".git":
        gate.mkdir(".git")
    elif version is not None:
        (gate.path / version).write_text("[pytest]\n" if version == "pytest.ini" else "")
    deep = gate.mkpydir("tests") / "deep"
    deep.mkdir()
    (deep / "test_a.py").write_text(PROJECT)
    gate.runpytest("--msdump-regen").assert_outcomes(passed=1)
    for folder in (gate.path / "tests", deep):
        monkeypatch.chdir(folder)
        result = gate.runpytest("--msdump")
        result.assert_outcomes(passed=1)
        assert result.ret == 0
