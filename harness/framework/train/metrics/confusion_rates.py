"""The seventeen rates that are made of true and false positives and negatives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from harness.errors import UnsupportedError
from harness.framework.train.metrics.base import Array


class Counts(NamedTuple):
    """True and false positives and negatives: arrays of one shape."""

    tp: Array
    fp: Array
    tn: Array
    fn: Array


def _over(part: Any, whole: Any) -> Array:
    """``part / whole``; NaN if ``whole`` is 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(np.asarray(whole) != 0, np.divide(part, whole), np.nan)


def _tpr(c: Counts) -> Array:
    return _over(c.tp, c.tp + c.fn)


def _tnr(c: Counts) -> Array:
    return _over(c.tn, c.tn + c.fp)


def _ppv(c: Counts) -> Array:
    return _over(c.tp, c.tp + c.fp)


def _npv(c: Counts) -> Array:
    return _over(c.tn, c.tn + c.fn)


def _prevalence_threshold(c: Counts) -> Array:
    tpr, tnr = _tpr(c), _tnr(c)
    return _over(np.sqrt(tpr * (1.0 - tnr)) + tnr - 1.0, tpr + tnr - 1.0)


def _matthews(c: Counts) -> Array:
    sums = (c.tp + c.fp) * (c.tp + c.fn) * (c.tn + c.fp) * (c.tn + c.fn)
    return _over(c.tp * c.tn - c.fp * c.fn, np.sqrt(sums))


RATES: dict[str, tuple[Callable[[Counts], Array], tuple[str, ...]]] = {
    "tpr": (_tpr, ("sensitivity", "recall", "hit_rate", "true_positive_rate")),
    "tnr": (_tnr, ("specificity", "selectivity", "true_negative_rate")),
    "ppv": (_ppv, ("precision", "positive_predictive_value")),
    "npv": (_npv, ("negative_predictive_value",)),
    "fnr": (lambda c: _over(c.fn, c.tp + c.fn), ("miss_rate", "false_negative_rate")),
    "fpr": (lambda c: _over(c.fp, c.fp + c.tn), ("fall_out", "false_positive_rate")),
    "fdr": (lambda c: _over(c.fp, c.fp + c.tp), ("false_discovery_rate",)),
    "for": (lambda c: _over(c.fn, c.fn + c.tn), ("false_omission_rate",)),
    "pt": (_prevalence_threshold, ("prevalence_threshold",)),
    "ts": (lambda c: _over(c.tp, c.tp + c.fn + c.fp), ("threat_score", "critical_success_index", "csi")),
    "acc": (lambda c: _over(c.tp + c.tn, c.tp + c.fn + c.fp + c.tn), ("accuracy",)),
    "ba": (lambda c: (_tpr(c) + _tnr(c)) / 2.0, ("balanced_accuracy",)),
    "f1": (lambda c: _over(2.0 * c.tp, 2.0 * c.tp + c.fn + c.fp), ("f1_score",)),
    "mcc": (_matthews, ("matthews_correlation_coefficient",)),
    "fm": (lambda c: np.sqrt(_ppv(c) * _tpr(c)), ("fowlkes_mallows_index",)),
    "bm": (lambda c: _tpr(c) + _tnr(c) - 1.0, ("informedness", "bookmaker_informedness")),
    "mk": (lambda c: _ppv(c) + _npv(c) - 1.0, ("markedness", "deltap")),
}
_ALIASES = {name: short for short, (_, names) in RATES.items() for name in (short, *names)}


def rate(name: str, counts: Counts) -> Array:
    """A rate by its name, in any case, words apart by blanks or underscores; ``UnsupportedError`` for another name."""
    short = _ALIASES.get(name.replace(" ", "_").lower())
    if short is None:
        raise UnsupportedError(f"ConfusionMatrixMetric: metric_name must be one of {sorted(_ALIASES)}, got {name!r}")
    return RATES[short][0](counts)
