"""Functions written with others, beside numpy; values that MindSpore 2.10.0's CPU gives were compared by program."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import harness as ms
from harness import Tensor, ops
from harness.errors import HarnessError

RNG = np.random.default_rng(0)
A, B, C = (RNG.normal(size=(3, 4)).astype(np.float32) for _ in range(3))
SIGNS = np.where(RNG.normal(size=(3, 4)) > 0, 1, -1).astype(np.float32)
ROWS = np.array([1, -1, 1], np.int32)
P = (np.exp(B) / np.exp(B).sum(-1, keepdims=True)).astype(np.float32)
ODD = np.array([[0, np.nan, np.inf, -np.inf]] * 3, np.float32)


def cosine(a: Any, b: Any) -> Any:
    return (a * b).sum(-1) / np.sqrt((a * a).sum(-1) * (b * b).sum(-1))


def distance(a: Any, b: Any) -> Any:
    return np.sqrt((np.abs(a - b + 1e-6) ** 2).sum(-1))


def huber(delta: float) -> Any:
    apart = np.abs(A - B)
    return np.where(apart < delta, apart**2 / 2, delta * (apart - delta / 2))


CASES: dict[str, tuple[Callable[..., Any], tuple[Any, ...], Any]] = {
    "huber": (lambda a, b: ops.huber_loss(a, b, delta=0.7), (A, B), huber(0.7).mean()),
    "huber of each": (lambda a, b: ops.huber_loss(a, b, "none"), (A, B), huber(1.0)),
    "kl_div": (ops.kl_div, (A, P), (P * (np.log(P) - A)).mean()),
    "kl_div of a batch": (lambda a, b: ops.kl_div(a, b, "batchmean"), (A, P), (P * (np.log(P) - A)).sum() / 3),
    "ranking": (lambda *x: ops.margin_ranking_loss(*x, 0.3), (A, B, SIGNS),
                np.maximum(SIGNS * (B - A) + 0.3, 0).mean()),
    "hinge": (ops.hinge_embedding_loss, (A, SIGNS), np.where(SIGNS == 1, A, np.maximum(1 - A, 0)).mean()),
    "soft margin": (ops.soft_margin_loss, (A, SIGNS), np.log1p(np.exp(-SIGNS * A)).mean()),
    "cosine": (lambda *x: ops.cosine_embedding_loss(*x, 0.1), (A, B, ROWS),
               np.where(ROWS == 1, 1 - cosine(A, B), np.maximum(cosine(A, B) - 0.1, 0)).mean()),
    "triplet": (ops.triplet_margin_loss, (A, B, C), np.maximum(distance(A, B) - distance(A, C) + 1, 0).mean()),
    "triplet, swapped": (
        lambda *x: ops.triplet_margin_loss(*x, swap=True), (A, B, C),
        np.maximum(distance(A, B) - np.minimum(distance(A, C), distance(B, C)) + 1, 0).mean(),
    ),
    "softmin": (lambda a: ops.softmin(a, 0), (A,), np.exp(-A) / np.exp(-A).sum(0)),
    "glu": (lambda a: ops.glu(a, 1), (A,), A[:, :2] / (1 + np.exp(-A[:, 2:]))),
    "xlogy": (ops.xlogy, (A, P), A * np.log(P)),
    "heaviside": (ops.heaviside, (np.float32([-1, 0, 2]), np.float32([0.5])), [0, 0.5, 1]),
    "nan_to_num": (ops.nan_to_num, (ODD,), np.nan_to_num(ODD)),
    "nan_to_num, given": (lambda x: x.nan_to_num(1.0, 2.0, 3.0), (ODD,), np.nan_to_num(ODD, nan=1, posinf=2, neginf=3)),
    "fmax": (ops.fmax, (ODD, A), np.fmax(ODD, A)),
    "fmin": (ops.fmin, (ODD, A), np.fmin(ODD, A)),
    "isclose": (lambda x: ops.isclose(x, x, equal_nan=True), (ODD,), np.full((3, 4), True)),
    "not close": (lambda a, b: ops.isclose(a, b), (A, A + 1e-3), np.full((3, 4), False)),
    "logit": (ops.logit, (P,), np.log(P / (1 - P))),
    "roll": (lambda x: x.roll(1, 0), (A,), np.roll(A, 1, 0)),
    "roll of two": (lambda x: ops.roll(x, (1, -2), (0, 1)), (A,), np.roll(A, (1, -2), (0, 1))),
    "roll of all": (lambda x: ops.roll(x, 3), (A,), np.roll(A, 3)),
    "pixel_shuffle": (lambda x: ops.pixel_shuffle(x, 2), (np.arange(16, dtype=np.float32).reshape(1, 4, 2, 2),),
                      [[[[0, 4, 1, 5], [8, 12, 9, 13], [2, 6, 3, 7], [10, 14, 11, 15]]]]),
    "mv": (ops.mv, (A, B[0]), A @ B[0]),
    "tensor_dot": (lambda a, b: ops.tensor_dot(a, b, ((1,), (1,))), (A, B), A @ B.T),
    "tensor_dot of two": (lambda a, b: ops.tensor_dot(a, b, 2), (A, B), np.tensordot(A, B, 2)),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_values(name: str) -> None:
    function, arguments, expected = CASES[name]
    got = function(*(Tensor(each) for each in arguments)).asnumpy()
    np.testing.assert_allclose(got, expected, rtol=2e-5, atol=2e-6)


EQUATIONS = {
    "ij,kj->ik": 2, "ij->ji": 1, "ij->i": 1, "ij->": 1, "ij,ij->": 2, "ij,ij->ij": 2, "ij,kj": 2, "ij,kl->ikjl": 2,
    "bij,bjk->bik": 2, "bhqd,bhkd->bhqk": 2, "ij,jk,kl->il": 3, "bij,j->bi": 2, "ab,bc,a->c": 3, "ji": 1,
}  # fmt: skip
SIZES = dict(zip("abcdhijklq", (2, 3, 4, 2, 2, 3, 4, 2, 3, 5), strict=True))


@pytest.mark.parametrize("equation", EQUATIONS)
def test_einsum(equation: str) -> None:
    arrays = [
        RNG.normal(size=[SIZES[c] for c in part]).astype(np.float32) for part in equation.split("->")[0].split(",")
    ]
    got = ops.einsum(equation, *map(Tensor, arrays)).asnumpy()
    np.testing.assert_allclose(got, np.einsum(equation, *arrays), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", ["huber", "kl_div", "ranking", "cosine", "softmin", "glu", "logit", "tensor_dot"])
def test_slopes(name: str) -> None:
    function, arguments, _ = CASES[name]
    first, *rest = (Tensor(each) for each in arguments)
    along = Tensor(RNG.normal(size=first.shape).astype(np.float32))
    slope = (ms.grad(lambda x: (function(x, *rest) * 1.0).sum())(first) * along).sum().asnumpy()
    sides = [function(first + along * step, *rest).sum().asnumpy() for step in (1e-2, -1e-2)]
    assert slope == pytest.approx((sides[0] - sides[1]) / 2e-2, rel=2e-2, abs=2e-2)


@pytest.mark.parametrize(
    "call",
    [
        lambda: ops.einsum("...i->i", Tensor(A)),
        lambda: ops.einsum("ii->i", Tensor(A)),
        lambda: ops.einsum("ijk->i", Tensor(A)),
        lambda: ops.huber_loss(Tensor(A), Tensor(B), delta=0.0),
        lambda: ops.kl_div(Tensor(A), Tensor(B), "none at all"),
        lambda: ops.roll(Tensor(A), (1, 2), (0,)),
        lambda: ops.tensor_dot(Tensor(A), Tensor(B), 1),
        lambda: ops.pixel_shuffle(Tensor(A.reshape(1, 3, 2, 2)), 2),
        lambda: ops.glu(Tensor(A), 0),
    ],
    ids=["dots", "diagonal", "letters", "delta", "reduction", "shifts", "lengths", "channels", "odd"],
)
def test_refusals(call: Callable[[], Any]) -> None:
    with pytest.raises(HarnessError):
        call()
