"""``ForiLoop``, ``WhileLoop``, ``Scan``, and spectra of complex signals, beside plain Python and numpy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness import GRAPH_MODE, PYNATIVE_MODE, Tensor, context, grad, jit, ops
from harness.errors import SettingError, SettingTypeError, ShapeError


@jit
def repeated(x: Any) -> Any:
    return ops.ForiLoop()(0, 3, lambda at, value: value * 2 + at, x)


@jit
def doubled(x: Any) -> Any:
    return ops.WhileLoop()(lambda value: value.sum() < 20, lambda value: value * 2, x)


@jit
def scanned(x: Any) -> Any:
    return ops.Scan()(lambda carry, each: (carry + each, carry * each), x, [x, x + 1])


@pytest.mark.parametrize("mode", [GRAPH_MODE, PYNATIVE_MODE])
def test_loops_in_graphs(mode: int) -> None:
    context.set_context(mode=mode)
    x = Tensor([1.0, 2.0])
    assert repeated(x).asnumpy().tolist() == [12, 20]
    assert doubled(x).asnumpy().tolist() == [8, 16]
    carry, made = scanned(x)
    assert type(made) is list
    assert [each.asnumpy().tolist() for each in (carry, *made)] == [[4, 7], [1, 4], [4, 12]]
    assert grad(repeated)(x).asnumpy().tolist() == [8, 8]
    assert grad(doubled)(x).asnumpy().tolist() == [8, 8]


@given(st.integers(-2, 4), st.integers(-2, 4))
def test_loops_of_numbers(lower: int, upper: int) -> None:
    value = 1
    for at in range(lower, upper):
        value = value * 2 + at
    assert ops.ForiLoop()(lower, Tensor(upper), lambda at, each: each * 2 + at, 1) == value
    length = max(upper, 0)
    assert ops.Scan()(lambda carry, _: (carry + 1, carry), 0, None, length) == (length, list(range(length)))


def test_what_loops_refuse() -> None:
    with pytest.raises(SettingTypeError, match="upper must be an int or a Tensor, got float"):
        ops.ForiLoop()(0, 2.5, lambda at, value: value, 1)
    with pytest.raises(SettingTypeError, match="loop_func must be a function, got int"):
        ops.WhileLoop()(lambda value: False, 5, 1)
    with pytest.raises(SettingTypeError, match="xs must be a list, a tuple or None, got Tensor"):
        ops.Scan()(lambda carry, each: (carry, each), 1, Tensor([1.0]))
    with pytest.raises(SettingTypeError, match="without xs, length must be an int, got None"):
        ops.Scan()(lambda carry, each: (carry, each), 1, None)
    with pytest.raises(SettingError, match="Scan: loop_func failed"):
        ops.Scan()(lambda carry, each: carry, 1, [1])


@settings(max_examples=20)
@given(st.lists(st.complex_numbers(max_magnitude=9), min_size=8, max_size=8), st.booleans(), st.booleans())
def test_spectra_of_complex_signals(values: list[complex], normalized: bool, as_complex: bool) -> None:
    signal, window = np.array(values, np.complex128), np.array([1, 2, 2, 1], np.float64)
    found = ops.stft(
        Tensor(signal), 4, 2, 4, Tensor(window), center=False, normalized=normalized, onesided=False,
        return_complex=as_complex,
    ).asnumpy()  # fmt: skip
    stretches = np.stack([signal[at : at + 4] * window for at in (0, 2, 4)])
    expected = np.fft.fft(stretches).T / (2 if normalized else 1)
    shown = expected if as_complex else np.stack([expected.real, expected.imag], -1)
    np.testing.assert_allclose(found, shown, rtol=1e-12, atol=1e-11)
    with pytest.raises(ShapeError, match="onesided must be False for a complex signal"):
        ops.stft(Tensor(signal), 4, 2, 4, Tensor(window), center=False, onesided=True, return_complex=True)
