"""Transforms: properties for any image, and missing names. (Pixels: ``test_facts.py``.)"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from harness import dataset as ds
from harness.framework.dataset import config, transforms, vision
from harness.framework.dataset.vision import Inter

SIDES = st.integers(1, 12)
IMAGES = arrays.arrays(np.uint8, st.tuples(SIDES, SIDES, st.integers(1, 3)))
MODES = st.sampled_from([Inter.NEAREST, Inter.LINEAR, Inter.CUBIC, Inter.AREA])


@given(IMAGES, SIDES, SIDES, MODES)
def test_resizing_keeps_what_is_even(image: Any, height: int, width: int, mode: Inter) -> None:
    resized = vision.Resize((height, width), mode)
    assert resized(image).shape == (height, width, image.shape[2])
    even = resized(np.full_like(image, 200))
    assert np.abs(even.astype(int) - 200).max() <= 1
    np.testing.assert_array_equal(vision.Resize(image.shape[:2], mode)(image), image)


@given(IMAGES, st.integers(0, 2**32 - 1))
def test_what_is_cut_is_part_of_the_image(image: Any, seed: int) -> None:
    before = config.get_seed()
    try:
        config.set_seed(seed)
        size = (max(1, image.shape[0] // 2), max(1, image.shape[1] // 2))
        cut = vision.RandomCrop(size)(image)
        windows = np.lib.stride_tricks.sliding_window_view(image, (*size, image.shape[2])).reshape(-1, *cut.shape)
        assert (windows == cut).reshape(len(windows), -1).all(1).any()
        np.testing.assert_array_equal(vision.RandomCrop(size)(image), cut)
    finally:
        config.set_seed(before)


@given(IMAGES)
def test_flips_and_axes_undo_themselves(image: Any) -> None:
    for flip in (vision.HorizontalFlip(), vision.VerticalFlip()):
        np.testing.assert_array_equal(flip(flip(image)), image)
    np.testing.assert_array_equal(vision.HWC2CHW()(image).transpose(1, 2, 0), image)
    if image.shape[2] in (1, 3):
        np.testing.assert_array_equal(vision.CenterCrop(image.shape[:2])(vision.Pad(2)(image)), image)


def test_without_a_seed_calls_go_on() -> None:
    before = config.get_seed()
    try:
        config.set_seed(5489)
        cut = vision.RandomCrop(1)
        image = np.arange(100, dtype=np.uint8).reshape(10, 10, 1)
        assert len({int(cut(image).item()) for _ in range(20)}) > 5
    finally:
        config.set_seed(before)


def test_an_order_is_drawn_from_python() -> None:
    steps = transforms.RandomOrder([lambda x: x + 1, lambda x: x * 2])
    assert {int(steps(np.array(1))) for _ in range(60)} == {3, 4}


def test_names_that_are_not_there() -> None:
    with pytest.raises(AttributeError, match="did you mean Resize"):
        ds.vision.Resise  # noqa: B018
    with pytest.raises(AttributeError, match="OneHot"):
        transforms.OneHotOp  # noqa: B018
