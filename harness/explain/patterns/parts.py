"""Patterns of a part that differs: zeroed channel, border, clipped, flushed, saturated."""

from __future__ import annotations

import ml_dtypes
import numpy as np

from harness.explain.patterns.base import Pair, pattern
from harness.words import counted

_SHOWN = 4


@pattern("zeroed channel")
def zeroed_channel(pair: Pair) -> str | None:
    """Whole slices of several elements along one axis are 0, the others are as expected."""
    if pair.e.ndim < 2 or pair.f[pair.changed].any():
        return None
    for axis in (1, *range(pair.e.ndim)):
        if axis >= pair.e.ndim or pair.e.shape[axis] < 2 or pair.e.size < 2 * pair.e.shape[axis]:
            continue
        others = tuple(each for each in range(pair.e.ndim) if each != axis)
        hit = np.asarray(pair.changed.any(axis=others))
        whole = ~np.any(np.moveaxis(pair.f, axis, 0)[hit] != 0)
        if whole and 0 < np.count_nonzero(hit) <= len(hit) / 2:
            every = np.flatnonzero(hit)
            some = ", ".join(map(str, every[:_SHOWN]))
            some += f" and {len(every) - _SHOWN} more" if len(every) > _SHOWN else ""
            return f"it is 0 at index {some} of axis {axis}, and as expected elsewhere"
    return None


@pattern("flushed")
def flushed(pair: Pair) -> str | None:
    """Small values became 0, all others are as expected."""
    if not pair.is_float or pair.f[pair.changed].any():
        return None
    lost = np.abs(pair.e[pair.changed])
    kept = np.abs(pair.e[~pair.changed & (pair.e != 0)])
    if lost.size < 2 or not kept.size or lost.max() >= kept.min():
        return None
    return f"{counted(lost.size, 'element')} of at most {lost.max():.6g} became 0, all larger ones are as expected"


@pattern("clipped")
def clipped(pair: Pair) -> str | None:
    """Values beyond a limit are clipped to it, or to infinity at the end of the dtype."""
    if not pair.is_float or not np.isfinite(pair.e).all():
        return None
    stopped = pair.f[pair.changed]
    top, low = float(stopped.max()), float(stopped.min())
    if np.isinf(stopped).all():
        least = float(np.abs(pair.e[pair.changed]).min())
        others = np.abs(pair.e[~pair.changed])
        if others.size and others.max() < least:
            return (
                f"{counted(stopped.size, 'element', 'are')} infinite, all whose expected value is {least:.6g} or more"
            )
        return None
    if len(np.unique(stopped)) > 2:
        return None
    upper, lower = top if (pair.f <= top).all() else None, low if (pair.f >= low).all() else None
    for low_, high_ in ((None, upper), (lower, None), (lower, upper)):
        if (low_ is None and high_ is None) or (low_ is not None and low_ == high_):
            continue
        if pair.gives(np.clip(pair.e, low_, high_)) and _beyond(pair, low_, high_):
            name = f" ({_limit(high_ if high_ is not None else low_)})" if _limit(high_ or low_) else ""
            ends = " and ".join(f"{end:.6g}" for end in (low_, high_) if end is not None)
            told = counted(stopped.size, "element", "stop")
            return f"{told} at {ends}{name} where more is expected, all others are as expected"
    return None


@pattern("border only")
def border_only(pair: Pair) -> tuple[str, bool] | None:
    """Only the edge of the last two axes differs: another padding."""
    if pair.e.ndim not in (3, 4) or min(pair.e.shape[-2:]) < 4:
        return None
    inner = pair.changed[..., 1:-1, 1:-1]
    if inner.any() or np.count_nonzero(pair.changed) < 4:
        return None
    edge = pair.changed.size - inner.size
    if np.count_nonzero(pair.changed) < edge / 4:
        return None
    return "only the border of the last two axes differs: another padding", False


def _beyond(pair: Pair, low: float | None, high: float | None) -> bool:
    """Whether values beyond the limits were expected, and several values within them stayed."""
    inside = ~pair.changed
    return bool(np.count_nonzero(inside) >= 2 and len(np.unique(pair.e[pair.changed])) > 1)


def _limit(value: float | None) -> str:
    if value is None:
        return ""
    known = {float(np.finfo(np.float16).max): "the largest float16"}
    known[float(ml_dtypes.finfo(ml_dtypes.bfloat16).max)] = "the largest bfloat16"  # type: ignore[no-untyped-call]
    known[float(np.finfo(np.float32).max)] = "the largest float32"
    return known.get(abs(value), "")
