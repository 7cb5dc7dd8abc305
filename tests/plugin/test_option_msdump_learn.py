"""``--msdump-learn N`` and ini ``msdump_learn``: tolerances from how far unchanged runs of a test scatter."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from harness.store import GoldenStore

pytest_plugins = ["pytester"]
Files = Callable[..., dict[str, bytes]]

# The constant is another one each time; NOISE says by how much, FIXED that it is the same in all runs but the golden's.
NOISY = """
    import itertools, os
    import numpy as np
    import pytest
    from harness import Tensor, nn

    COUNT = itertools.count()
    NOISE, FIXED = float(os.environ.get("NOISE", 0)), os.environ.get("FIXED")

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.added = 1 + NOISE * (1 if FIXED else 1 + next(COUNT))

        def construct(self, x):
            return (x * 2) + self.added

    @pytest.fixture
    def fresh():
        yield

    @pytest.mark.msdump
    def test_noisy(msdump, fresh):
        msdump.run(Net(), Tensor(np.arange(1, 4, dtype=np.float32)))

    @pytest.mark.msdump
    def test_steady(msdump):
        msdump.run(Steady(), Tensor(np.ones(3, np.float32)))

    class Steady(nn.Cell):
        def construct(self, x):
            return x * 3
"""


@pytest.fixture
def noisy(gate: pytest.Pytester) -> pytest.Pytester:
    """Two tests with goldens; one can be made to scatter."""
    gate.makepyfile(test_noisy=NOISY)
    gate.runpytest("--msdump-regen").assert_outcomes(passed=2)
    return gate


def kept(gate: pytest.Pytester, name: str = "test_noisy") -> dict[str, Any]:
    with GoldenStore.open(gate.path / "golden" / "test_noisy" / f"{name}.h5") as store:
        return dict(store.run("cpu", "tensor").attrs)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("by", ["flag", "ini"])
def test_what_scatters_is_admitted_from_then_on(
    noisy: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, by: str
) -> None:
    monkeypatch.setenv("NOISE", "3e-7")
    noisy.runpytest("--msdump").assert_outcomes(passed=1, failed=1)
    if by == "ini":
        noisy.makeini("[pytest]\nmsdump_learn = 3\n")
    result = noisy.runpytest(*(["--msdump-learn", "3"] if by == "flag" else []))
    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines(
        [
            "msdump: learn from 3 runs, *",
            "*learned: test_noisy.py::test_noisy [[]cpu-tensor]: * scatter in 3 runs, most Default/Add-op0:*",
            "*learned: test_noisy.py::test_steady [[]cpu-tensor]: bit-exact in 3 runs",
        ]
    )
    assert kept(noisy)["learned"] == {"runs": 3, "margin": 2.0}
    assert kept(noisy)["tolerance"]["default"] == "exact"
    assert "learned" not in kept(noisy, "test_steady")
    noisy.makeini("[pytest]\n")
    noisy.runpytest("--msdump").assert_outcomes(passed=2)
    monkeypatch.setenv("NOISE", "1e-3")
    noisy.runpytest("--msdump").assert_outcomes(passed=1, failed=1)


def test_a_regeneration_keeps_what_was_learned(noisy: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NOISE", "3e-7")
    noisy.runpytest("--msdump-learn", "3").assert_outcomes(passed=2)
    learned = kept(noisy)["tolerance"]
    noisy.runpytest("--msdump-regen").assert_outcomes(passed=2)
    assert kept(noisy)["tolerance"] == learned


def test_a_change_is_no_scatter(noisy: pytest.Pytester, files: Files, monkeypatch: pytest.MonkeyPatch) -> None:
    before = files(noisy)
    monkeypatch.setenv("NOISE", "3e-7")
    monkeypatch.setenv("FIXED", "1")
    result = noisy.runpytest("--msdump-learn", "2")
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(
        [
            "msdump: test_noisy.py::test_noisy, run cpu/tensor: in 2 runs no tolerance can be learned for",
            "  Default/Add-op0:*: the runs agree with one another but not with the golden: *",
            "nothing was kept; if it changed on purpose: msdump regen *",
        ]
    )
    assert files(noisy) == before


def test_fixtures_are_new_for_each_run(gate: pytest.Pytester) -> None:
    gate.makepyfile(
        test_noisy=NOISY.replace("        yield\n", "        print('up')\n        yield\n        print('down')\n")
    )
    gate.runpytest("--msdump-regen").assert_outcomes(passed=2)
    result = gate.runpytest("--msdump-learn", "4", "-s", "-k", "test_noisy.py and noisy")
    result.assert_outcomes(passed=2)
    told = [line.removeprefix("test_noisy.py ") for line in result.outlines]
    assert [line for line in told if line in ("up", "down", ".down")].count("up") >= 3


def test_a_failing_test_is_reported_once(gate: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    text = NOISY.replace(
        "    def test_noisy(msdump, fresh):\n", "    def test_noisy(msdump, fresh):\n        assert not NOISE\n"
    )
    gate.makepyfile(test_noisy=text)
    gate.runpytest("--msdump-regen").assert_outcomes(passed=2)
    monkeypatch.setenv("NOISE", "1")
    gate.runpytest("--msdump-learn", "3").assert_outcomes(passed=1, failed=1)


def test_without_a_golden_there_is_nothing_to_learn_for(gate: pytest.Pytester) -> None:
    gate.makepyfile(test_noisy=NOISY)
    result = gate.runpytest("--msdump-learn", "2")
    result.assert_outcomes(failed=2)
    result.stdout.fnmatch_lines(["msdump: *nothing to learn for: there is no golden yet; make it with msdump regen *"])


@pytest.mark.long
def test_workers_learn_the_same(noisy: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("xdist")
    monkeypatch.setenv("NOISE", "3e-7")
    result = noisy.runpytest_subprocess("--msdump-learn", "3", "-n", "2")
    result.assert_outcomes(passed=2)
    assert kept(noisy)["learned"]["runs"] == 3
    assert [json.loads(path.read_text()) for path in (noisy.path / "golden").rglob("*.manifest.json")]
    noisy.runpytest_subprocess("--msdump", "-n", "2").assert_outcomes(passed=2)


@pytest.mark.parametrize(
    ("arguments", "environment", "says"),
    [
        (["--msdump-learn", "x"], {}, "*--msdump-learn: a number of at least 0 is accepted, got 'x'*"),
        (["--msdump-learn", "2", "--msdump-regen"], {}, "*exclude one another*"),
        (["--msdump-learn", "2"], {"CI": "1"}, "*--msdump-learn does not write * in CI*"),
    ],
)
def test_what_is_refused(
    noisy: pytest.Pytester,
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    environment: dict[str, str],
    says: str,
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    result = noisy.runpytest(*arguments)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([says])
