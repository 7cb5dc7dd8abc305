"""Sums of products in float64 from two exact products of matrices and two that need not be exact.

A left factor is cut into two slices of ``_LEFT`` bits and what they leave, a right one into a slice of ``_RIGHT`` bits
and what it leaves: so few bits that a float64 holds every sum of products of slices. By Cauchy and Schwarz no such sum,
in any order and of any part of a row and a column, is larger than the product of their lengths; so slices are measured
by lengths, which leaves them more bits than largest numbers would. What is left is some 2^-31 of the whole, and so is
the error of a BLAS in the other two products.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from math import sqrt
from typing import Any, NamedTuple

import numpy as np

from harness.framework.ops.slices import SLACK, UNIT, joined, two_sum

Array = np.ndarray[Any, np.dtype[Any]]
Tile = tuple[slice, slice, slice]

#: the lengths of slices are sqrt(2) times 2 ** _LEFT and 2 ** _RIGHT of their units at most: together 2 ** 53
_LEFT, _RIGHT = 18, 34
#: products that a BLAS adds up before the sums are added to each other
_CHUNK = 256


class Cut(NamedTuple):
    """A stack of factors.

    Attributes:
        slices: its slices.
        rest: what they leave.
        whole: the factors themselves.
        sizes: lengths of the rows (or columns) of ``rest`` and ``whole``; the axis stays.
    """

    slices: tuple[Array, ...]
    rest: Array
    whole: Array
    sizes: tuple[Array, Array]


def left(x: Array) -> Cut:
    """Cuts matrices (g, m, k)."""
    size = _lengths(x, 2)
    first, rest = _sliced(x, 2, _LEFT, size)
    second, rest = _sliced(rest, 2, _LEFT, _lengths(rest, 2))
    return Cut((first, second), rest, x, (_lengths(rest, 2), size))


def right(x: Array) -> Cut:
    """Cuts matrices (g, k, n)."""
    size = _lengths(x, 1)
    first, rest = _sliced(x, 1, _RIGHT, size)
    return Cut((first,), rest, x, (_lengths(rest, 1), size))


def _sliced(x: Array, axis: int, bits: int, size: Array) -> tuple[Array, Array]:
    """The upper ``bits`` of ``x``, whose lengths along ``axis`` are ``size``, and what is left."""
    room = 1 + sqrt(x.shape[axis]) * 2.0**-_LEFT  # a slice may be longer by half a unit of each number
    power = np.frexp(size * (room / sqrt(2)))[1] - bits
    large = np.ldexp(1.5, power + 52)  # adding it rounds to a multiple of 2 ** power
    part = x + large
    part -= large
    return part, x - part


def _lengths(x: Array, axis: int) -> Array:
    squares = np.einsum("gmk,gmk->gm" if axis == 2 else "gkn,gkn->gn", x, x)
    return np.expand_dims(np.sqrt(squares, out=squares), axis)


class Product:
    """The product of two stacks of matrices, from their pieces along k.

    Args:
        shape: (g, m, n).
    """

    def __init__(self, shape: tuple[int, int, int]) -> None:
        self._total, self._low = np.zeros(shape), np.zeros(shape)
        self._sizes: list[tuple[Array, Array]] = []
        self._longest = self._added = 0

    def add(self, one: Cut, other: Cut, tiles: Iterable[Tile]) -> None:
        """Adds the product of two pieces, tile by tile."""
        length = one.whole.shape[2]
        steps = max(1, round(length / _CHUNK))
        cuts = [slice(length * step // steps, length * (step + 1) // steps) for step in range(steps)]
        for at in tiles:
            rows, columns = at[:2], (at[0], slice(None), at[2])
            total, low = self._total[at], self._low[at]
            stacked = np.concatenate([x[rows] for x in one.slices], 1)
            exact = np.split(np.matmul(stacked, other.slices[0][columns]), len(one.slices), 1)
            if not self._sizes:
                total = exact.pop()
            for product in exact:
                total, lost = two_sum(total, product)
                low += lost
            self._total[at] = total
            for x, y in ((one.rest, other.slices[0]), (one.whole, other.rest)):
                for cut in cuts:
                    low += np.matmul(x[rows][:, :, cut], y[columns][:, cut], out=lost)
        self._sizes.append((np.stack(one.sizes), np.stack(other.sizes)))
        self._longest, self._added = max(self._longest, -(-length // steps)), self._added + 2 * steps + 2

    def tile(self, at: Tile) -> tuple[Array, Array, Array]:
        """The sums of a tile as float64 and a correction, and how far both together may be off.

        Each inexact product, and each addition to the correction, rounds once.
        """
        (rest, whole), (its_rest, its_whole) = self._lengths
        size: Array = rest[at[:2]] * its_whole[at[0], :, at[2]]
        size += whole[at[:2]] * its_rest[at[0], :, at[2]]
        size *= (self._longest + self._added + 8) * UNIT * SLACK
        return joined(self._total[at], self._low[at], size)

    @cached_property
    def _lengths(self) -> list[Array]:
        """Lengths of rows and columns, of what is added with rounding and of the whole.

        What exact products lose when they are added to each other is added with rounding, too, unless nothing else is:
        two slices are the whole then.
        """
        lost = len(self._sizes) * 2 * UNIT
        sides = [np.sqrt(sum(size * size for size in side)) for side in zip(*self._sizes, strict=True)]
        for rest, whole in sides:
            rest += whole * (lost * ((len(self._sizes) > 1) | (rest > 0)))
        return sides
