"""Forms of functions that few use, with what MindSpore 2.10.0 gives (measured)."""

from __future__ import annotations

import numpy as np
import pytest

from harness import Tensor, mint, ops


@pytest.mark.parametrize(
    ("first", "second", "wanted"), [((2, 3), (4,), (6, 4)), ((6,), (6, 2), (6, 2)), ((), (3,), (1, 3))]
)
def test_outer_of_other_than_vectors(first: tuple[int, ...], second: tuple[int, ...], wanted: tuple[int, ...]) -> None:
    """The first is a column, and the two broadcast."""
    found = ops.outer(Tensor(np.ones(first, np.float32)), Tensor(np.ones(second, np.float32)))
    assert found.shape == wanted


@pytest.mark.parametrize(
    ("factor", "count", "wanted"),
    [
        (2.3, 3, [0, 0, 1, 1, 2, 2]),  # twice as long: as if the factor were 2
        (1.25, 3, [0, 1, 2]),  # as long as it was
        (1.6, 3, [0, 0, 1, 1]),
        (1.4, 4, [0, 0, 1, 2, 2]),
        (0.7, 7, [0, 1, 2, 4]),
        (3.7, 4, [0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3]),
    ],
)
def test_nearest_elements_by_a_factor(factor: float, count: int, wanted: list[int]) -> None:
    x = Tensor(np.arange(count, dtype=np.float32).reshape(1, 1, count))
    assert mint.nn.functional.interpolate(x, scale_factor=factor).asnumpy().ravel().tolist() == wanted
    assert mint.nn.Upsample(scale_factor=factor)(x).asnumpy().ravel().tolist() == wanted
    whole = mint.nn.Upsample(scale_factor=factor, recompute_scale_factor=True)(x).asnumpy().ravel()
    assert whole.tolist() == [at * count // len(whole) for at in range(len(whole))]
