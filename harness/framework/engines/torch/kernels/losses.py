"""Losses and their gradients."""

from __future__ import annotations

from typing import Any

import torch
from torch.nn import functional

from harness.errors import KernelError
from harness.framework.engines.torch.base import kernel
from harness.framework.engines.torch.kernels.indexing import checked
from harness.framework.engines.torch.kernels.normalization import passing
from harness.framework.ops.base import Call
from harness.framework.ops.constants import ints
from harness.framework.ops.operators.nll_loss import MEAN, NONE

_aten = torch.ops.aten
#: what the kernels add to a logarithm's argument, and the least denominator of the gradient
_EPSILON = 1e-12


def _reduction(how: Any) -> int:
    """MindSpore's number of a reduction as PyTorch's."""
    return 0 if how == NONE else 1 if how == MEAN else 2


def _total(loss: Any, how: int) -> Any:
    return loss if how == NONE else loss.mean() if how == MEAN else loss.sum()


@kernel("BCEWithLogitsLoss", wide=True)
def _bce_with_logits(call: Call, x: Any, labels: Any, weight: Any, positive: Any, _how: Any) -> Any:
    return _aten.binary_cross_entropy_with_logits(x, labels, weight, positive, _reduction(ints(call, 4)[0]))


@kernel("BinaryCrossEntropy", wide=True)
def _bce(call: Call, x: Any, labels: Any, weight: Any, _how: Any) -> Any:
    """Logarithms are kept finite as MindSpore does it; PyTorch's own kernel cuts them off at -100."""
    if bool(((x < 0) | (x > 1)).any()):
        raise KernelError("BinaryCrossEntropy: a probability lies outside 0..1")
    least = 0.0 if call.dtype(0).name == "Float16" else _EPSILON
    loss = -(labels * torch.log(x + least) + (1 - labels) * torch.log(1 - x + least))
    return _total(loss if weight is None else loss * weight, ints(call, 3)[0])


@kernel("BinaryCrossEntropyGrad", wide=True)
def _bce_grad(call: Call, x: Any, labels: Any, dout: Any, weight: Any, _how: Any) -> Any:
    scale = dout if weight is None else dout * weight
    if ints(call, 4)[0] == MEAN:
        scale = scale / max(1, x.numel())
    least = 0.0 if call.dtype(0).name == "Float16" else _EPSILON
    return (x - labels) / torch.clamp((1 - x) * x, min=least) * scale


@kernel("SmoothL1Loss", wide=True)
def _smooth_l1(call: Call, x: Any, y: Any, beta: float, how: int) -> Any:
    return _aten.smooth_l1_loss(x, y, _reduction(how), float(beta))


@kernel("SmoothL1LossGrad", wide=True)
def _smooth_l1_grad(call: Call, x: Any, y: Any, dout: Any, beta: float, how: int) -> Any:
    return _aten.smooth_l1_loss_backward(dout, x, y, _reduction(how), float(beta))


# --- classes ---


def _classes(call: Call, labels: Any, count: int) -> Any:
    return checked(labels, 0, count - 1, f"{call.op}: a label")


def _picked(call: Call, x: Any, labels: Any, weight: Any, ignore: int) -> tuple[Any, Any]:
    """The labels, ignored ones replaced by 0, and the weight of each row (0 where ignored)."""
    kept = labels != ignore
    safe = _classes(call, torch.where(kept, labels, 0), x.shape[1])
    return safe, torch.where(kept, weight[safe], 0.0)


@kernel("NLLLoss", wide=True)
def _nll(call: Call, x: Any, labels: Any, weight: Any, how: int, ignore: int) -> Any:
    safe, weights = _picked(call, x, labels, weight, ignore)
    total = weights.sum()
    losses = functional.nll_loss(x, safe, reduction="none") * weights
    losses = torch.where(weights == 0, 0.0, losses)
    if how == NONE:
        return losses, total
    return losses.sum() / total if how == MEAN else losses.sum(), total


@kernel("NLLLossGrad", wide=True)
def _nll_grad(call: Call, x: Any, dloss: Any, labels: Any, weight: Any, total: Any, how: int, ignore: int) -> Any:
    safe, weights = _picked(call, x, labels, weight, ignore)
    scale = -weights * dloss
    scale = scale / total if how == MEAN else scale
    return torch.zeros_like(x).scatter_(1, safe[:, None], scale[:, None].to(x.dtype))


@kernel("SoftmaxCrossEntropyWithLogits", wide=True)
def _soft_labels(call: Call, logits: Any, labels: Any) -> Any:
    if not logits.numel():
        return logits.sum(1), logits
    chances = passing(logits, torch.softmax(logits, 1), 1, 0.0)
    logarithms = passing(logits, torch.log_softmax(logits, 1), 1, -torch.inf)
    return -(labels * logarithms).sum(1), chances - labels


@kernel("SparseSoftmaxCrossEntropyWithLogits")
def _hard_labels(call: Call, logits: Any, labels: Any) -> Any:
    """A class whose chance rounds to 0 costs infinity, as with MindSpore."""
    given, rows = logits.dtype, max(1, logits.shape[0])
    at = _classes(call, labels, logits.shape[1])[:, None]
    wide = logits.to(torch.float32) if given in (torch.float16, torch.bfloat16) else logits
    chances = passing(wide, torch.softmax(wide, 1), 1, 0.0)
    if call.attrs.get("is_grad"):
        return (chances - torch.zeros_like(chances).scatter_(1, at, 1.0)) / rows
    gone = torch.gather(chances, 1, at).to(given) == 0
    logarithms = torch.gather(passing(wide, torch.log_softmax(wide, 1), 1, -torch.inf), 1, at)
    return -torch.where(gone, -torch.inf, logarithms).sum() / rows
