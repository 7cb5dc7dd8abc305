"""Calls of functions that do not take what they are given: in a graph as the real MindSpore 2.10.0 refuses them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import harness as ms
from harness import Tensor, ops
from harness.errors import TraceError

X = Tensor(np.ones((2, 3), np.float32))


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda x: ops.isnan(x, nosuch=1), TraceError),
        (lambda x: ops.concat((x, x), 0, 1), TraceError),
        (lambda x: ops.relu(), TraceError),
        (lambda x: ops.tanh(), TypeError),
        (lambda x: ops.reshape(x), TypeError),
        (lambda x: x.tanh(nosuch=1), TypeError),
    ],
    ids=["unknown", "too many", "missing", "without defaults", "two without", "method"],
)
def test_refused_in_a_graph(call: Any, error: type[Exception]) -> None:
    @ms.jit
    def function(x: Any) -> Any:
        return call(x)

    with pytest.raises(error):
        function(X)
    with pytest.raises(TypeError):
        call(X)
