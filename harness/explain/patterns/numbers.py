"""Patterns of values made of the expected ones element by element: skipped, zero, sign, factor, offset, NaN."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np

from harness.explain.claim import Held, always, either, no_noise
from harness.explain.numbers import number
from harness.explain.patterns.base import Array, Claim, Pair, pattern
from harness.explain.transformations import broadcast
from harness.words import among

#: digits of a factor or an offset, tried in this order: the first number that gives the run's bits is told
_DIGITS = (3, 7, 9, 17)
#: numerator and denominator of a factor of one number at most
_SMALL = 16


@pattern("skipped")
def skipped(pair: Pair) -> Iterator[Claim]:
    """The output is one of the inputs: the operator did nothing."""
    if not pair.op or _is_constant(pair.f):
        return
    for name, array in pair.inputs.items():
        if array.size == pair.found.size and array.dtype == pair.found.dtype and np.count_nonzero(array) > 0:
            told = f"it has the bits of its input {name}: nothing was done to it"
            close = f"it has the values of its input {name}: nothing was done to it"
            yield Claim("skipped", "take input", {"input": name}, either(told, close))


@pattern("NaN source")
def nan_source(pair: Pair) -> Iterator[Claim]:
    """NaN or infinity that no input has."""
    if not pair.is_float or not pair.op:
        return
    floats = [array for array in pair.inputs.values() if array.dtype.kind in "fV"]
    if any(not np.isfinite(array.astype(np.float64)).all() for array in floats):
        return
    whence = ", and no input has one" if floats and pair.all_inputs else ""
    for word, is_it in (("NaN", np.isnan), ("infinite", np.isinf)):
        new = is_it(pair.f) & pair.changed
        if not new.any():
            continue
        first = list(map(int, np.argwhere(new)[0]))
        new |= is_it(pair.f) & is_it(pair.e)  # of those that were NaN before, the bits may be others
        at = np.argwhere(new)

        def words(held: Held, word: str = word, first: list[int] = first) -> str:
            return f"{among(held.altered, held.count, 'element', 'are')} {word} (first at {first}){whence}"

        yield Claim("NaN source", "put", {"at": at, "value": _put_there(pair.found[new])}, words)


def _put_there(values: Array) -> Any:
    """The common value of elements, or all of them; those of NaN as bytes unless they are the usual ones."""
    usual = np.asarray(np.nan).astype(values.dtype).tobytes()
    each = [value.tobytes() for value in values]
    plain = [float(value) if not np.isnan(float(value)) or raw == usual else raw
             for value, raw in zip(values, each, strict=True)]  # fmt: skip
    return plain[0] if len(set(each)) == 1 else (plain if not any(isinstance(v, bytes) for v in plain) else each)


@pattern("zero")
def zero(pair: Pair) -> Iterator[Claim]:
    """Every element is 0."""
    if pair.found.size < 2 or pair.f[~np.isnan(pair.f)].any() or not (pair.f == 0).any():
        return
    if np.isnan(pair.f).any():
        yield Claim("zero", "multiply", {"times": 0.0}, always("found is expected times 0"))
        return
    yield Claim("zero", "fill", {"value": 0}, either("every element is 0", "every element is 0 or -0"))
    if pair.is_float:
        yield Claim("zero", "fill", {"value": -0.0}, always("every element is -0"))
        yield Claim("zero", "signed zeros", {}, always("every element is 0, with the sign of the expected one"))


@pattern("sign")
def sign(pair: Pair) -> Iterator[Claim]:
    """Every element has the other sign."""
    if not pair.f.any() or pair.found.dtype.kind in "bu":
        return
    told = "every element has the other sign"
    yield Claim("sign", "negate", {"zeros": True}, either(told, f"{told}, but for zeros and NaN"))
    yield Claim("sign", "negate", {"zeros": False}, either(f"{told}, but for zeros", f"{told}, but for zeros and NaN"))


@pattern("uniform")
def uniform(pair: Pair) -> Iterator[Claim]:
    """All elements are equal on both sides, so a factor and an offset look the same."""
    if pair.found.size < 2 or not pair.finite or not _is_constant(pair.e) or not _is_constant(pair.f):
        return
    one, other = (side.reshape(-1)[0] for side in (pair.found, pair.expected))
    words = (number(each, pair.found.dtype).removesuffix(".0") for each in (one, other))
    yield Claim("uniform", "fill", {"value": one}, always("every element is {}, expected {}".format(*words)))


@pattern("factor")
def factor(pair: Pair) -> Iterator[Claim]:
    """The expected values times a constant."""
    if pair.found.size == 1 and pair.found.dtype in (np.float32, np.float64) and pair.finite and pair.e.any():
        yield from _small_factor(pair)
    if pair.found.size < 2 or pair.found.dtype.kind == "b":
        return
    nonzero = pair.both_finite & (pair.e != 0)
    many = np.count_nonzero(nonzero)
    if many < 2 or pair.f[pair.e == 0].any() or (many < 4 and _is_constant(np.abs(pair.e[nonzero]))):
        return
    ratios = pair.f[nonzero] / pair.e[nonzero]
    middle = float(np.median(ratios))
    if not np.isfinite(middle) or middle == 0:
        return
    for times in _numbers(middle, _simple(middle), pair) if pair.is_float else {round(middle)} - {0}:
        if times == 1:
            continue
        text = f"found is expected times {_text(times)}"
        noise = _ulps if abs(times - 1) > 1e-4 else no_noise
        yield Claim("factor", "multiply", {"times": times}, either(text, f"{text}, but for rounding"), noise)


def _small_factor(pair: Pair) -> Iterator[Claim]:
    """Of one number: a fraction of small numbers, which no other change gives by chance."""
    times = Fraction(float(pair.f.reshape(-1)[0] / pair.e.reshape(-1)[0])).limit_denominator(_SMALL)
    if 0 < abs(times.numerator) <= _SMALL and times != 1 and times.denominator <= _SMALL:
        value = float(times)
        text = f"found is expected times {_text(value)}"
        yield Claim("factor", "multiply", {"times": value}, either(text, f"{text}, but for rounding"))


@pattern("offset")
def offset(pair: Pair) -> Iterator[Claim]:
    """The expected values plus a constant, plus or minus one of the inputs, or plus something along one axis."""
    if pair.found.size < 2 or pair.found.dtype.kind == "b":
        return
    if not pair.is_float:
        first = (int(side.reshape(-1)[0]) for side in (pair.found, pair.expected))
        plus = next(first) - next(first)
        yield Claim("offset", "add", {"plus": plus}, always(f"found is expected plus {plus} everywhere"))
        return
    for name, array in pair.inputs.items():
        if array.dtype.kind not in "fV" or not array.any() or (array.size == 1 and pair.found.size > 1):
            continue
        shaped = broadcast(array.astype(np.float64), pair.found.shape)
        for times, words in ((-1, "was not added"), (1, "was added twice")) if shaped is not None else ():
            text = f"the difference is the input {name}, as if it {words}"
            noise = _of_sum if _is_large(shaped, pair) else no_noise
            arguments = {"input": name, "times": times}
            yield Claim("offset", "add input", arguments, either(text, f"{text}, but for rounding"), noise)
    difference = (pair.f - pair.e)[pair.both_finite]
    if np.count_nonzero(difference) * 2 <= difference.size:
        return
    mean, middle = float(difference.mean()), float(np.median(difference))
    noise = _of_sum if _is_large(np.full_like(pair.e, mean), pair) else no_noise
    for plus_ in dict.fromkeys((*_numbers(mean, _decimal(mean), pair), *_numbers(middle, None, pair))):
        text = f"found is expected plus {_text(plus_)} everywhere"
        yield Claim("offset", "add", {"plus": plus_}, either(text, f"{text}, but for rounding"), noise)


# -- words and noise ---------------------------------------------------------------------------------------------------
def _ulps(pair: Pair, made: Array) -> Array:
    return np.asarray(4 * pair.unit * np.abs(made.astype(np.float64)))


def _of_sum(pair: Pair, _made: Array) -> Array:
    return np.asarray(2 * pair.unit * np.maximum(np.abs(pair.e), np.abs(pair.f)))


def _is_large(wanted: Any, pair: Pair) -> bool:
    """Whether most of a difference is larger than rounding, so that it is seen in spite of it."""
    large = np.abs(wanted) > 16 * _of_sum(pair, pair.found)
    return bool(np.count_nonzero(large) * 2 > large.size)


# -- numbers -----------------------------------------------------------------------------------------------------------
def _is_constant(values: Array) -> bool:
    return bool(values.size == 0 or (values == values.reshape(-1)[0]).all())


def _numbers(value: float, simple: float | None, pair: Pair) -> list[float]:
    """Numbers near ``value`` that may be meant: those with few digits first, then what the dtype makes of each."""
    short = [float(f"{value:.{digits}g}") for digits in _DIGITS]
    near = [each for each in short if abs(each - value) <= 1e-4 * abs(value)]
    meant = [each for each in (*near[:-1], simple, *near[-1:]) if each]
    stored = [float(pair.found.dtype.type(each)) for each in meant]
    return [each for each in dict.fromkeys((*meant, *stored)) if each and np.isfinite(each)]


def _text(value: float) -> str:
    """All digits of a number: what was applied is what is told."""
    return repr(value).removesuffix(".0")


def _simple(number: float) -> float | None:
    """The simple fraction, or short decimal, that ``number`` nearly equals."""
    near = Fraction(number).limit_denominator(4096)
    if near.numerator and abs(near.numerator) <= 4096 and abs(float(near) - number) <= 1e-6 * abs(number):
        return float(near)
    return _decimal(number)


def _decimal(number: float) -> float | None:
    short = float(f"{number:.3g}")
    return short if short and abs(short - number) <= 1e-4 * abs(number) else None
