"""Reductions over the ranks of a group: exact and rounded once, so that no order changes a bit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from harness import dtypes
from harness.dtypes import DType
from harness.framework.ops import exact, numerics
from harness.framework.ops.rounding import finish

Array = np.ndarray[Any, np.dtype[Any]]

#: how a collective combines tensors
REDUCTIONS = ("sum", "max", "min", "prod")


def reduced(parts: Sequence[Array], op: str, dtype: DType) -> Array:
    """Combines tensors of one shape and dtype.

    Args:
        parts: those of the ranks, in the group's order.
        op: one of ``REDUCTIONS``; bools are added as in a set.
        dtype: theirs.

    Returns:
        Sums of floating numbers are rounded once from their exact value; products are multiplied in long double in the
        group's order and rounded once; integers wrap.
    """
    if len(parts) == 1:
        return parts[0]
    with np.errstate(all="ignore"):
        if op in ("max", "min"):
            return _extreme(parts, op)
        if dtype.kind == "b":
            return np.asarray((np.any if op == "sum" else np.all)(np.stack(parts), axis=0))
        if dtype.kind in "iu":
            combine = np.add if op == "sum" else np.multiply
            return np.asarray(combine.reduce(np.stack(parts), axis=0, dtype=parts[0].dtype))
        if op == "prod":
            wide = np.clongdouble if dtype.kind == "c" else np.longdouble
            return numerics.one_nan(finish(_product([part.astype(wide) for part in parts]), dtype))
        if dtype.kind == "c":
            out = np.empty(parts[0].shape, parts[0].dtype)
            for name in ("real", "imag"):
                halves = [getattr(part, name).astype(np.float64) for part in parts]
                setattr(out, name, _sum(halves, dtypes.float32 if dtype is dtypes.complex64 else dtypes.float64))
            return out
        return _sum([numerics.wide(part) for part in parts], dtype)


def _extreme(parts: Sequence[Array], op: str) -> Array:
    combine = np.maximum if op == "max" else np.minimum
    out = parts[0]
    for part in parts[1:]:
        out = combine(out, part)
    return out


def _product(parts: Sequence[Array]) -> Array:
    out = parts[0]
    for part in parts[1:]:
        out = out * part
    return out


def _sum(parts: Sequence[Array], dtype: DType) -> Array:
    """The sum of float64 tensors, rounded once from its exact value."""
    total = parts[0]
    is_open = np.zeros(total.shape, bool)
    for part in parts[1:]:
        added = total + part
        back = added - total
        lost = (total - (added - back)) + (part - back)
        is_open |= lost != 0
        total = added
    is_open |= ~np.isfinite(total)
    for part in parts:
        is_open &= np.isfinite(part)
    out = finish(total, dtype)
    if is_open.any():
        rows = np.stack([np.asarray(part[is_open]) for part in parts], axis=1)
        sums = [_exact(row) for row in rows]
        near, rest = (np.array(each) for each in zip(*sums, strict=True))
        out[is_open] = exact.rounded(near, rest, dtype)
    return numerics.one_nan(out)


def _exact(row: Array) -> tuple[float, float]:
    try:
        return exact.of_terms(row.tolist())
    except OverflowError:  # on the way: the sum itself may be in range
        return exact.of_anything(row, np.ones_like(row))
