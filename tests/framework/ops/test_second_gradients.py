"""Gradients of gradients of normalisations (MindSpore 2.10.0 CPU, measured)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import harness as ms
from harness import Tensor, nn

VALUES = np.linspace(-1, 1, 8, dtype=np.float32) ** 2 + np.linspace(0, 1, 8, dtype=np.float32)
#: layer -> shape of x, the gradient by x of the squares of the gradient by x of its cubes
RECORDED: dict[str, tuple[Any, tuple[int, int], list[float]]] = {
    "layer": (
        lambda: nn.LayerNorm((4,)), (2, 4),
        [-1389.9807, 1076.5007, 577.727, -264.2474, -16.6082, 203.2359, -86.0076, -100.6201],
    ),
    # The real kernel leaves the epsilon out of the second gradient, so this is not the slope of the first.
    "layer, large epsilon": (
        lambda: nn.LayerNorm((4,), epsilon=0.5), (2, 4),
        [-0.1073, 5.501, -1.2745, -4.1192, -11.0728, 12.7146, -2.532, 0.8902],
    ),
    "batch, training": (
        lambda: nn.BatchNorm1d(2).set_train(), (4, 2),
        [-390.2078, 67.511, -23.5356, -89.4457, 518.1061, 99.1316, -104.3627, -77.197],
    ),
    "batch": (
        lambda: nn.BatchNorm1d(2), (4, 2),
        [35.9989, 10.0265, 3.7229, 3.2581, 7.4627, 26.0651, 92.0292, 287.9914],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", RECORDED)
def test_normalised(name: str) -> None:
    make, shape, recorded = RECORDED[name]
    net = make()

    def cubes(x: Tensor) -> Any:
        return (net(x) ** 3).sum()

    def squares(x: Tensor) -> Any:
        return (ms.grad(cubes)(x) ** 2).sum()

    found = ms.grad(squares)(Tensor(VALUES.reshape(shape))).asnumpy()
    np.testing.assert_allclose(found.ravel(), recorded, rtol=1e-4, atol=1e-3)
