"""Softmax, normalisation and norms."""

from __future__ import annotations

from typing import Any

from harness.errors import SettingTypeError, UnsupportedError
from harness.framework.ops import expansion
from harness.framework.ops.functions.shape import cast
from harness.framework.tensor import Tensor, call, differentiated_outside, is_eager, tensor_method

__all__ = ["batch_norm", "embedding", "layer_norm", "log_softmax", "softmax", "softmin"]


@tensor_method("softmax")
def _softmax(self: Tensor, axis: int, dtype: Any = None) -> Tensor:
    return softmax(self, axis, dtype=dtype)


def softmax(input: Tensor, axis: int = -1, *, dtype: Any = None) -> Tensor:
    """e ** input over its sum along ``axis``."""
    input = input if dtype is None else cast(input, dtype)
    return call("Softmax", input, (axis,))  # type: ignore[no-any-return]


@tensor_method("log_softmax")
def log_softmax(logits: Tensor, axis: int = -1) -> Tensor:
    """Logarithm of ``softmax``; its gradient stands in ``Default`` (measured)."""
    return differentiated_outside(call("LogSoftmax", logits, axis))  # type: ignore[no-any-return]


def layer_norm(input: Tensor, normalized_shape: Any, weight: Any = None, bias: Any = None, eps: float = 1e-5) -> Tensor:
    """Refused: the CPU has no kernel for the operator this function emits (``LayerNormExt``); use ``nn.LayerNorm``."""
    raise UnsupportedError("ops.layer_norm has no CPU kernel (LayerNormExt); use nn.LayerNorm or ops.LayerNorm")


def batch_norm(
    input_x: Tensor,
    running_mean: Tensor,
    running_var: Tensor,
    weight: Tensor,
    bias: Tensor,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Tensor:
    """``input_x`` (n, c, ...) normalised over every axis but the channels'; the statistics follow in training."""
    for name, number in (("eps", eps), ("momentum", momentum)):
        if isinstance(number, Tensor) and (number.size != 1 or not is_eager()):
            raise SettingTypeError(f"batch_norm: {name} must be a number, got a tensor {list(number.shape)}")
    attrs: dict[str, Any] = {"side_effect_mem": True} if training else {}
    statistics = running_mean, running_var
    out = call("BatchNorm", input_x, weight, bias, *statistics, training, float(eps), float(momentum), 0, **attrs)
    return out[0]  # type: ignore[no-any-return]


def embedding(
    input: Tensor,
    weight: Tensor,
    padding_idx: int | None = None,
    max_norm: float | None = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
) -> Tensor:
    """The rows of ``weight`` at ``input``; has no gradient on the CPU, as in MindSpore."""
    if max_norm is not None:
        raise UnsupportedError("ops.embedding: max_norm is not supported")
    return call("Embedding", input, weight, padding_idx, max_norm, norm_type, scale_grad_by_freq)  # type: ignore[no-any-return]


def softmin(x: Any, axis: int = -1, *, dtype: Any = None) -> Any:
    """``softmax`` of the negative, of ``x`` cast to ``dtype`` first."""
    return softmax((x if dtype is None else expansion.cast(x, dtype)) * -1, axis)
