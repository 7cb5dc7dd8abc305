"""``--msdump-gaps``, ini key, marker and argument of the same meaning: slots that may stay uncompared."""

from __future__ import annotations

import json

import pytest

pytest.importorskip("torch")

from tests.plugin.test_torch_modules import _loaded  # noqa: F401  (a fixture)

pytest_plugins = ["pytester"]

NET = """
import os
import pytest
import torch

class Opaque(torch.Tensor):
    @staticmethod
    def __new__(cls, inner):
        return torch.Tensor._make_wrapper_subclass(cls, inner.shape, dtype=inner.dtype)

    def __init__(self, inner):
        self.inner = inner

    @classmethod
    def __torch_dispatch__(cls, function, types, args=(), kwargs=None):
        args = [each.inner if isinstance(each, Opaque) else each for each in args]
        return Opaque(function(*args, **(kwargs or {})))

def net(x):
    y = torch.relu(x)
    return y, Opaque(y) if os.environ.get("OPAQUE") else y

@pytest.mark.msdump(backends="torch"MARKED)
def test_net(msdump):
    msdump.run(net, torch.ones(3)CALLED)
"""


def _made(gate: pytest.Pytester, marked: str = "", called: str = "") -> None:
    gate.makepyfile(test_net=NET.replace("MARKED", marked).replace("CALLED", called))


@pytest.fixture
def kept(gate: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """A golden without gaps; from now on one slot cannot be read."""
    _made(gate)
    gate.runpytest("--msdump-regen").assert_outcomes(passed=1)
    gate.runpytest("--msdump").assert_outcomes(passed=1)
    monkeypatch.setenv("OPAQUE", "1")
    return gate


def test_it_fails_unless_named(kept: pytest.Pytester) -> None:
    result = kept.runpytest("--msdump", "--msdump-json=found.json")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "Not compared: Default/result* output.0: this run could not read it: *",
            "What cannot be read fails unless it is named: gaps='Default/result*:output.0'",
            "compared * in * run*; 1 slot could not be compared, of which 0 accepted; *",
        ]
    )
    (found,) = json.loads((kept.path / "found.json").read_text())["comparisons"]
    assert (found["verdict"], found["counts"]["not compared"], found["holds"]) == ("not compared", 1, False)


@pytest.mark.parametrize("by", ["flag", "ini", "marker", "argument"])
def test_it_holds_where_it_is_named(kept: pytest.Pytester, by: str) -> None:
    pattern = "Default/result*:output.0"
    _made(
        kept,
        f", gaps={pattern!r}" if by == "marker" else "",
        f", gaps=[{pattern!r}]" if by == "argument" else "",
    )
    if by == "ini":
        kept.makeini(f"[pytest]\nmsdump_gaps = x, {pattern}\n")
    flags = [f"--msdump-gaps={pattern}"] if by == "flag" else []
    result = kept.runpytest("--msdump", "--msdump-json=found.json", *flags)
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["compared *; 1 slot could not be compared, of which 1 accepted; *"])
    (found,) = json.loads((kept.path / "found.json").read_text())["comparisons"]
    assert (found["counts"]["not compared, accepted"], found["holds"]) == (1, True)


def test_a_golden_that_was_made_with_it_names_it(kept: pytest.Pytester) -> None:
    kept.runpytest("--msdump-regen").assert_outcomes(passed=1)
    result = kept.runpytest("--msdump")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["compared *; 1 slot could not be compared, of which 1 accepted; *"])


@pytest.mark.parametrize("given", ["1", "['']", "{'a': 1}"])
def test_what_is_no_pattern(gate: pytest.Pytester, given: str) -> None:
    _made(gate, called=f", gaps={given}")
    gate.runpytest("--msdump-regen").stdout.fnmatch_lines(
        ["*gaps: a pattern for names, or a list of them, is accepted*"]
    )
