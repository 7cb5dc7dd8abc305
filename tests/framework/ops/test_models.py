"""Operators and layers of public models: results, gradients and kernels are what MindSpore's CPU gives and shows."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest

from tests.examples import asked
from tests.interop.model_facts import recorded, run

FACTS = recorded()

#: cases whose kernels stand otherwise here, and why (docs/differences.md); their values are compared all the same
OTHER_KERNELS = {
    "ops.clip_by_norm": "a branch of Python there, ops.cond here",
    "ops.Meshgrid": "an attribute of the number of arguments",
    "nn.SSIM": "an attribute of the number of Concat's inputs",
    "nn.MatMul": "attributes of formats",
    "nn.DiceLoss": "gradients of a value used twice are added before a Reshape here",
    "nn.Conv1dTranspose": "a dtype of an attribute, the name of a gradient's scope",
    "nn.Conv3d(4,4,2,group=2": "gradients of Split",
    "nn.PoissonNLLLoss(False": "an attribute of Assign",
    "nn.MultiClassDiceLoss": "attributes of Assign and Sub",
    "iDense(": "attributes of formats",
    "ops.bidense": "attributes of formats",
    "nn.TimeDistributed": "attributes of formats, and of the number of Stack's inputs",
    "GLU(": "attributes of the numbers of Split's results and Concat's inputs",
    "ops.glu": "as nn.GLU",
    "nn.ImageGradients": "an attribute of the number of Concat's inputs",
}


@pytest.fixture(scope="module")
def ours(request: pytest.FixtureRequest) -> dict[str, Any]:
    """Every case that is asked for, run under ``msdump run`` by one process."""
    return run(asked(request, "case"), [sys.executable, "-m", "harness.cli", "run"])


def close(theirs: Any, given: Any) -> None:
    """Asserts equal structure, dtypes and shapes, and values within the rounding of the dtype."""
    if isinstance(theirs, list) and len(theirs) == 2 and isinstance(theirs[0], str):
        assert given[0] == theirs[0]
        half = theirs[0] == "Float16"
        np.testing.assert_allclose(given[1], theirs[1], rtol=2e-3 if half else 1e-5, atol=1e-6)
        assert np.shape(given[1]) == np.shape(theirs[1])
    elif isinstance(theirs, list):
        assert len(theirs) == len(given)
        for a, b in zip(theirs, given, strict=True):
            close(a, b)
    else:
        assert given == theirs


@pytest.mark.sampled(8)
@pytest.mark.parametrize("case", FACTS)
def test_gives_what_mindspore_does(case: str, ours: dict[str, Any]) -> None:
    for kind, fact in FACTS[case].items():
        found = ours[case][kind]
        assert not isinstance(fact, str)
        assert not isinstance(found, str), found
        close(fact["result"], found["result"])


@pytest.mark.sampled(8)
@pytest.mark.parametrize("case", [case for case in FACTS if not any(part in case for part in OTHER_KERNELS)])
def test_shows_the_kernels_mindspore_shows(case: str, ours: dict[str, Any]) -> None:
    for kind, fact in FACTS[case].items():
        assert ours[case][kind]["kernels"] == fact["kernels"]
