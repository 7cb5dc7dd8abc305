"""Patterns of values made of the expected ones element by element: skipped, zero, sign, factor, offset, NaN."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from harness.explain.patterns.base import Array, Pair, pattern
from harness.words import among


@pattern("skipped")
def skipped(pair: Pair) -> str | None:
    """The output is one of the inputs: the operator did nothing."""
    if not pair.op:
        return None
    for name, array in pair.inputs.items():
        if array.size != pair.found.size or array.dtype != pair.found.dtype:
            continue
        same = np.array_equal(array.reshape(-1), pair.found.reshape(-1))
        if same and np.count_nonzero(array) > 0 and not _is_constant(pair.f):
            return f"it has the bits of its input {name}: nothing was done to it"
    return None


@pattern("NaN source")
def nan_source(pair: Pair) -> str | None:
    """NaN or infinity that no input has."""
    if not pair.is_float or not pair.op:
        return None
    for word, is_it in (("NaN", np.isnan), ("infinite", np.isinf)):
        new = is_it(pair.f) & np.isfinite(pair.e)
        if not new.any() or any(not np.isfinite(a.astype(np.float64)).all() for a in _floats(pair)):
            continue
        rest = np.array_equal(np.where(new, 0, pair.f), np.where(new, 0, pair.e), equal_nan=True)
        if word == "infinite" and not rest:
            return None
        at = list(map(int, np.unravel_index(int(new.argmax()), new.shape)))
        some = among(int(np.count_nonzero(new)), new.size, "element", "are")
        return f"{some} {word} (first at {at}), and no input has one"
    return None


@pattern("zero")
def zero(pair: Pair) -> str | None:
    """Every element is 0."""
    return "every element is 0" if not pair.f.any() and pair.found.size > 1 else None


@pattern("sign")
def sign(pair: Pair) -> str | None:
    """Every element has the other sign."""
    if pair.f.any() and np.array_equal(pair.f, -pair.e, equal_nan=True):
        return "every element has the other sign"
    return None


@pattern("uniform")
def uniform(pair: Pair) -> str | None:
    """All elements are equal on both sides, so a factor and an offset look the same."""
    if pair.found.size < 2 or not pair.finite or not _is_constant(pair.e) or not _is_constant(pair.f):
        return None
    return f"every element is {pair.f.reshape(-1)[0]:.7g}, expected {pair.e.reshape(-1)[0]:.7g}"


@pattern("factor")
def factor(pair: Pair) -> tuple[str, bool] | None:
    """The expected values times a constant."""
    if not pair.finite or not pair.is_float or pair.found.size < 2:
        return None
    nonzero = pair.e != 0
    if np.count_nonzero(nonzero) < 2 or pair.f[~nonzero].any():
        return None
    ratios = pair.f[nonzero] / pair.e[nonzero]
    if _is_constant(np.abs(pair.e[nonzero])) and np.count_nonzero(nonzero) < 4:
        return None
    middle = float(np.median(ratios))
    if not np.isfinite(middle) or middle == 0:
        return None
    for times in (_simple(middle), middle):
        if times is not None and times != 1 and pair.gives(pair.e * times):
            return f"found is expected times {times:.7g}", True
    times = _simple(middle) or middle
    if abs(times - 1) > 1e-4 and pair.nearly(pair.e * times):
        return f"found is expected times {times:.6g}, but for rounding", False
    return None


@pattern("offset")
def offset(pair: Pair) -> tuple[str, bool] | None:
    """The expected values plus a constant, plus or minus one of the inputs, or plus something along one axis."""
    if not pair.finite or not pair.is_float or pair.found.size < 2:
        return None
    difference = pair.f - pair.e
    for name, array in pair.inputs.items():
        if array.dtype.kind not in "fV" or not array.any() or (array.size == 1 and pair.found.size > 1):
            continue
        shaped = _broadcast(array.astype(np.float64), pair.found.shape)
        if shaped is None:
            continue
        for sign_, words in ((-1, "was not added"), (1, "was added twice")):
            if pair.gives(pair.e + sign_ * shaped) or _close(difference, sign_ * shaped, pair):
                return f"the difference is the input {name}, as if it {words}", pair.gives(pair.e + sign_ * shaped)
    if (difference != 0).all():
        mean = float(difference.mean())
        for plus in (_decimal(mean), float(np.median(difference))):
            if plus and pair.gives(pair.e + plus):
                return f"found is expected plus {plus:.7g} everywhere", True
        if _close(difference, np.full_like(difference, mean), pair):
            return f"found is expected plus {mean:.6g} everywhere, but for rounding", False
    return None


def _floats(pair: Pair) -> list[Array]:
    return [array for array in pair.inputs.values() if array.dtype.kind in "fV"]


def _is_constant(values: Array) -> bool:
    return bool(values.size == 0 or (values == values.reshape(-1)[0]).all())


def _simple(number: float) -> float | None:
    """The simple fraction, or short decimal, that ``number`` nearly equals."""
    near = Fraction(number).limit_denominator(4096)
    if near.numerator and abs(near.numerator) <= 4096 and abs(float(near) - number) <= 1e-6 * abs(number):
        return float(near)
    return _decimal(number)


def _decimal(number: float) -> float | None:
    short = float(f"{number:.3g}")
    return short if short and abs(short - number) <= 1e-4 * abs(number) else None


def _broadcast(array: Array, shape: tuple[int, ...]) -> Array | None:
    """``array`` as it is added to ``shape``: by numpy's rule, or as a bias along axis 1."""
    views = [array]
    if array.ndim == 1 and len(shape) > 2:
        views.append(array.reshape(1, -1, *[1] * (len(shape) - 2)))
    for view in views:
        try:
            return np.broadcast_to(view, shape)
        except ValueError:
            continue
    return None


def _close(difference: Array, wanted: Array, pair: Pair) -> bool:
    """Whether a difference equals ``wanted`` up to rounding of both sides, and is larger than rounding."""
    unit = 2.0**-7 if pair.found.dtype.kind == "V" else float(np.finfo(pair.found.dtype).eps)
    size = np.maximum(np.abs(pair.e), np.abs(pair.f))
    rounding = 2 * unit * size
    near = np.abs(difference - wanted) <= rounding
    large = np.abs(wanted) > 16 * rounding
    return bool(near.all() and np.count_nonzero(large) * 2 > large.size)
