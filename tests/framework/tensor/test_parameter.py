"""Parameters share what MindSpore's share."""

from __future__ import annotations

import numpy as np
import pytest

from harness.framework import Parameter, Tensor, context, ops


@pytest.mark.parametrize("mode", [0, 1])
def test_set_data_shares_memory(mode: int) -> None:
    """As MindSpore 2.10.0, measured in both modes; another dtype is copied."""
    before = context.get_context("mode")
    context.set_context(mode=mode)
    try:
        one, two = (Parameter(Tensor(np.full(3, n, np.float32)), name=f"p{n}") for n in (1, 2))
        two.set_data(one)
        ops.assign(one, one + 1)
        assert two.asnumpy().tolist() == [2, 2, 2]
        half = Parameter(Tensor(np.zeros(3, np.float16)), name="half")
        half.set_data(one)
        ops.assign(one, one + 1)
        assert half.asnumpy().tolist() == [2, 2, 2]
    finally:
        context.set_context(mode=before)
