"""Overflow modes, saturation, and the numerics around a kernel."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from harness.devices.numerics import Numerics
from harness.devices.operators import CONVOLUTION, MATMUL, MOVES
from harness.devices.overflow import VARIABLE, Overflow, largest, overflow_mode, saturate
from harness.devices.rounding import ROUNDINGS
from harness.errors import UnknownNameError

FLOATS = (np.float16, ml_dtypes.bfloat16, np.float32, np.float64)


@pytest.mark.parametrize(
    ("soc", "value", "mode"),
    [
        ("ascend910b", None, Overflow.INFNAN),
        ("ascend910b", "", Overflow.INFNAN),
        ("ascend910b", "INFNAN_MODE", Overflow.INFNAN),
        ("ascend910b", "saturation_mode", Overflow.INFNAN),
        ("ascend910b", "SATURATION_MODE", Overflow.SATURATION),
        ("Ascend910_93", "SATURATION_MODE", Overflow.SATURATION),
        ("ascend910_93", None, Overflow.INFNAN),
        ("ascend910a", None, Overflow.SATURATION),
        ("ascend910", "INFNAN_MODE", Overflow.SATURATION),
        ("ascend950", "SATURATION_MODE", Overflow.INFNAN),
        (None, "SATURATION_MODE", Overflow.INFNAN),
    ],
)
def test_mode_by_chip_and_environment(soc: str | None, value: str | None, mode: Overflow) -> None:
    assert overflow_mode(soc, {} if value is None else {VARIABLE: value}) is mode


def test_modes_have_the_runtimes_numbers() -> None:
    assert (Overflow.SATURATION.value, Overflow.INFNAN.value) == (0, 1)


@pytest.mark.parametrize("dtype", FLOATS)
def test_saturation(dtype: Any) -> None:
    given = np.array([[1.5, np.inf, -np.inf], [np.nan, -np.nan, -0.0]]).astype(dtype)
    kept = given.copy()
    out = saturate(given)
    top = largest(dtype)
    assert out.dtype == dtype
    word = f"u{np.dtype(dtype).itemsize}"
    assert np.isfinite(top)
    assert np.isinf((np.array([top]).view(word) + 1).view(dtype)[0])
    assert np.array_equal(out, np.array([[1.5, top, -top], [0, 0, -0.0]]).astype(dtype))
    assert np.array_equal(given, kept, equal_nan=True)
    assert saturate(given, in_place=True) is given
    assert np.array_equal(given, out)


def test_what_is_finite_or_no_float_is_not_copied() -> None:
    for array in (np.ones(3, np.float32), np.ones(3, np.int32), np.zeros(0, np.float16), np.array(2.5, np.float32)):
        assert saturate(array) is array
    assert saturate(np.array(np.inf, np.float16)) == 65504


class Kernel:
    """Notes what it is given."""

    def __init__(self, *results: np.ndarray[Any, Any]) -> None:
        self.results = results
        self.given: tuple[Any, ...] = ()

    def __call__(self, arguments: tuple[Any, ...]) -> Sequence[np.ndarray[Any, Any]]:
        self.given = arguments
        return self.results


ONE = np.array([1 + 2**-12 + 2**-20], np.float32)


@pytest.mark.parametrize("op", sorted(MATMUL | CONVOLUTION))
def test_factors_are_rounded_and_the_rest_is_not(op: str) -> None:
    numerics = Numerics(matmul="tf32", convolution="hf32")
    how = ROUNDINGS["tf32" if op in MATMUL else "hf32"].apply
    kernel = Kernel(ONE)
    given = ONE.copy()
    numerics.run(op, (given, ONE, ONE, 3, (1, 2)), kernel)
    assert np.array_equal(kernel.given[0], how(ONE))
    assert np.array_equal(kernel.given[1], how(ONE))
    assert not np.array_equal(how(ONE), ONE)
    assert kernel.given[2] is ONE
    assert kernel.given[3:] == (3, (1, 2))
    assert np.array_equal(given, ONE)


def test_only_float32_is_rounded_and_only_in_products() -> None:
    numerics = Numerics(matmul="float16", convolution="float16")
    half, double = ONE.astype(ml_dtypes.bfloat16), ONE.astype(np.float64)
    assert numerics.prepare("MatMul", (half, double)) == (half, double)
    assert numerics.prepare("Add", (ONE, ONE)) == (ONE, ONE)
    assert Numerics().prepare("MatMul", (ONE, ONE)) == (ONE, ONE)


@pytest.mark.parametrize("name", sorted(ROUNDINGS))
def test_factors_saturate_to_what_the_unit_takes(name: str) -> None:
    wild = np.array([np.inf, -np.inf, np.nan, 3.4e38], np.float32)
    prepared = Numerics(matmul=name, overflow=Overflow.SATURATION).prepare("MatMul", (wild, wild))[0]
    if name == "float32":
        assert prepared is wild
    else:
        top = ROUNDINGS[name].largest
        assert prepared[:3].tolist() == [top, -top, 0]
        assert prepared[3] <= top


def test_results_saturate_in_saturation_mode_only() -> None:
    wild = np.array([np.inf, np.nan], np.float16)
    kept = np.array([np.inf, np.nan], np.float16)
    assert Numerics().run("Mul", (), Kernel(wild))[0] is wild
    saturating = Numerics(overflow=Overflow.SATURATION)
    assert saturating.run("Mul", (), Kernel(wild))[0].tolist() == [65504, 0]
    assert np.array_equal(wild, kept, equal_nan=True)
    for op in MOVES:
        assert saturating.settle(op, (wild,))[0] is wild
    assert saturating.run("ApplyMomentum", (), Kernel(wild), in_place=True)[0] is wild
    assert wild.tolist() == [65504, 0]


def test_numerics_take_known_roundings_only() -> None:
    with pytest.raises(UnknownNameError, match="no rounding is called 'fp8'"):
        Numerics(matmul="fp8")
