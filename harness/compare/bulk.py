"""How large most of a tensor's elements are: what a tolerance relative to the tensor may be measured by."""

from __future__ import annotations

from typing import Any

import numpy as np

from harness.compare.source import Source

Array = np.ndarray[Any, np.dtype[Any]]

_BLOCK = 65_536
#: Blocks that are looked at; of larger tensors these are spread over the whole.
_BLOCKS = 16
#: A mask is a huge number that both sides have bit for bit (-1e4, -1e9, the lowest of a type): no result is measured by
#: it, however many elements are masked.
_MASK = 2.0**13
_EXPONENTS = 1100


@np.errstate(all="ignore")  # widening a signalling NaN is no error
def bulk_of(expected: Source, found: Source) -> float:
    """The power of two below the median magnitude of the expected elements that are finite and not 0; masks left out.

    Where nothing but masks is there, theirs. 0 where every element is 0.
    """
    counts, masks = np.zeros(2 * _EXPONENTS, np.int64), np.zeros(2 * _EXPONENTS, np.int64)
    step = max(1, -(-expected.size // (_BLOCK * _BLOCKS)))
    for at, (e, f) in enumerate(zip(expected.blocks(_BLOCK), found.blocks(_BLOCK), strict=True)):
        if at % step:
            continue
        size = np.abs(e.astype(np.complex128 if e.dtype.kind == "c" else np.float64, copy=False))
        used = np.isfinite(size) & (size > 0)
        masked = used & (size >= _MASK)
        if masked.any():
            masked &= np.asarray(e == f)
            masks += _histogram(size[masked])
            used &= ~masked
        counts += _histogram(size[used])
    if not counts.any():
        counts = masks
    if not counts.any():
        return 0.0
    place = int(np.searchsorted(np.cumsum(counts), (int(counts.sum()) + 1) // 2))
    return float(np.ldexp(1.0, place - _EXPONENTS - 1))


def _histogram(sizes: Array) -> Array:
    """How many numbers have each exponent: those in ``[2**(k-1), 2**k)`` count at ``k + _EXPONENTS``."""
    return np.bincount(np.frexp(sizes)[1] + _EXPONENTS, minlength=2 * _EXPONENTS)
