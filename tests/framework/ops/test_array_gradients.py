"""Gradients of operators on shapes, indices, matrices, windows, norms and losses against central differences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from harness import Tensor, dtypes, float64, ops
from harness.framework.compile.api import value_and_grad_traced
from harness.framework.ops import taken
from harness.framework.runtime.session import fresh
from harness.framework.tensor import call


@pytest.fixture(autouse=True)
def _any_dtype(monkeypatch: pytest.MonkeyPatch) -> None:
    """Slopes are taken in float64, which not every operator takes from users."""
    monkeypatch.setattr(taken, "TAKEN", {})
    monkeypatch.setattr(taken, "refused", dict)


ROWS = Tensor(np.array([2, 0, 2]), dtypes.int32)
GRID = Tensor(np.array([[0, 1], [2, 0], [1, 1]]), dtypes.int64)
LABELS = Tensor(np.array([0, 2, 1]), dtypes.int32)
MASK = Tensor(np.array([[True, False, False, True]] * 3))
SHARES = Tensor(np.array([0.25, 1.0, 0.5]), float64)
WEIGHTS = Tensor(np.array([0.25, 1.0, 0.5]), dtypes.float32)


def statistics(x: Any, w: Any, b: Any, training: bool) -> Any:
    """BatchNorm over three channels."""
    running = Tensor(np.array([0.5, -1, 0.25]), float64), Tensor(np.array([0.5, 1.0, 2.0]), float64)
    return call("BatchNorm", x, w, b, *running, training, 1e-5, 0.1, 0)[0]


#: function, shapes of the inputs
CASES: dict[str, tuple[Callable[..., Any], tuple[tuple[int, ...], ...]]] = {
    "reshape": (lambda x: x.reshape(4, 3), ((3, 4),)),
    "transpose": (lambda x: x.transpose(2, 0, 1), ((2, 3, 4),)),
    "squeeze": (lambda x: x.expand_dims(1).squeeze(), ((3, 4),)),
    "concat": (lambda x, y: ops.concat((x, y, x), 1), ((3, 4), (3, 2))),
    "stack": (lambda x, y: ops.stack((x, y, x), 1), ((3, 4), (3, 4))),
    "unstack": (lambda x: ops.unstack(x, 1)[2] * ops.unstack(x, 1)[0], ((3, 4),)),
    "split": (lambda x: ops.split(x, 3, 1)[1], ((3, 5),)),
    "sections": (lambda x: ops.split(x, [1, 4], 1)[1], ((3, 5),)),
    "slice": (lambda x: x[1:, ::2] * x[0, 1], ((3, 4),)),
    "negative step": (lambda x: x[::-1, 1:3], ((3, 4),)),
    "new axis": (lambda x: x[:, None, 1:], ((3, 4),)),
    "rows": (lambda x: x[ROWS], ((3, 4),)),
    "coordinates": (lambda x: x[ROWS, ROWS], ((3, 4),)),
    "columns": (lambda x: x[:, ROWS], ((3, 4, 2),)),
    "tile": (lambda x: ops.tile(x, (2, 1, 3)), ((3, 4),)),
    "broadcast_to": (lambda x: ops.broadcast_to(x, (2, 3, 4)), ((3, 1),)),
    "gather 1": (lambda x: ops.gather(x, ROWS, 1), ((3, 4),)),
    "gather batch": (lambda x: ops.gather(x, GRID, 1, 1), ((3, 4),)),
    "gather_elements": (lambda x: ops.gather_elements(x, 1, GRID), ((3, 4),)),
    "scatter": (lambda x, y: ops.tensor_scatter_elements(x, GRID[:2], y, 1), ((3, 4), (2, 2))),
    "scatter_nd": (lambda x: ops.scatter_nd(GRID, x, (3, 2)), ((3,),)),
    "segments": (lambda x: ops.unsorted_segment_sum(x, ROWS, 4), ((3, 4),)),
    "masked_fill": (lambda x: x.masked_fill(MASK, 2.5), ((3, 4),)),
    "mask beside value": (lambda x, y: ops.masked_fill(x, MASK, y), ((3, 4), ())),
    "tril": (lambda x: ops.tril(x) + ops.triu(x, 1), ((3, 4),)),
    "flip": (lambda x: ops.flip(x, (0,)), ((3, 4),)),
    "pad": (lambda x: ops.pad(x, (1, -1, 2, 0), value=1.5), ((3, 4),)),
    "reflect": (lambda x: ops.pad(x, (1, 2), "reflect"), ((1, 3, 4),)),
    "circular": (lambda x: ops.pad(x, (1, 2), "circular"), ((1, 3, 4),)),
    "meshgrid": (lambda x, y: ops.meshgrid(x, y)[0] * ops.meshgrid(x, y)[1], ((3,), (4,))),
    "diag": (ops.diag, ((3,),)),
    "norm": (lambda x: ops.norm(x, dim=1), ((3, 4),)),
    "l2_normalize": (ops.L2Normalize(1), ((3, 4),)),
    "matmul": (ops.matmul, ((3, 4), (4, 2))),
    "matmul batch": (ops.matmul, ((2, 1, 3, 4), (3, 4, 2))),
    "matmul left": (ops.matmul, ((2, 3, 4), (4, 2))),
    "matmul right": (ops.matmul, ((3, 4), (2, 4, 5))),
    "matmul vectors": (ops.matmul, ((4,), (4,))),
    "matmul vector": (ops.matmul, ((2, 3, 4), (4,))),
    "matmul row": (ops.matmul, ((4,), (2, 4, 5))),
    "batch_matmul": (ops.BatchMatMul(True, True), ((2, 4, 3), (2, 5, 4))),
    "dense": (ops.dense, ((2, 3, 4), (5, 4), (5,))),
    "conv2d": (lambda x, w, b: ops.conv2d(x, w, b, 2, "same"), ((2, 2, 5, 5), (3, 2, 3, 3), (3,))),
    "conv2d groups": (lambda x, w: ops.conv2d(x, w, None, 1, "pad", 1, 2, 2), ((1, 4, 6, 5), (2, 2, 3, 2))),
    "conv2d transpose": (
        lambda x, w: ops.Conv2DBackpropInput(2, 3, "same", stride=2)(x, w, (1, 3, 5, 6)), ((1, 2, 3, 3), (2, 3, 3, 3)),
    ),
    "conv2d transpose, the layer's": (
        lambda x, w: ops.Conv2DTranspose(2, 3, "same", stride=2)(x, w, (1, 3, 5, 6)), ((1, 2, 3, 3), (2, 3, 3, 3)),
    ),
    "max_pool": (ops.MaxPool(3, 2, "same"), ((1, 2, 5, 5),)),
    "max_pool_with_argmax": (lambda x: ops.MaxPoolWithArgmax(2, 2)(x)[0], ((1, 2, 4, 4),)),
    "cdist": (lambda x, y: ops.cdist(x, y, 3.0), ((2, 3), (4, 3))),
    "cdist of stacks": (lambda x, y: ops.cdist(x, y), ((2, 2, 3), (2, 1, 3))),
    "max_pool2d": (lambda x: ops.max_pool2d(x, 3, 2, 1), ((1, 2, 5, 5),)),
    "avg_pool": (ops.AvgPool(3, 2, "same"), ((1, 2, 5, 5),)),
    "avg_pool2d": (lambda x: ops.avg_pool2d(x, 3, 2, 1, count_include_pad=False), ((1, 2, 5, 5),)),
    "adaptive": (lambda x: ops.adaptive_avg_pool2d(x, (2, 3)), ((1, 2, 5, 4),)),
    "layer_norm": (lambda x, g, b: ops.LayerNorm(-1, -1)(x, g, b)[0], ((2, 3, 4), (4,), (4,))),
    "group_norm": (lambda x, g, b: call("GroupNorm", x, 2, g, b, 1e-5)[0], ((2, 4, 3), (4,), (4,))),
    "batch_norm": (lambda x, w, b: statistics(x, w, b, True), ((4, 3, 2), (3,), (3,))),
    "batch_norm still": (lambda x, w, b: statistics(x, w, b, False), ((4, 3, 2), (3,), (3,))),
    "softmax": (lambda x: ops.softmax(x, 1), ((2, 3, 4),)),
    "log_softmax": (lambda x: ops.log_softmax(x, 1), ((2, 3, 4),)),
    "sparse cross entropy": (lambda x: ops.SparseSoftmaxCrossEntropyWithLogits()(x, LABELS), ((3, 4),)),
    "soft cross entropy": (lambda x: ops.cross_entropy(x, ops.softmax(x * 0.5), label_smoothing=0.1), ((3, 3),)),
    "cross entropy": (lambda x: ops.cross_entropy(x, LABELS, SHARES, label_smoothing=0.25), ((3, 3),)),
    "nll_loss": (lambda x: ops.NLLLoss()(x, LABELS, SHARES)[0], ((3, 3),)),
    "bce": (lambda x, y: ops.binary_cross_entropy(ops.sigmoid(x), ops.sigmoid(y)), ((3, 4), (3, 4))),
    "bce with logits": (
        lambda x, y: ops.binary_cross_entropy_with_logits(x, y, WEIGHTS, 2 * WEIGHTS, "sum"), ((2, 3), (2, 3)),
    ),
    "mse": (ops.mse_loss, ((3, 4), (3, 4))),
    "l1": (ops.l1_loss, ((3, 4), (3, 4))),
    "smooth l1": (lambda x, y: ops.smooth_l1_loss(x, y, 0.5, "mean"), ((3, 4), (3, 4))),
    "lstm": (
        lambda x, h, c, w: ops.LSTM(3, 2, 1, True, False, 0.0)(x, h, c, w)[0],
        ((4, 2, 3), (1, 2, 2), (1, 2, 2), (48, 1, 1)),
    ),
}  # fmt: skip


def gradients(function: Callable[..., Any], inputs: list[Tensor], sens: Tensor) -> list[Any]:
    """Gradients of the sum of ``sens * function(*inputs)``."""

    def backward(*args: Any) -> Any:
        return value_and_grad_traced(function, args[:-1], range(len(inputs)), (), args[-1])[1]

    with fresh(hooked=False) as session:
        return [g.asnumpy() for g in session.run_function(backward, [*inputs, sens], {})]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", CASES)
def test_gradient_is_the_slope(name: str) -> None:
    function, shapes = CASES[name]
    random = np.random.default_rng(7)
    arrays = [random.normal(size=shape) for shape in shapes]
    inputs = [Tensor(np.asarray(a), float64) for a in arrays]
    result = function(*inputs)
    sens = random.normal(size=result.shape)
    found = gradients(function, inputs, Tensor(np.asarray(sens), float64))
    step = 1e-6
    for array, gradient in zip(arrays, found, strict=True):
        assert gradient.shape == array.shape
        slope = np.zeros(array.shape)
        for at in np.ndindex(array.shape):
            ends = []
            for sign in (1, -1):
                moved = [np.array(a) for a in arrays]
                where = next(i for i, a in enumerate(arrays) if a is array)
                moved[where][at] += sign * step
                ends.append(np.sum(sens * function(*(Tensor(m, float64) for m in moved)).asnumpy()))
            slope[at] = (ends[0] - ends[1]) / (2 * step)
        np.testing.assert_allclose(gradient, slope, rtol=1e-5, atol=1e-6)
