"""The content of a step's events: numbers and histograms."""

from __future__ import annotations

from typing import Any

import numpy as np

from harness.framework.train.summary.messages import EVENTS

Array = np.ndarray[Any, np.dtype[Any]]

#: the most bins, the elements in one on average, and the number of elements above which the most bins are used
MOST_BINS, IN_A_BIN, MANY = 90, 10, 880


def bins_for(count: int) -> int:
    """Number of bins for so many elements (measured)."""
    for limit, bins in ((0, 1), (5, 2), (10, 3)):
        if count <= limit:
            return bins
    return count // IN_A_BIN + 1 if count <= MANY else MOST_BINS


def histogram(array: Array) -> Any:
    """A ``Histogram`` of an array's elements; NaN and infinities are counted apart."""
    message = EVENTS["Histogram"]()
    values = array.reshape(-1)
    message.nan_count = int(np.isnan(values).sum())
    message.pos_inf_count = int(np.isposinf(values).sum())
    message.neg_inf_count = int(np.isneginf(values).sum())
    message.count = values.size
    valid = values[np.isfinite(values)]
    message.max = message.min = message.sum = 0
    if not valid.size:
        return message
    low, high = float(valid.min()), float(valid.max())
    message.min, message.max, message.sum = low, high, float(valid.sum(dtype=np.float64))
    if not low < high:
        low, high = low - 0.5, high + 0.5
    counts, edges = np.histogram(valid, bins=np.linspace(low, high, bins_for(valid.size) + 1, dtype=array.dtype))
    for count, left, right in zip(counts, edges, edges[1:], strict=False):
        message.buckets.add(left=float(left), width=float(right - left), count=int(count))
    return message
