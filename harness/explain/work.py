"""How much an explanation may compute: counted in elements, not timed, so that a busy machine gives the same answer."""

from __future__ import annotations

import re
from collections.abc import Iterable
from math import isqrt, prod

import numpy as np

from harness.explain.replay import Setting
from harness.records import Record

#: Calling an operator counts as so many elements, whatever its size.
CALL = 1 << 16
#: So many products of a sum of products count as one element.
_PRODUCTS = 16
_MULTIPLIES = re.compile("matmul|mm|conv|gemm|dot|dense|linear|einsum|attention|lstm|gru|rnn", re.IGNORECASE)


class Work:
    """What is left of a number of elements.

    Args:
        most: the number.
    """

    def __init__(self, most: int) -> None:
        self._left = most

    def admits(self, elements: int) -> bool:
        """Whether anything is left; takes ``elements`` of it then."""
        if self._left <= 0:
            return False
        self._left -= elements
        return True


def of_setting(given: Setting) -> int:
    """What computing an operator counts: its inputs, and the products of the two largest, if its type multiplies
    matrices."""
    sizes = sorted(value.size for value in given.values.values() if isinstance(value, np.ndarray))
    multiplies = len(sizes) > 1 and _MULTIPLIES.search(given.statement.op) is not None
    # m k n, of m x k by k x n, if all three are alike; more for vectors, which are small
    products = isqrt(sizes[-1] * sizes[-2]) * isqrt(sizes[-1]) if multiplies else 0
    return CALL + sum(sizes) + products // _PRODUCTS


def of_records(records: Iterable[Record]) -> int:
    """What computing an operator counts of which these are the slots."""
    return CALL + sum(prod(record.shape) for record in records)
