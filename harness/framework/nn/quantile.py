"""The inverse of the normal distribution, for arrays.

Source: Wichura, "Algorithm AS 241: The Percentage Points of the Normal Distribution" (1988), which Python's
``statistics.NormalDist.inv_cdf`` uses too; equal to it bit for bit.
"""

from __future__ import annotations

from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]

#: elements per block, so that intermediate values stay in the processor's cache
_CHUNK = 1 << 16
#: half the width of the part around 0.5 that needs no logarithm
_CENTRE = 0.425
_ABOVE = (
    2.5090809287301226727e3, 3.3430575583588128105e4, 6.7265770927008700853e4, 4.5921953931549871457e4,
    1.3731693765509461125e4, 1.9715909503065514427e3, 1.3314166789178437745e2, 3.3871328727963666080e0,
)  # fmt: skip
_BELOW = (
    5.2264952788528545610e3, 2.8729085735721942674e4, 3.9307895800092710610e4, 2.1213794301586595867e4,
    5.3941960214247511077e3, 6.8718700749205790830e2, 4.2313330701600911252e1, 1.0,
)  # fmt: skip


def normal_quantiles(shares: Array) -> Array:
    """The quantiles of the standard normal distribution for these shares (float64 in (0, 1), one dimension)."""
    made = np.empty(len(shares))
    for start in range(0, len(shares), _CHUNK):
        made[start : start + _CHUNK] = _quantiles(shares[start : start + _CHUNK])
    return made


def _quantiles(shares: Array) -> Array:
    from statistics import NormalDist  # brings fractions and decimals, which few programs need

    q = shares - 0.5
    r = 0.180625 - q * q  # _CENTRE squared
    made = np.asarray(_polynomial(_ABOVE, r) * q / _polynomial(_BELOW, r))
    tails = np.flatnonzero(np.abs(q) > _CENTRE)
    # numpy's logarithm may differ in the last bit from one processor to the next; the C library's does not.
    inverse = NormalDist().inv_cdf
    made[tails] = [inverse(share) for share in shares[tails].tolist()]
    return made


def _polynomial(factors: tuple[float, ...], r: Array) -> Array:
    total = factors[0] * r + factors[1]
    for factor in factors[2:]:
        total = total * r + factor
    return np.asarray(total)
