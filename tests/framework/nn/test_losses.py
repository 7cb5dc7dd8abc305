"""Losses agree with numpy in float64."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from harness import dtypes, nn
from harness.errors import HarnessError, SettingError, SettingTypeError, ShapeError
from harness.framework.tensor import Parameter, Tensor

Array = np.ndarray[Any, np.dtype[Any]]
RNG = np.random.default_rng(3)
LOGITS = RNG.standard_normal((4, 3)).astype(np.float32)
SHARES = RNG.dirichlet(np.ones(3), 4).astype(np.float32)
NUMBERS = np.array([0, 2, 1, 2], np.int32)
REDUCE: dict[str, Callable[[Array], Any]] = {"mean": np.mean, "sum": np.sum, "none": lambda x: x}


def log_softmax(x: Array) -> Array:
    """Log-softmax over axis 1 in float64."""
    x = x.astype(np.float64)
    shifted = x - x.max(1, keepdims=True)
    return np.asarray(shifted - np.log(np.exp(shifted).sum(1, keepdims=True)))


def near(found: Tensor, expected: Any) -> None:
    """Asserts float32 agreement."""
    assert found.shape == np.shape(expected)
    np.testing.assert_allclose(found.asnumpy(), expected, rtol=2e-6, atol=2e-6)


@pytest.mark.parametrize("reduction", REDUCE)
def test_differences(reduction: str) -> None:
    wide = LOGITS.astype(np.float64) - SHARES
    reduce = REDUCE[reduction]
    x, y = Tensor(LOGITS), Tensor(SHARES)
    near(nn.MSELoss(reduction)(x, y), reduce(wide**2))
    near(nn.L1Loss(reduction)(x, y), reduce(np.abs(wide)))
    near(nn.MAELoss(reduction)(x, y), reduce(np.abs(wide)))
    near(nn.SmoothL1Loss(0.5, reduction)(x, y), reduce(np.where(np.abs(wide) < 0.5, wide**2, np.abs(wide) - 0.25)))
    huber = np.where(np.abs(wide) < 0.5, 0.5 * wide**2, 0.5 * (np.abs(wide) - 0.25))
    near(nn.HuberLoss(reduction, 0.5)(x, y), reduce(huber))
    if reduction == "mean":
        near(nn.RMSELoss()(x, y), np.sqrt(np.mean(wide**2)))


@pytest.mark.parametrize("reduction", REDUCE)
def test_softmax_cross_entropy(reduction: str) -> None:
    logs, reduce = log_softmax(LOGITS), REDUCE[reduction]
    dense = nn.SoftmaxCrossEntropyWithLogits(reduction=reduction)
    near(dense(Tensor(LOGITS), Tensor(SHARES)), reduce(-(SHARES * logs).sum(1)))
    sparse = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction=reduction)
    near(sparse(Tensor(LOGITS), Tensor(NUMBERS)), reduce(-logs[np.arange(4), NUMBERS]))


@pytest.mark.parametrize("reduction", REDUCE)
def test_binary_cross_entropy(reduction: str) -> None:
    reduce = REDUCE[reduction]
    p = 1 / (1 + np.exp(-LOGITS.astype(np.float64)))
    parts = -(SHARES * np.log(p) + (1 - SHARES) * np.log1p(-p))
    near(nn.BCEWithLogitsLoss(reduction)(Tensor(LOGITS), Tensor(SHARES)), reduce(parts))
    near(nn.BCELoss(reduction=reduction)(Tensor(p.astype(np.float32)), Tensor(SHARES)), reduce(parts))


@pytest.mark.parametrize("reduction", REDUCE)
@pytest.mark.parametrize("weighted", [True, False])
def test_class_losses(reduction: str, weighted: bool) -> None:
    weight = np.array([1.0, 2.0, 0.5], np.float32)
    each = weight[NUMBERS] if weighted else np.ones(4)
    settings: dict[str, Any] = {"weight": Tensor(weight) if weighted else None, "reduction": reduction}
    logs = log_softmax(LOGITS)
    picked = -logs[np.arange(4), NUMBERS] * each
    expected = picked.sum() / each.sum() if reduction == "mean" else REDUCE[reduction](picked)
    near(nn.CrossEntropyLoss(**settings)(Tensor(LOGITS), Tensor(NUMBERS)), expected)
    near(nn.NLLLoss(**settings)(Tensor(logs.astype(np.float32)), Tensor(NUMBERS)), expected)


def test_ignored_class() -> None:
    logs = log_softmax(LOGITS)
    kept = NUMBERS != 2
    expected = -logs[np.arange(4), NUMBERS][kept].mean()
    near(nn.CrossEntropyLoss(ignore_index=2)(Tensor(LOGITS), Tensor(NUMBERS)), expected)


def test_float16_is_reduced_in_float32() -> None:
    big = np.full((2, 3), 200.0, np.float16)
    found = nn.MSELoss()(Tensor(big), Tensor(big * np.float16(0.5)))
    assert found.dtype is dtypes.float16
    assert float(found) == 10000.0


def test_weights_of_a_loss() -> None:
    base = nn.LossBase("sum")
    assert float(base.get_loss(Tensor([1.0, 2.0]), 0.5)) == 1.5
    assert float(base.get_loss(Tensor([1.0, 2.0]), Tensor([0.0, 2.0]))) == 4.0


CASES: list[tuple[Callable[[], Any], type[HarnessError], str]] = [
    (lambda: nn.MSELoss("max"), SettingError, "reduction must be one of"),
    (lambda: nn.MSELoss()(1, Tensor([1.0])), SettingTypeError, "logits must be a Tensor, got int"),
    (lambda: nn.SoftmaxCrossEntropyWithLogits(sparse=1), SettingTypeError, "sparse"),  # type: ignore[arg-type]
    (lambda: nn.BCEWithLogitsLoss(weight=Parameter(Tensor([1.0]))), SettingTypeError, "must not be a Parameter"),
    (lambda: nn.NLLLoss(weight=3), SettingTypeError, "weight must be a Tensor"),
    (lambda: nn.NLLLoss(ignore_index=1.0), SettingTypeError, "ignore_index"),  # type: ignore[arg-type]
    (lambda: nn.CrossEntropyLoss(label_smoothing=2.0), SettingError, "label_smoothing"),
    (lambda: nn.CrossEntropyLoss()(Tensor(LOGITS), Tensor(NUMBERS[:2])), ShapeError, r"labels of shape \(4, 3\)"),
    (lambda: nn.CrossEntropyLoss()(Tensor(LOGITS), Tensor(NUMBERS, dtypes.int64)), HarnessError, "must be int32"),
]


@pytest.mark.parametrize("case", range(len(CASES)))
def test_refusals(case: int) -> None:
    act, error, words = CASES[case]
    with pytest.raises(error, match=words):
        act()
