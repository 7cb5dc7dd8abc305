"""Calls that MindSpore 2.10.0 (CPU) refuses: the class of Python's own each error is of, at once and in a graph (where
that is another one), measured with ``tests/differential/mistakes.py``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from harness import Parameter, Tensor, dtypes, grad, jit, nn, ops, value_and_grad
from harness import framework as ms
from harness.framework import dataset as ds
from harness.framework.dataset import transforms

X = Tensor(np.arange(6, dtype=np.float32).reshape(2, 3))
SCALER = ms.amp.StaticLossScaler(2.0)  # type: ignore[attr-defined]


def doubled(x: Any) -> Any:
    return x * 2


CALLS: dict[str, tuple[Callable[[], Any], type[Exception], type[Exception]]] = {
    "a list as dynamic_len": (lambda: ms.mutable((1, 2), dynamic_len=[1]), TypeError, TypeError),  # type: ignore[attr-defined]
    "an order of True": (lambda: ops.norm(X, True, 1), TypeError, TypeError),
    "zip of an object": (lambda: ds.zip(object()), TypeError, AttributeError),
    "zip of nothing": (lambda: ds.zip(()), ValueError, ValueError),
    "unique of a list": (lambda: ops.unique([1, 2]), AttributeError, AttributeError),
    "scale of a text": (lambda: SCALER.scale("foo"), TypeError, TypeError),
    "weights of 99": (lambda: grad(doubled, weights=99)(X), TypeError, ValueError),
    "the gradient of a tensor": (lambda: value_and_grad(X)(X), TypeError, RuntimeError),
    "a matrix to Conv2dTranspose": (lambda: nn.Conv2dTranspose(2, 3, 2)(X), ValueError, IndexError),
    "no transforms": (lambda: transforms.Compose(()), TypeError, TypeError),
    "a mask of fractions": (lambda: ops.masked_select(X, X), RuntimeError, TypeError),
    "too many terms": (lambda: ops.tensor_add(X, X, 1), TypeError, RuntimeError),
    "too many to subtract": (lambda: ops.tensor_sub(X, X, 1), RuntimeError, RuntimeError),
    "too few repeats": (lambda: ops.repeat_interleave(X, [1, 2, 3], 0), ValueError, ValueError),
    "repeats of bools": (lambda: ops.repeat_interleave(X, [True, 2], 0), TypeError, TypeError),
    "an item beyond": (lambda: X.itemset(6, 1.0), IndexError, IndexError),
    "an item at None": (lambda: X.itemset(None, 1.0), TypeError, TypeError),
    "an item before the first": (lambda: X.itemset(-7, 1.0), RuntimeError, RuntimeError),
    "a list of repeats": (lambda: X.tile([1, 2]), TypeError, TypeError),
    "filled with a matrix": (lambda: ops.full_like(X, X), ValueError, ValueError),
    "a window of a tuple": (lambda: nn.MaxPool1d((2,)), TypeError, TypeError),
    "no item": (lambda: X.itemset(), ValueError, ValueError),
    "a tensor of another order": (lambda: ops.norm(X, Tensor(3)), ValueError, ValueError),
}


@pytest.mark.parametrize("name", CALLS)
def test_the_error_is_of_the_class_it_is_there(name: str) -> None:
    call, at_once, within = CALLS[name]
    with pytest.raises(at_once):
        call()
    with pytest.raises(within):
        jit(lambda x: (call(), x))(X)


def test_what_is_taken_there_is_taken_here() -> None:
    assert ops.Unstack(0)(X, 1)[1].asnumpy().tolist() == [3.0, 4.0, 5.0]
    assert X.to(bool).dtype is X.sum(dtype=bool).dtype is X.new_zeros((2,), dtype=bool).dtype is dtypes.bool_
    assert ops.squeeze(X.expand_dims(0), Tensor(0)).shape == (2, 3)
    assert ops.logsumexp(X, Tensor(0)).shape == (3,)
    assert callable(grad(X))
    assert SCALER.scale({}) == {}
    np.testing.assert_allclose(ops.norm(Parameter(X, name="x"), Tensor(1)).asnumpy(), np.sqrt(55), rtol=1e-6)
