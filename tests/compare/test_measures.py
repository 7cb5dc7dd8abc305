"""Means, root mean square, cosine, signal to noise, shares, percentiles: against numpy, and cases without an answer."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from harness.compare import Measurement, measure
from harness.compare.bulk import BLOCK

VALUES = st.one_of(st.just(0.0), st.floats(-1e3, 1e3, width=32))
PAIRS = st.integers(1, 8).flatmap(lambda n: st.tuples(*[hnp.arrays(np.float32, n, elements=VALUES)] * 2))


@given(pair=PAIRS)
def test_against_numpy(pair: tuple[Any, Any]) -> None:
    m = measure(*pair, "Float32")
    e, f = (side.astype(np.float64) for side in pair)
    error, nonzero = np.abs(f - e), e != 0
    assert m.mean_abs == pytest.approx(error.mean())
    assert m.rmse == pytest.approx(math.sqrt((error**2).mean()))
    assert m.mean_rel == pytest.approx((error[nonzero] / np.abs(e[nonzero])).mean() if nonzero.any() else 0)
    with np.errstate(all="ignore"):
        relative = np.where(error > 0, error / np.abs(e), 0)
    assert m.beyond == (np.count_nonzero(relative > 1e-3), np.count_nonzero(relative > 5e-3))
    assert m.share_beyond(0) == m.beyond[0] / e.size
    assert m.zero_mismatch == np.count_nonzero((e == 0) != (f == 0))
    assert m.scale == np.abs(e).max()
    norms = np.linalg.norm(e) * np.linalg.norm(f)
    if norms > 1e-100:
        assert m.cosine == pytest.approx(float(np.clip(e @ f / norms, -1, 1)))
    if np.any(e) and np.any(error):
        assert m.snr == pytest.approx(10 * math.log10((e**2).sum() / (error**2).sum()), abs=1e-6)


@given(pair=PAIRS, percent=st.floats(0, 100))
def test_ulp_percentiles_bound_from_above_within_a_factor_of_two(pair: tuple[Any, Any], percent: float) -> None:
    m = measure(*pair, "Float32")
    ranks = [side.view(np.int32).astype(np.int64) for side in pair]
    ranks = [np.where(rank < 0, -(2**31) - rank, rank) for rank in ranks]
    steps = np.sort(np.abs(ranks[0] - ranks[1]))
    exact = int(steps[max(0, math.ceil(steps.size * percent / 100 - 1e-9) - 1)]) if percent else 0
    given_bound = m.ulp_percentile(percent)
    assert given_bound is not None
    assert np.count_nonzero(steps > given_bound) <= steps.size * (100 - percent) / 100 + 1e-9
    assert given_bound <= max(1, 2 * exact) or exact == 0
    assert m.ulp_percentile(100) == m.max_ulp == steps[-1]


def test_nan_and_infinity_are_left_out_of_means_and_counted() -> None:
    expected = np.array([1.0, np.nan, np.nan, np.inf, np.inf, 0.0, 2.0], np.float32)
    found = np.array([1.5, np.nan, 1.0, np.inf, -np.inf, 1.0, 2.0], np.float32)
    m = measure(expected, found, "Float32")
    assert (m.nonfinite, m.nan_mismatch, m.inf_mismatch, m.zero_mismatch) == (2, 1, 1, 1)
    assert m.sums.count == 3
    assert m.mean_abs == pytest.approx(0.5)
    assert m.mean_rel == pytest.approx(0.25)


def test_no_angle_and_no_signal_without_values() -> None:
    zero, one = np.zeros(4, np.float32), np.ones(4, np.float32)
    assert measure(zero, one, "Float32").cosine is None
    assert measure(zero, one, "Float32").snr is None
    assert measure(one, -one, "Float32").cosine == -1.0
    assert measure(one, one, "Float32").snr == math.inf
    assert measure(np.array([1, np.nan], np.float32), one[:2], "Float32").snr is None
    assert measure(np.zeros((0, 2)), np.zeros((0, 2)), "Float64").mean_abs == 0.0
    assert measure(np.zeros((0, 2)), np.zeros((0, 2)), "Float64").ulp_percentile(50) is None


@pytest.mark.parametrize("dtype", [np.int64, np.bool_, np.uint8])
def test_integers_have_means_too(dtype: Any) -> None:
    expected, found = np.array([1, 0, 1, 1]).astype(dtype), np.array([0, 0, 1, 0]).astype(dtype)
    names: dict[Any, str] = {np.int64: "Int64", np.bool_: "Bool", np.uint8: "UInt8"}
    m = measure(expected, found, names[dtype])
    assert (m.mean_abs, m.rmse, m.zero_mismatch, m.ulp_percentile(50)) == (0.5, math.sqrt(0.5), 2, None)
    assert m.needed is None


def test_complex_numbers_are_measured_by_magnitude() -> None:
    expected = np.array([3 + 4j, 1j], np.complex64)
    found = np.array([3 + 4j, 2j], np.complex64)
    m = measure(expected, found, "Complex64")
    assert (m.mean_abs, m.max_rel, m.scale) == (0.5, 1.0, 5.0)
    assert m.cosine == pytest.approx((25 + 2) / math.sqrt(26 * 29))


def test_blocks_add_up() -> None:
    rng = np.random.default_rng(1)
    expected = rng.standard_normal(3 * BLOCK + 11).astype(np.float32)
    found = (expected + rng.standard_normal(expected.size) * 1e-4).astype(np.float32)
    whole = measure(expected, found, "Float32")
    parts: list[Measurement] = [
        measure(expected[at : at + BLOCK], found[at : at + BLOCK], "Float32") for at in range(0, expected.size, BLOCK)
    ]
    assert whole.max_abs == max(part.max_abs for part in parts)
    assert whole.mean_abs == pytest.approx(sum(part.sums.error for part in parts) / whole.count)
    assert [whole.beyond[0], whole.beyond[1]] == [sum(part.beyond[which] for part in parts) for which in (0, 1)]
    assert whole.needed is not None
    assert whole.needed.every == tuple(
        max(rungs) for rungs in zip(*[p.needed.every for p in parts if p.needed], strict=True)
    )
