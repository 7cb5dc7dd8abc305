"""A table of operator types of different frameworks that do the same.

A row lists the parts of an operator. ``matmul(0=a 1=b) -> 0=y``: one part of the kind ``matmul``, whose ports ``a``
and ``b`` are the inputs 0 and 1, and ``y`` the output 0. Ports of one name may be exchanged. Parts joined by ``>`` run
one after another within the operator: the first gives what the second takes. Parts beside one another are separated
by ``;``. A type written ``convolution/3`` is one with at least three inputs.

Sources: MindSpore 2.10.0's operator definitions and dumps, PyTorch 2.13.0's ``native_functions.yaml``, public documents
of torch_npu. ``add_row`` adds types of others.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple

_ROWS: tuple[tuple[str, str], ...] = (
    ("MatMul BatchMatMul MatMulExt BatchMatMulExt mm bmm matmul linear", "matmul(0=a 1=a) -> 0=y"),
    ("addmm baddbmm", "matmul(1=a 2=a) > bias_add(0=bias) -> 0=y"),
    ("linear/3 Dense/3", "matmul(0=a 1=a) > bias_add(2=bias) -> 0=y"),
    ("Dense Linear", "dense(0=x) -> 0=y"),
    ("BiasAdd", "bias_add(0=x 1=bias) -> 0=y"),
    ("BiasAddGrad", "sum(0=x) -> 0=y"),
    ("ReduceSum SumExt sum", "sum(0=x) -> 0=y"),
    ("Conv2D Conv3D convolution conv2d", "convolution(0=x 1=w) -> 0=y"),
    ("convolution/3 conv2d/3", "convolution(0=x 1=w) > bias_add(2=bias) -> 0=y"),
    ("Conv2DBackpropInput", "convolution_grad_x(0=dy 1=w) -> 0=dx"),
    ("Conv2DBackpropFilter", "convolution_grad_w(0=dy 1=x) -> 0=dw"),
    ("BatchNorm BatchNormExt native_batch_norm _native_batch_norm_legit cudnn_batch_norm batch_norm",
     "batch_norm(0=x 1=w 2=b) -> 0=y"),
    ("BatchNormGrad native_batch_norm_backward", "batch_norm_grad(0=dy 1=x 2=w) -> 0=dx 1=dw 2=db"),
    ("LayerNorm LayerNormExt native_layer_norm layer_norm", "layer_norm(0=x 1=w 2=b) -> 0=y 1=mean"),
    ("LayerNormGrad", "layer_norm_grad(0=x 1=dy 4=w) -> 0=dx 1=dw 2=db"),
    ("native_layer_norm_backward", "layer_norm_grad(0=dy 1=x 4=w) -> 0=dx 1=dw 2=db"),
    ("ReLU relu", "relu(0=x) -> 0=y"),
    ("ReluGrad threshold_backward", "relu_grad(0=dy 1=y) -> 0=dx"),
    ("Sigmoid sigmoid", "sigmoid(0=x) -> 0=y"),
    ("SigmoidGrad", "sigmoid_grad(0=y 1=dy) -> 0=dx"),
    ("sigmoid_backward", "sigmoid_grad(0=dy 1=y) -> 0=dx"),
    ("Tanh tanh", "tanh(0=x) -> 0=y"),
    ("TanhGrad", "tanh_grad(0=y 1=dy) -> 0=dx"),
    ("tanh_backward", "tanh_grad(0=dy 1=y) -> 0=dx"),
    ("GeLU GeLUExt gelu", "gelu(0=x) -> 0=y"),
    ("GeLUGrad GeluGradExt gelu_backward", "gelu_grad(0=dy 1=x) -> 0=dx"),
    ("MaxPool MaxPoolWithArgmax max_pool2d_with_indices max_pool2d", "max_pool(0=x) -> 0=y"),
    ("MaxPoolGrad", "max_pool_grad(0=x 2=dy) -> 0=dx"),
    ("max_pool2d_with_indices_backward", "max_pool_grad(0=dy 1=x) -> 0=dx"),
    ("AvgPool avg_pool2d", "avg_pool(0=x) -> 0=y"),
    ("Softmax _softmax softmax", "softmax(0=x) -> 0=y"),
    ("SoftmaxBackward _softmax_backward_data", "mul(0=a 1=a) > sum() > sub(0=a) > mul(1=a) -> 0=y"),
    ("LogSoftmax LogSoftmaxExt _log_softmax log_softmax", "log_softmax(0=x) -> 0=y"),
    ("LogSoftmaxGrad", "log_softmax_grad(0=y 1=dy) -> 0=dx"),
    ("_log_softmax_backward_data", "log_softmax_grad(0=dy 1=y) -> 0=dx"),
    ("NLLLoss nll_loss_forward", "nll_loss(0=x 1=target) -> 0=y"),
    ("NLLLossGrad nll_loss_backward", "nll_loss_grad(2=target) -> 0=dx"),
    ("SparseSoftmaxCrossEntropyWithLogits", "log_softmax(0=x) > nll_loss(1=target) -> 0=y"),
    ("SparseSoftmaxCrossEntropyWithLogits'", "nll_loss_grad(1=target) > log_softmax_grad() -> 0=dx"),
    ("mse_loss", "sub(0=a 1=b) > square() > mean() -> 0=y"),
    ("mse_loss_backward", "div(0=a) > mul() -> 0=y"),
    ("Concat ConcatD cat", "concat(0=a 1=b 2=c 3=d 4=e 5=f 6=g 7=h) -> 0=y"),
    ("Gather GatherV2 embedding", "gather(0=table 1=places) -> 0=y"),
    ("UnsortedSegmentSum embedding_dense_backward", "gather_grad(0=dy 1=places) -> 0=dx"),
    ("Add AddExt add", "add(0=a 1=a) -> 0=y"),
    ("AddN", "add(0=a 1=a 2=a 3=a 4=a 5=a 6=a 7=a) -> 0=y"),
    ("Sub SubExt sub", "sub(0=a 1=b) -> 0=y"),
    ("Mul mul Muls", "mul(0=a 1=a) -> 0=y"),
    ("RealDiv Div div", "div(0=a 1=b) -> 0=y"),
    ("ReduceMean MeanExt mean", "mean(0=x) -> 0=y"),
    ("Square", "square(0=x) -> 0=y"),
    ("Select where", "select(0=c 1=a 2=b) -> 0=y"),
    ("Greater gt", "greater(0=a 1=b) -> 0=y"),
    ("GreaterEqual ge", "greater_equal(0=a 1=b) -> 0=y"),
    ("Less lt", "less(0=a 1=b) -> 0=y"),
    ("LessEqual le", "less_equal(0=a 1=b) -> 0=y"),
    ("Equal eq", "equal(0=a 1=a) -> 0=y"),
    ("NotEqual ne", "not_equal(0=a 1=a) -> 0=y"),
    ("ApplyMomentum Momentum", "mul() > add(3=a) > update() -> 0=weight"),
    ("Adam FusedAdam", "lerp(9=grad) -> 1=m ; addcmul(9=grad) -> 2=v ; update() -> 0=weight"),
    ("AdamWeightDecay FusedAdamWeightDecay", "lerp(8=grad) -> 1=m ; addcmul(8=grad) -> 2=v ; update() -> 0=weight"),
    ("lerp", "lerp(1=grad) -> 0=m"),
    ("addcmul", "addcmul(1=grad) -> 0=v"),
    ("SGD ApplyGradientDescent", "update() -> 0=weight"),
    ("Reshape Flatten ExpandDims Squeeze view _unsafe_view reshape flatten unsqueeze squeeze unflatten _reshape_alias",
     "reshape(0=x) -> 0=y"),
    ("Transpose t transpose permute TransposeExt numpy_T", "transpose(0=x) -> 0=y"),
    ("Tile BroadcastTo expand", "expand(0=x) -> 0=y"),
    ("Cast _to_copy to", "cast(0=x) -> 0=y"),
    ("npu_fusion_attention flash_attention_score", "flash_attention(0=q 1=k 2=v) -> 0=y"),
    ("FlashAttentionScore", "flash_attention(0=q 1=k 2=v) -> 3=y"),
    ("scaled_dot_product_attention", "flash_attention(0=q 1=k 2=v) -> 0=y"),
    ("npu_rms_norm RmsNorm RMSNorm", "rms_norm(0=x 1=w) -> 0=y"),
    ("rms_norm", "rms_norm(0=x) -> 0=y"),
    ("npu_add_rms_norm AddRmsNorm", "add(0=a 1=a) > rms_norm(2=w) -> 0=y"),
    ("npu_swiglu Swiglu swiglu", "swiglu(0=x) -> 0=y"),
    ("npu_rotary_mul rotary_position_embedding RotaryPositionEmbedding", "rotary(0=x 1=cos 2=sin) -> 0=y"),
    ("npu_linear", "matmul(0=a 1=a) > bias_add(2=bias) -> 0=y"),
    ("npu_bmmV2", "matmul(0=a 1=a) -> 0=y"),
    ("npu_grouped_matmul grouped_matmul GroupedMatmul", "grouped_matmul(0=a 1=b) -> 0=y"),
    ("npu_gelu npu_fast_gelu fast_gelu FastGeLU", "gelu(0=x) -> 0=y"),
    ("npu_silu silu SiLU", "silu(0=x) -> 0=y"),
    ("npu_transpose", "transpose(0=x) -> 0=y"),
    ("npu_dtype_cast npu_cast", "cast(0=x) -> 0=y"),
    ("npu_format_cast npu_broadcast", "copy(0=x) -> 0=y"),
    ("__add__ __radd__ __iadd__", "add(0=a 1=a) -> 0=y"),
    ("__sub__ __isub__", "sub(0=a 1=b) -> 0=y"),
    ("__mul__ __rmul__ __imul__", "mul(0=a 1=a) -> 0=y"),
    ("__truediv__ __itruediv__", "div(0=a 1=b) -> 0=y"),
    ("__matmul__", "matmul(0=a 1=a) -> 0=y"),
    ("__gt__", "greater(0=a 1=b) -> 0=y"),
    ("__ge__", "greater_equal(0=a 1=b) -> 0=y"),
    ("__lt__", "less(0=a 1=b) -> 0=y"),
    ("__le__", "less_equal(0=a 1=b) -> 0=y"),
    ("__eq__", "equal(0=a 1=a) -> 0=y"),
    ("__ne__", "not_equal(0=a 1=a) -> 0=y"),
    ("Identity Load TensorMove clone contiguous TransData detach alias lift_fresh copy",
     "copy(0=x) -> 0=y"),
)  # fmt: skip

#: Kinds that only rearrange or convert their input.
LAYOUT = frozenset({"reshape", "transpose", "cast", "copy", "expand"})
#: Kinds whose inputs frameworks may exchange, although each type keeps its own order.
ORDERED = frozenset({"matmul"})
PERMUTING = frozenset({"transpose"})
#: Kinds so common that one agreeing neighbour says little.
COMMON = LAYOUT | {"add", "sub", "mul", "div", "sum", "mean", "square", "pow", "neg", "sqrt", "fill", "slice"}
PARAMETER_KIND, VALUE_KIND, UPDATE_KIND = "parameter", "value", "update"
#: The port that receives the previous part's output, if it is not ``x``.
LINKS = {"add": "a", "mul": "a", "sub": "b", "log_softmax_grad": "dy"}

_PART = re.compile(r"(\w+)\(([^)]*)\)")


class Part(NamedTuple):
    """A part of an operator.

    Attributes:
        kind: kind of the part.
        inputs, outputs: ports by slot.
        link: the port that receives the previous part's output; empty for none.
    """

    kind: str
    inputs: Mapping[int, str]
    outputs: Mapping[int, str]
    link: str = ""


def _ports(text: str) -> dict[int, str]:
    return {int(slot): port for slot, _, port in (each.partition("=") for each in text.split())}


def _parse(row: str) -> tuple[Part, ...]:
    parts = []
    for chain in row.split(";"):
        inside, _, outputs = chain.partition("->")
        found = _PART.findall(inside)
        for at, (kind, inputs) in enumerate(found):
            given = _ports(outputs) if at == len(found) - 1 else {}
            parts.append(Part(kind, _ports(inputs), given, LINKS.get(kind, "x") if at else ""))
    return tuple(parts)


#: Parts by operator type.
TABLE: dict[str, tuple[Part, ...]] = {name: _parse(row) for names, row in _ROWS for name in names.split()}
#: The rows for documentation: types and their parts.
ROWS = _ROWS


def add_row(types: str, parts: str) -> None:
    """Adds a row to the table: types by their names, and their parts as above.

    Args:
        types: separated by blanks; those that are there already get the new parts.
        parts: ``flash_attention(0=q 1=k 2=v) -> 0=y``.

    Raises:
        ValueError: ``parts`` names no part.

    Examples:
        >>> from harness.compare.pairing.kinds import add_row, parts_of
        >>> add_row("my_attention", "flash_attention(0=q 1=k 2=v) -> 0=y")
        >>> parts_of("my_attention", 3, False)[0].kind
        'flash_attention'
    """
    found = _parse(parts)
    if not found or not all(_PART.search(chain) for chain in parts.split(";")):
        raise ValueError(f"{parts!r} names no part; write 'kind(0=x) -> 0=y'")
    TABLE.update(dict.fromkeys(types.split(), found))
    is_layout.cache_clear()


def parts_of(op_type: str, inputs: int, differentiates: bool) -> tuple[Part, ...] | None:
    """The parts of an operator type; None if the table has no row for it.

    Args:
        op_type: type in the capture; PyTorch's in-place types (``add_``) count as their plain ones.
        inputs: number of its inputs.
        differentiates: whether it is the derivative of a type that computes its own derivative
            (``SparseSoftmaxCrossEntropyWithLogits``).
    """
    for name in dict.fromkeys((op_type, op_type.rstrip("_") or op_type)):
        for key in (f"{name}'" if differentiates else "", f"{name}/{3 if inputs >= 3 else 0}", name):
            if key in TABLE:
                return TABLE[key]
    return None


@lru_cache(maxsize=4096)
def is_layout(op_type: str) -> bool:
    """Whether a type only rearranges or converts its input."""
    parts = parts_of(op_type, 1, False)
    return parts is not None and all(part.kind in LAYOUT for part in parts)


@lru_cache(maxsize=4096)
def kind_of(op_type: str) -> str:
    """The kind of a type outside the table: its name without case, underscores and ``Ext``."""
    return "=" + op_type.strip("_").removesuffix("Ext").replace("_", "").lower()
