"""Recurrent layers: ``RNN``, ``GRU`` and ``LSTM``."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np

from harness import dtypes
from harness.dtypes import DType
from harness.errors import SettingError, SettingTypeError, ShapeError
from harness.framework.nn import checks
from harness.framework.nn.basic import Dropout
from harness.framework.nn.cell import Cell
from harness.framework.nn.namespace import ops
from harness.framework.nn.recurrent_steps import _DynamicGRUCPUGPU, _DynamicLSTMCPUGPU, _DynamicRNNRelu, _DynamicRNNTanh
from harness.framework.tensor import Parameter, ParameterTuple, Tensor, graph_function

__all__ = ["GRU", "LSTM", "RNN"]

_KINDS: dict[str, tuple[type[Cell], int]] = {
    "LSTM": (_DynamicLSTMCPUGPU, 4), "GRU": (_DynamicGRUCPUGPU, 3), "RNN_TANH": (_DynamicRNNTanh, 1),
    "RNN_RELU": (_DynamicRNNRelu, 1),
}  # fmt: skip


@partial(graph_function, "nn.joined_states")
def _joined(states: list[Tensor], shape: tuple[int, ...]) -> Tensor:
    """The last states of all layers and directions as one tensor of ``shape``."""
    return ops.Concat(0)(tuple(states)).view(shape)  # type: ignore[no-any-return]


class _RNNBase(Cell):
    """Layers over time, in one or both directions.

    ``construct(x, hx=None, seq_length=None)``: x (time, batch, input) or, with ``batch_first``, (batch, time, input);
    hx (layers * directions, batch, hidden), for LSTM a pair of such; seq_length (batch,) of ints. Gives the outputs
    (like x, with hidden * directions features) and the last state (like hx).
    """

    def __init__(
        self,
        mode: str,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        has_bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        dtype: DType = dtypes.float32,
    ) -> None:
        super().__init__()
        owner = self.cls_name
        checks.positive_int(input_size, "input_size", owner)
        self.hidden_size = checks.positive_int(hidden_size, "hidden_size", owner)
        self.num_layers = checks.positive_int(num_layers, "num_layers", owner)
        self.has_bias = checks.boolean(has_bias, "has_bias", owner)
        self.batch_first = checks.boolean(batch_first, "batch_first", owner)
        self.bidirectional = checks.boolean(bidirectional, "bidirectional", owner)
        if not isinstance(dropout, float):
            raise SettingTypeError(f"{owner}: dropout must be a float, got {type(dropout).__name__} {dropout!r}")
        if not 0 <= dropout < 1:
            raise SettingError(f"{owner}: dropout must be in [0, 1), got {dropout}")
        layer, gates = _KINDS[mode]
        self.rnn = layer()
        self.reverse = ops.ReverseV2([0])
        self.dropout = dropout
        self.dropout_op = Dropout(p=dropout)
        self.is_lstm = mode == "LSTM"
        self.directions = 2 if bidirectional else 1
        self._make_parameters(input_size, gates * hidden_size, dtype)

    def _make_parameters(self, input_size: int, rows: int, dtype: DType) -> None:
        """Weights and biases, drawn from numpy's global generator in this order (measured)."""
        bound = 1 / math.sqrt(self.hidden_size)
        kinds: dict[str, list[Parameter]] = {"weight_ih": [], "weight_hh": [], "bias_ih": [], "bias_hh": []}

        def add(kind: str, shape: tuple[int, ...], suffix: str) -> None:
            values = np.random.uniform(-bound, bound, shape).astype(np.float32)
            kinds[kind].append(Parameter(Tensor(values, dtype), name=f"{kind}_{suffix}"))

        for layer in range(self.num_layers):
            features = self.hidden_size * self.directions if layer else input_size
            for direction in range(self.directions):
                suffix = f"l{layer}{'_reverse' if direction else ''}"
                add("weight_ih", (rows, features), suffix)
                add("weight_hh", (rows, self.hidden_size), suffix)
                if self.has_bias:
                    add("bias_ih", (rows,), suffix)
                    add("bias_hh", (rows,), suffix)
        self.w_ih_list = ParameterTuple(kinds["weight_ih"])
        self.w_hh_list = ParameterTuple(kinds["weight_hh"])
        self.b_ih_list = ParameterTuple(kinds["bias_ih"])
        self.b_hh_list = ParameterTuple(kinds["bias_hh"])

    def _weights(self, at: int) -> tuple[Any, Any, Any, Any]:
        biases = (self.b_ih_list[at], self.b_hh_list[at]) if self.has_bias else (None, None)
        return (self.w_ih_list[at], self.w_hh_list[at], *biases)

    def _state(self, hx: Any, at: int) -> Any:
        return (hx[0][at], hx[1][at]) if self.is_lstm else hx[at]

    def _reversed(self, x: Any, seq_length: Tensor | None) -> Any:
        """``x`` (time, batch, features) backwards in time; each sequence within its own length."""
        return self.reverse(x) if seq_length is None else ops.ReverseSequence(0, 1)(x, seq_length)

    def _layer(self, x: Any, hx: Any, seq_length: Tensor | None, layer: int) -> tuple[Any, list[Any]]:
        """Outputs of one layer, and the last state of each direction."""
        at = layer * self.directions
        forward, forward_state = self.rnn(x, self._state(hx, at), seq_length, *self._weights(at))
        if not self.bidirectional:
            return forward, [forward_state]
        turned = self._reversed(x, seq_length)
        backward, state = self.rnn(turned, self._state(hx, at + 1), seq_length, *self._weights(at + 1))
        return ops.Concat(2)((forward, self._reversed(backward, seq_length))), [forward_state, state]

    def construct(self, x: Tensor, hx: Any = None, seq_length: Tensor | None = None) -> Any:
        hx = self._check(x, hx, seq_length)
        if self.batch_first:
            x = ops.Transpose()(x, (1, 0, 2))
        states: list[Any] = []
        output: Any = x
        for layer in range(self.num_layers):
            output, last = self._layer(output, hx, seq_length, layer)
            states += last
            if self.dropout and layer < self.num_layers - 1:
                output = self.dropout_op(output)
        final: Any
        if self.is_lstm:
            final = tuple(_joined([s[part] for s in states], hx[part].shape) for part in (0, 1))
        else:
            final = _joined(states, hx.shape)
        if self.batch_first:
            output = ops.Transpose()(output, (1, 0, 2))
        return output, final

    def _check(self, x: Any, hx: Any, seq_length: Any) -> Any:
        """The initial state (zeros by default), after the arguments were checked."""
        if not isinstance(x, Tensor) or len(x.shape) != 3:
            raise ShapeError(f"{self.cls_name}: x must be a tensor of 3 dimensions, got {x!r}")
        batch = x.shape[0] if self.batch_first else x.shape[1]
        if seq_length is not None and (
            seq_length.dtype not in (dtypes.int32, dtypes.int64) or seq_length.shape != (batch,)
        ):
            raise ShapeError(
                f"{self.cls_name}: seq_length must be {batch} int32 or int64 values, "
                f"got {seq_length.dtype}{list(seq_length.shape)}"
            )
        if hx is None:
            shape = (self.num_layers * self.directions, batch, self.hidden_size)
            zeros = ops.zeros(shape, x.dtype)
            return (zeros, ops.zeros(shape, x.dtype)) if self.is_lstm else zeros
        if self.is_lstm and not (isinstance(hx, tuple) and len(hx) == 2):
            raise SettingTypeError(f"{self.cls_name}: hx must be a tuple of two tensors, got {type(hx).__name__}")
        return hx


class RNN(_RNNBase):
    """Recurrent layers with tanh or (``nonlinearity="relu"``) relu; arguments as ``_RNNBase`` after ``mode``."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        kind = checks.among(kwargs.pop("nonlinearity", "tanh"), ("tanh", "relu"), "nonlinearity", "RNN")
        super().__init__(f"RNN_{kind.upper()}", *args, **kwargs)


class GRU(_RNNBase):
    """Gated recurrent layers; arguments as ``_RNNBase`` after ``mode``."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__("GRU", *args, **kwargs)


class LSTM(_RNNBase):
    """Long short-term memory; arguments as ``_RNNBase`` after ``mode``."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__("LSTM", *args, **kwargs)
