"""Operators refuse the dtypes that MindSpore's refuse, and tensors of several dtypes where it casts none."""

from __future__ import annotations

import numpy as np
import pytest

from harness import Parameter, Tensor, dtypes, jit, nn, ops
from harness.errors import DtypeError, StateError
from harness.framework.ops import OPERATORS, taken

F, H, D = np.float32, np.float16, np.float64
MATRIX = {"f": Tensor(np.ones((2, 2), F)), "h": Tensor(np.ones((2, 2), H)), "d": Tensor(np.ones((2, 2), D)),
          "i": Tensor(np.ones((2, 2), np.int32)), "b": Tensor(np.ones((2, 2), np.bool_))}  # fmt: skip

REFUSED = """
ops.matmul(f, h); ops.MatMul()(f, i); ops.MatMul()(b, b); ops.bias_add(f, h[0]); ops.stack((f, h)); ops.addn([f, h])
ops.binary_cross_entropy(f, h); ops.smooth_l1_loss(f, i); ops.gather(f, f[0], 0); ops.gather_nd(f, f)
ops.one_hot(f[0], 2); ops.softmax(i); ops.log_softmax(i); ops.gelu(i); ops.relu6(d); ops.isinf(i); ops.amax(b)
nn.Dense(2, 2)(h); nn.Dense(2, 2)(d); nn.Dense(2, 2, dtype=dtypes.float16)(f); nn.BatchNorm1d(2)(d)
nn.BCELoss()(f, i); nn.SoftmaxCrossEntropyWithLogits(sparse=True)(f, f[0]); ops.dot(d, d); ops.logaddexp(i, f)
ops.tensor_scatter_elements(f, i, h); ops.BatchMatMul()(f, h); ops.count_nonzero(b); nn.LayerNorm((2,))(i)
"""
TAKEN = """
ops.matmul(h, h); ops.matmul(i, i); f + h; ops.maximum(f, i); ops.where(b, f, h); ops.smooth_l1_loss(f, h)
nn.LayerNorm((2,))(h); nn.BatchNorm1d(2)(h); ops.concat((f, f)); ops.sqrt(b); ops.trunc(i); ops.cumprod(i, 0)
"""


@pytest.mark.parametrize("graph", [False, True])
@pytest.mark.parametrize("call", [c.strip() for c in REFUSED.replace("\n", ";").split(";") if c.strip()])
def test_refused(call: str, graph: bool) -> None:
    def function() -> object:
        return eval(call, {**MATRIX, "ops": ops, "nn": nn, "dtypes": dtypes})

    with pytest.raises(DtypeError):
        jit(function)() if graph else function()


@pytest.mark.parametrize("call", [c.strip() for c in TAKEN.replace("\n", ";").split(";") if c.strip()])
def test_taken(call: str) -> None:
    eval(call, {**MATRIX, "ops": ops, "nn": nn, "dtypes": dtypes})


def test_every_row_is_an_operator_with_such_arguments() -> None:
    for name, row in taken.TAKEN.items():
        assert name in OPERATORS
        assert row.one or row.of


@pytest.mark.parametrize("kind", [nn.Adam, lambda p: nn.Momentum(p, 0.1, 0.9), nn.Adagrad])
def test_a_gradient_is_cast_to_its_parameter_never_the_parameter(kind: object) -> None:
    narrow = Parameter(Tensor(np.ones(2, H)), name="narrow")
    wide = Parameter(Tensor(np.ones(2, F)), name="wide")
    with pytest.raises(DtypeError, match="the parameter Float16"):
        kind([narrow])((Tensor(np.ones(2, F)),))  # type: ignore[operator]
    kind([wide])((Tensor(np.ones(2, H)),))  # type: ignore[operator]
    assert wide.asnumpy()[0] < 1


@pytest.mark.parametrize("kind", [nn.Adam, nn.AdamWeightDecay, nn.SGD])
@pytest.mark.parametrize("count", [1, 3])
def test_an_optimizer_wants_a_gradient_for_each_parameter(kind: object, count: int) -> None:
    weights = [Parameter(Tensor(np.ones(2, F)), name=name) for name in "ab"]
    with pytest.raises(StateError, match=f"2 gradients are needed, one for each parameter, got {count}"):
        kind(weights)((Tensor(np.ones(2, F)),) * count)  # type: ignore[operator]
