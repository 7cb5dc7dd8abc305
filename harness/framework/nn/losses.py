"""Loss layers. Source for the operators of each: MindSpore 2.10.0 CPU, measured."""

from __future__ import annotations

from typing import Any

from harness import dtypes
from harness.errors import DtypeError, SettingError, SettingTypeError, ShapeError
from harness.framework.nn import checks
from harness.framework.nn.cell import Cell
from harness.framework.nn.namespace import ops
from harness.framework.tensor import Parameter, Tensor

__all__ = [
    "BCELoss", "BCEWithLogitsLoss", "CrossEntropyLoss", "HuberLoss", "L1Loss", "LossBase", "MAELoss", "MSELoss",
    "NLLLoss", "RMSELoss", "SmoothL1Loss", "SoftmaxCrossEntropyWithLogits",
]  # fmt: skip

_REDUCTIONS = ("mean", "sum", "none")


class LossBase(Cell):
    """Base of losses: ``get_loss`` reduces as ``reduction`` (mean, sum or none) says."""

    def __init__(self, reduction: str = "mean") -> None:
        super().__init__()
        self.reduction = checks.among(reduction, _REDUCTIONS, "reduction", self.cls_name)
        self.average = reduction != "sum"
        self.reduce = reduction != "none"
        self.reduce_mean = ops.ReduceMean()
        self.reduce_sum = ops.ReduceSum()
        self.mul = ops.Mul()
        self.cast = ops.Cast()

    def get_axis(self, x: Tensor) -> tuple[int, ...]:
        """All axes of ``x``."""
        return tuple(range(len(x.shape)))

    def get_loss(self, x: Tensor, weights: Any = 1.0) -> Any:
        """``weights * x`` in float32, reduced, in the dtype of ``x``."""
        given = x.dtype
        loss: Any = x if given is dtypes.float32 else self.cast(x, dtypes.float32)
        # A weight of 1 leaves no node in the real graphs.
        if isinstance(weights, Tensor):
            loss = self.mul(self.cast(weights, dtypes.float32), loss)
        elif weights != 1.0:
            loss = self.mul(Tensor(weights, dtypes.float32), loss)
        if self.reduce:
            loss = (self.reduce_mean if self.average else self.reduce_sum)(loss, self.get_axis(loss))
        return loss if given is dtypes.float32 else self.cast(loss, given)

    def _require_tensors(self, **given: Any) -> None:
        for name, value in given.items():
            if not isinstance(value, Tensor):
                raise SettingTypeError(f"{self.cls_name}: {name} must be a Tensor, got {type(value).__name__}")


class MSELoss(LossBase):
    """Squared difference."""

    def construct(self, logits: Any, labels: Any) -> Any:
        self._require_tensors(logits=logits, labels=labels)
        return self.get_loss(ops.square(logits - labels))


class RMSELoss(LossBase):
    """Square root of the mean squared difference."""

    def __init__(self) -> None:
        super().__init__()
        self.MSELoss = MSELoss()

    def construct(self, logits: Tensor, label: Tensor) -> Any:
        return ops.sqrt(self.MSELoss(logits, label))


class MAELoss(LossBase):
    """Absolute difference, reduced by ``get_loss``."""

    def __init__(self, reduction: str = "mean") -> None:
        super().__init__(reduction)
        self.abs = ops.Abs()

    def construct(self, logits: Any, label: Any) -> Any:
        self._require_tensors(logits=logits, labels=label)
        return self.get_loss(self.abs(logits - label))


class L1Loss(LossBase):
    """Absolute difference."""

    def construct(self, logits: Tensor, labels: Tensor) -> Any:
        return ops.l1_loss(logits, labels, self.reduction)


class SmoothL1Loss(LossBase):
    """Squared difference below ``beta``, absolute above."""

    def __init__(self, beta: float = 1.0, reduction: str = "none") -> None:
        super().__init__(reduction)
        self.beta = beta
        self.smooth_l1_loss = ops.SmoothL1Loss(beta, reduction)

    def construct(self, logits: Tensor, labels: Tensor) -> Any:
        return self.smooth_l1_loss(logits, labels)


class HuberLoss(LossBase):
    """Squared difference below ``delta``, linear above."""

    def __init__(self, reduction: str = "mean", delta: float = 1.0) -> None:
        super().__init__(reduction)
        if delta <= 0:
            raise SettingError(f"HuberLoss: delta must be above 0, got {delta!r}")
        self.delta = delta

    def construct(self, logits: Any, labels: Any) -> Any:
        self._require_tensors(logits=logits, labels=labels)
        mul, sub = ops.Mul(), ops.Sub()
        distance = ops.Abs()(sub(logits, labels))
        square = mul(0.5, ops.Square()(distance))
        line = sub(distance, 0.5 * self.delta)
        if self.delta != 1.0:
            line = mul(self.delta, line)
        return self.get_loss(ops.Select()(ops.Less()(distance, self.delta), square, line))


