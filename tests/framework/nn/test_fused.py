"""Layers made of others: a convolution or a product with what follows it, triangles and norms."""

from __future__ import annotations

import numpy as np
import pytest

from harness import Tensor, float32, grad, nn, ops
from harness.errors import SettingTypeError

X = Tensor([[0.5, -1.0, 2.0], [3.0, 0.25, -0.75]], float32)


def test_a_convolution_is_followed_by_its_normalization_and_activation() -> None:
    net = nn.Conv2dBnAct(1, 2, 3, weight_init="ones", has_bn=True, activation="leakyrelu", alpha=0.5)
    names = [p.name for p in net.get_parameters()]
    assert names == [
        "conv.weight", "batchnorm.moving_mean", "batchnorm.moving_variance", "batchnorm.gamma", "batchnorm.beta",
    ]  # fmt: skip
    image = Tensor(np.linspace(-1, 1, 16, dtype=np.float32).reshape(1, 1, 4, 4))
    padded = np.pad(image.asnumpy()[0, 0].astype(np.float64), 1)
    sums = np.array([[padded[r : r + 3, c : c + 3].sum() for c in range(4)] for r in range(4)]) / np.sqrt(1 + 1e-5)
    expected = np.where(sums > 0, sums, 0.5 * sums)
    assert net(image).asnumpy()[0, 1] == pytest.approx(expected, rel=1e-4, abs=1e-5)


def test_a_product_without_what_may_follow_is_a_dense() -> None:
    net, plain = nn.DenseBnAct(3, 2, weight_init="ones"), nn.Dense(3, 2, weight_init="ones", bias_init="zeros")
    assert (net(X).asnumpy() == plain(X).asnumpy()).all()
    assert [name for name, _ in net.cells_and_names()] == ["", "dense"]


def test_triangles_and_norms() -> None:
    wide = X.asnumpy().astype(np.float64)
    assert (nn.Tril()(X).asnumpy() == np.tril(wide)).all()
    assert (nn.Triu()(X, 1).asnumpy() == np.triu(wide, 1)).all()
    lengths = np.sqrt((wide**2).sum(1))
    assert nn.Norm(1)(X).asnumpy() == pytest.approx(lengths, rel=1e-6)
    assert grad(nn.Norm(1))(X).asnumpy() == pytest.approx(wide / lengths[:, None], rel=1e-5)


def test_unique_values_come_in_the_order_of_their_first_place() -> None:
    values, places = ops.unique(Tensor([[3, 1], [3, 2]]))
    assert values.asnumpy().tolist() == [3, 1, 2]
    assert places.asnumpy().tolist() == [[0, 1], [0, 2]]
    assert X.ptp(axis=1).asnumpy().tolist() == [3.0, 3.75]


def test_an_operator_refuses_arguments_it_does_not_take() -> None:
    with pytest.raises(SettingTypeError, match="MatMul takes 4 arguments with its settings, got 5"):
        ops.MatMul()(X, X, 1)
