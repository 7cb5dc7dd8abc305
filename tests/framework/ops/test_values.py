"""Kernels give what MindSpore's CPU kernels give: special values exactly, others within their accuracy."""

from __future__ import annotations

import builtins
from typing import Any

import numpy as np
import pytest

from harness import Tensor, dtypes, ops
from harness.framework.runtime.session import fresh
from tests.framework.ops.facts import read, recorded

VALUES = recorded("values")

#: relative accuracy of MindSpore's float32 approximations where it is worse than 1e-5, and below which size they give 0
#: (docs/differences.md); the harness's are exact
ROUGH = {"ops.exp(": (3e-5, 0.0), "ops.log(": (1e-3, 0.0), "ops.log1p": (1e-3, 2e-10), "ops.expm1": (1e-3, 1e-7)}
FLUSHED = {"ops.Softplus": (1e-3, 3e-9), "ops.gelu": (1e-3, 1e-7)}


def close(ours: Any, theirs: Any, rtol: float, atol: float) -> None:
    """Asserts equal structure and dtype, and values within the tolerance (NaN equal to NaN)."""
    if isinstance(ours, tuple):
        assert len(ours) == len(theirs)
        for a, b in zip(ours, theirs, strict=True):
            close(a, b, rtol, atol)
        return
    dtype, values = theirs
    assert isinstance(ours, Tensor)
    assert str(ours.dtype) == dtype
    real = np.array(values, dtypes.by_name(dtype).numpy)
    assert ours.shape == real.shape
    if ours.dtype.kind != "f":
        np.testing.assert_array_equal(ours.asnumpy(), real)
        return
    np.testing.assert_allclose(ours.asnumpy().astype(float), real.astype(float), rtol, atol)


@pytest.mark.parametrize("case", VALUES)
def test_gives_what_mindspore_does(case: str) -> None:
    function, inputs, sens = read(case)
    if isinstance(VALUES[case], str):
        with pytest.raises(getattr(builtins, VALUES[case])), fresh(hooked=False) as session:  # recorded from a graph
            session.run_function(function, inputs, {})
        return
    if sens is not None:
        function, inputs = ops.GradOperation(get_all=True, sens_param=True)(function), [*inputs, sens]
    rough = next((v for k, v in {**ROUGH, **FLUSHED}.items() if case.startswith(k)), (1e-5, 1e-37))
    half = (2e-3, 1e-6) if "float16" in case else rough
    close(function(*inputs), VALUES[case], *half)
