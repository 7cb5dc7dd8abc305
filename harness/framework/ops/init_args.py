"""Names of the arguments that MindSpore's primitives take when they are made.

Source: the constructors and calls of the primitives MindSpore 2.10.0 installs (read with its own interpreter). They are
consecutive from the given position on; an operator's other arguments are inputs.
"""

from __future__ import annotations

from types import MappingProxyType

_MASKS = ("begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask")
_POOL = ("kernel_size", "strides", "pad_mode", "data_format")

#: operator -> (first position, names)
INIT_ARGS: MappingProxyType[str, tuple[int, tuple[str, ...]]] = MappingProxyType(
    {
        "AdamWeightDecay": (9, ("use_locking",)),
        "ArgMaxWithValue": (1, ("axis", "keep_dims")),
        "ArgMinWithValue": (1, ("axis", "keep_dims")),
        "Argmax": (1, ("axis", "output_type")),
        "Argmin": (1, ("axis", "output_type")),
        "AvgPool": (1, _POOL),
        "AvgPoolGrad": (3, _POOL),
        "BCEWithLogitsLoss": (4, ("reduction",)),
        "BatchMatMul": (2, ("transpose_a", "transpose_b")),
        "BatchNorm": (5, ("is_training", "epsilon", "momentum", "data_format")),
        "BatchNormGrad": (6, ("is_training", "epsilon", "data_format")),
        "BatchNormGradGrad": (8, ("is_training", "epsilon", "data_format")),
        "BiasAdd": (2, ("data_format",)),
        "BiasAddGrad": (1, ("data_format",)),
        "BinaryCrossEntropy": (3, ("reduction",)),
        "BinaryCrossEntropyGrad": (4, ("reduction",)),
        "BroadcastTo": (1, ("shape",)),
        "CeLU": (1, ("alpha",)),
        "Concat": (1, ("axis",)),
        "CumProd": (2, ("exclusive", "reverse")),
        "CumSum": (2, ("exclusive", "reverse")),
        "Dropout": (1, ("keep_prob", "Seed0", "Seed1")),
        "Elu": (1, ("alpha",)),
        "Gather": (3, ("batch_dims",)),
        "HShrink": (1, ("lambd",)),
        "HShrinkGrad": (2, ("lambd",)),
        "LayerNorm": (3, ("begin_norm_axis", "begin_params_axis", "epsilon")),
        "LayerNormGrad": (5, ("begin_norm_axis", "begin_params_axis")),
        "LayerNormGradGrad": (8, ("begin_norm_axis", "begin_params_axis")),
        "LogSoftmax": (1, ("axis",)),
        "LogSoftmaxGrad": (2, ("axis",)),
        "MatMul": (2, ("transpose_a", "transpose_b")),
        "Meshgrid": (1, ("indexing",)),
        "NLLLoss": (3, ("reduction", "ignore_index")),
        "NLLLossGrad": (5, ("reduction", "ignore_index")),
        "OneHot": (4, ("axis",)),
        "ReduceAll": (2, ("keep_dims",)),
        "ReduceAny": (2, ("keep_dims",)),
        "ReduceMax": (2, ("keep_dims",)),
        "ReduceMean": (2, ("keep_dims",)),
        "ReduceMin": (2, ("keep_dims",)),
        "ReduceProd": (2, ("keep_dims",)),
        "ReduceStd": (1, ("axis", "unbiased", "keep_dims")),
        "ReduceSum": (2, ("keep_dims", "skip_mode")),
        "ReverseV2": (1, ("axis",)),
        "SmoothL1Loss": (2, ("beta", "reduction")),
        "SmoothL1LossGrad": (3, ("beta", "reduction")),
        "SoftShrink": (1, ("lambd",)),
        "SoftShrinkGrad": (2, ("lambd",)),
        "Softmax": (1, ("axis",)),
        "Split": (1, ("axis", "output_num")),
        "Squeeze": (1, ("axis",)),
        "StridedSlice": (4, _MASKS),
        "TensorScatterElements": (3, ("axis", "reduce")),
        "Triu": (1, ("diagonal",)),
    }
)
