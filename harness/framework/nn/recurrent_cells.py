"""``RNNCell``, ``GRUCell`` and ``LSTMCell``: one time step as a layer."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from harness import dtypes
from harness.dtypes import DType
from harness.errors import DtypeError, SettingTypeError
from harness.framework.nn import checks
from harness.framework.nn.cell import Cell
from harness.framework.nn.initializer import Uniform, initializer
from harness.framework.nn.recurrent_steps import gru_step, lstm_step, relu_step, tanh_step
from harness.framework.tensor import Parameter, Tensor

__all__ = ["GRUCell", "LSTMCell", "RNNCell"]


class _StepCell(Cell):
    """Weights ``weight_ih`` (gates * hidden, input) and ``weight_hh`` (gates * hidden, hidden), and biases."""

    def __init__(self, input_size: int, hidden_size: int, has_bias: bool, gates: int, dtype: DType) -> None:
        super().__init__()
        self.input_size = checks.positive_int(input_size, "input_size", self.cls_name)
        self.hidden_size = checks.positive_int(hidden_size, "hidden_size", self.cls_name)
        self.has_bias = checks.boolean(has_bias, "has_bias", self.cls_name)
        rows = gates * hidden_size
        shapes: dict[str, tuple[int, ...]] = {"weight_ih": (rows, input_size), "weight_hh": (rows, hidden_size)}
        self.bias_ih = self.bias_hh = None
        if has_bias:
            shapes |= {"bias_ih": (rows,), "bias_hh": (rows,)}
        for shape in shapes.values():
            # As measured: normal values are drawn and dropped, which advances numpy's generator.
            np.random.randn(*shape)
        bound = 1 / math.sqrt(hidden_size)
        for name, shape in shapes.items():
            setattr(self, name, Parameter(initializer(Uniform(bound), shape, dtype)))

    def _check(self, **given: Any) -> None:
        for name, value in given.items():
            if not isinstance(value, Tensor):
                raise SettingTypeError(f"{self.cls_name}: {name} must be a Tensor, got {type(value).__name__}")
            if value.dtype not in (dtypes.float16, dtypes.float32):
                raise DtypeError(f"{self.cls_name}: {name} must be float16 or float32, got {value.dtype}")

    def _weights(self) -> tuple[Any, Any, Any, Any]:
        return self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh


class RNNCell(_StepCell):
    """tanh (or relu) of input and state, each times its weight; x (batch, input), hx (batch, hidden)."""

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        has_bias: bool = True,
        nonlinearity: str = "tanh",
        dtype: DType = dtypes.float32,
    ) -> None:
        super().__init__(input_size, hidden_size, has_bias, 1, dtype)
        self.nonlinearity = checks.among(nonlinearity, ("tanh", "relu"), "nonlinearity", self.cls_name)

    def construct(self, x: Tensor, hx: Tensor) -> Any:
        self._check(x=x, hx=hx)
        return (tanh_step if self.nonlinearity == "tanh" else relu_step)(x, hx, *self._weights())


class GRUCell(_StepCell):
    """One step of a GRU; x (batch, input), hx (batch, hidden)."""

    def __init__(self, input_size: int, hidden_size: int, has_bias: bool = True, dtype: DType = dtypes.float32) -> None:
        super().__init__(input_size, hidden_size, has_bias, 3, dtype)

    def construct(self, x: Tensor, hx: Tensor) -> Any:
        self._check(x=x, hx=hx)
        return gru_step(x, hx, *self._weights())


class LSTMCell(_StepCell):
    """One step of an LSTM; x (batch, input), hx a pair of (batch, hidden); gives such a pair."""

    def __init__(self, input_size: int, hidden_size: int, has_bias: bool = True, dtype: DType = dtypes.float32) -> None:
        super().__init__(input_size, hidden_size, has_bias, 4, dtype)

    def construct(self, x: Tensor, hx: tuple[Tensor, Tensor]) -> Any:
        if not isinstance(hx, tuple) or len(hx) != 2:
            raise SettingTypeError(f"{self.cls_name}: hx must be a tuple of two tensors, got {type(hx).__name__}")
        self._check(x=x, **{"hx[0]": hx[0], "hx[1]": hx[1]})
        return lstm_step(x, hx, *self._weights())
