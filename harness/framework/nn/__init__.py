"""MindSpore's ``nn`` namespace: cells, layers, losses, optimizers and wrappers."""

from harness._namespace import lazy as _lazy
from harness.framework.names import fallback as _fallback
from harness.framework.nn.activation import (
    ELU,
    GELU,
    Hardtanh,
    HSigmoid,
    HSwish,
    LeakyReLU,
    LogSigmoid,
    LogSoftmax,
    Mish,
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
from harness.framework.nn.adam import Adam, AdamWeightDecay
from harness.framework.nn.basic import Dense, Dropout, Flatten, Identity
from harness.framework.nn.cell import Cell
from harness.framework.nn.containers import CellDict, CellList, SequentialCell
from harness.framework.nn.convolution import Conv1d, Conv2d, Conv2dTranspose
from harness.framework.nn.dynamic_lr import (
    cosine_decay_lr,
    exponential_decay_lr,
    inverse_decay_lr,
    natural_exp_decay_lr,
    piecewise_constant_lr,
    polynomial_decay_lr,
    warmup_lr,
)
from harness.framework.nn.embedding import Embedding
from harness.framework.nn.learning_rate_schedule import (
    CosineDecayLR,
    ExponentialDecayLR,
    InverseDecayLR,
    LearningRateSchedule,
    NaturalExpDecayLR,
    PolynomialDecayLR,
    WarmUpLR,
)
from harness.framework.nn.losses import (
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
from harness.framework.nn.normalization import BatchNorm1d, BatchNorm2d, GroupNorm, LayerNorm
from harness.framework.nn.optimizer import Optimizer
from harness.framework.nn.pooling import AvgPool1d, AvgPool2d, MaxPool1d, MaxPool2d
from harness.framework.nn.recurrent import GRU, LSTM, RNN
from harness.framework.nn.recurrent_cells import GRUCell, LSTMCell, RNNCell
from harness.framework.nn.sgd import SGD, Momentum
from harness.framework.nn.wrappers import (
    ForwardValueAndGrad,
    TrainOneStepCell,
    WithEvalCell,
    WithGradCell,
    WithLossCell,
)

__all__ = [
    "ELU", "GELU", "GRU", "LSTM", "RNN", "SGD", "Adam", "AdamWeightDecay", "AvgPool1d", "AvgPool2d", "BCELoss",
    "BCEWithLogitsLoss", "BatchNorm1d", "BatchNorm2d", "Cell", "CellDict", "CellList", "Conv1d", "Conv2d",
    "Conv2dTranspose", "CosineDecayLR", "CrossEntropyLoss", "Dense", "Dropout", "Embedding", "ExponentialDecayLR",
    "Flatten", "ForwardValueAndGrad", "GRUCell", "GroupNorm", "HSigmoid", "HSwish", "Hardtanh", "HuberLoss",
    "Identity", "InverseDecayLR", "L1Loss", "LSTMCell", "LayerNorm", "LeakyReLU", "LearningRateSchedule",
    "LogSigmoid", "LogSoftmax", "LossBase", "MAELoss", "MSELoss", "MaxPool1d", "MaxPool2d", "Mish", "Momentum",
    "NLLLoss",
    "NaturalExpDecayLR", "Optimizer", "PReLU", "PolynomialDecayLR", "RMSELoss", "RNNCell", "ReLU", "ReLU6",
    "SequentialCell", "SiLU", "Sigmoid", "SmoothL1Loss", "Softmax", "SoftmaxCrossEntropyWithLogits", "Softmin",
    "Softsign", "Tanh", "Tanhshrink", "TrainOneStepCell", "WarmUpLR", "WithEvalCell", "WithGradCell", "WithLossCell",
    "cosine_decay_lr", "exponential_decay_lr", "get_activation", "inverse_decay_lr", "natural_exp_decay_lr",
    "piecewise_constant_lr", "polynomial_decay_lr", "warmup_lr",
]  # fmt: skip

# MindSpore's older place for the metrics; they stand above this package, so they are looked up when first used.
METRICS = frozenset((
    "F1", "MAE", "MSE", "ROC", "Accuracy", "BleuScore", "ConfusionMatrix", "ConfusionMatrixMetric", "CosineSimilarity",
    "Dice", "Fbeta", "HausdorffDistance", "Loss", "MeanSurfaceDistance", "Metric", "OcclusionSensitivity",
    "Perplexity", "Precision", "Recall", "RootMeanSquareDistance", "Top1CategoricalAccuracy",
    "Top5CategoricalAccuracy", "TopKCategoricalAccuracy", "auc", "get_metric_fn", "names", "rearrange_inputs",
))  # fmt: skip
__getattr__, _ = _lazy(__name__, dict.fromkeys(METRICS, "harness.framework.train.metrics"), _fallback(__name__))
