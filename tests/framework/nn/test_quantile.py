"""The inverse of the normal distribution is Python's."""

from __future__ import annotations

from statistics import NormalDist

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from harness.framework.nn.quantile import normal_quantiles

SHARES = st.floats(5e-324, 1 - 2.0**-53, exclude_min=False)


@given(st.lists(SHARES | st.floats(0.07, 0.93), max_size=20))
def test_it_is_that_of_python(shares: list[float]) -> None:
    wanted = [NormalDist().inv_cdf(share) for share in shares]
    found = normal_quantiles(np.array(shares, np.float64))
    # A compiler that fuses multiplications and additions gives Python another last bit.
    np.testing.assert_allclose(found, wanted, rtol=1e-13)


def test_long_arrays_are_worked_on_in_parts() -> None:
    shares = (np.arange(200_000) + 0.5) / 200_000
    found = normal_quantiles(shares)
    assert (np.diff(found) > 0).all()
    np.testing.assert_allclose(found, -found[::-1], rtol=1e-6)