class SoftmaxCrossEntropyWithLogits(LossBase):
    """Cross entropy of softmax(logits (N, C)) against class numbers (``sparse``, (N,)) or shares (N, C)."""

    def __init__(self, sparse: bool = False, reduction: str = "none") -> None:
        super().__init__(reduction)
        self.sparse = checks.boolean(sparse, "sparse", self.cls_name)
        self.softmax_cross_entropy = ops.SoftmaxCrossEntropyWithLogits()
        self.one_hot = ops.OneHot()
        self.on_value = Tensor(1.0, dtypes.float32)
        self.off_value = Tensor(0.0, dtypes.float32)
        self.sparse_softmax_cross_entropy = ops.SparseSoftmaxCrossEntropyWithLogits()

    def construct(self, logits: Tensor, labels: Tensor) -> Any:
        self._require_tensors(logits=logits, labels=labels)
        if self.sparse:
            if self.reduction == "mean":
                return self.sparse_softmax_cross_entropy(logits, labels)
            labels = self.one_hot(labels, logits.shape[-1], self.on_value, self.off_value)
        return self.get_loss(self.softmax_cross_entropy(logits, labels)[0])


class BCEWithLogitsLoss(LossBase):
    """Binary cross entropy of sigmoid(input)."""

    def __init__(self, reduction: str = "mean", weight: Any = None, pos_weight: Any = None) -> None:
        super().__init__(reduction)
        for name, value in (("weight", weight), ("pos_weight", pos_weight)):
            if isinstance(value, Parameter):
                raise SettingTypeError(f"{self.cls_name}: {name} must not be a Parameter")
        self.weight = weight
        self.pos_weight = pos_weight

    def construct(self, input: Tensor, target: Tensor) -> Any:
        self._require_tensors(input=input, target=target)
        return ops.binary_cross_entropy_with_logits(input, target, self.weight, self.pos_weight, self.reduction)


class BCELoss(LossBase):
    """Binary cross entropy of probabilities."""

    def __init__(self, weight: Any = None, reduction: str = "mean") -> None:
        super().__init__(reduction)
        self.weight = weight

    def construct(self, logits: Tensor, labels: Tensor) -> Any:
        return ops.binary_cross_entropy(logits, labels, self.weight, self.reduction)


class _ClassLoss(LossBase):
    """Shared parts of losses over class numbers: ``weight`` (C,) and ``ignore_index``."""

    def __init__(self, weight: Any, ignore_index: int, reduction: str) -> None:
        super().__init__(reduction)
        if isinstance(ignore_index, bool) or not isinstance(ignore_index, int):
            raise SettingTypeError(f"{self.cls_name}: ignore_index must be an int, got {ignore_index!r}")
        if weight is not None:
            self._require_tensors(weight=weight)
            self._require_float("weight", weight)
        self.weight = weight
        self.ignore_index = ignore_index

    def _require_float(self, name: str, value: Tensor) -> None:
        if value.dtype not in (dtypes.float16, dtypes.float32):
            raise DtypeError(f"{self.cls_name}: {name} must be float16 or float32, got {value.dtype}")


class NLLLoss(_ClassLoss):
    """Negative log likelihood of log-probabilities (N, C) at class numbers (N,)."""

    def __init__(self, weight: Any = None, ignore_index: int = -100, reduction: str = "mean") -> None:
        super().__init__(weight, ignore_index, reduction)

    def construct(self, logits: Tensor, labels: Tensor) -> Any:
        return ops.nll_loss(logits, labels, self.weight, self.ignore_index, self.reduction)


class CrossEntropyLoss(_ClassLoss):
    """Cross entropy of softmax(logits (N, C, ...)) against class numbers (N, ...) or shares (N, C, ...)."""

    def __init__(
        self, weight: Any = None, ignore_index: int = -100, reduction: str = "mean", label_smoothing: float = 0.0
    ) -> None:
        super().__init__(weight, ignore_index, reduction)
        self.label_smoothing = checks.number(label_smoothing, "label_smoothing", self.cls_name, 0.0, 1.0)

    def construct(self, logits: Tensor, labels: Tensor) -> Any:
        self._require_tensors(logits=logits, labels=labels)
        self._require_float("logits", logits)
        shares = len(labels.shape) == len(logits.shape)
        if shares:
            self._require_float("labels", labels)
        elif labels.dtype is not dtypes.int32:
            raise DtypeError(f"{self.cls_name}: class numbers must be int32, got {labels.dtype}")
        classes = logits.shape if shares else (*logits.shape[:1], *logits.shape[2:]) if len(logits.shape) > 1 else ()
        if labels.shape != classes:
            numbers = (*logits.shape[:1], *logits.shape[2:])
            raise ShapeError(
                f"{self.cls_name}: logits {logits.shape} need labels of shape {logits.shape} (shares) or {numbers} "
                f"(class numbers), got {labels.shape}"
            )
        return ops.cross_entropy(logits, labels, self.weight, self.ignore_index, self.reduction, self.label_smoothing)
