"""The arithmetic of one time step of each recurrent layer, and its repetition over time.

Source: MindSpore 2.10.0 CPU, measured: which operators, in which order. All take ``x`` (batch, input), the state
``hidden`` (batch, hidden), weights ``w_ih`` (gates * hidden, input) and ``w_hh`` (gates * hidden, hidden), and biases
of one value a row, or None. Each step is a function of its own (``graph_function``), as in the real graphs.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from harness import dtypes
from harness.errors import SettingError
from harness.framework.nn.cell import Cell
from harness.framework.nn.namespace import ops
from harness.framework.tensor import Tensor, graph_function

Step = Callable[..., Any]


def _gates(x: Tensor, hidden: Tensor, w_ih: Tensor, w_hh: Tensor, b_ih: Any, b_hh: Any) -> tuple[Any, Any]:
    """The input's and the state's share of the gates, each with its bias."""
    product = ops.MatMul(False, True)
    from_input, from_state = product(x, w_ih), product(hidden, w_hh)
    if b_ih is None:
        return from_input, from_state
    return from_input + b_ih, from_state + b_hh


@partial(graph_function, "nn.tanh_step")
def tanh_step(x: Tensor, hidden: Tensor, w_ih: Tensor, w_hh: Tensor, b_ih: Any, b_hh: Any) -> Any:
    """tanh of the sum of both shares."""
    from_input, from_state = _gates(x, hidden, w_ih, w_hh, b_ih, b_hh)
    return ops.Tanh()(from_input + from_state)


@partial(graph_function, "nn.relu_step")
def relu_step(x: Tensor, hidden: Tensor, w_ih: Tensor, w_hh: Tensor, b_ih: Any, b_hh: Any) -> Any:
    """relu of the sum of both shares."""
    from_input, from_state = _gates(x, hidden, w_ih, w_hh, b_ih, b_hh)
    return ops.ReLU()(from_input + from_state)


@partial(graph_function, "nn.lstm_step")
def lstm_step(x: Tensor, hidden: tuple[Any, Any], w_ih: Tensor, w_hh: Tensor, b_ih: Any, b_hh: Any) -> Any:
    """(hidden, cell) after the step; gates in the order input, forget, cell, output."""
    before, cell_before = hidden
    product = ops.MatMul(False, True)
    gates = product(x, w_ih) + product(before, w_hh)
    if b_ih is not None:
        gates = gates + b_ih + b_hh
    parts = ops.Split(1, 4)(gates)
    sigmoid, tanh = ops.Sigmoid(), ops.Tanh()
    enter, keep, new, show = sigmoid(parts[0]), sigmoid(parts[1]), tanh(parts[2]), sigmoid(parts[3])
    cell = keep * cell_before + enter * new
    return show * tanh(cell), cell


@partial(graph_function, "nn.gru_step")
def gru_step(x: Tensor, hidden: Tensor, w_ih: Tensor, w_hh: Tensor, b_ih: Any, b_hh: Any) -> Any:
    """Hidden state after the step; gates in the order reset, update, new."""
    from_input, from_state = _gates(x, hidden, w_ih, w_hh, b_ih, b_hh)
    split = ops.Split(1, 3)
    input_reset, input_update, input_new = split(from_input)
    state_reset, state_update, state_new = split(from_state)
    reset = ops.Sigmoid()(input_reset + state_reset)
    update = ops.Sigmoid()(input_update + state_update)
    new = ops.Tanh()(input_new + reset * state_new)
    return new + update * (hidden - new)


_STEPS: dict[str, Step] = {"RNN_TANH": tanh_step, "RNN_RELU": relu_step, "GRU": gru_step, "LSTM": lstm_step}


class _DynamicRNNBase(Cell):
    """Repeats a step over time: x (time, batch, input) gives (outputs (time, batch, hidden), last state)."""

    def __init__(self, mode: str) -> None:
        super().__init__()
        if mode not in _STEPS:
            raise SettingError(f"a recurrent layer's mode must be one of {sorted(_STEPS)}, got {mode!r}")
        self.cell = _STEPS[mode]
        self.is_lstm = mode == "LSTM"

    def construct(
        self, x: Tensor, h: Any, seq_length: Tensor | None, w_ih: Any, w_hh: Any, b_ih: Any, b_hh: Any
    ) -> Any:
        weights = [w if w is None else w.astype(x.dtype) for w in (w_ih, w_hh, b_ih, b_hh)]
        if seq_length is None:
            return self.recurrent(x, h, weights)
        return self.variable_recurrent(x, h, seq_length, weights)

    def _step(self, x: Tensor, at: int, state: Any, weights: list[Any]) -> Any:
        return self.cell(ops.Squeeze(0)(x[at : at + 1 : 1]), state, *weights)

    def recurrent(self, x: Tensor, state: Any, weights: list[Any]) -> Any:
        """Every sequence has the full length."""
        outputs = []
        for at in range(x.shape[0]):
            state = self._step(x, at, state, weights)
            outputs.append(state[0] if self.is_lstm else state)
        return ops.Stack()(outputs), state

    def variable_recurrent(self, x: Tensor, state: Any, seq_length: Tensor, weights: list[Any]) -> Any:
        """Sequences have their own lengths (batch,): beyond them the output is 0 and the state stays."""
        first = state[0] if self.is_lstm else state
        nothing = ops.ZerosLike()(first)
        # As measured: the lengths are spread over the hidden size through float32.
        spread = ops.broadcast_to(ops.Cast()(seq_length, dtypes.float32), (first.shape[-1], -1))
        lengths = ops.Transpose()(ops.Cast()(spread, dtypes.int32), (1, 0))
        outputs = []
        select = ops.Select()
        for at in range(x.shape[0]):
            new = self._step(x, at, state, weights)
            alive = lengths > at
            if self.is_lstm:
                state = select(alive, new[0], state[0]), select(alive, new[1], state[1])
                new = new[0]
            else:
                state = select(alive, new, state)
            outputs.append(select(alive, new, nothing))
        return ops.Stack()(outputs), state


class _DynamicRNNTanh(_DynamicRNNBase):
    """A layer of ``RNN`` with tanh."""

    def __init__(self) -> None:
        super().__init__("RNN_TANH")


class _DynamicRNNRelu(_DynamicRNNBase):
    """A layer of ``RNN`` with relu."""

    def __init__(self) -> None:
        super().__init__("RNN_RELU")


class _DynamicGRUCPUGPU(Cell):
    """A layer of ``GRU``."""

    def construct(
        self, x: Tensor, h_0: Any, seq_length: Tensor | None, w_ih: Any, w_hh: Any, b_ih: Any, b_hh: Any
    ) -> Any:
        return _DynamicRNNBase("GRU")(x, h_0, seq_length, w_ih, w_hh, b_ih, b_hh)


class _DynamicLSTMCPUGPU(Cell):
    """A layer of ``LSTM``: one kernel if all sequences have the full length, else step by step."""

    def __init__(self) -> None:
        super().__init__()
        self.concat = ops.Concat()

    def construct(
        self, x: Tensor, h_0: Any, seq_length: Tensor | None, w_ih: Any, w_hh: Any, b_ih: Any, b_hh: Any
    ) -> Any:
        if seq_length is not None:
            return _DynamicRNNBase("LSTM")(x, h_0, seq_length, w_ih, w_hh, b_ih, b_hh)
        gates, input_size = w_ih.shape
        pieces = [w_ih, w_hh]
        if b_ih is not None:
            pieces.append(b_ih + b_hh)
        weights = self.concat(tuple(piece.view(-1, 1, 1) for piece in pieces))
        expand = ops.ExpandDims()
        output, hidden, cell, _, _ = ops.LSTM(input_size, gates // 4, 1, b_ih is not None, False, 0.0)(
            x, expand(h_0[0], 0), expand(h_0[1], 0), weights.astype(x.dtype)
        )
        return output, (hidden, cell)
