"""MindSpore's ``nn`` namespace: cells, layers, losses, optimizers and wrappers."""

from harness._namespace import lazy as _lazy
from harness.errors import ForeignKeyError as _ForeignKeyError
from harness.errors import SettingTypeError as _SettingTypeError
from harness.framework import kinds as _kinds
from harness.framework.names import fallback as _fallback
from harness.framework.nn.activation import (
    ELU,
    GELU,
    Hardtanh,
    HShrink,
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
    SoftShrink,
    Softsign,
    Tanh,
    Tanhshrink,
    get_activation,
)
from harness.framework.nn.adam import Adam, AdamWeightDecay
from harness.framework.nn.adam_offload import AdamOffload
from harness.framework.nn.asgd import ASGD
from harness.framework.nn.attention import MultiheadAttention
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
from harness.framework.nn.fractional_pooling import FractionalMaxPool2d, FractionalMaxPool3d
from harness.framework.nn.fused import Conv2dBnAct, DenseBnAct
from harness.framework.nn.grad_reducer import DistributedGradReducer
from harness.framework.nn.image import PSNR, SSIM
from harness.framework.nn.instance_norm import InstanceNorm1d, InstanceNorm2d, InstanceNorm3d
from harness.framework.nn.large_batch import LARS, Lamb
from harness.framework.nn.learning_rate_schedule import (
    CosineDecayLR,
    ExponentialDecayLR,
    InverseDecayLR,
    NaturalExpDecayLR,
    PolynomialDecayLR,
    WarmUpLR,
)
from harness.framework.nn.linear import Linear
from harness.framework.nn.loss_scale import (
    DynamicLossScaleUpdateCell,
    FixedLossScaleUpdateCell,
    TrainOneStepWithLossScaleCell,
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
from harness.framework.nn.margin_losses import (
    FocalLoss,
    GaussianNLLLoss,
    HingeEmbeddingLoss,
    MultiClassDiceLoss,
    MultiLabelSoftMarginLoss,
    MultiMarginLoss,
    PoissonNLLLoss,
    SoftMarginLoss,
    TripletMarginLoss,
    TripletMarginWithDistanceLoss,
)
from harness.framework.nn.more_losses import CosineEmbeddingLoss, CTCLoss, DiceLoss, KLDivLoss, MarginRankingLoss
from harness.framework.nn.normalization import BatchNorm1d, BatchNorm2d, GroupNorm, LayerNorm
from harness.framework.nn.optimizer import Optimizer
from harness.framework.nn.padding import (
    ConstantPad1d,
    ConstantPad2d,
    ConstantPad3d,
    Pad,
    ReflectionPad1d,
    ReflectionPad2d,
    ReflectionPad3d,
    ReplicationPad1d,
    ReplicationPad2d,
    ReplicationPad3d,
    ZeroPad2d,
)
from harness.framework.nn.pooling import (
    AdaptiveMaxPool1d,
    AdaptiveMaxPool2d,
    AvgPool1d,
    AvgPool2d,
    LPPool1d,
    LPPool2d,
    MaxPool1d,
    MaxPool2d,
    MaxUnpool1d,
    MaxUnpool2d,
)
from harness.framework.nn.proximal import FTRL, Adadelta, AdaMax, LazyAdam, ProximalAdagrad
from harness.framework.nn.rearranging import (
    GLU,
    BiDense,
    CentralCrop,
    ChannelShuffle,
    ImageGradients,
    L1Regularizer,
    MatDet,
    MatInverse,
    MatrixDiag,
    MatrixDiagPart,
    MatrixSetDiag,
    Moments,
    MultilabelMarginLoss,
    ReduceLogSumExp,
    Roll,
    RReLU,
    Threshold,
    TimeDistributed,
    Unflatten,
    Unfold,
)
from harness.framework.nn.recurrent import GRU, LSTM, RNN
from harness.framework.nn.recurrent_cells import GRUCell, LSTMCell, RNNCell
from harness.framework.nn.rms_prop import Adagrad, RMSProp
from harness.framework.nn.rprop import Rprop
from harness.framework.nn.sgd import SGD, Momentum
from harness.framework.nn.shaping import (
    CELU,
    LRN,
    AdaptiveAvgPool1d,
    AdaptiveAvgPool2d,
    ClipByNorm,
    Dropout1d,
    Dropout2d,
    Dropout3d,
    EmbeddingLookup,
    FastGelu,
    MatMul,
    Norm,
    OneHot,
    PixelShuffle,
    PixelUnshuffle,
    Range,
    SeLU,
    Softmax2d,
    Tril,
    Triu,
    Upsample,
)
from harness.framework.nn.sync_batch_norm import SyncBatchNorm
from harness.framework.nn.transformer import (
    Transformer,
    TransformerDecoder,
    TransformerDecoderLayer,
    TransformerEncoder,
    TransformerEncoderLayer,
)
from harness.framework.nn.volumes import (
    AdaptiveAvgPool3d,
    AdaptiveMaxPool3d,
    AvgPool3d,
    BatchNorm3d,
    Conv1dTranspose,
    Conv3d,
    Conv3dTranspose,
    MaxPool3d,
    MaxUnpool3d,
)
from harness.framework.nn.wrappers import (
    ForwardValueAndGrad,
    TrainOneStepCell,
    WithEvalCell,
    WithGradCell,
    WithLossCell,
)
from harness.framework.outside import give_objects as _give_objects
from harness.framework.outside import keep_outside as _keep_outside
from harness.framework.outside import outside_graphs as _outside_graphs
from harness.framework.tensor import bring_all as _bring_all
from harness.framework.tensor import brought as _brought

__all__ = [
    "ASGD", "CELU", "ELU", "FTRL", "GELU", "GLU", "GRU", "LARS", "LRN", "LSTM", "PSNR", "RNN", "SGD", "SSIM",
    "AdaMax", "Adadelta", "Adagrad", "Adam", "AdamOffload", "AdamWeightDecay", "AdaptiveAvgPool1d",
    "AdaptiveAvgPool2d", "AdaptiveAvgPool3d", "AdaptiveMaxPool1d", "AdaptiveMaxPool2d", "AdaptiveMaxPool3d",
    "AvgPool1d", "AvgPool2d", "AvgPool3d", "BCELoss", "BCEWithLogitsLoss", "BatchNorm1d", "BatchNorm2d",
    "BatchNorm3d", "BiDense", "CTCLoss", "Cell", "CellDict", "CellList", "CentralCrop", "ChannelShuffle",
    "ClipByNorm", "ConstantPad1d", "ConstantPad2d", "ConstantPad3d", "Conv1d", "Conv1dTranspose", "Conv2d",
    "Conv2dBnAct", "Conv2dTranspose", "Conv3d", "Conv3dTranspose", "CosineDecayLR", "CosineEmbeddingLoss",
    "CrossEntropyLoss", "Dense", "DenseBnAct", "DiceLoss", "DistributedGradReducer", "Dropout", "Dropout1d",
    "Dropout2d", "Dropout3d", "DynamicLossScaleUpdateCell", "Embedding", "EmbeddingLookup", "ExponentialDecayLR",
    "FastGelu", "FixedLossScaleUpdateCell", "Flatten", "FocalLoss", "ForwardValueAndGrad", "FractionalMaxPool2d",
    "FractionalMaxPool3d", "GRUCell",
    "GaussianNLLLoss", "GroupNorm", "HShrink", "HSigmoid", "HSwish", "Hardtanh", "HingeEmbeddingLoss", "HuberLoss",
    "Identity", "ImageGradients", "InstanceNorm1d", "InstanceNorm2d", "InstanceNorm3d", "InverseDecayLR",
    "KLDivLoss", "L1Loss", "L1Regularizer", "LPPool1d", "LPPool2d", "LSTMCell", "Lamb", "LayerNorm", "LazyAdam",
    "LeakyReLU", "Linear", "LogSigmoid", "LogSoftmax", "LossBase", "MAELoss", "MSELoss",
    "MarginRankingLoss", "MatDet", "MatInverse", "MatMul", "MatrixDiag", "MatrixDiagPart", "MatrixSetDiag",
    "MaxPool1d", "MaxPool2d", "MaxPool3d", "MaxUnpool1d", "MaxUnpool2d", "MaxUnpool3d", "Mish", "Moments",
    "Momentum", "MultiClassDiceLoss", "MultiLabelSoftMarginLoss", "MultiMarginLoss", "MultiheadAttention",
    "MultilabelMarginLoss", "NLLLoss", "NaturalExpDecayLR", "Norm", "OneHot", "Optimizer", "PReLU", "Pad",
    "PixelShuffle", "PixelUnshuffle", "PoissonNLLLoss", "PolynomialDecayLR", "ProximalAdagrad", "RMSELoss",
    "RMSProp", "RNNCell", "RReLU", "Range", "ReLU", "ReLU6", "ReduceLogSumExp", "ReflectionPad1d",
    "ReflectionPad2d", "ReflectionPad3d", "ReplicationPad1d", "ReplicationPad2d", "ReplicationPad3d", "Roll",
    "Rprop", "SeLU", "SequentialCell", "SiLU", "Sigmoid", "SmoothL1Loss", "SoftMarginLoss", "SoftShrink", "Softmax",
    "Softmax2d", "SoftmaxCrossEntropyWithLogits", "Softmin", "Softsign", "SyncBatchNorm", "Tanh", "Tanhshrink",
    "Threshold", "TimeDistributed", "TrainOneStepCell", "TrainOneStepWithLossScaleCell", "Transformer",
    "TransformerDecoder", "TransformerDecoderLayer", "TransformerEncoder", "TransformerEncoderLayer", "Tril",
    "TripletMarginLoss", "TripletMarginWithDistanceLoss", "Triu", "Unflatten", "Unfold", "Upsample", "WarmUpLR",
    "WithEvalCell", "WithGradCell", "WithLossCell", "ZeroPad2d", "cosine_decay_lr", "exponential_decay_lr",
    "get_activation", "inverse_decay_lr", "natural_exp_decay_lr", "piecewise_constant_lr", "polynomial_decay_lr",
    "warmup_lr",
]  # fmt: skip

# MindSpore's older place for the metrics; they stand above this package, so they are looked up when first used.
METRICS = frozenset((
    "F1", "MAE", "MSE", "ROC", "Accuracy", "BleuScore", "ConfusionMatrix", "ConfusionMatrixMetric", "CosineSimilarity",
    "Dice", "Fbeta", "HausdorffDistance", "Loss", "MeanSurfaceDistance", "Metric", "OcclusionSensitivity",
    "Perplexity", "Precision", "Recall", "RootMeanSquareDistance", "Top1CategoricalAccuracy",
    "Top5CategoricalAccuracy", "TopKCategoricalAccuracy", "auc", "get_metric_fn", "names", "rearrange_inputs",
))  # fmt: skip
__getattr__, _ = _lazy(__name__, dict.fromkeys(METRICS, "harness.framework.train.metrics"), _fallback(__name__))


def _check_prefix(cell: Cell, prefix: object = "", recurse: bool = True) -> None:
    """Raises, for ``update_parameters_name`` within a graph, what MindSpore finds first (measured)."""
    if not isinstance(prefix, str):
        raise (_ForeignKeyError if isinstance(prefix, type) else _SettingTypeError)(
            f"Cell.update_parameters_name: prefix must be a str, got {prefix!r}"
        )


_members = {_name: globals()[_name] for _name in __all__ if _name in globals()}
_kinds.guard_all("nn", _members)
_bring_all("nn", _members)
_members |= {_name: _outside_graphs(_members[_name]) for _name in ("polynomial_decay_lr", "warmup_lr")}
globals().update(_members)
for _kind in Cell.__mro__[:-1]:
    _give_objects(
        _kind, ("add_flags", "add_flags_recursive", "set_broadcast_flag", "set_grad", "set_train", "to_float")
    )
    _keep_outside(_kind, (
        "cells_and_names", "check_names", "get_parameters", "init_parameters_data", "parameters_and_names",
        "parameters_dict", "register_backward_hook", "register_backward_pre_hook", "register_forward_hook",
        "register_forward_pre_hook", "set_jit_config", "trainable_params", "untrainable_params",
    ))  # fmt: skip
    _keep_outside(_kind, ("update_parameters_name",), first=_check_prefix)
Cell.apply = _brought("Cell.apply", Cell.apply, 1)  # type: ignore[method-assign]
