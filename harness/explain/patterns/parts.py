"""Patterns of a part that differs: zeroed channel, border, clipped, flushed, saturated."""

from __future__ import annotations

from collections.abc import Iterator

import ml_dtypes
import numpy as np

from harness.explain.claim import Held, always
from harness.explain.numbers import number
from harness.explain.patterns.base import Claim, Pair, pattern
from harness.words import among, counted

_SHOWN = 4
#: in the names of types that pad
_PADDING = ("conv", "pool", "pad", "fold", "im2col")
#: said of zeros that keep the sign of what was expected
_SIGNED = ", with the sign of the expected one"


@pattern("zeroed channel")
def zeroed_channel(pair: Pair) -> Iterator[Claim]:
    """Whole slices of several elements along one axis are 0, the others are as expected."""
    if pair.e.ndim < 2 or pair.f[pair.changed].any():
        return
    for axis in dict.fromkeys((1, *range(pair.e.ndim))):
        if axis >= pair.e.ndim or pair.e.shape[axis] < 2 or pair.e.size < 2 * pair.e.shape[axis]:
            continue
        others = tuple(each for each in range(pair.e.ndim) if each != axis)
        hit = np.asarray(pair.changed.any(axis=others))
        if not 0 < np.count_nonzero(hit) <= len(hit) / 2:
            continue
        every = [int(each) for each in np.flatnonzero(hit)]
        some = ", ".join(map(str, every[:_SHOWN]))
        some += f" and {len(every) - _SHOWN} more" if len(every) > _SHOWN else ""
        for signed in (False, True):
            with_sign = _SIGNED if signed else ""
            text = f"it is 0{with_sign} at index {some} of axis {axis}, and as expected elsewhere"
            arguments = {"axis": axis, "index": every, "signed": signed}
            yield Claim("zeroed channel", "zero slices", arguments, always(text))


@pattern("flushed")
def flushed(pair: Pair) -> Iterator[Claim]:
    """Small values became 0, all others are as expected."""
    if not pair.is_float or pair.f[pair.changed].any():
        return
    lost = np.abs(pair.e[pair.changed])
    kept = np.abs(pair.e[~pair.changed & (pair.e != 0) & ~np.isnan(pair.e)])
    if lost.size < 2 or not kept.size or not lost.max() < kept.min():
        return
    limit = lost.max()
    shown = number(limit, pair.found.dtype)
    for signed, zeros in ((False, False), (True, False), (False, True)):

        def words(held: Held, with_sign: str = _SIGNED if signed else "") -> str:
            some = counted(held.altered, "element")
            return f"{some} of at most {shown} became 0{with_sign}, all larger ones are as expected"

        yield Claim("flushed", "flush", {"limit": float(limit), "signed": signed, "zeros": zeros}, words)


@pattern("clipped")
def clipped(pair: Pair) -> Iterator[Claim]:
    """Values beyond a limit are clipped to it, or to infinity at the end of the dtype."""
    if not pair.is_float or not np.isfinite(pair.e).all():
        return
    stopped = pair.f[pair.changed]
    if np.isinf(stopped).all():
        yield from _infinite(pair)
        return
    if np.isnan(stopped).any() or len(np.unique(stopped)) > 2 or not _beyond(pair):
        return
    top, low = float(stopped.max()), float(stopped.min())
    for low_, high_ in ((None, top), (low, None), (low, top)):
        if low_ is not None and low_ == high_:
            continue
        name = f" ({_limit(high_ if high_ is not None else low_)})" if _limit(high_ or low_) else ""
        ends = " and ".join(
            number(end, pair.found.dtype).removesuffix(".0") for end in (low_, high_) if end is not None
        )

        def words(held: Held, ends: str = ends, name: str = name) -> str:
            some = counted(held.altered, "element", "stop")
            return f"{some} at {ends}{name} where more is expected, all others are as expected"

        yield Claim("clipped", "clip", {"low": low_, "high": high_}, words)


def _infinite(pair: Pair) -> Iterator[Claim]:
    least = float(np.abs(pair.e[pair.changed]).min())
    shown = number(least, pair.found.dtype).removesuffix(".0")

    def words(held: Held) -> str:
        return f"{counted(held.altered, 'element', 'are')} infinite, all whose expected value is {shown} or more"

    if not pair.changed.all():
        yield Claim("clipped", "overflow", {"limit": least}, words)


@pattern("border only")
def border_only(pair: Pair) -> Iterator[Claim]:
    """Only the edge of the last two axes differs; of an operator that pads, another padding."""
    if pair.e.ndim not in (3, 4) or min(pair.e.shape[-2:]) < 4:
        return
    inner = pair.changed[..., 1:-1, 1:-1]
    apart = np.count_nonzero(pair.changed)
    edge = pair.changed.size - inner.size
    if inner.any() or apart < 4 or apart < edge / 4:
        return
    some = among(int(apart), edge, "element", "differ")
    padding = ": another padding" if any(word in pair.op.lower() for word in _PADDING) else ""
    text = f"only the border of the last two axes differs{padding} ({some} there)"
    yield Claim("border only", "keep inside", {}, always(text))


def _beyond(pair: Pair) -> bool:
    """Whether different values, or three of one value, became the limit, and several values within it stayed."""
    inside, beyond = ~pair.changed, pair.e[pair.changed]
    return bool(np.count_nonzero(inside) >= 2 and (len(np.unique(beyond)) > 1 or len(beyond) > 2))


def _limit(value: float | None) -> str:
    if value is None:
        return ""
    known = {float(np.finfo(np.float16).max): "the largest float16"}
    known[float(ml_dtypes.finfo(ml_dtypes.bfloat16).max)] = "the largest bfloat16"  # type: ignore[no-untyped-call]
    known[float(np.finfo(np.float32).max)] = "the largest float32"
    return known.get(abs(value), "")
