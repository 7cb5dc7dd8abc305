"""How large a tensor's elements are but for a few: what a tolerance relative to the tensor may be measured by."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from harness.compare.source import Source

Array = np.ndarray[Any, np.dtype[Any]]

_BLOCK = 65_536
#: Number of blocks to examine; in larger tensors they are spread over the whole.
_BLOCKS = 16
#: A mask is a huge number that both sides have bit for bit (-1e4, -1e9, the lowest of a type): it never counts as the
#: size of a result, however many elements are masked.
_MASK = 2.0**13
_EXPONENTS = 1100
#: One element, and of many one in so many, may be as large as it likes without excusing the others.
_FEW = 64
#: The largest of normally distributed numbers is some 5 times as large as most, of Laplace's 14 times.
_TAIL = 16
#: Rows of very different size (the gradient of a classifier with thousands of classes) cancel at the size of the large
#: ones; beyond this, what is small is measured by itself.
_SPREAD = 2.0**13


class Bulk(NamedTuple):
    """How large elements are.

    Attributes:
        size: of most.
        reach: how large an element may be and still count: what is larger is one of a few, or of another kind.
    """

    size: float
    reach: float


@np.errstate(all="ignore")  # widening a signalling NaN is no error
def bulk_of(expected: Source, found: Source) -> Bulk:
    """Sizes of the expected elements that are finite and not 0; masks left out.

    ``size`` is the power of two below their median. ``reach`` is 16 times the size of the largest, the largest one (of
    many, the largest 64th) left out; at most 8192 times ``size``. Where nothing but masks is there, those of masks; 0
    where every element is 0.
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
        return Bulk(0.0, 0.0)
    below, number = np.cumsum(counts), int(counts.sum())
    few = 1 + number // _FEW if number > 1 else 0
    middle, top = (int(np.searchsorted(below, at)) - _EXPONENTS for at in ((number + 1) // 2, number - few))
    most = float(np.ldexp(1.0, middle - 1))
    return Bulk(most, min(_TAIL * float(np.ldexp(1.0, top)), _SPREAD * most))


def _histogram(sizes: Array) -> Array:
    """Counts the numbers with each exponent: those in ``[2**(k-1), 2**k)`` count at ``k + _EXPONENTS``."""
    return np.bincount(np.frexp(sizes)[1] + _EXPONENTS, minlength=2 * _EXPONENTS)
