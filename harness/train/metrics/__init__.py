"""The metrics, as ``mindspore.train.metrics``."""

from harness.train.metrics.base import Metric, rearrange_inputs
from harness.train.metrics.bleu import BleuScore
from harness.train.metrics.classified import Accuracy
from harness.train.metrics.confusion import ConfusionMatrix
from harness.train.metrics.confusion_metric import ConfusionMatrixMetric
from harness.train.metrics.cosine import CosineSimilarity
from harness.train.metrics.dice import Dice
from harness.train.metrics.error import MAE, MSE, Loss
from harness.train.metrics.factory import get_metric_fn, get_metrics, names
from harness.train.metrics.fbeta import F1, Fbeta
from harness.train.metrics.occlusion import OcclusionSensitivity
from harness.train.metrics.perplexity import Perplexity
from harness.train.metrics.precision_recall import Precision, Recall
from harness.train.metrics.roc import ROC, auc
from harness.train.metrics.surface_distance import HausdorffDistance, MeanSurfaceDistance, RootMeanSquareDistance
from harness.train.metrics.topk import Top1CategoricalAccuracy, Top5CategoricalAccuracy, TopKCategoricalAccuracy

__all__ = [
    "F1", "MAE", "MSE", "ROC", "Accuracy", "BleuScore", "ConfusionMatrix", "ConfusionMatrixMetric", "CosineSimilarity",
    "Dice", "Fbeta", "HausdorffDistance", "Loss", "MeanSurfaceDistance", "Metric", "OcclusionSensitivity",
    "Perplexity", "Precision", "Recall", "RootMeanSquareDistance", "Top1CategoricalAccuracy",
    "Top5CategoricalAccuracy", "TopKCategoricalAccuracy", "auc", "get_metric_fn", "get_metrics", "names",
    "rearrange_inputs",
]  # fmt: skip
