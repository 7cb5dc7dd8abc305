"""LSTM, by PyTorch's own; its gradient by PyTorch's automatic differentiation."""

from __future__ import annotations

import warnings
from typing import Any

import torch

from harness.framework.engines.torch.base import kernel
from harness.framework.ops.base import Call


def _weights(call: Call, column: Any, features: int) -> list[Any]:
    """Input weights, state weights and the two biases of PyTorch, the second of them 0; none without."""
    hidden = call.attrs["hidden_size"]
    flat = column.reshape(-1)
    first, second = 4 * hidden * features, 4 * hidden * hidden
    parts = [flat[:first].reshape(-1, features), flat[first : first + second].reshape(-1, hidden)]
    if call.attrs["has_bias"]:
        bias = flat[first + second :]
        parts += [bias, torch.zeros_like(bias)]
    return parts


def _run(call: Call, x: Any, h: Any, c: Any, w: Any, train: bool) -> Any:
    """``train`` because cuDNN differentiates only then; there is no dropout that it could change."""
    weights, biased = _weights(call, w, x.shape[2]), bool(call.attrs["has_bias"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # cuDNN prefers all weights in one piece of memory
        return torch.lstm(x, (h, c), weights, biased, 1, 0.0, train, False, False)


@kernel("LSTM", wide=True)
def _lstm(call: Call, x: Any, h: Any, c: Any, w: Any) -> Any:
    blank = x.new_zeros((1, 1))
    return *_run(call, x, h, c, w, False), blank, blank


@kernel("LSTMGrad", wide=True)
def _lstm_grad(call: Call, x: Any, h: Any, c: Any, w: Any, *rest: Any) -> Any:
    with torch.enable_grad():
        leaves = [t.detach().clone().requires_grad_() for t in (x, h, c, w)]
        results = _run(call, leaves[0], leaves[1], leaves[2], leaves[3], True)
        return torch.autograd.grad(results, leaves, rest[3:6])
