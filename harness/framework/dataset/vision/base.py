"""Shared parts of image transforms: called by a user, they take numpy arrays only, as in MindSpore."""

from __future__ import annotations

from typing import Any

from harness.framework.dataset.transforms.base import Drawn, Fixed
from harness.framework.dataset.vision.utils import given_array


class FixedImage(Fixed):
    """A transform of an image, without chance."""

    def _input(self, value: Any) -> Any:
        return super()._input(given_array(value, self.name))


class DrawnImage(Drawn):
    """A transform of an image that draws numbers."""

    def _input(self, value: Any) -> Any:
        return super()._input(given_array(value, self.name))
