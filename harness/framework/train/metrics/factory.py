"""Metrics by name."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from typing import Any

from harness.errors import SettingTypeError, UnknownKeyError
from harness.framework.train.metrics.base import Metric
from harness.framework.train.metrics.bleu import BleuScore
from harness.framework.train.metrics.classified import Accuracy
from harness.framework.train.metrics.confusion import ConfusionMatrix
from harness.framework.train.metrics.confusion_metric import ConfusionMatrixMetric
from harness.framework.train.metrics.cosine import CosineSimilarity
from harness.framework.train.metrics.dice import Dice
from harness.framework.train.metrics.error import MAE, MSE, Loss
from harness.framework.train.metrics.fbeta import F1
from harness.framework.train.metrics.occlusion import OcclusionSensitivity
from harness.framework.train.metrics.perplexity import Perplexity
from harness.framework.train.metrics.precision_recall import Precision, Recall
from harness.framework.train.metrics.roc import ROC, auc
from harness.framework.train.metrics.surface_distance import (
    HausdorffDistance,
    MeanSurfaceDistance,
    RootMeanSquareDistance,
)
from harness.framework.train.metrics.topk import (
    Top1CategoricalAccuracy,
    Top5CategoricalAccuracy,
    TopKCategoricalAccuracy,
)

_METRICS: dict[str, Callable[..., Any]] = {
    "F1": F1,
    "acc": Accuracy,
    "accuracy": Accuracy,
    "auc": auc,
    "bleu_score": BleuScore,
    "confusion_matrix": ConfusionMatrix,
    "confusion_matrix_metric": ConfusionMatrixMetric,
    "cosine_similarity": CosineSimilarity,
    "dice": Dice,
    "hausdorff_distance": HausdorffDistance,
    "loss": Loss,
    "mae": MAE,
    "mean_surface_distance": MeanSurfaceDistance,
    "mse": MSE,
    "occlusion_sensitivity": OcclusionSensitivity,
    "perplexity": Perplexity,
    "precision": Precision,
    "recall": Recall,
    "roc": ROC,
    "root_mean_square_distance": RootMeanSquareDistance,
    "top_1_accuracy": Top1CategoricalAccuracy,
    "top_5_accuracy": Top5CategoricalAccuracy,
    "topk": TopKCategoricalAccuracy,
}


def names() -> list[str]:
    """Every name ``get_metric_fn`` takes, sorted."""
    return sorted(_METRICS)


def get_metric_fn(name: str, *args: Any, **kwargs: Any) -> Any:
    """The metric called ``name``, made with these arguments (``auc``: its value); ``UnknownKeyError`` if none is."""
    if name not in _METRICS:
        near = difflib.get_close_matches(str(name), _METRICS, n=3, cutoff=0.5)
        hint = f"; did you mean {', '.join(near)}?" if near else f"; there are {', '.join(names())}"
        raise UnknownKeyError(f"get_metric_fn: no metric is called {name!r}{hint}")
    return _METRICS[name](*args, **kwargs)


def get_metrics(metrics: Any) -> dict[str, Any] | None:
    """What ``Model(metrics=...)`` takes, as a dict: None, {name: metric}, or a set of names.

    Raises:
        SettingTypeError: something else, or a dict that holds something else.
        UnknownKeyError: a name that is not registered.
    """
    if metrics is None:
        return None
    if isinstance(metrics, dict):
        for name, metric in metrics.items():
            if not isinstance(name, str) or not isinstance(metric, Metric):
                raise SettingTypeError(f"metrics must hold a Metric under each name, got {metric!r} under {name!r}")
        return metrics
    if isinstance(metrics, set):
        return {name: get_metric_fn(name) for name in metrics}
    raise SettingTypeError(
        f"metrics must be None, a dict of metrics by name or a set of names, got {type(metrics).__name__}"
    )
