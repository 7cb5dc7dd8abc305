"""Modes that keep only what goes wrong, and texts that are results, in the gate."""

from __future__ import annotations

from collections.abc import Callable

import pytest

pytest_plugins = ["pytester"]

WATCH = """
import numpy as np
import pytest
from harness import Tensor, nn, ops

class Net(nn.Cell):
    def __init__(self, more):
        super().__init__()
        self.more = more

    def construct(self, x):
        y = ops.exp(x)
        return ops.neg(y) if self.more else y

@pytest.mark.msdump(backends={'cpu': 'tensor', 'ascend-o0': ('overflow', 'kernel-args')}, against={'ascend-o0~cpu': 'default'})
def test_net(msdump):
    factor, more = FACTOR, MORE
    msdump.run(Net(more), Tensor(np.full((2, 2), factor, np.float32)))

@pytest.mark.msdump(backends={'ascend-o0': 'overflow'})
def test_nothing(msdump):
    msdump.run(lambda: None)
"""  # noqa: E501


@pytest.fixture
def watch(gate: pytest.Pytester) -> Callable[[str, str], None]:
    """Rewrites the tests: what the input is a multiple of, and whether the network has one operator more."""

    def write(factor: str, more: str = "False") -> None:
        gate.makepyfile(test_watch=WATCH.replace("FACTOR", factor).replace("MORE", more))

    return write


def test_a_clean_run_is_compared_with_a_golden_that_says_so(gate: pytest.Pytester, watch: Callable[..., None]) -> None:
    watch("1")
    gate.runpytest("--msdump-regen", "-k", "test_net").assert_outcomes(passed=3)
    result = gate.runpytest("--msdump", "-k", "test_net")
    result.assert_outcomes(passed=3)
    result.stdout.fnmatch_lines(["compared * in 3 runs; new 0; missing goldens 0; not compared 0; *"])
    watch("1000")
    result = gate.runpytest("--msdump", "-k", "test_net and overflow")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*differs from*", "*2 unexpected*"])


def test_a_golden_of_an_overflow_misses_it(gate: pytest.Pytester, watch: Callable[..., None]) -> None:
    watch("1000")
    gate.runpytest("--msdump-regen", "-k", "test_net").assert_outcomes(passed=3)
    gate.runpytest("--msdump", "-k", "test_net").assert_outcomes(passed=3)
    watch("1")
    result = gate.runpytest("--msdump", "-k", "test_net and overflow")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["Slots: 2 missing, 0 unexpected"])


def test_what_was_watched_and_the_arguments_are_compared(gate: pytest.Pytester, watch: Callable[..., None]) -> None:
    watch("1")
    gate.runpytest("--msdump-regen", "-k", "test_net").assert_outcomes(passed=3)
    watch("1", "True")
    result = gate.runpytest("--msdump", "-k", "test_net and ascend-o0")
    result.assert_outcomes(failed=2)
    result.stdout.fnmatch_lines(
        [
            "compared/watched.txt: golden * lines, found *",
            "  line 1:",
            "  - graph 0 iteration 0: 1 kernels",
            "  + graph 0*",
        ]
    )
    result.stdout.fnmatch_lines(["compared/kernel_args_graph_0.json: golden * lines, found *", "  line 3:", "  - *"])


def test_a_test_that_watched_nothing_fails(gate: pytest.Pytester, watch: Callable[..., None]) -> None:
    watch("1")
    for flag in ("--msdump", "--msdump-regen"):
        result = gate.runpytest(flag, "-k", "test_nothing")
        result.assert_outcomes(failed=1)
        result.stdout.fnmatch_lines(["*msdump: nothing was compared: *"])
