"""Shared parts of image transforms: what they take, and which of MindSpore's two ways computes it.

A picture (of Pillow's) goes through Pillow where MindSpore has that way (``picture``), anything else is an array.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np

from harness.errors import SettingError, SettingTypeError, UnsupportedError
from harness.framework.dataset.random import Mersenne32
from harness.framework.dataset.transforms.base import Drawn, Fixed
from harness.framework.dataset.transforms.compound import not_random as _not_random
from harness.framework.dataset.vision.utils import given_array, is_picture


class _Image:
    """What all transforms of an image share."""

    name: str

    def _input(self, value: Any) -> Any:
        return value if is_picture(value) else given_array(value, self.name)

    def picture(self, image: Any) -> Any:
        """The result for a picture of Pillow's; as for an array, where MindSpore has no way of its own."""
        return self.of_array(np.asarray(image))

    def of_array(self, array: Any) -> Any:
        """The result for an array."""
        raise NotImplementedError

    def device(self, device_target: str = "CPU") -> Any:
        """The transform itself: it runs on the CPU.

        Raises:
            SettingTypeError, SettingError: ``device_target`` is neither ``"CPU"`` nor ``"Ascend"``.
            UnsupportedError: it is ``"Ascend"``.
        """
        if not isinstance(device_target, str):
            raise SettingTypeError(f"{self.name}.device: device_target must be a str, got {device_target!r}")
        if device_target not in ("CPU", "Ascend"):
            raise SettingError(f'{self.name}.device: device_target must be "CPU" or "Ascend", got {device_target!r}')
        if device_target == "Ascend":
            raise UnsupportedError(f'{self.name}.device: "Ascend" is not supported; transforms run on the CPU')
        return self


class FixedImage(_Image, Fixed):
    """A transform of an image, without chance."""

    #: whether it takes several images (..., height, width, channels), too
    several = False

    def _one(self, *arrays: Any) -> Any:
        if len(arrays) == 1 and is_picture(arrays[0]):
            return self.picture(arrays[0])
        if len(arrays) == 1 and self.several and arrays[0].ndim > 3 and arrays[0].size:
            shape = arrays[0].shape
            made = np.stack([self.compute(each) for each in arrays[0].reshape(-1, *shape[-3:])])
            return made.reshape(*shape[:-3], *made.shape[1:])
        return super()._one(*arrays)

    def of_array(self, array: Any) -> Any:
        return self.compute(array)


class PictureImage(_Image, Fixed):
    """A transform that MindSpore has in Python only. Its chance is that of Python's generator."""

    def _input(self, value: Any) -> Any:
        return value

    @abstractmethod
    def compute(self, array: Any) -> Any:
        """The result for what is given, an array or a picture."""


class DrawnImage(_Image, Drawn):
    """A transform of an image that draws numbers: for arrays from its own generator, for pictures from Python's."""

    def build(self, seed: int, worker: int = 0) -> Any:
        made = super().build(seed, worker)

        def step(*arrays: Any) -> Any:
            if len(arrays) == 1 and is_picture(arrays[0]):
                if type(self).picture is not _Image.picture:
                    return self.picture(arrays[0])
                arrays = (np.asarray(arrays[0]),)
            return made(*arrays)

        return step

    @abstractmethod
    def draw(self, random: Mersenne32, array: Any) -> Any:
        """The result for one array."""


def not_random(func: Callable[..., Any]) -> Callable[..., Any]:
    """See ``transforms.not_random``, whose argument has another name."""
    return _not_random(func)
