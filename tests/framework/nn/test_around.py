"""Paddings of some of the axes, zeros behind transposed convolutions; measured with MindSpore 2.10.0."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness import Tensor, nn
from harness.errors import SettingError, SettingTypeError, ShapeError

RANKS = {"ConstantPad1d": 1, "ConstantPad2d": 2, "ConstantPad3d": 3, "ZeroPad2d": 2}
X = np.arange(24, dtype=np.float32).reshape(1, 2, 3, 4)


def pairs(padding: tuple[int, ...]) -> list[tuple[int, int]]:
    """Numbers before and after each axis of ``X``, as numpy pads them."""
    given = [padding[at : at + 2] for at in range(0, len(padding), 2)]
    return [(0, 0)] * (X.ndim - len(given)) + [(a, b) for a, b in reversed(given)]


@settings(max_examples=40)
@given(st.sampled_from(sorted(RANKS)), st.lists(st.integers(0, 2), min_size=2, max_size=6))
def test_constants_around_some_axes(name: str, padding: list[int]) -> None:
    made: Any = getattr(nn, name)
    arguments: tuple[Any, ...] = (tuple(padding),) if name == "ZeroPad2d" else (tuple(padding), 9.0)
    if len(padding) % 2 or len(padding) > 2 * RANKS[name]:
        with pytest.raises(SettingError, match="padding must be an int, or two ints for each axis, at most"):
            made(*arguments)
        return
    expected = np.pad(X, pairs(tuple(padding)), constant_values=arguments[1] if len(arguments) > 1 else 0)
    assert np.array_equal(made(*arguments)(Tensor(X)).asnumpy(), expected)


@settings(max_examples=30)
@given(st.sampled_from([1, 2, 3]), st.lists(st.integers(0, 1), min_size=1, max_size=3))
def test_reflections_around_some_axes(rank: int, sides: list[int]) -> None:
    padding = tuple(number for side in sides for number in (side, 1 - side))
    found = getattr(nn, f"ReflectionPad{rank}d")(padding)(Tensor(X)).asnumpy()
    assert np.array_equal(found, np.pad(X, pairs(padding), mode="reflect"))


def test_what_paddings_refuse() -> None:
    with pytest.raises(SettingTypeError, match="an int or a tuple of ints"):
        nn.ConstantPad2d([1, 0], 9.0)
    with pytest.raises(ShapeError, match="3 axes are needed"):
        nn.ReplicationPad1d((1, 0))(Tensor(X))
    with pytest.raises(ShapeError, match="4 axes are needed"):
        nn.ReflectionPad3d((1, 0, 0, 1, 1, 0))(Tensor(X[0]))


@settings(max_examples=20)
@given(st.integers(1, 3), st.tuples(st.integers(0, 2), st.integers(0, 2)), st.booleans())
def test_zeros_behind_a_transposed_convolution(stride: int, behind: tuple[int, int], bias: bool) -> None:
    settings_: dict[str, Any] = {
        "stride": stride, "pad_mode": "pad", "padding": 1, "has_bias": bias, "weight_init": "ones", "bias_init": "ones"
    }  # fmt: skip
    x = Tensor(X[:, :1])
    if max(behind) >= stride:
        with pytest.raises(SettingError, match="output_padding must be below the stride or dilation"):
            nn.Conv2dTranspose(1, 1, 3, output_padding=behind, **settings_)
        return
    plain = nn.Conv2dTranspose(1, 1, 3, **settings_)(x).asnumpy()
    found = nn.Conv2dTranspose(1, 1, 3, output_padding=behind, **settings_)(x).asnumpy()
    assert np.array_equal(found, np.pad(plain, [(0, 0), (0, 0), (0, behind[0]), (0, behind[1])]))
