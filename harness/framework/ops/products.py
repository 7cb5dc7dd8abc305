"""Sums of products, each rounded once from its exact value. A BLAS does the work, but the bits do not depend on it.

A float64 product of a BLAS, whatever its order, is within a bound of the exact one. Where the two ends of that bound
round to the same number of the result's dtype, that is the exact sum rounded once. Open sums are computed again from
slices whose products a float64 holds without rounding (Ozaki, Ogita, Oishi, Rump, Numerical Algorithms 59, 2012), with
a much smaller bound, and the last few one by one (``exact``). Every way gives the correctly rounded sum, so the bits do
not depend on the way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from math import ceil, log2
from typing import Any

import numpy as np

from harness import dtypes
from harness.dtypes import DType
from harness.framework.ops import cuts, exact
from harness.framework.ops.rounding import finish, finish_into
from harness.framework.ops.slices import SLACK, UNIT, joined, slices, two_sum
from harness.freed import keep_freed_memory

keep_freed_memory()  # each product makes a dozen arrays of one size

Array = np.ndarray[Any, np.dtype[Any]]
Pieces = Callable[[], Iterable[tuple[Array, Array]]]
Terms = Callable[[Array], tuple[Array, Array]]
Kept = dict[int, cuts.Cut]
Factors = list[tuple[Array, Array]]
Single = Callable[[Array, Array], tuple[float, float]]

#: slices of each factor, if the plain product left too much open; if a float64 is wanted
_DEPTHS, _WIDE_DEPTHS = (1, 3), (2, 4)
#: up to so many open sums, or this part of all, are computed one by one
_FEW, _PART = 16, 0.004
#: products that a BLAS adds up before the sums are added to each other
_PIECE = 512
#: ``Sums`` admits numbers up to this size, and down to its reciprocal
_LARGEST = 2.0**250
#: a number between 2 ** -_NORMAL and 2 ** _NORMAL is a normal one, and so are its neighbours
_NORMAL = 1000
#: the possible loss of a product of two numbers below 1 at the lower end of the range
_LOST = 2.0**-1060
#: elements looked at together
_CACHED = 1 << 16
#: products checked for every sum of 0, before those that may be -0 are selected
_LOOKED_AT = 6
#: rows of a tile at most
_TILE = 256


@dataclass(slots=True)
class Sums:
    """Two stacks of matrices (g, m, k) and (g, k, n) to be multiplied: finite float64, between 2**-250 and 2**250 or 0.

    Attributes:
        shape: (g, m, n).
        pieces: gives them cut along k: (g, m, part) and (g, part, n), float64.
        terms: the factors of some sums, at places (count, 3) in g, m and n: two arrays (count, k) of float64.
        length: k.
        single: sums one element exactly (a function of ``exact``); says what is known of the factors.
        kept: keeps the pieces of the right factor, cut, for another product with it; None keeps nothing.
    """

    shape: tuple[int, int, int]
    pieces: Pieces
    terms: Terms
    length: int
    single: Single = exact.of_exact_products
    kept: Kept | None = None


def of_any(a: Array, b: Array, dtype: DType | None) -> Array:
    """``a @ b`` of finite float64 (g, m, k) and (g, k, n), rounded once to ``dtype`` (None: float64)."""
    if is_safe(a) and is_safe(b):
        return of_matrices(a, b, dtype, exact.of_products)
    return _of_scaled(a, b, dtype or dtypes.float64)


def of_matrices(
    a: Array, b: Array, dtype: DType | None, single: Single, signed: bool = True, kept: Kept | None = None
) -> Array:
    """As ``of_any`` for matrices that ``Sums`` admits; without ``signed`` a sum of 0 is always +0.

    Args:
        kept: see ``Sums``; a stack of one matrix.
    """
    sums = sums_of(a, b, dtype, single, kept)
    out = round_once(sums, dtype or dtypes.float64)
    return with_zero_signs(sums, out) if signed else out


def sums_of(a: Array, b: Array, dtype: DType | None, single: Single, kept: Kept | None = None) -> Sums:
    """The result of ``of_matrices``."""
    length = a.shape[2]
    count = max(1, round(length / (_PIECE if dtype and dtype is not dtypes.float64 else 4 * _PIECE)))
    cuts = [slice(length * i // count, length * (i + 1) // count) for i in range(count if length else 0)]
    return Sums(
        (len(a), a.shape[1], b.shape[2]),
        lambda: ((a[:, :, cut], b[:, cut]) for cut in cuts),
        _terms_of(a, b),
        length,
        single,
        kept,
    )


def _terms_of(a: Array, b: Array) -> Terms:
    return lambda at: (a[at[:, 0], at[:, 1]], b[at[:, 0], :, at[:, 2]])


def is_safe(x: Array) -> bool:
    """Whether ``Sums`` admits it: no product, nor part of a product, leaves the range of normal numbers."""
    size = np.abs(x)
    if size.max(initial=0) > _LARGEST:
        return False
    size[size == 0] = 1
    return bool(size.min(initial=1) >= 1 / _LARGEST)


def _of_scaled(a: Array, b: Array, dtype: DType) -> Array:
    """``of_any`` with rows and columns scaled to a size near 1."""
    rows = np.frexp(np.abs(a).max(2, keepdims=True, initial=0))[1]
    columns = np.frexp(np.abs(b).max(1, keepdims=True, initial=0))[1]
    x, y = np.ldexp(a, -rows), np.ldexp(b, -columns)
    scaled = Sums((len(a), a.shape[1], b.shape[2]), lambda: [(x, y)], _terms_of(a, b), a.shape[2])
    near, rest, bound = joined(*_sliced(scaled, np.arange(len(a)), 1))
    row, column = x.any(2, keepdims=True), y.any(1, keepdims=True)
    bound = np.where(row & column, bound + (a.shape[2] + 1) * _LOST, 0)  # the loss of scaling and of small products
    out, is_open = settled_sliced(near, rest, bound, dtypes.float64)
    if dtype is not dtypes.float64:
        is_open |= (bound > 0) | (rest != 0)
    power = rows + columns
    is_open |= (out != 0) & (np.abs(np.frexp(out)[1] + power) > _NORMAL)
    out = finish(np.ldexp(out, power), dtype)
    whole = Sums(scaled.shape, lambda: [(a, b)], scaled.terms, scaled.length, exact.of_anything)
    if is_open.any():
        out[is_open] = one_by_one(whole.single, *whole.terms(places_of(is_open)), dtype)
    return with_zero_signs(whole, out)


def round_once(sums: Sums, dtype: DType) -> Array:
    """The sums (g, m, n) in ``dtype`` (floating, real), each the exact one rounded to nearest, ties to even.

    A sum of 0 is +0, unless each of its products is -0.
    """
    if dtype is dtypes.float64:
        out, is_open = _cut(sums)
    else:
        out, is_open = _settled(*_plain(sums), dtype)
        _close_empty(sums, out, is_open)
    for depth in _WIDE_DEPTHS if dtype is dtypes.float64 else _DEPTHS:
        if np.count_nonzero(is_open) <= (0 if is_open.all() else at_most(is_open.size)):
            break
        at = _matrices_of(is_open)
        again, still = settled_sliced(*joined(*_sliced(sums, at, depth)), dtype)
        if is_open.all():
            out, is_open = again, still
            continue
        out[at] = np.where(is_open[at], again, out[at])
        is_open[at] &= still
    if not is_open.any():
        return out
    places = places_of(is_open)
    step = max(1, _CACHED // max(1, sums.length))
    for start in range(0, len(places), step):
        part = places[start : start + step]
        out[tuple(part.T)] = few(sums, part, dtype)
    return out


def _cut(sums: Sums) -> tuple[Array, Array]:
    """The sums in float64 by ``cuts``, and the places that its bound leaves open."""
    if not sums.length:
        return np.zeros(sums.shape), np.zeros(sums.shape, bool)
    product = cuts.Product(sums.shape)
    for count, (a, b) in enumerate(sums.pieces()):
        other = (sums.kept or {}).get(count) or cuts.right(b)
        if sums.kept is not None:
            sums.kept[count] = other
        product.add(cuts.left(a), other, _tiles(sums.shape))
    out, is_open = np.empty(sums.shape), np.empty(sums.shape, bool)
    for at in _tiles(sums.shape):
        out[at], is_open[at] = settled_sliced(*product.tile(at), dtypes.float64)
    return out, is_open


def _matrices_of(marked: Array) -> Array:
    """Which matrices of ``marked`` (g, m, n) have a true element."""
    return np.flatnonzero(marked.reshape(len(marked), -1).any(1))


def places_of(marked: Array) -> Array:
    """Where ``marked`` (g, m, n) is true: (count, 3), as ``numpy.argwhere``, which takes long for many axes."""
    return np.stack(np.unravel_index(np.flatnonzero(marked), marked.shape), 1)


def at_most(count: int) -> float:
    """How many of ``count`` sums count as a few."""
    return max(_FEW, _PART * count)


def _close_empty(sums: Sums, out: Array, is_open: Array) -> None:
    """Settles sums whose products are all 0. No bound finds them; the number of other products does."""
    if np.count_nonzero(is_open) <= at_most(is_open.size):
        return
    at = _matrices_of(is_open)
    count = np.zeros((len(at), *sums.shape[1:]), np.float32)
    for a, b in sums.pieces():  # a sum of numbers above 0 is above 0, in any order and however rounded
        count += np.matmul((a[at] != 0).astype(np.float32), (b[at] != 0).astype(np.float32))
    empty = is_open[at] & (count == 0)
    out[at] = np.where(empty, out.dtype.type(0), out[at])
    is_open[at] &= ~empty


def few(sums: Sums, places: Array, dtype: DType) -> Array:
    """The sums at ``places`` (count, 3): summed with the rounding error of each addition, and one by one if that is not
    enough."""
    x, y = sums.terms(places)
    if sums.single is exact.of_anything or not sums.length:
        return one_by_one(sums.single, x, y, dtype)
    terms = x * y
    below = exact.lost(x, y, terms) if sums.single is exact.of_products else None
    total, low, size = _added(terms, below)
    out, is_open = settled_sliced(*joined(total, low, size * ((4 * x.shape[1] + 64) * UNIT)), dtype)
    out, is_open = out.reshape(-1), is_open.reshape(-1)
    if is_open.any():
        out[is_open] = one_by_one(sums.single, x[is_open], y[is_open], dtype)
    return out


def _added(terms: Array, below: Array | None) -> tuple[Array, Array, Array]:
    """Sums over the last axis of (count, k): float64, a correction, and the size of what the correction is made of;
    each (1, count, 1)."""
    low = np.zeros(len(terms)) if below is None else below.sum(1)
    size = np.zeros(len(terms)) if below is None else np.abs(below).sum(1)
    while terms.shape[1] > 1:
        half = terms.shape[1] // 2
        added, rest = two_sum(terms[:, :half], terms[:, half : 2 * half])
        low += rest.sum(1)
        size += np.abs(rest).sum(1)
        terms = added if terms.shape[1] == 2 * half else np.concatenate([added, terms[:, 2 * half :]], 1)
    return terms.reshape(1, -1, 1), low.reshape(1, -1, 1), size.reshape(1, -1, 1)


def one_by_one(single: Single, x: Array, y: Array, dtype: DType) -> Array:
    """Sums of the products of ``x`` and ``y`` (count, k), each by itself."""
    given = np.array([single(*row) for row in zip(x, y, strict=True)], np.float64).reshape(-1, 2)
    return exact.rounded(given[:, 0].copy(), given[:, 1], dtype)


def with_zero_signs(sums: Sums, out: Array) -> Array:
    """``out`` with -0 where each of the products (one at least) is -0, as a sum in any order has it."""
    is_minus = out == 0
    count = 0
    at: tuple[Array, ...] | None = None
    for a, b in sums.pieces():
        for i in range(a.shape[2]):
            count += 1
            if at is None:  # all together while there are many
                if not is_minus.any():
                    return out
                left, right = a[:, :, i, None], b[:, i, None]
                is_minus &= ((left == 0) | (right == 0)) & (np.signbit(left) != np.signbit(right))
                if count == _LOOKED_AT:
                    at = tuple(places_of(is_minus).T)
                continue
            left, right = a[:, :, i][at[0], at[1]], b[:, i][at[0], at[2]]
            keep = ((left == 0) | (right == 0)) & (np.signbit(left) != np.signbit(right))
            at = tuple(axis[keep] for axis in at)
            if not len(at[0]):
                return out
    if count:
        out[is_minus if at is None else at] = np.negative(np.zeros((), out.dtype))
    return out


def norms(a: Array, b: Array) -> tuple[Array, Array]:
    """Squared lengths of the rows of ``a`` (g, m, k) and the columns of ``b`` (g, k, n): (g, m, 1) and (g, 1, n)."""
    return np.einsum("gmk,gmk->gm", a, a)[:, :, None], np.einsum("gkn,gkn->gn", b, b)[:, None, :]


def _plain(sums: Sums) -> tuple[Array, Array, Array]:
    """A BLAS's products, and two vectors whose product bounds how far they may be off: a sum of n products in any
    order is off by n units of the sum of their sizes at most, which Cauchy and Schwarz bound by the lengths of row
    and column."""
    total, rows, columns = np.zeros(sums.shape), np.zeros((1, 1, 1)), np.zeros((1, 1, 1))
    longest = count = 0
    for a, b in sums.pieces():
        row, column = norms(a, b)
        rows, columns = rows + row, columns + column
        if count:
            total += np.matmul(a, b)
        else:
            total = np.matmul(a, b)
        longest, count = max(longest, a.shape[2]), count + 1
    units = (longest + count + 4) * UNIT * SLACK
    return total, np.sqrt(rows) * units, np.sqrt(columns)


def _settled(total: Array, row: Array, column: Array, dtype: DType) -> tuple[Array, Array]:
    """The rounded ``total`` (g, m, n), and the places where an error of ``row * column`` could change it."""
    out = np.empty(total.shape, dtype.numpy)
    is_open = np.empty(total.shape, bool)
    bits = f"u{dtype.itemsize}"
    for part in _parts(total.shape):
        near = total[part]
        bound = row[part if row.shape[1] > 1 else part[:1]] * column[part[:1] if column.shape[1] == 1 else part]
        low, high = finish(near - bound, dtype), out[part]
        finish_into(high, near + bound)
        np.not_equal(low.view(bits), high.view(bits), out=is_open[part])
    return out, is_open


def _parts(shape: tuple[int, ...]) -> Iterable[tuple[slice, slice]]:
    """How many matrices and rows fit into a processor's cache."""
    g, m, n = shape
    if m * n <= _CACHED:
        step = max(1, _CACHED // max(1, m * n))
        return [(slice(at, at + step), slice(0, m)) for at in range(0, g, step)]
    step = max(1, _CACHED // n)
    return [(slice(i, i + 1), slice(at, at + step)) for i in range(g) for at in range(0, m, step)]


def _tiles(shape: tuple[int, ...]) -> Iterable[tuple[slice, slice, slice]]:
    """As ``_parts``, cut along the columns as well where the rows are few."""
    columns = max(_CACHED // max(1, min(shape[1], _TILE)), 1)
    for matrices, rows in _parts((shape[0], shape[1], min(shape[2], columns))):
        for at in range(0, shape[2], columns):
            yield matrices, rows, slice(at, at + columns)


def _sliced(sums: Sums, at: Array, depth: int) -> tuple[Array, Array, Array]:
    """The sums of the stack's matrices ``at`` as float64 and a correction, and how far both together may be off."""
    shape = (len(at), *sums.shape[1:])
    total, low = np.zeros(shape), np.zeros(shape)
    rows, columns = np.zeros((1, 1, 1)), np.zeros((1, 1, 1))
    longest = max((a.shape[2] for a, _b in sums.pieces()), default=1)
    bits = (53 - ceil(log2(max(1, longest)))) // 2
    count, is_exact = 0, True
    for a, b in sums.pieces():
        a, b, count = _those(a, at), _those(b, at), count + 1
        parts, lefts = slices(a, 2, bits, depth)
        others, rights = slices(b, 1, bits, depth)
        whole = [(parts[p], others[q]) for p in range(depth) for q in range(depth - p)]
        cut = [*((parts[p], rights[depth - p]) for p in range(depth)), (lefts[depth], b)]
        for p, (x, y) in enumerate(cut):
            row, column = norms(x, y)
            row, column = row * 4.0 ** (bits * p), column * 4.0 ** (bits * (depth - p))  # both sides of one size
            rows, columns = rows + row, columns + column
        cut = [(x, y) for x, y in cut if x.any() and y.any()]
        for part in _tiles(shape):
            is_exact &= _add_products(total, low, part, whole, cut)
    reach = np.sqrt(rows) * np.sqrt(columns) * (2.0 ** (-bits * depth) * (longest + 4 * count * (depth + 1)) * UNIT)
    if not is_exact:
        everything = [norms(_those(a, at), _those(b, at)) for a, b in sums.pieces()]
        row, column = (np.sqrt(sum(side[1:], side[0])) for side in zip(*everything, strict=True))
        reach = reach + row * column * (count * (depth + 1) ** 2 * UNIT) ** 2
    return total, low, reach * SLACK


def _those(stack: Array, at: Array) -> Array:
    """The matrices ``at`` of a stack; no copy of all."""
    return stack if len(at) == len(stack) else stack[at]


def _add_products(total: Array, low: Array, at: tuple[slice, slice, slice], whole: Factors, cut: Factors) -> bool:
    """Adds products to a tile ``at`` of a sum and its correction; whether nothing of ``whole`` was lost, whose
    products are exact."""
    is_exact = True
    high, rest, left, right = total[at], low[at], at[:2], (at[0], slice(None), at[2])
    for x, y in whole:
        high, error = two_sum(high, np.matmul(x[left], y[right]))
        if not is_exact or cut:
            rest += error
        elif error.any():
            rest, lost = two_sum(rest, error)
            is_exact = not lost.any()
    for x, y in cut:
        rest += np.matmul(x[left], y[right])
    total[at], low[at] = high, rest
    return is_exact and not cut


def settled_sliced(near: Array, rest: Array, bound: Array, dtype: DType) -> tuple[Array, Array]:
    """As ``_settled``, for sums with a correction."""
    if dtype is dtypes.float64:
        down, up = near + (rest - bound), near + (rest + bound)
        return up, down.view(np.int64) != up.view(np.int64)
    is_exact = (bound == 0) & (rest == 0)
    bound = np.where(is_exact, 0, bound + np.abs(rest) + np.abs(near) * (4 * UNIT))
    return _settled(near, bound, np.ones((1, 1, 1)), dtype)
