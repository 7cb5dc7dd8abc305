"""Histograms and heat maps: what they count is all there is."""

from __future__ import annotations

import json
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.compare.table import as_json
from harness.report.pictures import BINS, picture

SPECIAL = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1e-40, 3e38, -3e38], np.float32)


@st.composite
def pairs(draw: st.DrawFn) -> tuple[Any, Any]:
    """Two arrays of one shape with some elements in common and some special ones."""
    shape = draw(st.sampled_from([(), (0, 3), (1,), (70,), (2, 5), (40, 3), (2, 33, 3), (3, 1, 2, 130)]))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    expected = np.array(rng.standard_normal(shape), np.float32)
    found = np.where(rng.random(shape) < draw(st.floats(0, 1)), expected, expected + np.float32(1e-5))
    for side in (expected, found):
        places = rng.random(shape) < 0.1
        side[places] = rng.choice(SPECIAL, int(places.sum()))
    return expected, found


@given(pair=pairs())
def test_every_element_is_counted_once(pair: tuple[Any, Any]) -> None:
    expected, found = pair
    drawn = picture(expected, found, "Float32")
    assert sum(drawn["expected"]) == np.isfinite(expected).sum()
    assert sum(drawn["found"]) == np.isfinite(found).sum()
    assert len(drawn["expected"]) == len(drawn["found"]) == BINS
    assert sum(drawn["errors"]) == expected.size
    equal = (expected == found) | (np.isnan(expected) & np.isnan(found))
    assert drawn["errors"][0] == equal.sum()
    json.dumps(as_json(drawn), allow_nan=False)


@given(pair=pairs())
def test_the_map_shows_an_error_exactly_where_there_is_one(pair: tuple[Any, Any]) -> None:
    expected, found = (np.atleast_1d(side) for side in pair)
    drawn = picture(expected, found, "Float32")
    rows, (down, across) = drawn["map"], drawn["cell"]
    flat = [side.reshape(-1, side.shape[-1]) if side.ndim > 1 else side.reshape(1, -1) for side in (expected, found)]
    other = ~((flat[0] == flat[1]) | (np.isnan(flat[0]) & np.isnan(flat[1])))
    assert len(rows) <= 32
    assert all(len(row) <= 64 for row in rows)
    for y, row in enumerate(rows):
        for x, digit in enumerate(row):
            part = other[y * down : (y + 1) * down, x * across : (x + 1) * across]
            assert (digit != "0") == part.any()


def test_nan_against_a_number_is_a_mismatch() -> None:
    drawn = picture(np.array([1.0, 2.0]), np.array([np.nan, 2.0]), "Float64")
    assert drawn["map"] == ["90"]
    assert drawn["errors"][-1] == 1


@pytest.mark.parametrize(("kind", "name"), [(np.bool_, "Bool"), (np.int64, "Int64"), (ml_dtypes.bfloat16, "BFloat16")])
def test_other_dtypes(kind: Any, name: str) -> None:
    drawn = picture(np.array([0, 1, 1]).astype(kind), np.array([0, 0, 1]).astype(kind), name)
    assert drawn["errors"][0] == 2
    assert drawn["statistics"][0]["max"] in (1, True)
