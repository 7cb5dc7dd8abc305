"""Transforms from files of pictures, and between pictures and arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from harness.errors import SettingError, SettingTypeError, StateError
from harness.framework.dataset.checks import flag
from harness.framework.dataset.pictures import decoded, pillow
from harness.framework.dataset.random import Mersenne32
from harness.framework.dataset.vision.base import FixedImage, PictureImage
from harness.framework.dataset.vision.geometry import RandomResizedCrop
from harness.framework.dataset.vision.utils import is_picture


def _bytes(value: Any, owner: str) -> bytes:
    array = np.asarray(value)
    if array.dtype.kind == "S" and array.size == 1:
        return bytes(array.reshape(-1)[0])
    if array.dtype != np.uint8 or array.ndim != 1:
        raise StateError(f"{owner}: the bytes of a picture's file are needed, uint8 of one dimension, got "
                         f"{array.dtype} {array.shape}")  # fmt: skip
    return array.tobytes()


class Decode(FixedImage):
    """The picture in the bytes of a file: uint8 (height, width, 3), or a PIL picture with ``to_pil``."""

    def __init__(self, to_pil: bool = False) -> None:
        self.to_pil = flag(to_pil, "to_pil", "Decode")

    def compute(self, array: Any) -> Any:
        picture = decoded(_bytes(array, "Decode"), "Decode: what is given")
        return pillow().fromarray(picture) if self.to_pil else picture


class ToPIL(PictureImage):
    """An array (height, width[, channels]) as a PIL picture."""

    def compute(self, array: Any) -> Any:
        if is_picture(array):
            return array
        if not isinstance(array, np.ndarray):
            raise SettingTypeError(f"ToPIL: an array is needed, got {type(array).__name__}")
        if array.ndim not in (2, 3) or (array.ndim == 3 and array.shape[2] > 4):
            raise SettingError(
                f"ToPIL: an image (height, width[, up to 4 channels]) is needed, got shape {array.shape}"
            )
        one = array.ndim == 2 or array.shape[2] == 1
        if array.dtype != np.uint8 and not (one and str(array.dtype) in _OF_ONE_CHANNEL):
            raise SettingTypeError(f"ToPIL: {array.dtype} of shape {array.shape} is no picture")
        return pillow().fromarray(array[:, :, 0] if one and array.ndim == 3 else array)


_OF_ONE_CHANNEL = ("bool", "int8", "int16", "int32", "uint8", "uint16", "uint32", "float32", "float64")


class ToNumpy(PictureImage):
    """A picture as an array."""

    def compute(self, array: Any) -> Any:
        return np.array(array)


class RandomCropDecodeResize(RandomResizedCrop):
    """``Decode``, then ``RandomResizedCrop``."""

    def draw(self, random: Mersenne32, array: Any) -> Any:
        return super().draw(random, decoded(_bytes(array, self.name), self.name))
