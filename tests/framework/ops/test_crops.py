"""CropAndResize: parts of images, and the gradient of the images, as recorded from MindSpore 2.10.0."""

from __future__ import annotations

import numpy as np
import pytest

from harness import Tensor, dtypes, ops
from harness.errors import SettingError, ShapeError, UnsupportedError

IMAGES = Tensor(((np.arange(32) * 7 % 11 + 1) / 8).reshape(1, 4, 4, 2).astype(np.float32))
BOXES = Tensor(np.array([[0, 0, 1, 1], [0.2, 0.3, 0.7, 0.8], [-0.5, 0, 1.5, 1]], np.float32))
FIRST = Tensor(np.array([0, 0, 0]), dtypes.int32)


def test_one_point_lies_in_the_middle_of_its_box() -> None:
    for method, expected in (
        ("bilinear", [[0.875, 0.375], [0.9125, 0.4125], [0.875, 0.375]]),
        ("nearest", [[1.125, 0.625], [1.0, 0.5], [1.125, 0.625]]),
    ):
        found = ops.crop_and_resize(IMAGES, BOXES, FIRST, (1, 1), method)
        np.testing.assert_allclose(found.asnumpy().reshape(3, 2), expected, 1e-6)


def test_points_outside_take_the_value_given() -> None:
    found = ops.CropAndResize("bilinear", 0.5)(IMAGES, BOXES, FIRST, (2, 3)).asnumpy()
    assert (found[2] == 0.5).all()
    np.testing.assert_allclose(found[0, 0], [[0.125, 1.0], [0.6875, 0.875], [1.25, 0.75]])


def test_slopes_of_the_images() -> None:
    slope = ops.grad(lambda x: ops.crop_and_resize(x, BOXES, FIRST, (2, 3)))(IMAGES).asnumpy()[0, :, :, 0]
    expected = [
        [1.04, 1.0, 1.0, 1.16], [0.06, 0.75, 0.75, 0.24], [0.09, 1.125, 1.125, 0.36], [1.01, 0.625, 0.625, 1.04],
    ]  # fmt: skip
    np.testing.assert_allclose(slope, expected, 1e-5, 1e-6)
    with pytest.raises(UnsupportedError, match="boxes"):
        ops.grad(lambda x: ops.crop_and_resize(IMAGES, x, FIRST, (2, 3)))(BOXES)


def test_refused() -> None:
    with pytest.raises(ShapeError):
        ops.crop_and_resize(IMAGES[0], BOXES, FIRST, (2, 2))
    with pytest.raises(SettingError):
        ops.CropAndResize("area")
    with pytest.raises(UnsupportedError):
        ops.crop_and_resize(IMAGES, BOXES, FIRST, (2, 2), "bilinear_v2")
