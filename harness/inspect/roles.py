"""What an operator is to a training: its family, its phase, its layer; by the names of every framework."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

from harness.compare.divergence import STATE
from harness.explain.names import INPUTS

FORWARD, BACKWARD, UPDATE = "forward", "backward", "update"

#: family -> the operators of it, in lower case without underscores at their ends (MindSpore's, ATen's, msprobe's)
FAMILIES: Mapping[str, str] = {
    "relu": "relu relu6 relu_v2 reluv2 clamp_min",
    "sigmoid": "sigmoid hsigmoid hardsigmoid",
    "tanh": "tanh hardtanh",
    "softmax": "softmax softmaxv2",
    "log_softmax": "logsoftmax log_softmax logsoftmaxext",
    "batch_norm": (
        "batchnorm batchnorm1d batchnorm2d batchnorm3d batchnormext syncbatchnorm native_batch_norm cudnn_batch_norm "
        "batch_norm native_batch_norm_legit bninfer fusedbatchnorm"
    ),
    "layer_norm": "layernorm layernormext layernormv3 native_layer_norm layer_norm",
    "dropout": "dropout dropoutext dropout1d dropout2d dropout3d native_dropout dropoutdomask dropoutgenmask",
    "embedding": (
        "gather embedding embeddinglookup gatherv2 index_select embeddingext embedding_bag embedding_bag_forward_only"
    ),
    "matmul": "matmul batchmatmul matmulext batchmatmulext mm bmm addmm linear dense baddbmm matmulv2 dot mv addmv",
    "conv": (
        "conv2d conv1d conv3d convolution conv2dext depthwiseconv2dnative conv2dtranspose convolution_overrideable "
        "mkldnn_convolution cudnn_convolution thnn_conv2d conv_depthwise2d conv3dext convext"
    ),
    "recurrent": "lstm gru rnn dynamicrnn dynamicgruv2 cudnnrnn mkldnn_rnn_layer lstmv2 grucell lstmcell",
    "sparse_ce": "sparsesoftmaxcrossentropywithlogits",
    "dense_ce": "softmaxcrossentropywithlogits",
    "nll": "nllloss nll_loss_forward nll_loss nll_loss2d_forward nllloss2d",
    "cross_entropy": "cross_entropy crossentropyloss crossentropy",
    "bce": "binarycrossentropy binary_cross_entropy bceloss",
    "bce_logits": "bcewithlogitsloss binary_cross_entropy_with_logits sigmoidcrossentropywithlogits",
    "loss": "mse_loss mseloss mselossext smooth_l1_loss smoothl1loss l1_loss l1loss kldivloss kl_div huber_loss",
    "log": "log log2 log10 log1p", "exp": "exp exp2 expm1", "sqrt": "sqrt",
    "root_grad": "sqrtgrad rsqrtgrad reciprocalgrad invgrad",
    "rsqrt": "rsqrt reciprocalsqrt",
    "div": "div realdiv divide truediv true_divide divnonan xdivy", "reciprocal": "reciprocal inv invert",
    "pow": "pow power pow_tensor_scalar", "mul": "mul multiply muls",
    "add": "add addn tensoradd accumulatenv2 add_n adds",
    "sub": "sub subtract subs", "square": "square", "cast": "cast to to_copy type_as float half",
    "sum": "reducesum sum sumext reducesumext biasaddgrad",
    "mean": "reducemean mean meanext reducemeanext", "cumsum": "cumsum",
    "cumprod": "cumprod", "prod": "reduceprod prod prodext",
    "acos": "acos asin arccos arcsin atanh arctanh acosh arccosh", "view": (
        "reshape view t transpose permute expand flatten unsafe_view squeeze unsqueeze expanddims slice clone "
        "contiguous broadcastto tile identity depend load tensormove copy copy_ split split_with_sizes unbind diagonal"
    ),
    "collective": (
        "allreduce allgather reducescatter broadcast alltoall reduce send receive hcclallreduce "
        "neighborexchange all_reduce all_gather reduce_scatter"
    ),
    "unfilled": "empty empty_like empty_strided new_empty emptylike",
    "masked": "maskedfill masked_fill select where selectv2",
    "finite_check": (
        "isfinite floatstatus npugetfloatstatus npuallocfloatstatus npuclearfloatstatus isnan isinf allfinite "
        "npugetfloatstatusv2 npuclearfloatstatusv2 amp_foreach_non_finite_check_and_unscale"
    ),
    "pick": "gatherd", "addcdiv": "addcdiv", "neg": "neg negative",
    "one_hot": "onehot one_hot", "clip": "clip clamp clipbyvalue clip_by_value hardtanh",
}  # fmt: skip
_FAMILY = {name: family for family, names in FAMILIES.items() for name in names.split()}
LOSSES = frozenset({"sparse_ce", "dense_ce", "nll", "cross_entropy", "bce", "bce_logits", "loss", "pick"})
WEIGHTED = frozenset({"matmul", "conv"})
#: index of the gradient among the inputs of an operator that updates a parameter
GRADIENTS = {
    op: next(at for at, name in enumerate(INPUTS[op]) if name in ("gradient", "grad"))
    for op in STATE
    if op in INPUTS and {"gradient", "grad"} & set(INPUTS[op]) and op != "BatchNorm"
}
#: index of the learning rate, likewise
RATES = {
    op: next((at for at, name in enumerate(INPUTS[op]) if name in ("learning_rate", "lr")), None) for op in GRADIENTS
}
_CALL = re.compile(
    r"^(?:functional|tensor|torch|mint|mintfunctional|distributed|aten|npu|jit|primitive|module|cell)\.", re.I
)
_TAIL = re.compile(r"(?:-op\d+|\.(?:forward|backward)(?:\.\d+)?|\.\d+)$")


#: what a gradient is expanded to
_EXPANDED = re.compile(r"Expand/\w*(?:Backward|Grad)/")


@lru_cache(maxsize=4096)
def family(op_type: str) -> str:
    """The family of an operator type; empty if it has none."""
    if op_type == "select":  # ATen's is a view; MindSpore's Select takes each element of one of two tensors
        return "view"
    name = op_type.lower()
    while (shorter := _CALL.sub("", name)) != name:
        name = shorter
    while (shorter := _TAIL.sub("", name)) != name:
        name = shorter
    return _FAMILY.get(name) or _FAMILY.get(name.strip("_")) or _FAMILY.get(name.rpartition(".")[2].strip("_"), "")


@lru_cache(maxsize=65536)
def phase(operator: str, op_type: str) -> str:
    """``forward``, ``backward`` or ``update``."""
    if op_type in GRADIENTS or "optimizer-" in operator or operator.startswith("Optimizer."):
        return UPDATE
    if operator.startswith("Gradients/") or "/Gradients/" in operator or ".backward" in operator:
        return BACKWARD
    if op_type.endswith(("Grad", "_backward", "GradV2", "_backward_data")) or _EXPANDED.match(operator):
        return BACKWARD
    return FORWARD


@lru_cache(maxsize=65536)
def layer(operator: str) -> str:
    """The layer an operator belongs to, forward and backward alike: ``network-WithLossCell/fc1-Dense``."""
    name = operator.removeprefix("Gradients/").removeprefix("Kernel.")
    if "/" not in name:
        found = re.match(r"(?:Module|Cell)\.(.+?)\.[A-Za-z_]\w*\.(?:forward|backward)", name)
        return found[1] if found else name
    parts = [part for part in name.split("/")[:-1] if not part.startswith("Grad_")]
    return "/".join(parts[1:] if len(parts) > 1 and parts[0] in ("Default", "Gradients") else parts)


def short(operator: str, parts: int = 3) -> str:
    """The last parts of a full name."""
    words = operator.split("/")
    return "/".join(words[-parts:])
