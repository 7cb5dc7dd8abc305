"""Initializers beyond the recorded facts: lazy draws, dtypes, user's own, errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness import dtypes
from harness.errors import SettingError, SettingTypeError
from harness.framework.nn import random
from harness.framework.nn.initializer import (
    Constant,
    Dirac,
    HeUniform,
    Identity,
    Initializer,
    Normal,
    Orthogonal,
    Sparse,
    TruncatedNormal,
    VarianceScaling,
    initializer,
)
from harness.framework.tensor import Parameter, Tensor


def test_words_of_a_longer_stream_begin_with_those_of_a_shorter() -> None:
    seed = 2**62 + 12345
    long = random.philox(seed, 41)
    for count in (0, 1, 3, 4, 5, 40):
        assert np.array_equal(random.philox(seed, count), long[:count])
    assert long.dtype == np.uint32


def test_philox_counter_carries() -> None:
    # Known-answer vectors of Philox 4x32-10 with counter and key all zeros (Random123's kat_vectors).
    assert [hex(w) for w in random.philox(0, 4)] == ["0x6627e8d5", "0xe169c58d", "0xbc57ac4c", "0x9b00dbd8"]


@given(st.floats(0.01, 5), st.floats(-3, 3))
def test_truncated_values_lie_inside(sigma: float, mean: float) -> None:
    values = random.truncated_normal(mean - sigma, mean + 2 * sigma, mean, sigma, (64,))
    slack = 1e-5 * max(1.0, abs(mean), sigma)
    assert values.min() >= mean - sigma - slack
    assert values.max() <= mean + 2 * sigma + slack


def test_nothing_is_drawn_before_it_is_needed() -> None:
    before = np.random.get_state()[2]
    tensor = initializer("normal", (3,))
    assert tensor.shape == (3,)
    assert tensor.dtype is dtypes.float32
    assert np.random.get_state()[2] == before
    values = tensor.asnumpy()
    assert np.random.get_state()[2] != before
    assert tensor.asnumpy() is values
    assert Parameter(tensor).asnumpy() is not values
    assert np.array_equal(Parameter(tensor).asnumpy(), values)


def test_bfloat16_and_ints() -> None:
    brain = initializer(Constant(1.00390625), (2,), dtypes.bfloat16).asnumpy()
    assert brain.dtype == dtypes.bfloat16.numpy
    assert brain.astype(np.float32).tolist() == [1.0, 1.0]
    assert initializer(3, (2,), dtypes.int32).asnumpy().tolist() == [3, 3]


def test_a_tensor_is_taken_as_it_is() -> None:
    given_tensor = Tensor([[1.0, 2.0]])
    assert initializer(given_tensor, (1, 2)) is given_tensor
    assert initializer(given_tensor) is given_tensor
    with pytest.raises(SettingError, match=r"has shape \(1, 2\), the shape asked for is \(2,\)"):
        initializer(given_tensor, 2)


def test_own_initializer() -> None:
    class Ramp(Initializer):
        def _initialize(self, array: Any) -> None:
            array[...] = np.arange(array.size).reshape(array.shape)

    assert initializer(Ramp(), (2, 2), dtypes.float16).asnumpy().tolist() == [[0, 1], [2, 3]]
    target = np.zeros((2,), np.float32)
    Ramp()(target)
    assert target.tolist() == [0, 1]
    with pytest.raises(NotImplementedError, match="Initializer must override"):
        initializer(Initializer(), (1,)).asnumpy()


def test_orthogonal_is_orthogonal() -> None:
    for shape in ((3, 7), (7, 3), (4, 2, 2)):
        matrix = Orthogonal(2.0).values(shape).reshape(shape[0], -1).astype(np.float64)
        gram = matrix @ matrix.T if matrix.shape[0] <= matrix.shape[1] else matrix.T @ matrix
        assert np.allclose(gram, 4 * np.eye(len(gram)), atol=1e-12)


@pytest.mark.parametrize(
    ("init", "shape", "words"),
    [
        ("nromal", (1,), "did you mean normal"),
        ("zzzz", (1,), "known are"),
        (Normal(), (0,), "ints above 0"),
        (Normal(), None, "ints above 0"),
        (Normal(), (2.0,), "ints above 0"),
        (HeUniform(), (3,), "at least 2 dimensions"),
        (HeUniform(mode="fan"), (3, 3), "fan_in or fan_out"),
        (HeUniform(nonlinearity="gelu"), (3, 3), "nonlinearity must be one of"),
        (HeUniform(True), (3, 3), "negative_slope must be a number"),
        (Normal(-1.0), (3,), "at least 0"),
        (TruncatedNormal(0.0), (3,), "greater than 0"),
        (Identity(), (3,), "2 dimensions"),
        (Sparse(0.5), (3,), "2 dimensions"),
        (Orthogonal(), (3,), "at least 2 dimensions"),
        (Dirac(2), (3, 2, 2), "divisible by 2"),
    ],
)
def test_bad_arguments(init: Any, shape: Any, words: str) -> None:
    with pytest.raises(SettingError, match=words):
        initializer(init, shape).asnumpy()


def test_bad_types() -> None:
    with pytest.raises(SettingTypeError, match="got list"):
        initializer([1.0], (1,))
    for arguments in ((0.0,), (1.0, "fan"), (1.0, "fan_in", "normal")):
        with pytest.raises(SettingError, match="VarianceScaling"):
            VarianceScaling(*arguments)  # type: ignore[arg-type]


def test_it_is_shown_under_its_public_name() -> None:
    class Own(HeUniform):
        pass

    assert repr(HeUniform()).startswith("<mindspore.common.initializer.HeUniform object at 0x")
    assert "mindspore" not in repr(Own())
