"""LSTM as one kernel over all time steps, and its gradient.

One layer, one direction. Weights come as one column: input weights (4 * hidden, input), state weights
(4 * hidden, hidden), and, with bias, one bias (4 * hidden,); gates in the order input, forget, cell, output.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

import numpy as np
import xxhash

from harness.errors import UnsupportedError
from harness.framework.ops import numerics
from harness.framework.ops.base import Array, Backward, Call, Operator, operator
from harness.framework.ops.factor import Factor
from harness.framework.tensor import call as emit
from harness.graph import Spec, TensorSpec, TupleSpec

Steps = list[tuple[Array, ...]]


def _sigmoid(x: Array) -> Array:
    return np.asarray(1 / (1 + np.exp(-x)))


def _weights(call: Call, column: Array, features: int) -> tuple[Array, Array, Array]:
    """Input weights, state weights and bias (zeros without one), in float64."""
    hidden = call.attrs["hidden_size"]
    flat = numerics.wide(column).reshape(-1)
    first, second = 4 * hidden * features, 4 * hidden * hidden
    bias = flat[first + second :][: 4 * hidden] if call.attrs["has_bias"] else np.zeros(4 * hidden)
    return flat[:first].reshape(-1, features), flat[first : first + second].reshape(-1, hidden), bias


class _Walked:
    """Steps of a forward pass, kept for its gradient: 64 MiB at most, and each is handed out once. Steps that were
    dropped are computed again."""

    _ROOM = 64 << 20

    def __init__(self) -> None:
        self._kept: dict[bytes, Steps] = {}
        self._lock = threading.Lock()

    @staticmethod
    def key(*arrays: Array) -> bytes:
        hasher = xxhash.xxh3_128()
        for array in arrays:
            hasher.update(repr(array.shape).encode())
            hasher.update(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)
        return hasher.digest()

    def keep(self, key: bytes, steps: Steps) -> None:
        with self._lock:
            self._kept[key] = steps
            sizes = {each: sum(a.nbytes for step in kept for a in step) for each, kept in self._kept.items()}
            for oldest in list(self._kept):
                if sum(sizes.values()) <= self._ROOM:
                    return
                del self._kept[oldest], sizes[oldest]

    def take(self, key: bytes) -> Steps | None:
        with self._lock:
            return self._kept.pop(key, None)


_walked = _Walked()


def _steps(x: Array, h: Array, c: Array, weights: tuple[Array, Array, Array]) -> Steps:
    """For each time step: the four gates, the cell, its tanh and the hidden state; float64, each sum rounded once to
    that."""
    w, u, bias = weights
    one = np.ones((len(h), 1))
    factor = Factor(np.concatenate([w, u, bias[:, None]], 1).T)
    out: Steps = []
    for row in x:
        total = factor.times(np.concatenate([row, h, one], 1))
        parts = np.split(total, 4, axis=1)
        enter, keep, new, show = (
            numerics.widest(np.tanh if i == 2 else _sigmoid, p).astype(np.float64) for i, p in enumerate(parts)
        )
        c = keep * c + enter * new
        bent = numerics.widest(np.tanh, c).astype(np.float64)
        h = show * bent
        out.append((enter, keep, new, show, c, bent, h))
    return out


@operator
class LSTM(Operator):
    """x (time, batch, features), hidden and cell (1, batch, hidden), weights.

    Outputs: hidden of every step, last hidden, last cell, and two for MindSpore's internal use. In MindSpore the first
        of those holds oneDNN's workspace, whose size depends on the processor; here it is one zero.
    """

    name = "LSTM"
    functional = False
    tensors = (0, 1, 2, 3)

    def infer(self, call: Call) -> Spec:
        x, hidden = call.tensor(0), call.attrs["hidden_size"]
        if call.attrs["num_layers"] != 1 or call.attrs["bidirectional"] or call.attrs.get("proj_size"):
            raise UnsupportedError("LSTM is supported with one layer, one direction and no projection; use nn.LSTM")
        if len(x.shape) != 3 or x.shape[2] != call.attrs["input_size"]:
            raise call.fail(f"x must be (time, batch, {call.attrs['input_size']})")
        state = (1, x.shape[1], hidden)
        rows = 4 * hidden * (x.shape[2] + hidden + int(call.attrs["has_bias"]))
        # What the weights hold beyond is not read; MindSpore reads beyond the end of shorter ones.
        if call.shape(1) != state or call.shape(2) != state or call.tensor(3).size < rows:
            raise call.fail(f"the states must be {list(state)} and the weights hold {rows} values")
        last, one = TensorSpec(x.dtype, state), TensorSpec(x.dtype, (1, 1))
        return TupleSpec((TensorSpec(x.dtype, (*x.shape[:2], hidden)), last, last, one, one))

    def kernel(self, call: Call, x: Array, h: Array, c: Array, w: Array) -> tuple[Array, ...]:
        weights = _weights(call, w, x.shape[2])
        given = numerics.wide(x), numerics.wide(h)[0], numerics.wide(c)[0]
        steps = _steps(*given, weights)
        _walked.keep(_walked.key(*given, *weights), steps)
        outputs = np.stack([s[-1] for s in steps])
        return outputs, steps[-1][-1][None], steps[-1][4][None], np.zeros((1, 1)), np.zeros((1, 1))

    def gradient(self, b: Backward) -> Sequence[Any]:
        x, h, c, w = b.inputs
        y, last_h, last_c, reserve, _state = b.out
        return tuple(emit("LSTMGrad", x, h, c, w, y, last_h, last_c, *b.dout[:3], reserve, **b.attrs))


@operator
class LSTMGrad(Operator):
    """x, hidden, cell, weights, results (3), their gradients (3), workspace: gradients of x, hidden, cell, weights."""

    name = "LSTMGrad"
    functional = False

    def infer(self, call: Call) -> Spec:
        return TupleSpec(tuple(call.tensor(i).tensor for i in range(4)))

    def kernel(self, call: Call, x: Array, h: Array, c: Array, w: Array, *rest: Array) -> tuple[Array, ...]:
        dy, dh, dc = (numerics.wide(g) for g in rest[3:6])
        wx, wh, bias = _weights(call, w, x.shape[2])
        inputs, first_h, first_c = numerics.wide(x), numerics.wide(h)[0], numerics.wide(c)[0]
        known = _walked.take(_walked.key(inputs, first_h, first_c, wx, wh, bias))
        steps = known or _steps(inputs, first_h, first_c, (wx, wh, bias))
        down_h, down_c = dh[0], dc[0]
        over_time = np.zeros((*inputs.shape[:2], len(bias)))
        state = Factor(wh)
        for at in range(len(steps) - 1, -1, -1):
            enter, keep, new, show, _cell, bent, _hidden = steps[at]
            before_c = steps[at - 1][4] if at else first_c
            down_h = down_h + dy[at]
            down_c = down_c + down_h * show * (1 - bent * bent)
            slopes = (
                down_c * new * enter * (1 - enter),
                down_c * before_c * keep * (1 - keep),
                down_c * enter * (1 - new * new),
                down_h * bent * show * (1 - show),
            )
            over_time[at] = slope = np.concatenate(slopes, axis=1)
            down_h, down_c = state.times(slope), down_c * keep
        rows = over_time.reshape(-1, len(bias))
        hidden = np.concatenate([first_h[None], np.stack([s[-1] for s in steps])[:-1]]).reshape(len(rows), -1)
        seen = np.concatenate([inputs.reshape(len(rows), -1), hidden], 1)
        dtype = call.outputs()[3].dtype
        sums = numerics.matmul(rows.T, seen, dtype)
        parts = [sums[:, : inputs.shape[2]], sums[:, inputs.shape[2] :]]
        if call.attrs["has_bias"]:
            parts.append(numerics.finish(numerics.total(rows, 0), dtype))
        dx = numerics.matmul(rows, wx, call.outputs()[0].dtype).reshape(inputs.shape)
        return dx, down_h[None], down_c[None], np.concatenate([p.reshape(-1) for p in parts]).reshape(w.shape)
