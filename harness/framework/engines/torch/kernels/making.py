"""Makes tensors from nothing, or from a number."""

from __future__ import annotations

from typing import Any

import torch

from harness.framework.engines.torch.base import kernel
from harness.framework.engines.torch.kernels.shapes import made_in
from harness.framework.ops.base import Call
from harness.framework.ops.operators import dropout


class Here:
    """Where tensors are made that no argument is beside: set by the engine."""

    device: Any = "cpu"


@kernel("Zeros", moves=True)
def _zeros(call: Call, shape: Any, _number: int) -> Any:
    return torch.zeros(tuple(shape), dtype=made_in(call), device=Here.device)


@kernel("Ones", moves=True)
def _ones(call: Call, shape: Any, _number: int) -> Any:
    return torch.ones(tuple(shape), dtype=made_in(call), device=Here.device)


@kernel("Eye", moves=True)
def _eye(call: Call, *_sizes: Any) -> Any:
    return torch.eye(*call.outputs()[0].shape, dtype=made_in(call), device=Here.device)


@kernel("FillV2", moves=True)
def _fill(call: Call, _shape: Any, value: Any) -> Any:
    return value.reshape(()).expand(call.outputs()[0].shape)


@kernel("LinSpace")
def _lin_space(call: Call, start: Any, end: Any, steps: int) -> Any:
    at = torch.arange(int(steps), dtype=torch.float64, device=start.device)
    first, last = start.to(torch.float64), end.to(torch.float64)
    return first + (last - first) * at / max(1, int(steps) - 1)


@kernel("OneHot", moves=True)
def _one_hot(call: Call, indices: Any, depth: int, on: Any, off: Any, axis: int) -> Any:
    at = axis % (indices.ndim + 1)
    depths = torch.arange(int(depth), device=indices.device).reshape(-1, *[1] * (indices.ndim - at))
    return torch.where(indices.unsqueeze(at) == depths, on.reshape(()), off.reshape(()))


@kernel("Dropout", wide=True)
def _dropout(call: Call, x: Any, keep: float, seed0: int, seed1: int) -> Any:
    """What is dropped comes from the harness's own kernel, so that engines drop the same."""
    drawn = dropout.kept(call, (seed0, seed1), tuple(x.shape), keep)
    mask = torch.from_numpy(drawn).to(x.device).to(x.dtype)
    return x * mask * dropout.scale(call.dtype(0), keep), mask
