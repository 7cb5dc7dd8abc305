"""Patterns of coarser values: a narrower type, a grid of whole numbers, another dropout mask, rounding."""

from __future__ import annotations

import ml_dtypes
import numpy as np

from harness.explain.patterns.base import Array, Pair, pattern
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
def narrower(pair: Pair) -> tuple[str, bool] | None:
    """Rounded to a narrower type. It gives no result if values cancel, because then any few bits look narrow."""
    if pair.found.dtype not in (np.dtype(np.float32), np.dtype(np.float64)) or not pair.finite:
        return None
    several = len(np.unique(pair.f[pair.f != 0])) >= 4
    for name, kind, unit in NARROW if several else ():
        if pair.gives(pair.e.astype(np.float32).astype(kind).astype(np.float64)):
            return f"found is expected rounded to {name}", True
        held = [
            np.array_equal(side.astype(np.float32).astype(kind).astype(np.float64), side) for side in (pair.e, pair.f)
        ]
        if held != [False, True] or pair.found.size < 8:
            continue
        normal = np.abs(pair.e) >= float(ml_dtypes.finfo(kind).smallest_normal)  # type: ignore[no-untyped-call]
        error = np.abs(pair.f - pair.e)[normal] / np.abs(pair.e)[normal]
        if error.size * 2 > pair.e.size and np.quantile(error, 0.9) <= 4 * unit:
            return f"every value found is one that {name} has, near the expected one", False
    return None


@pattern("whole-number grid")
def grid(pair: Pair) -> tuple[str, bool] | None:
    """Values on an even grid of at most 256 steps: quantised."""
    if not pair.is_float or not pair.finite or pair.found.size < 8:
        return None
    for levels_, low in ((127.0, 0.0), (255.0, float(pair.e.min()))):
        span = float(np.abs(pair.e).max()) if levels_ == 127.0 else float(np.ptp(pair.e))
        made = np.rint((pair.e - low) / (span / levels_)) * (span / levels_) + low if span else pair.e
        if pair.gives(made) or pair.nearly(made):
            words = f"found is expected on a grid of {int(levels_) * (2 if levels_ == 127 else 1) + 1} values: int8"
            return words, pair.gives(made)
    levels = np.unique(pair.f)
    if not 3 <= len(levels) <= 256 or len(np.unique(pair.e)) <= len(levels):
        return None
    gaps = np.diff(levels)
    step = float(gaps.min())
    if step <= 0:
        return None
    steps = np.rint(gaps / step)
    step = float((levels[-1] - levels[0]) / steps.sum())
    unit = 2.0**-7 if pair.found.dtype.kind == "V" else float(np.finfo(pair.found.dtype).eps)
    if (
        np.abs(gaps - steps * step).max() > 4 * unit * np.abs(levels).max()
        or np.abs(pair.f - pair.e).max() > 0.51 * step
    ):
        return None
    span = float(np.abs(pair.e).max()) / step
    if steps.sum() > 256 or len(levels) < 5:
        return None
    bits = "int8" if 120 <= span <= 128.5 else f"{int(steps.sum()) + 1} values"
    return f"every value found lies on a grid of {step:.6g} ({bits}), half a step from the expected one at most", False


@pattern("another mask")
def mask(pair: Pair) -> tuple[str, bool] | None:
    """A tensor with other elements dropped than expected; the kept ones agree."""
    if not pair.is_float or "Dropout" not in pair.op:
        return None
    e_kept, f_kept = pair.e != 0, pair.f != 0
    both = e_kept & f_kept
    if not (e_kept ^ f_kept).any() or not both.any() or not np.array_equal(pair.e[both], pair.f[both]):
        return None
    if not (e_kept & ~f_kept).any() or not (f_kept & ~e_kept).any():
        return None  # a mask that drops some and keeps all the others is no other draw
    alone = int(np.count_nonzero(e_kept ^ f_kept))
    return f"another dropout mask: {among(alone, pair.e.size, 'element', 'are')} dropped on one side only", False


@pattern("rounding")
def rounding(pair: Pair) -> tuple[str, bool] | None:
    """Only rounding: a few units in the last place, for a sum relative to its largest element."""
    if not pair.is_float or not pair.finite:
        return None
    unit = 2.0**-8 if pair.found.dtype.kind == "V" else float(np.finfo(pair.found.dtype).eps)
    error = np.abs(pair.f - pair.e)
    if (error <= 2 * unit * np.abs(pair.e)).all():
        return "found is expected within 2 units in the last place: rounding", False
    if any(word in pair.op for word in SUMS) and (error <= 16 * unit * _scale(pair.e)).all():
        return "found is expected but for rounding: a sum in another order, or of another accumulator", False
    return None


def _scale(values: Array) -> float:
    return float(np.sqrt(np.mean(values * values))) if values.size else 0.0
