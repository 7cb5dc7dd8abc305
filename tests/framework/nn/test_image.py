"""``PSNR`` and ``SSIM``: what they refuse (values: ``tests/framework/ops/test_models.py``)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from harness.errors import HarnessError, ShapeError
from harness.framework import nn
from harness.framework.tensor import Tensor


@pytest.mark.parametrize(
    ("kind", "name", "value"),
    [
        (nn.PSNR, "max_val", 0),
        (nn.PSNR, "max_val", "1"),
        (nn.PSNR, "max_val", True),
        (nn.PSNR, "max_val", float("nan")),
        (nn.SSIM, "max_val", -1.0),
        (nn.SSIM, "filter_size", 0),
        (nn.SSIM, "filter_size", 2.0),
        (nn.SSIM, "filter_sigma", 0.0),
        (nn.SSIM, "k1", 1),
    ],
)
def test_bad_settings_are_told(kind: Any, name: str, value: Any) -> None:
    with pytest.raises(HarnessError, match=f"^{kind.__name__}: {name} must be "):
        kind(**{name: value})


@pytest.mark.parametrize("kind", [nn.PSNR, nn.SSIM])
@pytest.mark.parametrize("shapes", [((1, 1, 12, 12), (1, 1, 12, 13)), ((1, 12, 12), (1, 12, 12))])
def test_pictures_of_other_shapes_are_told(kind: Any, shapes: Any) -> None:
    one, other = (Tensor(np.ones(shape, np.float32)) for shape in shapes)
    with pytest.raises(ShapeError, match="one shape"):
        kind()(one, other)


def test_a_picture_smaller_than_the_window_is_told() -> None:
    small = Tensor(np.ones((1, 1, 10, 12), np.float32))
    with pytest.raises(ShapeError, match="filter_size 11"):
        nn.SSIM()(small, small)


def test_the_window_is_not_trained() -> None:
    cell = nn.SSIM(filter_size=3)
    assert not cell.trainable_params()
    np.testing.assert_allclose(cell.conv.weight.asnumpy().sum(), 1, rtol=1e-6)
