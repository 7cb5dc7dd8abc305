"""Which elementwise kernels Ascend's graph kernels take in.

Source: the lists of operators that are clustered as they are, and of those that are expanded into such first, with
their checks of dtypes, for the kernel generator DVM at its first level (MindSpore's public source, ``graph_fusion`` of
its backend: ``graph_kernel_cluster_cloud.cc`` and ``graph_kernel_expander_cloud.cc``). The other operators of these
lists (reductions, Transpose, BroadcastTo, Tile, assignments, Adam) stay kernels of their own here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from harness import dtypes
from harness.dtypes import DType
from harness.graph import Node, TensorSpec

FLOATS = frozenset({dtypes.float16, dtypes.float32, dtypes.bfloat16})
NUMBERS = FLOATS | {dtypes.int32}
CAST = NUMBERS | {dtypes.bool_}
MOST_ADDENDS = 10
"""Of an AddN."""

Rule = Callable[[list[DType], DType], bool]


def _floats(inputs: list[DType], output: DType) -> bool:
    return FLOATS.issuperset(inputs) and output in FLOATS


def _numbers(inputs: list[DType], output: DType) -> bool:
    return NUMBERS.issuperset(inputs) and output in NUMBERS


def _equal_floats(inputs: list[DType], output: DType) -> bool:
    return output in FLOATS and all(given is output for given in inputs)


def _equal_numbers(inputs: list[DType], output: DType) -> bool:
    return output in NUMBERS and all(given is output for given in inputs)


def _comparison(inputs: list[DType], _output: DType) -> bool:
    return bool(inputs) and inputs[0] in NUMBERS


def _test(inputs: list[DType], _output: DType) -> bool:
    return bool(inputs) and inputs[0] in FLOATS


def _cast(inputs: list[DType], output: DType) -> bool:
    return bool(inputs) and inputs[0] in CAST and output in CAST


def _select(inputs: list[DType], output: DType) -> bool:
    return inputs[:1] == [dtypes.bool_] and _equal_floats(inputs[1:], output)


def _sum(inputs: list[DType], output: DType) -> bool:
    return len(inputs) <= MOST_ADDENDS and _numbers(inputs, output)


FUSIBLE: Mapping[str, Rule] = MappingProxyType(
    {
        # clustered as they are
        **dict.fromkeys(
            (
                "Ceil", "Div", "Exp", "Floor", "Log", "Pow", "RealDiv", "Reciprocal", "Rsqrt", "Sqrt", "Trunc",
            ),
            _equal_floats,
        ),
        **dict.fromkeys(("Abs", "Add", "Maximum", "Minimum", "Mul", "Neg", "Sub"), _equal_numbers),
        **dict.fromkeys(("Equal", "Greater", "GreaterEqual", "Less", "LessEqual", "NotEqual"), _comparison),
        "Cast": _cast,
        "IsFinite": _test,
        "Select": _select,
        # expanded first
        **dict.fromkeys(
            (
                "Cosh", "Erf", "FastGeLU", "FastGeLUGrad", "GeLU", "GeLUGrad", "HShrink", "HSigmoid", "HSwish", "Muls",
                "ReluGrad", "RsqrtGrad", "SiLU", "SiLUGrad", "Sigmoid", "SigmoidGrad", "Sinh", "SoftplusExt",
                "SqrtGrad", "Tanh", "TanhGrad",
            ),
            _floats,
        ),
        **dict.fromkeys(("BiasAdd", "ReLU", "Square"), _numbers),
        "AddN": _sum,
    }
)  # fmt: skip
"""Operator -> rule that says by its tensors' dtypes whether it is taken in."""


def is_fusible(node: Node) -> bool:
    """Whether a graph kernel may take ``node`` in: by its operator, and the dtypes of its tensors."""
    rule = FUSIBLE.get(node.op)
    if rule is None or not node.kernel or node.extra.effect is not None or not isinstance(node.spec, TensorSpec):
        return False
    if 0 in node.spec.shape:
        return False
    return rule([i.spec.dtype for i in node.inputs if isinstance(i.spec, TensorSpec)], node.spec.dtype)
