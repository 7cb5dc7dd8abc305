"""Patterns of coarser values: a narrower type, a grid of whole numbers, another dropout mask, rounding."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import ml_dtypes
import numpy as np

from harness.explain.claim import Held, always
from harness.explain.patterns.base import Array, Claim, Pair, pattern
from harness.words import among

#: narrower types, with half a unit in their last place relative to 1
NARROW = (
    ("float16", np.dtype(np.float16), 2.0**-11),
    ("bfloat16", np.dtype(ml_dtypes.bfloat16), 2.0**-8),
    ("float8_e4m3fn", np.dtype(ml_dtypes.float8_e4m3fn), 2.0**-4),
    ("float8_e5m2", np.dtype(ml_dtypes.float8_e5m2), 2.0**-3),
)
#: sums whose order may vary
SUMS = (
    "MatMul", "BatchMatMul", "Conv", "Reduce", "BiasAddGrad", "Norm", "Softmax", "Dense", "LSTM", "AddN", "Pool",
    "SumExt", "MeanExt", "Loss", "CrossEntropy", "UnsortedSegmentSum", "CumSum", "Linear", "addmm", "mm", "sum", "mean",
)  # fmt: skip


@pattern("narrower type")
def narrower(pair: Pair) -> Iterator[Claim]:
    """Rounded to a narrower type. It gives no result if values cancel, because then any few bits look narrow."""
    if pair.found.dtype not in (np.dtype(np.float32), np.dtype(np.float64)):
        return
    if len(np.unique(pair.f[pair.f != 0])) < 4:
        return
    for name, kind, unit in NARROW:
        text = f"found is expected rounded to {name}"
        yield Claim("narrower type", "round", {"dtype": name}, always(text))
        held = [np.array_equal(side.astype(kind).astype(side.dtype), side) for side in (pair.expected, pair.found)]
        if held != [False, True] or pair.found.size < 8 or not pair.finite:
            continue
        least = float(ml_dtypes.finfo(kind).smallest_normal)  # type: ignore[no-untyped-call]
        if np.count_nonzero(np.abs(pair.e) >= least) * 2 <= pair.e.size:
            continue
        yield Claim(
            "narrower type", "round normal", {"dtype": name, "least": least},
            partial(_near, name=name), partial(_units, units=4 * unit), 0.9,
        )  # fmt: skip


def _near(held: Held, name: str) -> str:
    some = f"{held.near} of {held.stated} within 4 of its units"
    return f"every value found is one that {name} has, near the expected one ({some})"


@pattern("whole-number grid")
def grid(pair: Pair) -> Iterator[Claim]:
    """Values on an even grid of at most 256 steps: quantised."""
    if not pair.is_float or not pair.finite or pair.found.size < 8:
        return
    for steps, low in ((127, 0.0), (255, float(pair.e.min()))):
        span = float(np.abs(pair.e).max()) if steps == 127 else float(np.ptp(pair.e))
        text = f"found is expected on a grid of {255 if steps == 127 else 256} values: int8"
        where = {"low": low, "step": span / steps}
        yield Claim("whole-number grid", "grid", where, always(text),
                    lambda pair, made: 4 * pair.unit * np.abs(made.astype(np.float64)))  # fmt: skip
    step, bits = _seen(pair)
    if step > 0:
        text = f"every value found lies on a grid of {step:.6g} ({bits}), half a step from the expected one at most"
        yield Claim("whole-number grid", "nothing", {}, always(text), lambda _pair, _made: 0.51 * step)


def _seen(pair: Pair) -> tuple[float, str]:
    """The step of a grid that the found values lie on, and what has so many values; 0 if they lie on none."""
    levels = np.unique(pair.f)
    if not 5 <= len(levels) <= 256 or len(np.unique(pair.e)) <= len(levels):
        return 0.0, ""
    gaps = np.diff(levels)
    steps = np.rint(gaps / gaps.min())
    step = float((levels[-1] - levels[0]) / steps.sum())
    if np.abs(gaps - steps * step).max() > 4 * pair.unit * np.abs(levels).max() or steps.sum() > 256:
        return 0.0, ""
    span = float(np.abs(pair.e).max()) / step
    return step, "int8" if 120 <= span <= 128.5 else f"{int(steps.sum()) + 1} values"


@pattern("another mask")
def mask(pair: Pair) -> Iterator[Claim]:
    """A tensor with other elements dropped than expected; the kept ones agree."""
    if not pair.is_float or "Dropout" not in pair.op:
        return
    e_kept, f_kept = pair.e != 0, pair.f != 0
    if not (e_kept & ~f_kept).any() or not (f_kept & ~e_kept).any():
        return  # a mask that drops some and keeps all the others is no other draw
    alone = int(np.count_nonzero(e_kept ^ f_kept))
    text = f"another dropout mask: {among(alone, pair.e.size, 'element', 'are')} dropped on one side only"
    yield Claim("another mask", "keep where neither is 0", {}, always(text))


@pattern("rounding")
def rounding(pair: Pair) -> Iterator[Claim]:
    """Only rounding: a few units in the last place, for a sum relative to its largest element."""
    if not pair.is_float or not pair.finite:
        return
    unit = 2.0**-8 if pair.found.dtype.kind == "V" else pair.unit
    text = "found is expected within 2 units in the last place: rounding"
    yield Claim("rounding", "nothing", {}, always(text), partial(_units, units=2 * unit))
    if any(word in pair.op for word in SUMS):
        summed = "found is expected but for rounding: a sum in another order, or of another accumulator"
        yield Claim("rounding", "nothing", {}, always(summed), lambda pair, _: 16 * unit * _scale(pair.e))


def _units(pair: Pair, _made: Array, units: float) -> Array:
    return np.asarray(units * np.abs(pair.e))


def _scale(values: Array) -> float:
    return float(np.sqrt(np.mean(values * values))) if values.size else 0.0
