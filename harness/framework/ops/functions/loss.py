"""Losses.

Source: which operators each is made of, in which order: MindSpore 2.10.0 graphs, measured.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from harness import dtypes
from harness.errors import DtypeError, SettingError, SettingTypeError, ShapeError
from harness.framework.ops.constants import int_tensor
from harness.framework.ops.expansion import scalar
from harness.framework.ops.functions.arithmetic import SUB
from harness.framework.ops.functions.create import constant
from harness.framework.ops.functions.indexing import gather
from harness.framework.ops.functions.inner import expand_dims_of
from harness.framework.ops.functions.margins import over_all
from harness.framework.ops.functions.reduction import logsumexp
from harness.framework.ops.primitives.nn import reduction_setting
from harness.framework.tensor import Tensor, call, graph_function

#: the graph function users call as ``ops.logsumexp``
_logsumexp = graph_function("ops.logsumexp", logsumexp)

__all__ = [
    "binary_cross_entropy", "binary_cross_entropy_with_logits", "cross_entropy", "ctc_greedy_decoder", "ctc_loss",
    "huber_loss", "kl_div", "l1_loss", "mse_loss", "nll_loss", "smooth_l1_loss",
]  # fmt: skip


def _reduced(x: Tensor, reduction: str) -> Tensor:
    """``x`` reduced over all axes; ``x`` itself under ``none``."""
    axes = tuple(range(len(x.shape)))
    if reduction == "mean":
        return call("ReduceMean", x, axes, False)  # type: ignore[no-any-return]
    return call("ReduceSum", x, axes, False, False) if reduction == "sum" else x


def mse_loss(input: Tensor, target: Tensor, reduction: str = "mean") -> Tensor:
    """Squared differences, reduced."""
    reduction_setting("mse_loss", reduction)
    squares = call("Square", call("Sub", input, target, **SUB))
    if reduction == "mean" and squares.dtype.kind in "iu":
        squares = call("Cast", squares, dtypes.float32)
    return _reduced(squares, reduction)


def l1_loss(input: Tensor, target: Tensor, reduction: str = "mean") -> Tensor:
    """Absolute differences, reduced."""
    reduction_setting("l1_loss", reduction)
    return _reduced(call("Abs", call("Sub", input, target, **SUB)), reduction)


def smooth_l1_loss(input: Tensor, target: Tensor, beta: float = 1.0, reduction: str = "none") -> Tensor:
    """Squares of small differences, absolute values of large ones, reduced. The node stands in ``Default``."""
    how = reduction_setting("smooth_l1_loss", reduction)
    return call("SmoothL1Loss", input, target, float(beta), how, scope="Default")  # type: ignore[no-any-return]


def binary_cross_entropy(logits: Tensor, labels: Tensor, weight: Any = None, reduction: str = "mean") -> Tensor:
    """Cross entropy of two classes against probabilities."""
    if isinstance(weight, Tensor) and weight.dtype is not logits.dtype:
        raise DtypeError(f"binary_cross_entropy: logits and weight must have one dtype, got {logits.dtype.name} and "
                         f"{weight.dtype.name}")  # fmt: skip
    how = int_tensor(reduction_setting("binary_cross_entropy", reduction))
    return call("BinaryCrossEntropy", logits, labels, weight, how)  # type: ignore[no-any-return]


def binary_cross_entropy_with_logits(
    input: Tensor, target: Tensor, weight: Any = None, pos_weight: Any = None, reduction: str = "mean"
) -> Tensor:
    """Cross entropy of two classes against scores."""
    how = reduction_setting("binary_cross_entropy_with_logits", reduction)
    return call("BCEWithLogitsLoss", input, target, weight, pos_weight, how)  # type: ignore[no-any-return]


@partial(graph_function, "ops.cross_entropy, softmax")
def _log_softmax(x: Tensor, axis: int) -> Tensor:
    """Logarithm of softmax, from its parts."""
    return call("Sub", x, _logsumexp(x, axis, True), **SUB)  # type: ignore[no-any-return]


def cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    ignore_index: int = -100,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Tensor:
    """Cross entropy of scores (n, c, ...) and labels: classes (n, ...), or distributions like the scores."""
    reduction_setting("cross_entropy", reduction)
    if not isinstance(label_smoothing, float):
        raise SettingTypeError(f"cross_entropy: label_smoothing must be a float, got {label_smoothing!r}")
    if label_smoothing < 0:
        raise SettingError(f"cross_entropy: label_smoothing must be at least 0, got {label_smoothing}")
    axis = 0 if len(input.shape) == 1 else 1
    logs = _log_softmax(input, axis)
    if target.dtype.is_floating:
        return _distribution_loss(logs, target, weight, reduction, label_smoothing)
    return nll_loss(logs, target, weight, ignore_index, reduction, label_smoothing)


def _distribution_loss(logs: Tensor, target: Any, weight: Any, reduction: str, smoothing: float) -> Tensor:
    axis = 0 if len(logs.shape) == 1 else 1
    classes = logs.shape[axis]
    if smoothing:
        target = call("Add", call("Muls", target, 1 - smoothing), smoothing / classes)
    product: Any = call("Mul", logs, target)
    if weight is not None:
        shape = tuple(classes if a == axis else 1 for a in range(len(logs.shape)))
        product = call("Mul", product, call("Reshape", weight, shape))
    if reduction == "none":
        return call("Neg", call("SumExt", product, (axis,), False, None))  # type: ignore[no-any-return]
    total = call("Neg", call("SumExt", product, (), False, None))
    result: Tensor = call("Divs", total, logs.size // classes) if reduction == "mean" else total
    return result


def nll_loss(
    inputs: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    ignore_index: int = -100,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Tensor:
    """Minus the log probability of each label, for log probabilities (n, c, ...)."""
    reduction_setting("nll_loss", reduction)
    if target.dtype.name not in ("Int32", "Int64"):
        raise DtypeError(f"nll_loss: the labels must be Int32 or Int64, got {target.dtype}")
    shape, rank = inputs.shape, len(inputs.shape)
    if rank == 0 or tuple(target.shape) != (*shape[:1], *shape[2:])[0 if rank > 1 else 1 :]:
        raise ShapeError(f"nll_loss: labels {list(target.shape)} do not fit log probabilities {list(shape)}")
    axis = 0 if rank == 1 else -1 if rank == 2 else 1
    if rank not in (1, 2, 4):
        inputs = call("Reshape", inputs, (shape[0], shape[1], 1, -1))
        target = call("Reshape", target, (shape[0], 1, -1))
    loss = _label_loss(inputs, target, axis, weight, ignore_index, reduction, label_smoothing)
    if rank not in (1, 2, 4) and reduction == "none":
        loss = call("Reshape", loss, (shape[0], *shape[2:]))
    return loss


def _label_loss(
    logs: Any, labels: Any, axis: int, weight: Any, ignored: int, reduction: str, smoothing: float
) -> Tensor:
    loss, even, weights = _picked(logs, labels, axis, weight, ignored)
    if reduction != "none":
        loss, even = (part.sum() for part in (loss, even))
    if reduction == "mean":
        loss, even = (call("Div", part, weights.sum()) for part in (loss, even))
    share = smoothing / logs.shape[axis]
    return call("Muls", loss, 1.0 - smoothing) + call("Muls", even, share)  # type: ignore[no-any-return]


@partial(graph_function, "ops.cross_entropy, labels")
def _picked(logs: Any, labels: Any, axis: int, weight: Any, ignored: int) -> tuple[Any, Any, Any]:
    """Minus the logarithms at the labels and their sums over the classes, ignored labels left out; and the weights."""
    if weight is not None:
        logs = call("Mul", logs, _beside_classes(weight, logs, axis))
    labels = expand_dims_of(labels, axis)
    mask = call("Equal", labels, scalar(ignored, labels.dtype))
    labels = call("MaskedFill", labels, mask, scalar(0, labels.dtype))
    loss = call("Neg", call("GatherD", logs, axis, labels))
    zero = scalar(0, logs.dtype)
    weights = constant(1, loss.shape, logs.dtype) if weight is None else gather(weight, labels, 0)
    even = call("Neg", logs.sum(axis, keepdims=True))
    loss, weights, even = (call("MaskedFill", part, mask, zero) for part in (loss, weights, even))
    loss, even = (call("Squeeze", part, (axis % len(logs.shape),)) for part in (loss, even))
    return loss, even, weights


def _beside_classes(weight: Tensor, logs: Any, axis: int) -> Any:
    """One weight a class, ready to broadcast over ``logs``."""
    if tuple(weight.shape) != (logs.shape[axis],):
        raise ShapeError(f"nll_loss: {logs.shape[axis]} weights are needed, got {list(weight.shape)}")
    if axis in (-1, len(logs.shape) - 1):
        return weight
    return call("Reshape", weight, tuple(n if a == axis else 1 for a, n in enumerate(logs.shape)))


def ctc_loss(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Tensor,
    target_lengths: Tensor,
    blank: int = 0,
    reduction: str = "mean",
    zero_infinity: bool = False,
) -> tuple[Tensor, Tensor]:
    """(the loss of label sequences over all alignments, log-likelihoods of their beginnings).

    Args:
        log_probs: logarithms of probabilities (time, batch, classes).
        targets: labels (batch, labels).
        input_lengths: how many times of each entry count (batch,).
        target_lengths: how many labels of each entry count (batch,).
        blank: the class that stands for none.
        reduction: ``none``, ``mean`` (of each loss over its number of labels) or ``sum``.
        zero_infinity: an impossible sequence costs nothing.

    Raises:
        SettingError: an unknown reduction, or a blank that is no class.
    """
    if reduction not in ("none", "mean", "sum"):
        raise SettingError(f"ctc_loss: reduction must be 'none', 'mean' or 'sum', got {reduction!r}")
    if not 0 <= blank < log_probs.shape[-1]:
        raise SettingError(f"ctc_loss: blank must be one of {log_probs.shape[-1]} classes, got {blank}")
    given = log_probs, targets, input_lengths, target_lengths
    loss, likelihoods = call("CTCLossV2", *given, blank=blank, reduction="none", zero_infinity=zero_infinity)
    if reduction == "sum":
        loss = loss.sum()
    elif reduction == "mean":
        loss = (loss / call("ClampScalar", call("Cast", target_lengths, loss.dtype), 1, None)).mean()
    return loss, likelihoods


def ctc_greedy_decoder(inputs: Tensor, sequence_length: Tensor, merge_repeated: bool = True) -> Any:
    """The labels of the likeliest class at each time of scores (time, batch, classes), the last of which is the blank:
    their places (n, 2), the labels (n,), the shape (2,) of their table, and the negated sums of the scores (batch, 1);
    ``merge_repeated``: of equal labels in a row one is kept."""
    if not isinstance(merge_repeated, bool):
        raise SettingTypeError(f"ctc_greedy_decoder: merge_repeated must be a bool, got {merge_repeated!r}")
    attrs: dict[str, Any] = {"merge_repeated": merge_repeated, "output_is_dynamic_shape": True}
    return call("CTCGreedyDecoder", inputs, sequence_length, **attrs)


def huber_loss(input: Any, target: Any, reduction: str = "mean", delta: float = 1.0) -> Any:
    """Half the square of the distance up to ``delta``, a straight line beyond it."""
    if not delta > 0:
        raise SettingError(f"huber_loss: delta must be above 0, got {delta!r}")
    apart = (input - target).abs()
    square = call("Mul", scalar(0.5, apart.dtype), call("Square", apart))
    line = call("Mul", scalar(delta, apart.dtype), apart - 0.5 * delta)
    return over_all(call("Select", call("Less", apart, delta), square, line), reduction, "huber_loss")


def kl_div(logits: Any, labels: Any, reduction: str = "mean") -> Any:
    """``labels * (log(labels) - logits)``, 0 where a label is 0; ``batchmean`` divides the sum by the first length."""
    if reduction not in ("mean", "batchmean", "sum", "none"):
        raise SettingError(f"kl_div: reduction must be 'mean', 'batchmean', 'sum' or 'none', got {reduction!r}")
    names: dict[str, Any] = {"input_names": ("x", "target"), "output_names": ("y",)}
    kind = "sum" if reduction.endswith("mean") else reduction
    loss = call("KLDivLoss", logits, labels, reduction=kind, **names)
    return loss if kind == reduction else loss / (logits.size if reduction == "mean" else logits.shape[0])
