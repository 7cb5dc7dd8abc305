"""Twenty-five pairs that other comparison tools judge wrongly, and two that are a matter of taste.

The cases are those on which msprobe, Polygraphy, torch, and numpy were measured (8 to 23 right of 25).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from harness.compare import EXACT, Tolerance, Verdict, check
from tests.compare.helpers import judge
from tests.store.helpers import record

RNG = np.random.default_rng(0)
BASE = RNG.standard_normal((100, 100)).astype(np.float32)
TINY_GRADIENT = (BASE * 1e-6).astype(np.float32)


def changed(array: np.ndarray[Any, Any], value: Any, at: tuple[int, ...] = (3, 4)) -> np.ndarray[Any, Any]:
    other = array.copy()
    other[at] = value
    return other


def both(value: float) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    return changed(BASE, value), changed(BASE, value)


ONE_HOT = np.arange(10_000, dtype=np.int32)

PASS: dict[str, tuple[Any, Any]] = {
    "equal": (BASE, BASE.copy()),
    "one_ulp": (BASE, np.nextafter(BASE, np.float32(np.inf))),
    "nan_same_place": both(np.nan),
    "inf_same_place": both(np.inf),
    "empty": (np.empty((0, 3), np.float32), np.empty((0, 3), np.float32)),
}

FAIL: dict[str, tuple[Any, Any]] = {
    "posinf_vs_neginf": (changed(BASE, np.inf), changed(BASE, -np.inf)),
    "nan_vs_number": (changed(BASE, np.nan), BASE),
    "loss_1elem_1_vs_100": (np.array([1], np.float32), np.array([100], np.float32)),
    "loss_0d_1_vs_100": (np.float32(1), np.float32(100)),
    "int64_big_off_by_1": (np.array([2**62, 2**53]), np.array([2**62 + 1, 2**53])),
    "int32_label_1_of_10000": (ONE_HOT, changed(ONE_HOT, 8, (7_000,))),
    "bool_all_flipped": (BASE > 0, BASE <= 0),
    "uint8_0_vs_255": (np.zeros(100, np.uint8), np.full(100, 255, np.uint8)),
    "one_elem_off_0p9": (BASE, changed(BASE, BASE[3, 4] + 0.9)),
    "all_off_5pct": (BASE, BASE * np.float32(1.05)),
    "all_x2_small": (BASE * np.float32(0.1), BASE * np.float32(0.2)),
    "grad_1e-6_vs_all_zero": (TINY_GRADIENT, np.zeros_like(TINY_GRADIENT)),
    "grad_sign_flipped_1e-6": (TINY_GRADIENT, -TINY_GRADIENT),
    "shape_n1_vs_n": (BASE.reshape(-1, 1), BASE.reshape(-1)),
    "shape_transposed_same_values": (np.ones((20, 30), np.float32), np.ones((30, 20), np.float32)),
    "dtype_f32_vs_f16": (np.ones(100, np.float32), np.ones(100, np.float16)),
    "f16_max_vs_neg_max": (np.full(9, 65504, np.float16), np.full(9, -65504, np.float16)),
    "permuted_same_stats": (BASE, RNG.permutation(BASE.reshape(-1)).reshape(BASE.shape)),
}


@pytest.mark.parametrize("name", PASS)
def test_passes_under_the_table_by_dtype(name: str) -> None:
    verdict = judge(*PASS[name], "default").verdict
    assert verdict.holds
    assert verdict is (Verdict.WITHIN if name == "one_ulp" else Verdict.IDENTICAL)


@pytest.mark.parametrize("tolerance", ["default", "exact", Tolerance(rtol=0.01, max_ulp=1000)], ids=str)
@pytest.mark.parametrize("name", FAIL)
def test_fails_under_every_sensible_tolerance(name: str, tolerance: Any) -> None:
    found = judge(*FAIL[name], tolerance)
    assert found.verdict is Verdict.DIFFERS
    assert found.reason


def test_missing_and_extra_fail() -> None:
    one, two = record(BASE), record(BASE, slot=1)
    missing, extra = check([one, two], [one], "default"), check([one], [one, two], "default")
    assert [slot.verdict for slot in missing.slots] == [Verdict.IDENTICAL, Verdict.MISSING]
    assert [slot.verdict for slot in extra.slots] == [Verdict.IDENTICAL, Verdict.UNEXPECTED]
    assert not missing.holds
    assert not extra.holds


def test_exact_admits_not_even_one_ulp() -> None:
    assert judge(*PASS["one_ulp"], EXACT).verdict is Verdict.DIFFERS


def test_matters_of_taste() -> None:
    """0.0 and -0.0 are equal values of other bits; a subnormal twice as large is a difference."""
    zero = np.zeros(9, np.float32)
    assert judge(zero, -zero, "default").verdict is Verdict.WITHIN
    assert judge(zero, -zero, "exact").verdict is Verdict.DIFFERS
    small = np.full(9, 1e-40, np.float32)
    assert judge(small, small * 2, "default").verdict is Verdict.DIFFERS
    assert judge(small, np.nextafter(small, np.float32(1)), "default").verdict is Verdict.WITHIN


def test_all_cases_are_here() -> None:
    assert len(PASS) + len(FAIL) + len(["missing_in_b", "extra_in_b"]) == 25
