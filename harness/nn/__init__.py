"""MindSpore's ``nn`` namespace: cells, layers, losses, optimizers and wrappers."""

import difflib as _difflib
from typing import Any as _Any

from harness._namespace import lazy as _lazy
from harness.errors import UnsupportedNameError as _UnsupportedNameError
from harness.nn.activation import (
    ELU,
    GELU,
    Hardtanh,
    HSigmoid,
    HSwish,
    LeakyReLU,
    LogSigmoid,
    LogSoftmax,
    PReLU,
    ReLU,
    ReLU6,
    Sigmoid,
    SiLU,
    Softmax,
    Softmin,
    Softsign,
    Tanh,
    Tanhshrink,
    get_activation,
)
from harness.nn.adam import Adam, AdamWeightDecay
from harness.nn.basic import Dense, Dropout, Flatten, Identity
from harness.nn.cell import Cell
from harness.nn.containers import CellDict, CellList, SequentialCell
from harness.nn.convolution import Conv1d, Conv2d, Conv2dTranspose
from harness.nn.embedding import Embedding
from harness.nn.learning_rate_schedule import (
    CosineDecayLR,
    ExponentialDecayLR,
    InverseDecayLR,
    LearningRateSchedule,
    NaturalExpDecayLR,
    PolynomialDecayLR,
    WarmUpLR,
)
from harness.nn.losses import (
    BCELoss,
    BCEWithLogitsLoss,
    CrossEntropyLoss,
    HuberLoss,
    L1Loss,
    LossBase,
    MAELoss,
    MSELoss,
    NLLLoss,
    RMSELoss,
    SmoothL1Loss,
    SoftmaxCrossEntropyWithLogits,
)
from harness.nn.normalization import BatchNorm1d, BatchNorm2d, GroupNorm, LayerNorm
from harness.nn.optimizer import Optimizer
from harness.nn.pooling import AvgPool1d, AvgPool2d, MaxPool1d, MaxPool2d
from harness.nn.recurrent import GRU, LSTM, RNN
from harness.nn.recurrent_cells import GRUCell, LSTMCell, RNNCell
from harness.nn.sgd import SGD, Momentum
from harness.nn.wrappers import ForwardValueAndGrad, TrainOneStepCell, WithEvalCell, WithGradCell, WithLossCell

__all__ = [
    "ELU", "GELU", "GRU", "LSTM", "RNN", "SGD", "Adam", "AdamWeightDecay", "AvgPool1d", "AvgPool2d", "BCELoss",
    "BCEWithLogitsLoss", "BatchNorm1d", "BatchNorm2d", "Cell", "CellDict", "CellList", "Conv1d", "Conv2d",
    "Conv2dTranspose", "CosineDecayLR", "CrossEntropyLoss", "Dense", "Dropout", "Embedding", "ExponentialDecayLR",
    "Flatten", "ForwardValueAndGrad", "GRUCell", "GroupNorm", "HSigmoid", "HSwish", "Hardtanh", "HuberLoss",
    "Identity", "InverseDecayLR", "L1Loss", "LSTMCell", "LayerNorm", "LeakyReLU", "LearningRateSchedule",
    "LogSigmoid", "LogSoftmax", "LossBase", "MAELoss", "MSELoss", "MaxPool1d", "MaxPool2d", "Momentum", "NLLLoss",
    "NaturalExpDecayLR", "Optimizer", "PReLU", "PolynomialDecayLR", "RMSELoss", "RNNCell", "ReLU", "ReLU6",
    "SequentialCell", "SiLU", "Sigmoid", "SmoothL1Loss", "Softmax", "SoftmaxCrossEntropyWithLogits", "Softmin",
    "Softsign", "Tanh", "Tanhshrink", "TrainOneStepCell", "WarmUpLR", "WithEvalCell", "WithGradCell", "WithLossCell",
    "get_activation",
]  # fmt: skip

# MindSpore's older place for the metrics; they stand above this package, so they are looked up when first used.
_METRICS = frozenset((
    "F1", "MAE", "MSE", "ROC", "Accuracy", "BleuScore", "ConfusionMatrix", "ConfusionMatrixMetric", "CosineSimilarity",
    "Dice", "Fbeta", "HausdorffDistance", "Loss", "MeanSurfaceDistance", "Metric", "OcclusionSensitivity",
    "Perplexity", "Precision", "Recall", "RootMeanSquareDistance", "Top1CategoricalAccuracy",
    "Top5CategoricalAccuracy", "TopKCategoricalAccuracy", "auc", "get_metric_fn", "names", "rearrange_inputs",
))  # fmt: skip
_metric, _ = _lazy(__name__, dict.fromkeys(_METRICS, "harness.train.metrics"))


def __getattr__(name: str) -> _Any:
    if name in _METRICS:
        return _metric(name)
    near = _difflib.get_close_matches(name, [*__all__, *_METRICS], n=3, cutoff=0.6)
    hint = f"; did you mean {', '.join(near)}?" if near else ""
    raise _UnsupportedNameError(f"nn.{name} is not supported, or is no name of MindSpore{hint}")
