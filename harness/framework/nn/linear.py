"""``nn.Linear``, which is also ``mint.nn.Linear``."""

from __future__ import annotations

import math
from typing import Any

from harness import dtypes
from harness.dtypes import DType
from harness.errors import SettingError
from harness.framework.nn import checks
from harness.framework.nn.cell import Cell
from harness.framework.nn.initializer import HeUniform, Uniform, initializer
from harness.framework.nn.namespace import ops
from harness.framework.tensor import Parameter, Tensor

__all__ = ["Linear"]


class Linear(Cell):
    """``x @ weight.T + bias`` by one ``Dense`` operator; weight (out_features, in_features), bias (out_features,)."""

    def __init__(
        self,
        in_features: int,
        out_features: int,
        bias: bool = True,
        weight_init: Any = None,
        bias_init: Any = None,
        dtype: DType | None = None,
    ) -> None:
        super().__init__()
        self.in_features = checks.positive_int(in_features, "in_features", self.cls_name)
        self.out_features = checks.positive_int(out_features, "out_features", self.cls_name)
        self.has_bias = checks.boolean(bias, "has_bias", self.cls_name)
        self.dense = ops.Dense()
        kind = dtypes.float32 if dtype is None else dtype
        self.weight = self._made(weight_init, HeUniform(math.sqrt(5)), (out_features, in_features), kind, "weight")
        self.bias = None
        if bias:
            self.bias = self._made(bias_init, Uniform(1 / math.sqrt(in_features)), (out_features,), kind, "bias")

    def _made(self, given: Any, usual: Any, shape: tuple[int, ...], dtype: DType, name: str) -> Parameter:
        if isinstance(given, Tensor) and given.shape != shape:
            raise SettingError(f"{self.cls_name}: {name}_init must have shape {shape}, got {given.shape}")
        return Parameter(initializer(usual if given is None else given, shape, dtype), name=name)

    def construct(self, x: Any) -> Any:
        return self.dense(x, self.weight, self.bias)

    def extend_repr(self) -> str:
        bias = f", has_bias={self.has_bias}" if self.has_bias else ""
        return f"input_features={self.in_features}, output_features={self.out_features}{bias}"
