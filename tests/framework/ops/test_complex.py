"""Complex numbers, as MindSpore 2.10.0 has them on a CPU (values recorded from it, in both modes)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import harness as ms
from harness import Tensor, context, dtypes, nn, ops
from harness.errors import DtypeError

C64 = np.array([[0.5 + 1.5j, -1 + 0.25j], [2 - 3j, 0.75j]], np.complex64)
W = Tensor(np.array([[1 - 1j, 0.5j], [-2 + 1j, 1.5]], np.complex64))


@pytest.mark.parametrize(
    ("whole", "part"), [(dtypes.complex64, dtypes.float32), (dtypes.complex128, dtypes.float64)], ids=["64", "128"]
)
def test_parts(whole: Any, part: Any) -> None:
    x = Tensor(C64, whole)
    assert [f(x).dtype for f in (ops.real, ops.imag, ops.angle, ops.ComplexAbs(), ops.conj)] == [part] * 4 + [whole]
    assert np.array_equal(ops.real(x).asnumpy(), C64.real)
    assert np.array_equal(x.imag().asnumpy(), C64.imag)
    assert np.array_equal(x.conj().asnumpy(), np.conj(C64))
    assert np.allclose(x.angle().asnumpy(), np.angle(C64))
    assert np.array_equal(ops.Complex()(x.real(), x.imag()).asnumpy(), x.asnumpy())
    assert ops.view_as_real(x).shape == (2, 2, 2)
    assert ops.is_complex(x)


def test_a_real_tensor_is_a_complex_one() -> None:
    x = Tensor(C64.real.copy())
    assert not ops.is_complex(x)
    assert np.array_equal(ops.real(x).asnumpy(), x.asnumpy())
    assert not ops.imag(x).asnumpy().any()
    assert ops.conj(x).dtype is dtypes.float32
    with pytest.raises(TypeError, match="Angle"):
        ops.angle(x)


def test_polar() -> None:
    made = ops.polar(Tensor([2.0, 1.0], ms.float32), Tensor([0.0, np.pi / 2], ms.float32)).asnumpy()
    assert np.allclose(made, [2, 1j], atol=1e-6)


def test_the_parts_have_one_dtype() -> None:
    with pytest.raises(DtypeError, match="accepted: two of Float32 or Float64"):
        ops.Complex()(Tensor(1.0, ms.float32), Tensor(1.0, ms.float64))


#: function, and the gradient recorded by 1 + 2j of a complex result, by 1 of a real one
GRADIENTS: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "real": (ops.real, lambda z: np.ones_like(z)),
    "imag": (ops.imag, lambda z: np.full_like(z, 1j)),
    "conj": (ops.conj, lambda z: np.full_like(z, 1 - 2j)),
    "angle": (ops.angle, lambda z: 1j * z / np.abs(z) ** 2),
    "absolute": (ops.ComplexAbs(), lambda z: z / np.abs(z)),
    "exp": (ops.exp, lambda z: (1 + 2j) * np.conj(np.exp(z))),
    "log": (ops.log, lambda z: (1 + 2j) / np.conj(z)),
    "sin": (ops.sin, lambda z: (1 + 2j) * np.conj(np.cos(z))),
    "sqrt": (ops.sqrt, lambda z: (1 + 2j) * 0.5 / np.conj(np.sqrt(z))),
    "tanh": (ops.tanh, lambda z: (1 + 2j) * np.conj(1 - np.tanh(z) ** 2)),
    "reciprocal": (ops.reciprocal, lambda z: -(1 + 2j) / np.conj(z) ** 2),
    "add": (lambda x: x + W, lambda z: np.full_like(z, 1 + 2j)),
    "matmul": (lambda x: ops.matmul(x, W), lambda z: np.full_like(z, 1 + 2j) @ np.conj(W.asnumpy()).T),
    "scaled": (lambda x: x * 2.5, lambda z: np.full_like(z, 2.5 + 5j)),
}


def total(value: Any) -> Any:
    return (ops.real(value) + ops.imag(value) * 2 if ops.is_complex(value) else value).sum()


@pytest.mark.parametrize("name", GRADIENTS)
def test_gradients(name: str) -> None:
    function, expected = GRADIENTS[name]
    got = ms.grad(lambda x: total(function(x)))(Tensor(C64)).asnumpy()
    assert np.allclose(got, expected(C64.astype(np.complex128)), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(
    "function", [lambda x: x * x, lambda x: x**2, lambda x: x / W, ops.tan], ids=["product", "power", "quotient", "tan"]
)
def test_gradients_that_are_refused(function: Callable[[Any], Any]) -> None:
    with pytest.raises(TypeError, match="gradient not support for complex type currently"):
        ms.grad(lambda x: total(function(x)))(Tensor(C64))


class Wave(nn.Cell):
    """A network of real arguments with complex numbers within."""

    def construct(self, real: Any, imag: Any) -> Any:
        wave = ops.exp(ops.Complex()(real, imag))
        return ops.real(wave).sum()


def test_in_a_graph() -> None:
    before = context.get_context("mode")
    context.set_context(mode=context.GRAPH_MODE)
    try:
        parts = Tensor(C64.real.copy()), Tensor(C64.imag.copy())
        assert np.allclose(Wave()(*parts).asnumpy(), np.exp(C64).real.sum(), rtol=1e-5)
        by_real, by_imag = ms.grad(Wave(), (0, 1))(*parts)
    finally:
        context.set_context(mode=before)
    assert np.allclose(by_real.asnumpy(), np.exp(C64).real, rtol=1e-5)
    assert np.allclose(by_imag.asnumpy(), -np.exp(C64).imag, rtol=1e-5)
