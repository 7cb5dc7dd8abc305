"""The gradient of ``ClipByNorm`` against differences, for bounds of every shape that broadcasts."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness import Tensor, float32, grad, nn

SHAPES = ((), (1,), (3,), (2, 1), (1, 3), (2, 3))


def differences(function: Callable[..., float], arguments: tuple[np.ndarray, ...], which: int) -> np.ndarray:
    found = np.zeros_like(arguments[which])
    for place in np.ndindex(found.shape):
        step = np.zeros_like(found)
        step[place] = 1e-6
        ends = (
            function(*(a + sign * step if at == which else a for at, a in enumerate(arguments))) for sign in (1, -1)
        )
        found[place] = (next(ends) - next(ends)) / 2e-6
    return found


@given(
    seed=st.integers(0, 10_000),
    axis=st.sampled_from([None, 0, 1, -1]),
    shape=st.sampled_from(SHAPES),
    size=st.sampled_from([0.2, 3.0]),
)
def test_gradient(seed: int, axis: int | None, shape: tuple[int, ...], size: float) -> None:
    rng = np.random.default_rng(seed)
    x, weights = rng.standard_normal((2, 2, 3))
    bound = np.asarray(rng.uniform(0.1, 0.1 + size, shape))

    def plain(x: np.ndarray, bound: np.ndarray) -> float:
        norm = np.sqrt((x * x).sum(axis=axis, keepdims=True))
        return float((bound * x / np.maximum(norm, bound) * weights).sum())

    def here(x: Tensor, bound: Tensor) -> Tensor:
        return (nn.ClipByNorm(axis)(x, bound) * Tensor(weights, float32)).sum()

    found = grad(here, (0, 1))(Tensor(x, float32), Tensor(bound, float32))
    for which, gradient in enumerate(found):
        assert gradient.asnumpy() == pytest.approx(differences(plain, (x, bound), which), abs=5e-3)
