"""Names of operators' inputs: what ``input.6`` of a BatchNorm is.

The primitive's own ``input_names`` count first; these are the names of MindSpore's documentation for primitives that
print none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

_XY = ("x", "y")
_REDUCED = ("x", "axis", "keep_dims", "skip_mode")
INPUTS: Mapping[str, Sequence[str]] = {
    "Adam": (
        "var", "m", "v", "beta1_power", "beta2_power", "learning_rate", "beta1", "beta2", "epsilon", "gradient",
    ),
    "AdamWeightDecay": (
        "var", "m", "v", "learning_rate", "beta1", "beta2", "epsilon", "weight_decay", "gradient", "clip",
    ),
    "Add": _XY, "Sub": _XY, "Mul": _XY, "Div": _XY, "RealDiv": _XY, "Maximum": _XY, "Minimum": _XY,
    "Pow": ("x", "exponent"),
    "ApplyAdaMax": ("var", "m", "v", "beta1_power", "lr", "beta1", "beta2", "epsilon", "grad"),
    "ApplyAdadelta": ("var", "accum", "accum_update", "lr", "rho", "epsilon", "grad"),
    "ApplyAdagrad": ("var", "accum", "lr", "grad"), "ApplyAdagradV2": ("var", "accum", "lr", "grad"),
    "ApplyAdagradDA": ("var", "accum", "accum_square", "grad", "lr", "l1", "l2", "global_step"),
    "ApplyPowerSign": ("var", "m", "lr", "logbase", "sign_decay", "beta", "grad"),
    "ApplyAddSign": ("var", "m", "lr", "alpha", "sign_decay", "beta", "grad"),
    "ApplyGradientDescent": ("var", "alpha", "delta"),
    "ApplyProximalGradientDescent": ("var", "alpha", "l1", "l2", "delta"),
    "ApplyFtrl": ("var", "accum", "linear", "grad", "lr", "l1", "l2", "lr_power"),
    "ApplyProximalAdagrad": ("var", "accum", "lr", "l1", "l2", "grad"),
    "ApplyCenteredRMSProp": (
        "var", "mean_gradient", "mean_square", "moment", "grad", "learning_rate", "rho", "momentum", "epsilon",
    ),
    "ApplyRMSProp": ("var", "mean_square", "moment", "learning_rate", "grad", "rho", "momentum", "epsilon"),
    "ApplyMomentum": ("variable", "accumulation", "learning_rate", "gradient", "momentum"),
    "Assign": ("variable", "value"), "AssignAdd": ("variable", "value"), "AssignSub": ("variable", "value"),
    "AvgPool": ("x", "kernel_size", "strides", "pad_mode", "data_format"),
    "BatchMatMul": ("x", "y", "transpose_a", "transpose_b"),
    "BatchNorm": (
        "x", "scale", "bias", "mean", "variance", "is_training", "epsilon", "momentum", "data_format",
    ),
    "BatchNormGrad": (
        "dout", "x", "scale", "saved_mean", "saved_variance", "reserve", "is_training", "epsilon", "data_format",
    ),
    "BatchNormGradGrad": (
        "x", "dout", "scale", "saved_mean", "saved_variance", "dout_dx", "dout_dscale", "dout_dbias", "is_training",
        "epsilon", "data_format",
    ),
    "BCEWithLogitsLoss": ("input", "target", "weight", "pos_weight", "reduction"),
    "BiasAdd": ("x", "bias", "data_format"), "BiasAddGrad": ("dout", "data_format"),
    "BinaryCrossEntropy": ("input", "target", "weight", "reduction"),
    "BinaryCrossEntropyGrad": ("input", "target", "dout", "weight", "reduction"),
    "Conv2D": ("x", "weight"), "Conv2DBackpropFilter": ("dout", "x", "filter_sizes"),
    "Conv2DBackpropInput": ("dout", "weight", "input_sizes"),
    "Dropout": ("x", "keep_prob", "seed0", "seed1"), "DropoutGrad": ("dout", "mask"),
    "Elu": ("x", "alpha"), "EluGrad": ("dout", "out"),
    "Gather": ("params", "indices", "axis", "batch_dims"),
    "GroupNorm": ("x", "num_groups", "weight", "bias", "epsilon"),
    "LayerNorm": ("x", "gamma", "beta", "begin_norm_axis", "begin_params_axis", "epsilon"),
    "LayerNormGrad": ("x", "dout", "variance", "mean", "gamma", "begin_norm_axis", "begin_params_axis"),
    "LayerNormGradGrad": (
        "x", "dout", "variance", "mean", "gamma", "d_dx", "d_dg", "d_db", "begin_norm_axis", "begin_params_axis",
    ),
    "LogSoftmax": ("x", "axis"), "LogSoftmaxGrad": ("out", "dout", "axis"),
    "LSTM": ("x", "h", "c", "weight"),
    "MatMul": ("x", "y", "transpose_a", "transpose_b"), "MatMulExt": ("x", "y"),
    "MSELossExt": ("input", "target", "reduction"),
    "NLLLoss": ("logits", "labels", "weight", "reduction", "ignore_index"),
    "OneHot": ("indices", "depth", "on_value", "off_value", "axis"),
    "ReduceAll": _REDUCED, "ReduceAny": _REDUCED, "ReduceMax": _REDUCED, "ReduceMean": _REDUCED,
    "ReduceMin": _REDUCED, "ReduceProd": _REDUCED, "ReduceSum": _REDUCED,
    "Reshape": ("x", "shape"),
    "Select": ("condition", "x", "y"),
    "SGD": ("parameters", "gradient", "learning_rate", "accum", "momentum", "stat"),
    "SmoothL1Loss": ("prediction", "target", "beta", "reduction"),
    "Softmax": ("x", "axis"),
    "Split": ("x", "axis", "output_num"), "Squeeze": ("x", "axis"),
    "StridedSlice": (
        "x", "begin", "end", "strides", "begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask",
    ),
    "Tile": ("x", "multiples"), "TopK": ("x", "k"), "Transpose": ("x", "perm"),
}  # fmt: skip


def input_name(op: str, slot: int, given: Sequence[str] = ()) -> str:
    """Name of input ``slot`` of a primitive, ``input.N`` if it is unknown.

    Args:
        given: the primitive's own ``input_names``.
    """
    names = INPUTS.get(op) or given
    return names[slot] if slot < len(names) else f"input.{slot}"
