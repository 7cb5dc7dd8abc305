"""Tensors without elements: which operators take them; what MindSpore 2.10.0 answered on a CPU."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from harness import Tensor, dtypes, mint, nn, ops
from harness import numpy as mnp
from harness.errors import HarnessError
from harness.framework.ops.taken import EMPTY

SHAPES = [(0, 3), (2, 0), (0,), (1, 0, 3)]


def empty(shape: tuple[int, ...], dtype: Any = np.float32) -> Tensor:
    return Tensor(np.zeros(shape, dtype))


#: what calls each operator, and the class of the error
REFUSED: dict[str, tuple[Callable[[tuple[int, ...]], Any], type[Exception]]] = {
    "ArgMaxWithValue": (lambda s: ops.max(empty(s), 0), ValueError),
    "ArgMinWithValue": (lambda s: ops.min(empty(s), 0), ValueError),
    "Argmax": (lambda s: empty(s).argmax(0), HarnessError),
    "Argmin": (lambda s: empty(s).argmin(axis=0, keepdims=True), HarnessError),
    "Conj": (lambda s: ops.conj(empty(s, np.complex64)), RuntimeError),
    "Digamma": (lambda s: ops.digamma(empty(s)), ValueError),
    "Imag": (lambda s: ops.imag(empty(s, np.complex64)), RuntimeError),
    "L2Normalize": (lambda s: ops.L2Normalize()(empty(s)), RuntimeError),
    "LayerNorm": (lambda s: nn.LayerNorm((3,))(empty((*s, 3))), RuntimeError),
    "MaxDim": (lambda s: empty(s).max(0), ValueError),
    "MinDim": (lambda s: empty(s).min(0), ValueError),
    "MaxPool": (lambda s: nn.MaxPool2d(1)(empty((0, 1, 2, 2))), ValueError),
    "OneHot": (lambda s: ops.one_hot(empty(s, np.int32), 3), RuntimeError),
    "Real": (lambda s: ops.real(empty(s, np.complex64)), RuntimeError),
}


@pytest.mark.parametrize("name", sorted(EMPTY))
def test_refused(name: str) -> None:
    call, error = REFUSED[name]
    for shape in SHAPES:
        with pytest.raises(error, match=rf"{name}.*(takes no tensor without|has no) elements"):
            call(shape)


@pytest.mark.parametrize(
    "call",
    [
        lambda: ops.arange(5, 0), lambda: ops.arange(0, -3), lambda: mnp.arange(0), lambda: mnp.arange(5, 0),
        lambda: mnp.linspace(0.0, 1.0, 0), lambda: mnp.logspace(0, 1, 0), lambda: ops.pad(empty((0, 3)), (1, 1)),
        lambda: ops.pad(empty((2, 3)), (-1, -2)),
    ],
    ids=range(8),
)  # fmt: skip
def test_no_elements_come_out(call: Callable[[], Any]) -> None:
    with pytest.raises(ValueError, match=r"no step of|no numbers from|at least 1|no elements"):
        call()


TAKEN: list[tuple[str, Callable[[tuple[int, ...]], Any], Callable[[tuple[int, ...]], tuple[int, ...]]]] = [
    ("exp", lambda s: ops.exp(empty(s)), lambda s: s),
    ("softmax", lambda s: ops.softmax(empty(s)), lambda s: s),
    ("sum", lambda s: ops.sum(empty(s)), lambda s: ()),
    ("flip", lambda s: ops.flip(empty(s), (0,)), lambda s: s),
    ("where", lambda s: ops.where(empty(s) > 0, empty(s), empty(s)), lambda s: s),
    ("cat", lambda s: ops.cat((empty(s), empty(s))), lambda s: (2 * s[0], *s[1:])),
    ("isnan", lambda s: mint.isnan(empty(s)), lambda s: s),
]


@pytest.mark.parametrize(("call", "shape"), [pytest.param(*row[1:], id=row[0]) for row in TAKEN])
def test_taken(call: Callable[[tuple[int, ...]], Any], shape: Callable[[tuple[int, ...]], tuple[int, ...]]) -> None:
    for given in SHAPES:
        assert call(given).shape == shape(given)


def test_a_dilated_kernel_gives_nothing_where_it_does_not_fit() -> None:
    x = Tensor(np.ones((1, 8, 14, 14), np.float32))
    net = nn.Conv2d(8, 8, 3, padding=1, pad_mode="pad", dilation=(8, 1), group=8)
    assert net(x).shape == (1, 8, 0, 14)
    with pytest.raises(ValueError, match="does not fit"):
        nn.Conv2d(1, 1, 3, pad_mode="valid")(Tensor(np.ones((1, 1, 2, 4), np.float32)))
    assert ops.arange(0).shape == (0,)
    assert ops.zeros((0, 2), dtypes.float32).shape == (0, 2)
