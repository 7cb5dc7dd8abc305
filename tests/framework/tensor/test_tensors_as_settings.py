"""Constant tensors that stand for shapes, axes and counts, and classes that stand for dtypes: in both modes, as in
MindSpore 2.10.0 (measured; ``tests/data/misuse/graph_calls.json`` has many more within graphs)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import harness as ms
from harness import Tensor, nn, ops
from harness import numpy as mnp

F = np.arange(6, dtype=np.float32).reshape(2, 3)
TAKEN: dict[str, tuple[Callable[[Tensor], Any], Any]] = {
    "zeros": (lambda _: ops.zeros(Tensor([3, 2])), np.zeros((3, 2), np.float32)),
    "ones": (lambda _: ops.ones(Tensor([3, 2]), ms.int32), np.ones((3, 2), np.int32)),
    "reshape": (lambda f: ops.reshape(f, Tensor([3, 2])), F.reshape(3, 2)),
    "method": (lambda f: f.reshape(Tensor([3, 2], ms.int32)), F.reshape(3, 2)),
    "view": (lambda f: f.view(Tensor([3, 2])), F.reshape(3, 2)),
    "tile": (lambda f: f.tile(Tensor([1, 2])), np.tile(F, (1, 2))),
    "broadcast_to": (lambda f: ops.broadcast_to(f, Tensor([2, 2, 3])), np.stack([F, F])),
    "slice": (lambda f: ops.slice(f, Tensor([0, 0]), Tensor([1, 2])), F[:1, :2]),
    "eye": (lambda _: ops.eye(Tensor(2)), np.eye(2, dtype=np.float32)),
    "gather": (lambda f: ops.gather(f, Tensor([1]), Tensor([0])), F[1:]),
    "expand_dims": (lambda f: ops.expand_dims(f, Tensor(0)), F[None]),
    "concat": (lambda f: ops.concat((f, f), Tensor(0)), np.concatenate([F, F])),
    "topk": (lambda f: f.topk(Tensor(2))[0], F[:, :0:-1]),
    "numpy": (lambda _: mnp.full(Tensor([2]), 3), np.full(2, 3, np.int32)),
    "astype": (lambda f: f.astype(np.int32), F.astype(np.int32)),
    "type": (lambda f: f.type(float), F.astype(np.float64)),
    "cumsum": (lambda f: ops.cumsum(f, 0, np.float16), np.cumsum(F, 0).astype(np.float16)),
    "arange": (lambda _: mnp.arange(3, dtype=float), np.arange(3.0)),
}
#: a shape of two axes, of floats, of none; an axis of several, of floats
REFUSED: dict[str, Callable[[Tensor], Any]] = {
    "two axes": lambda f: ops.reshape(f, Tensor([[3, 2]])),
    "floats": lambda _: ops.zeros(Tensor([3.0, 2.0])),
    "no axis": lambda f: f.view(Tensor(6.0)),
    "several": lambda f: ops.expand_dims(f, Tensor([0, 1])),
    "a class": lambda f: f.astype(nn.ReLU),
}


class Net(nn.Cell):
    def __init__(self, function: Callable[[Tensor], Any]) -> None:
        super().__init__()
        self.function = function

    def construct(self, f: Tensor) -> Any:
        return self.function(f)


@pytest.fixture(params=[ms.GRAPH_MODE, ms.PYNATIVE_MODE], ids=["graph", "pynative"])
def mode(request: pytest.FixtureRequest) -> Iterator[None]:
    before = ms.get_context("mode")
    ms.set_context(mode=request.param)
    yield
    ms.set_context(mode=before)


@pytest.mark.usefixtures("mode")
@pytest.mark.parametrize("name", TAKEN)
def test_it_stands_for_a_setting(name: str) -> None:
    call, wanted = TAKEN[name]
    found = Net(call)(Tensor(F)).asnumpy()
    assert found.dtype == wanted.dtype
    np.testing.assert_array_equal(found, wanted)


@pytest.mark.usefixtures("mode")
@pytest.mark.parametrize("name", REFUSED)
def test_any_other_is_refused(name: str) -> None:
    with pytest.raises((TypeError, ValueError, RuntimeError)):
        Net(REFUSED[name])(Tensor(F))
