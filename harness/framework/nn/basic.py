"""``Dense``, ``Flatten``, ``Dropout`` and ``Identity``."""

from __future__ import annotations

import math
from typing import Any

from harness import dtypes
from harness.dtypes import DType
from harness.errors import SettingError, SettingTypeError
from harness.framework.nn import checks
from harness.framework.nn.activation import get_activation
from harness.framework.nn.cell import Cell
from harness.framework.nn.initializer import HeUniform, Uniform, initializer
from harness.framework.nn.namespace import ops
from harness.framework.ops.primitive import Primitive
from harness.framework.seed import operator_seeds
from harness.framework.tensor import Parameter, Tensor

__all__ = ["Dense", "Dropout", "Flatten", "Identity"]


class Dense(Cell):
    """``activation(x @ weight.T + bias)`` over the last axis; weight (out_channels, in_channels), bias (out_channels,).

    Inputs of other than 2 dimensions are reshaped to 2 and back, as the real graphs show.
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        weight_init: Any = None,
        bias_init: Any = None,
        has_bias: bool = True,
        activation: Any = None,
        dtype: DType = dtypes.float32,
    ) -> None:
        super().__init__()
        self.in_channels = checks.positive_int(in_channels, "in_channels", self.cls_name)
        self.out_channels = checks.positive_int(out_channels, "out_channels", self.cls_name)
        self.has_bias = checks.boolean(has_bias, "has_bias", self.cls_name)
        if weight_init is None:
            weight_init = HeUniform(math.sqrt(5))
        self.weight = Parameter(initializer(weight_init, (out_channels, in_channels), dtype), name="weight")
        self.bias = None
        if has_bias:
            if bias_init is None:
                bias_init = Uniform(1 / math.sqrt(in_channels))
            self.bias = Parameter(initializer(bias_init, (out_channels,), dtype), name="bias")
            self.bias_add = ops.BiasAdd()
        self.reshape = ops.Reshape()
        self.matmul = ops.MatMul(transpose_b=True)
        self.activation: Any = get_activation(activation) if isinstance(activation, str) else activation
        if self.activation is not None and not isinstance(self.activation, (Cell, Primitive)):
            raise SettingTypeError(
                f"{self.cls_name}: activation must be a str, a Cell or a Primitive, got {type(activation).__name__}"
            )
        self.activation_flag = self.activation is not None

    def construct(self, x: Tensor) -> Tensor:
        shape = x.shape
        if len(shape) != 2:
            x = self.reshape(x, (-1, shape[-1]))
        x = self.matmul(x, self.weight)
        if self.has_bias:
            x = self.bias_add(x, self.bias)
        if self.activation_flag:
            x = self.activation(x)
        if len(shape) != 2:
            x = self.reshape(x, (*shape[:-1], x.shape[-1]))
        return x

    def extend_repr(self) -> str:
        text = f"input_channels={self.in_channels}, output_channels={self.out_channels}"
        if self.has_bias:
            text += f", has_bias={self.has_bias}"
        return f"{text}, activation={self.activation}" if self.activation_flag else text


class Flatten(Cell):
    """Joins the axes ``start_dim`` to ``end_dim``."""

    def __init__(self, start_dim: int = 1, end_dim: int = -1) -> None:
        super().__init__()
        self.start_dim = start_dim
        self.end_dim = end_dim

    def construct(self, x: Tensor) -> Any:
        rank = max(1, len(x.shape))
        for name in ("start_dim", "end_dim"):
            if not -rank <= getattr(self, name) < rank:
                raise SettingError(
                    f"{self.cls_name}: {name} must be in [{-rank}, {rank}) for a tensor of shape {x.shape}, "
                    f"got {getattr(self, name)}"
                )
        return ops.flatten(x, start_dim=self.start_dim, end_dim=self.end_dim)


class Dropout(Cell):
    """In training, sets each element to 0 with probability ``p`` and scales the rest by 1 / (1 - p).

    Args:
        keep_prob: probability of keeping an element, in (0, 1]; used where ``p`` is None.
        p: probability of dropping one, in [0, 1).
        dtype: kept, without effect.
    """

    def __init__(self, keep_prob: float = 0.5, p: float | None = None, dtype: DType = dtypes.float32) -> None:
        super().__init__()
        if p is None:
            if not isinstance(keep_prob, float):
                raise SettingTypeError(f"{self.cls_name}: keep_prob must be a float, got {type(keep_prob).__name__}")
            if not 0 < keep_prob <= 1:
                raise SettingError(f"{self.cls_name}: keep_prob must be in (0, 1], got {keep_prob}")
            kept = keep_prob
        else:
            checks.number(p, "p", self.cls_name)
            if not 0 <= p < 1:
                raise SettingError(f"{self.cls_name}: p must be in [0, 1), got {p}")
            kept = 1.0 - p
        seed0, seed1 = operator_seeds("dropout")
        self.dropout = ops.Dropout(kept, seed0, seed1)
        self.p = p
        self.keep_prob = keep_prob

    def construct(self, x: Tensor) -> Any:
        if not self.training or self.keep_prob == 1 or self.p == 0:
            return x
        out, _ = self.dropout(x)
        return out

    def extend_repr(self) -> str:
        return f"keep_prob={self.keep_prob}" if self.p is None else f"p={self.p}"


class Identity(Cell):
    """Gives its argument back; takes and ignores any settings."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()

    def construct(self, input: Any) -> Any:
        return input
