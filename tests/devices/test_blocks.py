"""Rank padding."""

from __future__ import annotations

import numpy as np
import pytest

from harness.devices.formats.blocks import fill_value, pad_rank
from harness.errors import DtypeError, ShapeError

Shape = tuple[int, ...]


@pytest.mark.parametrize(
    ("shape", "rank", "padded"),
    [
        ((), 4, (1, 1, 1, 1)),
        ((7,), 4, (1, 7, 1, 1)),
        ((7, 5), 4, (1, 7, 5, 1)),
        ((7, 5, 3), 4, (1, 7, 5, 3)),
        ((7, 5, 3, 2), 4, (7, 5, 3, 2)),
        ((), 5, (1, 1, 1, 1, 1)),
        ((7,), 5, (1, 7, 1, 1, 1)),
        ((7, 5), 5, (1, 7, 5, 1, 1)),
        ((7, 5, 3), 5, (1, 7, 5, 3, 1)),
        ((7, 5, 3, 2), 5, (1, 7, 5, 3, 2)),
        ((7, 5, 3, 2, 4), 5, (7, 5, 3, 2, 4)),
        ((-1, 5), 4, (1, -1, 5, 1)),
        ((7, 5), 0, (7, 5)),
    ],
)
def test_by_default(shape: Shape, rank: int, padded: Shape) -> None:
    assert pad_rank(shape, rank, "X") == padded


@pytest.mark.parametrize(
    ("shape", "rank", "axes", "padded"),
    [
        ((7, 5), 4, "NC", (7, 5, 1, 1)),
        ((7, 5), 4, "WN", (5, 1, 1, 7)),
        ((7,), 4, "H", (1, 1, 7, 1)),
        ((7, 5, 3), 5, "NDW", (7, 1, 5, 1, 3)),
    ],
)
def test_by_named_axes(shape: Shape, rank: int, axes: str, padded: Shape) -> None:
    assert pad_rank(shape, rank, "X", axes) == padded


@pytest.mark.parametrize("axes", ["N", "NCH", "NN", "ND", "nc"])
def test_axes_that_do_not_fit(axes: str) -> None:
    with pytest.raises(ShapeError, match=r"X: axes .* do not fit the shape \[7, 5\]"):
        pad_rank((7, 5), 4, "X", axes)


def test_an_unknown_padding() -> None:
    with pytest.raises(DtypeError, match="padding is a number or 'poison', got 'zero'"):
        fill_value("zero", np.dtype(np.float32))
