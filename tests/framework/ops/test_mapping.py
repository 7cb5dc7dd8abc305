"""``vmap``: values as the real MindSpore 2.10.0 gave them in PyNative mode."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import harness as ms
from harness import Tensor, ops
from harness.errors import SettingError, StateError

X = Tensor(np.arange(6, dtype=np.float32).reshape(2, 3) / 4)
W = Tensor(np.array([1, 2, 3], np.float32))


def scaled(a: Any, b: Any) -> Any:
    return a * b + 1


def two(a: Any) -> Any:
    return a.sum(), a * 2


def product(a: Any, b: Any) -> Any:
    return (a * b).sum()


def given(result: Any) -> Any:
    return [given(r) for r in result] if isinstance(result, tuple) else result.asnumpy().tolist()


@pytest.mark.parametrize(
    ("mapped", "args", "expected"),
    [
        (ms.vmap(scaled, (0, None), 0), (X, W), [[1.0, 1.5, 2.5], [1.75, 3.0, 4.75]]),
        (ms.vmap(scaled, (1, 0), 1), (X, W), [[1.0, 1.5, 2.5], [1.75, 3.0, 4.75]]),
        (ops.vmap(two), (X,), [[0.75, 3.0], [[0.0, 0.5, 1.0], [1.5, 2.0, 2.5]]]),
        (ops.vmap(two, 0, (0, 1)), (X,), [[0.75, 3.0], [[0.0, 1.5], [0.5, 2.0], [1.0, 2.5]]]),
        (ms.vmap(ms.vmap(product, (None, 0)), (0, None)), (X, X), [[0.3125, 0.875], [0.875, 3.125]]),
        (
            ms.vmap(ms.grad(product, (0, 1)), (0, None)), (X, W),
            [[[1.0, 2.0, 3.0], [1.0, 2.0, 3.0]], [[0.0, 0.25, 0.5], [0.75, 1.0, 1.25]]],
        ),
    ],
)  # fmt: skip
def test_gives_what_mindspore_does(mapped: Any, args: tuple[Tensor, ...], expected: Any) -> None:
    assert given(mapped(*args)) == expected


def test_axes_must_fit() -> None:
    with pytest.raises(StateError, match=r"one length .* \[2, 3\]"):
        ms.vmap(scaled)(X, W)
    with pytest.raises(SettingError, match="1 entries for 2 arguments"):
        ms.vmap(scaled, (0,))(X, W)
