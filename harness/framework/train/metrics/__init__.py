"""The metrics, as ``mindspore.train.metrics``."""

from harness.framework.names import fallback as _fallback
from harness.framework.train.metrics.base import Metric, rearrange_inputs
from harness.framework.train.metrics.bleu import BleuScore
from harness.framework.train.metrics.classified import Accuracy
from harness.framework.train.metrics.confusion import ConfusionMatrix
from harness.framework.train.metrics.confusion_metric import ConfusionMatrixMetric
from harness.framework.train.metrics.cosine import CosineSimilarity
from harness.framework.train.metrics.dice import Dice
from harness.framework.train.metrics.error import MAE, MSE, Loss
from harness.framework.train.metrics.factory import get_metric_fn, get_metrics, names
from harness.framework.train.metrics.fbeta import F1, Fbeta
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

__all__ = [
    "F1", "MAE", "MSE", "ROC", "Accuracy", "BleuScore", "ConfusionMatrix", "ConfusionMatrixMetric", "CosineSimilarity",
    "Dice", "Fbeta", "HausdorffDistance", "Loss", "MeanSurfaceDistance", "Metric", "OcclusionSensitivity",
    "Perplexity", "Precision", "Recall", "RootMeanSquareDistance", "Top1CategoricalAccuracy",
    "Top5CategoricalAccuracy", "TopKCategoricalAccuracy", "auc", "get_metric_fn", "get_metrics", "names",
    "rearrange_inputs",
]  # fmt: skip

__getattr__ = _fallback(__name__)
