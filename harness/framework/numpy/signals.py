"""Signals, polynomials and tables: windows, convolutions, interpolation, gradients, histograms, sets."""

from __future__ import annotations

import math
from typing import Any

import numpy

from harness import dtypes
from harness.errors import SettingError, SettingTypeError, UnsupportedError
from harness.framework import ops as _ops
from harness.framework.numpy.create import asarray
from harness.framework.numpy.promotion import common
from harness.framework.numpy.reductions import cumsum, diff
from harness.framework.numpy.shapes import concatenate, flip
from harness.framework.ops.functions.shape import cast
from harness.framework.tensor import Tensor

#: looks its names up when they are used
ops: Any = _ops

__all__ = [
    "bartlett", "bincount", "blackman", "convolve", "correlate", "digitize", "ediff1d", "gradient", "hamming",
    "hanning", "histogram", "histogram_bin_edges", "in1d", "interp", "intersect1d", "polyadd", "polyder", "polyint",
    "polymul", "polysub", "polyval", "searchsorted", "setdiff1d", "trapz", "unwrap", "vander",
]  # fmt: skip


def _line(x: Any, owner: str) -> Any:
    given = asarray(x)
    if len(given.shape) != 1:
        raise SettingError(f"numpy.{owner}: a tensor of one dimension is needed, got {list(given.shape)}")
    return given


def _float(x: Any) -> Any:
    return cast(x, dtypes.float32)


def _window(M: Any, name: str, weights: Any) -> Any:
    if isinstance(M, bool) or not isinstance(M, int):
        raise SettingTypeError(f"numpy.{name}: M must be an int, got {M!r}")
    if M < 2:
        return Tensor(numpy.ones(max(M, 0), numpy.float32))
    return Tensor(weights(numpy.arange(M) / (M - 1)).astype(numpy.float32))


def bartlett(M: int) -> Any:
    """A triangle of ``M`` elements, 0 at its ends."""
    return _window(M, "bartlett", lambda at: 1 - numpy.abs(2 * at - 1))


def blackman(M: int) -> Any:
    """Blackman's window of ``M`` elements."""
    turn = 2 * numpy.pi
    return _window(M, "blackman", lambda at: 0.42 - 0.5 * numpy.cos(turn * at) + 0.08 * numpy.cos(2 * turn * at))


def hamming(M: int) -> Any:
    """Hamming's window of ``M`` elements."""
    return _window(M, "hamming", lambda at: 0.54 - 0.46 * numpy.cos(2 * numpy.pi * at))


def hanning(M: int) -> Any:
    """Hann's window of ``M`` elements."""
    return _window(M, "hanning", lambda at: 0.5 - 0.5 * numpy.cos(2 * numpy.pi * at))


