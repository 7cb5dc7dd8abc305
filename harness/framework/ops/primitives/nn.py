"""Primitives of losses, normalisation and activation over rows."""

from __future__ import annotations

from typing import Any

from harness.errors import SettingTypeError
from harness.framework.ops.constants import int_tensor
from harness.framework.ops.functions import margins
from harness.framework.ops.primitive import Primitive, plain
from harness.framework.ops.primitives.shape import axis_setting
from harness.framework.tensor import Tensor, call

__all__ = [
    "LSTM", "BCEWithLogitsLoss", "BatchNorm", "BinaryCrossEntropy", "L2Normalize", "LayerNorm", "LogSoftmax",
    "MultiMarginLoss", "NLLLoss", "SmoothL1Loss", "Softmax", "SoftmaxCrossEntropyWithLogits",
    "SparseSoftmaxCrossEntropyWithLogits",
]  # fmt: skip

#: values of the reduction argument, as the nodes show them
REDUCTIONS = {"sum": 0, "mean": 1, "none": 2}

(SoftmaxCrossEntropyWithLogits,) = plain("SoftmaxCrossEntropyWithLogits").values()


def reduction_setting(owner: str, reduction: Any) -> int:
    """The number of a reduction; ``ValueError`` naming the owner otherwise."""
    if reduction not in REDUCTIONS:
        raise ValueError(f"{owner}: reduction must be 'none', 'mean' or 'sum', got {reduction!r}")
    return REDUCTIONS[reduction]


class SparseSoftmaxCrossEntropyWithLogits(Primitive):
    """Mean cross entropy of integer labels; with ``is_grad`` its gradient for the scores."""

    def __init__(self, is_grad: bool = False) -> None:
        if not isinstance(is_grad, bool):
            raise TypeError(f"SparseSoftmaxCrossEntropyWithLogits: is_grad must be a bool, got {is_grad!r}")
        super().__init__(
            attrs={
                "output_names": ["output"],
                "input_names": ["features", "labels"],
                "sens": 1.0,
                "is_grad": is_grad,
            }
        )


class Softmax(Primitive):
    """e ** x over its sum along one axis."""

    def __init__(self, axis: Any = -1) -> None:
        axes = tuple(axis) if isinstance(axis, (tuple, list)) else (axis,)
        super().__init__(trailing=(tuple(axis_setting("Softmax", a) for a in axes),))


class LogSoftmax(Primitive):
    """Logarithm of Softmax along one axis."""

    def __init__(self, axis: int = -1) -> None:
        super().__init__(trailing=(axis_setting("LogSoftmax", axis),))


class LayerNorm(Primitive):
    """Normalisation over the last axes: the result, mean and variance."""

    def __init__(self, begin_norm_axis: int = 1, begin_params_axis: int = 1, epsilon: float = 1e-7) -> None:
        first = axis_setting("LayerNorm", begin_norm_axis), axis_setting("LayerNorm", begin_params_axis)
        super().__init__(trailing=(*first, float(epsilon)))


class BatchNorm(Primitive):
    """Normalisation over all axes but the channels'; in training the running statistics are updated in place."""

    def __init__(
        self, is_training: bool = False, epsilon: float = 1e-5, momentum: float = 0.1, data_format: str = "NCHW"
    ) -> None:
        if not isinstance(is_training, bool):
            raise TypeError(f"BatchNorm: is_training must be a bool, got {is_training!r}")
        if data_format != "NCHW":
            raise ValueError(f"BatchNorm: data_format must be 'NCHW', got {data_format!r}")
        for name, number in (("epsilon", epsilon), ("momentum", momentum)):
            if isinstance(number, Tensor) and number.size != 1:
                raise SettingTypeError(f"BatchNorm: {name} must be a number, got a tensor {list(number.shape)}")
        if not 0 < epsilon <= 1 or not 0 <= momentum <= 1:
            raise ValueError(f"BatchNorm: epsilon must lie in (0, 1] and momentum in [0, 1], got {epsilon}, {momentum}")
        super().__init__(
            attrs={"side_effect_mem": True} if is_training else {},
            trailing=(is_training, float(epsilon), float(momentum), 0),
        )


class NLLLoss(Primitive):
    """Minus the weighted log probability of each label: the loss and the total weight."""

    def __init__(self, reduction: str = "mean", ignore_index: int = -100) -> None:
        super().__init__(trailing=(reduction_setting("NLLLoss", reduction), ignore_index))


class BCEWithLogitsLoss(Primitive):
    """Cross entropy of two classes against a score."""

    def __init__(self, reduction: str = "mean") -> None:
        super().__init__(trailing=(reduction_setting("BCEWithLogitsLoss", reduction),))

    def __call__(self, input: Any, target: Any, weight: Any = None, pos_weight: Any = None) -> Any:
        return super().__call__(input, target, weight, pos_weight)


class BinaryCrossEntropy(Primitive):
    """Cross entropy of two classes against a probability."""

    def __init__(self, reduction: str = "mean") -> None:
        super().__init__()
        self.reduction = reduction_setting("BinaryCrossEntropy", reduction)

    def __call__(self, logits: Any, labels: Any, weight: Any = None) -> Any:
        return call("BinaryCrossEntropy", logits, labels, weight, int_tensor(self.reduction), **self.marks)


class SmoothL1Loss(Primitive):
    """Squares of small differences, absolute values of large ones."""

    def __init__(self, beta: float = 1.0, reduction: str = "none") -> None:
        super().__init__(trailing=(float(beta), reduction_setting("SmoothL1Loss", reduction)))


class LSTM(Primitive):
    """Long short-term memory over all steps: ``(x, hidden, cell, weights)``; see the operator for their layout."""

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int,
        has_bias: bool,
        bidirectional: bool,
        dropout: float,
        proj_size: int = 0,
    ) -> None:
        super().__init__(
            attrs={
                "dropout": float(dropout), "proj_size": proj_size, "has_bias": has_bias, "num_layers": num_layers,
                "hidden_size": hidden_size, "bidirectional": bidirectional, "input_size": input_size,
            }
        )  # fmt: skip


class L2Normalize(Primitive):
    """A tensor over its length along axes."""

    def __init__(self, axis: Any = 0, epsilon: float = 1e-4) -> None:
        axes = axis if isinstance(axis, int) else tuple(axis_setting("L2Normalize", a) for a in axis)
        if not isinstance(axes, int) and len(axes) != 1:
            raise SettingTypeError(f"L2Normalize: axis must be one axis, got {axis!r}")
        super().__init__(attrs={"axis": axes, "epsilon": float(epsilon)})


class MultiMarginLoss(Primitive):
    """Distances of the other classes' scores from the target's."""

    def __init__(self, p: int = 1, margin: float = 1.0, reduction: str = "mean") -> None:
        super().__init__(attrs=margins.margin_attrs(p, margin, reduction))

    def __call__(self, x: Any, target: Any, weight: Any = None) -> Any:
        return super().__call__(x, target, weight)
