"""``msdump.golden`` gives a test what its golden keeps."""

from __future__ import annotations

import pytest

pytest_plugins = ["pytester"]
TEST = """
import numpy as np
import pytest
from harness import Tensor, nn


def test_values(msdump):
    kept = msdump.golden("state.a")
    msdump.check("state", {"a": np.arange(6, dtype=np.float32).reshape(2, 3), "b": "text"})
    out = msdump.run(nn.Dense(3, 2, weight_init="ones", has_bias=False), Tensor(np.ones((1, 3), np.float32)))
    if kept is None:
        return
    assert kept.dtype == np.float32 and kept.tolist() == [[0, 1, 2], [3, 4, 5]]
    assert msdump.golden("state.b") == "text"
    assert msdump.golden("Default/MatMul-op0:output.0").tolist() == [[3, 3]]
    with pytest.raises(ValueError, match=r"the golden has no 'state.c'; it has state.b, state.a"):
        msdump.golden("state.c")
"""


def test_it_gives_what_is_kept(gate: pytest.Pytester) -> None:
    gate.makepyfile(TEST)
    for flag in ("--msdump-regen", "--msdump"):
        gate.runpytest(flag).assert_outcomes(passed=1)


def test_a_golden_of_digests_says_so(gate: pytest.Pytester) -> None:
    gate.makepyfile("def test_v(msdump):\n    msdump.check('v', 1.0)\n    msdump.golden('v')\n")
    gate.runpytest("--msdump-regen", "--msdump-level=digest").assert_outcomes(passed=1)
    result = gate.runpytest("--msdump")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*msdump.golden: 'v': the golden keeps digests only (level digest)*"])
