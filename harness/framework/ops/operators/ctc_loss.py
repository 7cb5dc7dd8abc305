"""CTCLoss, CTCLossV2 and its gradient: how likely a sequence of labels is, over all its alignments with blanks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from harness import dtypes
from harness.errors import DtypeError, KernelError
from harness.framework.ops import numerics
from harness.framework.ops.base import Array, Backward, Call, Operator, operator
from harness.framework.ops.elementwise import check_kind
from harness.framework.tensor import call as emit
from harness.graph import Spec, TensorSpec, TupleSpec

_NEVER = -np.inf


def _extended(labels: Array, blank: int) -> Array:
    """The labels with a blank before, between and after them."""
    out = np.full(2 * len(labels) + 1, blank, np.int64)
    out[1::2] = labels
    return out


def _forward(scores: Array, path: Array, merged: bool = True) -> Array:
    """scores (time, classes), path (2 n + 1,): log-likelihoods (time, 2 n + 1) of the beginnings of alignments; unless
    ``merged``, a label that stays stands for another of its kind: it may stay once only by a blank."""
    alpha = np.full((len(scores), len(path)), _NEVER, np.longdouble)
    if not len(scores):
        return alpha
    alpha[0, :2] = scores[0, path[:2]]
    skips = np.zeros(len(path), bool)
    labels = path != path[0] if len(path) else skips
    skips[2:] = ((path[2:] != path[:-2]) | (not merged)) & labels[2:]
    for time in range(1, len(scores)):
        before = alpha[time - 1]
        once = np.concatenate([[_NEVER], before[:-1]])
        twice = np.where(skips, np.concatenate([[_NEVER, _NEVER], before])[: len(path)], _NEVER)
        stays = before if merged else np.where(labels, _NEVER, before)
        alpha[time] = np.logaddexp(np.logaddexp(stays, once), twice) + scores[time, path]
    return alpha


def _likelihood(alpha: Array) -> Any:
    """The log-likelihood of whole alignments."""
    return np.logaddexp.reduce(alpha[-1, -2:]) if len(alpha) else np.longdouble(_NEVER)


def _shares(alpha: Array, beta: Array, scores: Array, path: Array, total: Any) -> Array:
    """The share that each class at each time has in all alignments."""
    share = np.exp(alpha + beta - scores[:, path] - total)
    part = np.zeros(scores.shape, np.longdouble)
    for place, label in enumerate(path):
        part[:, label] += share[:, place]
    return part


@operator
class CTCLossV2(Operator):
    """log_probs (time, batch, classes), targets (batch, labels), lengths of both (batch,): losses (batch,) and
    log-likelihoods (batch, time, 2 labels + 1). Attributes ``blank``, ``reduction`` and ``zero_infinity``."""

    name = "CTCLossV2"
    functional = False
    tensors = (0, 1, 2, 3)

    def infer(self, call: Call) -> Spec:
        check_kind(call, "f", 0)
        time, batch, _classes = call.shape(0) if len(call.shape(0)) == 3 else (0, -1, 0)
        if len(call.shape(1)) != 2 or call.shape(1)[0] != batch:
            raise call.fail("scores (time, batch, classes) and targets (batch, labels) are needed")
        x = call.dtype(0)
        return TupleSpec(
            (TensorSpec(x, (batch,)), TensorSpec(x, (batch, time, 2 * call.shape(1)[1] + 1))),
        )

    def kernel(self, call: Call, x: Array, targets: Array, times: Array, counts: Array) -> tuple[Array, Array]:
        blank, zero = int(call.attrs["blank"]), bool(call.attrs["zero_infinity"])
        alphas = np.full(call.outputs()[1].shape, _NEVER, np.longdouble)
        losses = np.zeros(len(targets), np.longdouble)
        for at in range(len(targets)):
            path = _extended(targets[at, : counts[at]], blank)
            alpha = _forward(numerics.wide(x[: times[at], at]).astype(np.longdouble), path)
            alphas[at, : len(alpha), : len(path)] = alpha
            losses[at] = -_likelihood(alpha)
        return np.where(np.isinf(losses) & zero, 0, losses), alphas

    def gradient(self, b: Backward) -> Sequence[Any]:
        loss, alpha = b.out
        return emit("CTCLossV2Grad", b.dout[0], *b.inputs, loss, alpha, **b.attrs), None, None, None


@operator
class CTCLossV2Grad(Operator):
    """Gradient of the losses by log_probs; 0 behind a sequence's length, and for an impossible one if the attribute
    ``zero_infinity`` says so."""

    name = "CTCLossV2Grad"
    functional = False
    tensors = (0, 1, 2, 3, 4, 5, 6)

    def infer(self, call: Call) -> Spec:
        return call.tensor(1).tensor

    def kernel(
        self, call: Call, dout: Array, x: Array, targets: Array, times: Array, counts: Array, *_made: Array
    ) -> Array:
        blank, zero = int(call.attrs["blank"]), bool(call.attrs["zero_infinity"])
        out = np.zeros(x.shape, np.longdouble)
        for at in range(len(targets)):
            path = _extended(targets[at, : counts[at]], blank)
            scores = numerics.wide(x[: times[at], at]).astype(np.longdouble)
            alpha = _forward(scores, path)
            total = _likelihood(alpha)
            if np.isinf(total) and zero:
                continue
            beta = _forward(scores[::-1], path[::-1])[::-1, ::-1]
            part = _shares(alpha, beta, scores, path, total)
            # by scores whose powers of e sum to 1, as MindSpore's kernel gives it
            out[: len(scores), at] = (np.exp(scores) - part) * numerics.wide(dout)[at]
        return out


@operator
class CTCLoss(Operator):
    """scores (time, batch, classes), places (n, 2) and values (n,) of the labels, lengths (batch,): losses (batch,) and
    their gradient by the scores, of which softmax is taken; the last class is the blank.

    Attributes: ``preprocess_collapse_repeated`` (of equal labels in a row one counts), ``ctc_merge_repeated`` (a label
    may last), ``ignore_longer_outputs_than_inputs`` (what cannot be aligned has no gradient, else it is refused).
    """

    name = "CTCLoss"
    functional = False
    tensors = (0, 1, 2, 3)

    def infer(self, call: Call) -> Spec:
        check_kind(call, "f", 0)
        if call.dtype(1) is not dtypes.int64:
            raise DtypeError(f"CTCLoss: the places of labels must be Int64, got {call.dtype(1)}")
        shape = call.shape(0)
        if len(shape) != 3 or call.shape(3) != shape[1:2] or call.shape(1) != (*call.shape(2), 2):
            raise call.fail("scores (time, batch, classes), places (n, 2), values (n,), lengths (batch,) are needed")
        return TupleSpec((TensorSpec(call.dtype(0), shape[1:2]), TensorSpec(call.dtype(0), shape)))

    def kernel(self, call: Call, x: Array, places: Array, values: Array, times: Array) -> tuple[Array, Array]:
        losses, slopes = np.zeros(x.shape[1], np.longdouble), np.zeros(x.shape, np.longdouble)
        merged, blank = bool(call.attrs["ctc_merge_repeated"]), x.shape[-1] - 1
        if times.size and times.max() > len(x):
            raise KernelError(f"CTCLoss: a length of {times.max()} is more than the {len(x)} times there are")
        for at, time in enumerate(times):
            labels = values[places[:, 0] == at].astype(np.int64)
            labels = labels[labels != blank]
            if call.attrs["preprocess_collapse_repeated"] and len(labels):
                labels = labels[np.concatenate([[True], labels[1:] != labels[:-1]])]
            path, given = _extended(labels, blank), numerics.wide(x[:time, at]).astype(np.longdouble)
            repeats = int((labels[1:] == labels[:-1]).sum()) if merged else 0
            if len(labels) + repeats > time:
                if not call.attrs["ignore_longer_outputs_than_inputs"]:
                    raise KernelError(f"CTCLoss: {len(labels)} labels are more than {time} times can hold")
                losses[at] = np.inf
                continue
            apart = given - given.max(-1, keepdims=True)
            scores = apart - np.log(np.exp(apart).sum(-1, keepdims=True))
            alpha = _forward(scores, path, merged)
            total = _likelihood(alpha)
            beta = _forward(scores[::-1], path[::-1], merged)[::-1, ::-1]
            slopes[:time, at] = np.exp(scores) - _shares(alpha, beta, scores, path, total)
            if not len(labels) and time > 1:
                # Without labels MindSpore's kernel counts alignments that end one time early, too (measured).
                whole = np.logaddexp(total, alpha[-2, 0])
                slopes[time - 1, at, blank] += 1 - np.exp(total - whole)
                total = whole
            losses[at] = -total
        return losses, slopes

    def gradient(self, b: Backward) -> Sequence[Any]:
        return emit("Mul", b.out[1], emit("ExpandDims", b.dout[0], -1)), None, None, None
