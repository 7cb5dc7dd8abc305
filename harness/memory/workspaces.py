"""The memory that kernels of the CPU need besides their results.

Sizes measured on MindSpore 2.10.0; a kernel that is not named here either had none or was not measured.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod

from harness.graph import Const, Node, Spec, TensorSpec

#: bytes of a pointer, and of a position
_POINTER = 8


def workspaces(node: Node) -> list[int]:
    """Bytes of each workspace of a kernel; none while a dimension is unknown."""
    rule = _RULES.get(node.op)
    specs = [i.spec for i in node.inputs] + list(node.outputs)
    if rule is None or any(isinstance(s, TensorSpec) and s.size < 0 for s in specs):
        return []
    return rule(node)


def _bytes(spec: Spec) -> int:
    return spec.nbytes if isinstance(spec, TensorSpec) else 0


def _like_input(position: int) -> Callable[[Node], list[int]]:
    """One as large as an input."""

    def sizes(node: Node) -> list[int]:
        return [_bytes(node.inputs[position].spec)]

    return sizes


def _per_channel(count: int) -> Callable[[Node], list[int]]:
    """A number for each channel, ``count`` times."""

    def sizes(node: Node) -> list[int]:
        return [_bytes(node.outputs[1])] * count

    return sizes


def _pool_gradient(node: Node) -> list[int]:
    """A flag for each element of the pooled tensor, and its gradient."""
    pooled = node.inputs[1].spec
    assert isinstance(pooled, TensorSpec)
    return [pooled.size, pooled.nbytes]


def _softmax(node: Node) -> list[int]:
    """A sum for each place of the other axes."""
    spec, axes = node.inputs[0].spec, node.inputs[1] if len(node.inputs) > 1 else None
    assert isinstance(spec, TensorSpec)
    chosen = axes.value if isinstance(axes, Const) else -1
    along = chosen if isinstance(chosen, tuple) else (chosen,)
    return [spec.nbytes // max(1, prod(spec.shape[axis] for axis in along))]


def _sort(node: Node) -> list[int]:
    """A position for each element."""
    spec = node.inputs[0].spec
    assert isinstance(spec, TensorSpec)
    return [spec.size * _POINTER]


def _bce_with_logits(node: Node) -> list[int]:
    """Room for the sum where there is one, and for each weight that is not given."""
    *_, weight, positive, reduction = node.inputs
    reduces = isinstance(reduction, Const) and reduction.value != 2
    absent = [w for w in (weight, positive) if isinstance(w, Const) and w.value is None]
    return [_POINTER] * reduces + [_bytes(node.inputs[0].spec)] * len(absent)


def _split(node: Node) -> list[int]:
    return [_POINTER * len(node.outputs)]


_RULES: dict[str, Callable[[Node], list[int]]] = {
    "AvgPool3DGrad": _like_input(1),
    "BatchNorm": _per_channel(2),
    "BatchNormGrad": _per_channel(3),
    "BCEWithLogitsLoss": _bce_with_logits,
    "CumProd": _like_input(0),
    "CumSum": _like_input(0),
    "MaxPoolGrad": _pool_gradient,
    "PReLUGrad": _like_input(2),
    "Softmax": _softmax,
    "SoftmaxCrossEntropyWithLogits": _like_input(0),
    "Sort": _sort,
    "SparseSoftmaxCrossEntropyWithLogits": _like_input(0),
    "Split": _split,
    "Unstack": _split,
}
