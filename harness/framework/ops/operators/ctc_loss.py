"""CTCLossV2 and its gradient: how likely a sequence of labels is, over all its alignments with blanks between them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

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


def _forward(scores: Array, path: Array) -> Array:
    """scores (time, classes), path (2 n + 1,): log-likelihoods (time, 2 n + 1) of the beginnings of alignments."""
    alpha = np.full((len(scores), len(path)), _NEVER, np.longdouble)
    if not len(scores):
        return alpha
    alpha[0, :2] = scores[0, path[:2]]
    skips = np.zeros(len(path), bool)
    skips[2:] = (path[2:] != path[:-2]) & (path[2:] != path[0])
    for time in range(1, len(scores)):
        before = alpha[time - 1]
        once = np.concatenate([[_NEVER], before[:-1]])
        twice = np.where(skips, np.concatenate([[_NEVER, _NEVER], before])[: len(path)], _NEVER)
        alpha[time] = np.logaddexp(np.logaddexp(before, once), twice) + scores[time, path]
    return alpha


def _likelihood(alpha: Array) -> Any:
    """The log-likelihood of whole alignments."""
    return np.logaddexp.reduce(alpha[-1, -2:]) if len(alpha) else np.longdouble(_NEVER)


@operator
class CTCLossV2(Operator):
    """log_probs (time, batch, classes), targets (batch, labels), lengths of both (batch,), blank, reduction,
    zero_infinity: losses (batch,) and log-likelihoods (batch, time, 2 labels + 1)."""

    name = "CTCLossV2"
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

    def kernel(
        self, call: Call, x: Array, targets: Array, times: Array, counts: Array, blank: int, _how: str, zero: bool
    ) -> tuple[Array, Array]:
        alphas = np.full(call.outputs()[1].shape, _NEVER, np.longdouble)
        losses = np.zeros(len(targets), np.longdouble)
        for at in range(len(targets)):
            path = _extended(targets[at, : counts[at]], blank)
            alpha = _forward(numerics.wide(x[: times[at], at]).astype(np.longdouble), path)
            alphas[at, : len(alpha), : len(path)] = alpha
            losses[at] = -_likelihood(alpha)
        return np.where(np.isinf(losses) & bool(zero), 0, losses), alphas

    def gradient(self, b: Backward) -> Sequence[Any]:
        loss, alpha = b.out
        x, *rest = b.inputs
        return emit("CTCLossV2Grad", b.dout[0], x, *rest[:3], loss, alpha, rest[3], rest[5]), *(None,) * 6


@operator
class CTCLossV2Grad(Operator):
    """Gradient of the losses by log_probs; 0 behind a sequence's length, and for an impossible one if zero_infinity."""

    name = "CTCLossV2Grad"
    tensors = (0, 1, 2, 3, 4, 5, 6)

    def infer(self, call: Call) -> Spec:
        return call.tensor(1).tensor

    def kernel(
        self, call: Call, dout: Array, x: Array, targets: Array, times: Array, counts: Array, _loss: Array,
        _alpha: Array, blank: int, zero: bool,
    ) -> Array:  # fmt: skip
        out = np.zeros(x.shape, np.longdouble)
        for at in range(len(targets)):
            path = _extended(targets[at, : counts[at]], blank)
            scores = numerics.wide(x[: times[at], at]).astype(np.longdouble)
            alpha = _forward(scores, path)
            total = _likelihood(alpha)
            if np.isinf(total) and zero:
                continue
            beta = _forward(scores[::-1], path[::-1])[::-1, ::-1]
            share = np.exp(alpha + beta - scores[:, path] - total)
            part = np.zeros(scores.shape, np.longdouble)
            for place, label in enumerate(path):
                part[:, label] += share[:, place]
            # by scores whose powers of e sum to 1, as MindSpore's kernel gives it
            out[: len(scores), at] = (np.exp(scores) - part) * numerics.wide(dout)[at]
        return out