def convolve(a: Any, v: Any, mode: str = "full") -> Any:
    """The convolution of two lines: ``full``, ``same`` (as long as the longer one) or ``valid``."""
    first, second = _line(a, "convolve"), _line(v, "convolve")
    if mode not in ("full", "same", "valid"):
        raise SettingError(f"numpy.convolve: mode must be 'full', 'same' or 'valid', got {mode!r}")
    dtype = common(first.dtype, second.dtype)
    if first.size < second.size:
        first, second = second, first
    long, short = first.size, second.size
    whole = _float(first).reshape((1, 1, 1, long))
    kernel = flip(_float(second)).reshape((1, 1, 1, short))
    left, right = {"full": (short - 1, short - 1), "same": (short // 2, short - short // 2 - 1), "valid": (0, 0)}[mode]
    if left or right:
        whole = ops.pad(whole, [left, right])
    return cast(ops.conv2d(whole, kernel).reshape((-1,)), dtype)


def _polynomial(p: Any) -> Any:
    given = asarray(p)
    return given.reshape((-1,)) if len(given.shape) < 2 else _line(given, "poly")


def polyadd(a1: Any, a2: Any) -> Any:
    """The sum of two polynomials, highest power first."""
    first, second = _polynomial(a1), _polynomial(a2)
    if first.size < second.size:
        first, second = second, first
    more = first.size - second.size
    return ops.add(first, second) if not more else concatenate((first[:more], ops.add(first[more:], second)))


def polysub(a1: Any, a2: Any) -> Any:
    """The difference of two polynomials."""
    return polyadd(a1, -_polynomial(a2))


def polymul(a1: Any, a2: Any) -> Any:
    """The product of two polynomials."""
    return convolve(_polynomial(a1), _polynomial(a2))


def polyval(p: Any, x: Any) -> Any:
    """The values of a polynomial at ``x``."""
    given, at = _polynomial(p), asarray(x)
    powers = Tensor(numpy.arange(given.size - 1, -1, -1).astype(numpy.float32))
    return ops.sum(given * ops.pow(ops.expand_dims(at, -1), powers), -1)


def polyder(p: Any, m: int = 1) -> Any:
    """The ``m``-th derivative of a polynomial."""
    given = _polynomial(p)
    if m < 0:
        raise SettingError(f"numpy.polyder: m must be at least 0, got {m}")
    if m >= given.size:
        return Tensor(numpy.zeros(0, numpy.float32))
    for _ in range(m):
        given = given[:-1] * Tensor(numpy.arange(given.size - 1, 0, -1).astype(numpy.int32))
    return given


def polyint(p: Any, m: int = 1, k: Any = None) -> Any:
    """The ``m``-th integral of a polynomial, with the constants ``k`` (0)."""
    given = _polynomial(p)
    if m < 0:
        raise SettingError(f"numpy.polyint: m must be at least 0, got {m}")
    constants = [0] * m if k is None else numpy.ravel(k).tolist()
    constants = constants * m if len(constants) == 1 else constants
    for constant in constants[:m]:
        divided = given / Tensor(numpy.arange(given.size, 0, -1).astype(numpy.int32))
        given = concatenate((divided, Tensor(numpy.array([constant], divided.dtype.numpy))))
    return given


def vander(x: Any, N: int | None = None, increasing: bool = False) -> Any:
    """The powers of each element of a line, a row each."""
    given = _line(x, "vander")
    count = N or given.size
    powers = numpy.arange(count) if increasing else numpy.arange(count - 1, -1, -1)
    exponents = Tensor(powers.astype(given.dtype.numpy), given.dtype)
    return ops.pow(ops.expand_dims(given, 1), ops.expand_dims(exponents, 0))


def trapz(y: Any, x: Any = None, dx: Any = 1.0, axis: int = -1) -> Any:
    """The integral along ``axis`` by trapezoids, of points at ``x`` or ``dx`` apart."""
    given = asarray(y)
    given = given if given.dtype.is_floating else _float(given)
    at = axis % len(given.shape)
    count = given.shape[at]
    left = ops.narrow(given, at, 0, count - 1)
    both = left + ops.narrow(given, at, 1, count - 1)
    width: Any = dx
    if x is not None:
        points = asarray(x)
        width = cast(diff(points), given.dtype)
        width = width.reshape((-1,) + (1,) * (len(given.shape) - at - 1)) if len(points.shape) == 1 else width
    return ops.sum(both * width / 2, at)


def gradient(f: Any, *varargs: Any, axis: Any = None, edge_order: int = 1) -> Any:
    """The slopes along ``axis`` (None: each axis), of points at one distance each."""
    given = asarray(f)
    given = given if given.dtype.is_floating else _float(given)
    rank = len(given.shape)
    axes = tuple(range(rank)) if axis is None else (axis,) if isinstance(axis, int) else tuple(axis)
    steps = varargs * len(axes) if len(varargs) == 1 else varargs or (1,) * len(axes)
    if len(steps) != len(axes) or edge_order != 1:
        raise SettingTypeError("numpy.gradient: a distance for each axis, and edge_order 1, are needed")
    found = [_slope(given, step, at % rank) for step, at in zip(steps, axes, strict=True)]
    return found[0] if len(found) == 1 else found


def _slope(x: Any, step: Any, at: int) -> Any:
    count = x.shape[at]
    if count < 2:
        raise SettingError("numpy.gradient: at least 2 elements are needed along each axis")

    def part(start: int, length: int) -> Any:
        return ops.narrow(x, at, start, length)

    inner = [(part(2, count - 2) - part(0, count - 2)) / 2] if count > 2 else []
    ends = part(1, 1) - part(0, 1), part(count - 1, 1) - part(count - 2, 1)
    return ops.cat((ends[0], *inner, ends[1]), at) / step


def unwrap(p: Any, discont: float = math.pi, axis: int = -1) -> Any:
    """Angles without jumps of more than ``discont``."""
    given = asarray(p)
    at = axis % len(given.shape)
    steps = diff(given, axis=at)
    turned = ops.floor_mod(steps + math.pi, 2 * math.pi) - math.pi
    turned = ops.where(ops.logical_and(turned == -math.pi, steps > 0), ops.full_like(turned, math.pi), turned)
    jumps = turned - steps
    jumps = ops.where(ops.abs(steps) < discont, ops.zeros_like(jumps), jumps)
    rest = ops.add(ops.narrow(given, at, 1, given.shape[at] - 1), cumsum(jumps, at))
    return concatenate((ops.narrow(given, at, 0, 1), rest), axis=at)


def searchsorted(a: Any, v: Any, side: str = "left", sorter: Any = None) -> Any:
    """The Int32 places of ``v`` in the ascending line ``a``; after equal ones for ``right``."""
    if side not in ("left", "right"):
        raise SettingError(f"numpy.searchsorted: side must be 'left' or 'right', got {side!r}")
    line = _float(_line(a, "searchsorted"))
    line = line if sorter is None else ops.gather(line, asarray(sorter), 0)
    return cast(ops.searchsorted(line, _float(asarray(v)), right=side == "right"), dtypes.int32)


def digitize(x: Any, bins: Any, right: bool = False) -> Any:
    """The Int32 number of the bin of each element; ``bins`` rise or fall."""
    given, edges = asarray(x), _line(bins, "digitize")
    side = "left" if right else "right"
    rising, falling = searchsorted(edges, given, side), edges.size - searchsorted(flip(edges), given, side)
    return ops.where(edges[0] <= edges[-1], rising, falling)


def interp(x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None) -> Any:
    """The values at ``x`` on straight lines between points; ``left`` and ``right`` outside (the outer values)."""
    at, places, values = asarray(x), _float(_line(xp, "interp")), _float(_line(fp, "interp"))
    if places.size != values.size:
        raise SettingError(f"numpy.interp: {places.size} places have {values.size} values")
    last = places.size - 1
    above = ops.clip(searchsorted(places, at), 0, last)
    below = ops.clip(above - 1, 0, last)
    x0, x1, y0, y1 = (ops.gather(of, where, 0) for of in (places, values) for where in (below, above))
    found = (y0 * (x1 - at) + y1 * (at - x0)) / (x1 - x0)
    found = ops.where(x0 == x1, y0, found)
    ends = (values[0] if left is None else left), (values[last] if right is None else right)
    found = ops.where(at < places[0], ends[0] * ops.ones_like(found), found)
    return ops.where(at > places[last], ends[1] * ops.ones_like(found), found)


def in1d(ar1: Any, ar2: Any, invert: bool = False) -> Any:
    """Whether each element of the first stands in the second (with ``invert``: does not)."""
    first, second = asarray(ar1).reshape((-1, 1)), asarray(ar2).reshape((-1,))
    found = ops.any(ops.equal(first, second), 1)
    return ops.logical_not(found) if invert else found


def _values(x: Any) -> Any:
    """Each value once, in order (outside graphs)."""
    return ops.sort(ops.unique(asarray(x).reshape((-1,)))[0])[0]


def intersect1d(ar1: Any, ar2: Any, assume_unique: bool = False, return_indices: bool = False) -> Any:
    """The values that both have, in order; ``return_indices`` is not supported."""
    if not isinstance(return_indices, bool):
        raise SettingTypeError(f"numpy.intersect1d: return_indices must be a bool, got {type(return_indices).__name__}")
    if return_indices:
        raise UnsupportedError("numpy.intersect1d(return_indices=True) is not supported; give False")
    both = [asarray(x).reshape((-1,)) if assume_unique else _values(x) for x in (ar1, ar2)]
    whole = ops.sort(concatenate(tuple(both)))[0]
    return ops.masked_select(whole[1:], whole[1:] == whole[:-1])


def setdiff1d(ar1: Any, ar2: Any, assume_unique: bool = False) -> Any:
    """The values of the first that the second lacks, in order."""
    first = asarray(ar1).reshape((-1,)) if assume_unique else _values(ar1)
    return ops.masked_select(first, in1d(first, ar2, invert=True))


def ediff1d(ary: Any, to_end: Any = None, to_begin: Any = None) -> Any:
    """The differences of neighbours of the flat tensor, between ``to_begin`` and ``to_end``."""
    if not isinstance(ary, Tensor):
        raise SettingTypeError(f"numpy.ediff1d: a tensor is needed, got {type(ary).__name__}")
    given = ary.reshape((-1,))
    ends = [None if x is None else cast(asarray(x).reshape((-1,)), given.dtype) for x in (to_begin, to_end)]
    return concatenate(tuple(part for part in (ends[0], given[1:] - given[:-1], ends[1]) if part is not None))


def bincount(x: Any, weights: Any = None, minlength: int = 0, length: int | None = None) -> Any:
    """How often each whole number stands in a line (Float32), or the sum of its ``weights``."""
    given = _line(x, "bincount")
    if given.dtype.kind not in "iu":
        raise SettingTypeError(f"numpy.bincount: whole numbers are needed, got {given.dtype}")
    given = ops.clip(given, 0, None)
    if length is None:
        length = int(max(int(given.asnumpy().max(initial=0)), minlength - 1)) + 1
    held = cast(ops.equal(given, Tensor(numpy.arange(length).reshape(-1, 1).astype(numpy.int32))), dtypes.float32)
    return ops.sum(held if weights is None else held * asarray(weights), 1)


def histogram_bin_edges(a: Any, bins: Any = 10, range: Any = None, weights: Any = None) -> Any:
    """The edges of ``bins`` bins of one width between the ends of ``range`` (None: of the tensor), or ``bins``."""
    if not isinstance(bins, int):
        return asarray(bins)
    given = asarray(a).reshape((-1,))
    if range is None:
        low, high = (_float(edge) for edge in (ops.amin(given), ops.amax(given)))
    else:
        low, high = (Tensor(numpy.float32(edge)) for edge in range)
    around = ops.where(low == high, Tensor(numpy.float32(0.5)), Tensor(numpy.float32(0)))
    return ops.linspace(low - around, high + around, bins + 1)


def histogram(a: Any, bins: Any = 10, range: Any = None, weights: Any = None, density: bool = False) -> Any:
    """(how many elements, or which ``weights``, each bin holds; the edges): ``density``: over their integral."""
    given, edges = asarray(a).reshape((-1,)), histogram_bin_edges(a, bins, range, weights)
    places = searchsorted(edges, given, "right")
    places = ops.where(given == edges[-1], ops.full_like(places, edges.size - 1), places)
    heavy = None if weights is None else asarray(weights).reshape((-1,))
    held = bincount(places, heavy, length=edges.size)[1:]
    return (held / diff(edges) / ops.sum(held) if density else held), edges


def correlate(a: Any, v: Any, mode: str = "valid") -> Any:
    """The correlation of two lines: ``full``, ``same`` (as long as the longer one) or ``valid``."""
    if not isinstance(a, (Tensor, list, tuple)) or not isinstance(v, (Tensor, list, tuple)):
        raise SettingTypeError(f"numpy.correlate: lines are needed, got {a!r} and {v!r}")
    first, second = asarray(a), asarray(v)
    if len(first.shape) != 1 or len(second.shape) != 1:
        raise SettingError(f"numpy.correlate: lines are needed, got {first.shape} and {second.shape}")
    if mode not in ("full", "same", "valid"):
        raise SettingError(f"numpy.correlate: mode must be 'full', 'same' or 'valid', got {mode!r}")
    made = convolve(first, ops.flip(second, (0,)), mode)
    return made if made.dtype.kind == "f" else cast(made, dtypes.float32)
