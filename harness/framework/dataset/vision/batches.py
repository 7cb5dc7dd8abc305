"""Transforms of a batch of images and its labels."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np

from harness.errors import SettingTypeError, StateError
from harness.framework.dataset.checks import flag
from harness.framework.dataset.random import Gamma32, Mersenne32, shuffle
from harness.framework.dataset.transforms.base import RowFunction, Transform, generator
from harness.framework.dataset.transforms.compound import probability
from harness.framework.dataset.vision.arguments import LARGEST_REAL, integer, positive
from harness.framework.dataset.vision.arithmetic import Array, mixed
from harness.framework.dataset.vision.utils import ImageBatchFormat, given_array

_F32 = np.float32


class MixUp(Transform):
    """Images and labels mixed with those behind them in the batch, or, unless ``is_single``, with the last batch's mix.

    The shares are drawn from numpy's generator.
    """

    def __init__(self, batch_size: int, alpha: float, is_single: bool = True) -> None:
        self.is_single = flag(is_single, "is_single", self.name)
        self.batch_size = integer(batch_size, "batch_size", self.name, 1, LARGEST_REAL)
        self.alpha = positive(alpha, "alpha", self.name, float("inf"))
        self._last: tuple[Any, Any] | None = None

    def build(self, seed: int, worker: int = 0) -> RowFunction:
        return self._mixed

    def _mixed(self, image: Any, label: Any) -> tuple[Any, Any]:
        share = np.random.beta(self.alpha, self.alpha, self.batch_size)
        if self.is_single:
            order = [*range(1, self.batch_size), 0]
            other = image[order, ...], label[order, ...]
        else:
            share = np.ones(self.batch_size) if self._last is None else share
            other = (0, 0) if self._last is None else self._last
        of_image, of_label = share.reshape(-1, 1, 1, 1), share.reshape(-1, 1)
        made = of_image * image + (1 - of_image) * other[0], of_label * label + (1 - of_label) * other[1]
        self._last = made
        return made


class _Batch(Transform):
    """A change of images (n, ...) and of labels (n, classes) or (n, rows, classes), which become float32."""

    alpha: float

    def _input(self, value: Any) -> Any:
        return given_array(value, self.name)

    def build(self, seed: int, worker: int = 0) -> RowFunction:
        random = generator(seed, worker)

        def run(*columns: Any) -> Any:
            if len(columns) != 2:
                raise StateError(f"{self.name}: images and labels are needed, got {len(columns)} columns")
            images, labels = columns
            if images.ndim != 4 or not labels.ndim or len(images) != len(labels):
                raise StateError(f"{self.name}: a batch of images and as many labels are needed, got shapes "
                                 f"{images.shape} and {labels.shape}")  # fmt: skip
            if labels.dtype.kind not in "iuf" or labels.ndim not in (2, 3):
                raise StateError(f"{self.name}: labels must be numbers (n, classes) or (n, rows, classes), got "
                                 f"{labels.dtype} {labels.shape}")  # fmt: skip
            return self.change(random, images, labels)

        return run

    @abstractmethod
    def change(self, random: Mersenne32, images: Array, labels: Array) -> tuple[Array, Array]:
        """The changed images and labels."""


def _share(drawn: tuple[Gamma32, Gamma32], owner: str) -> Any:
    """A float32 from Beta(alpha, alpha)."""
    one, other = drawn[0](), drawn[1]()
    if not one + other > 0:
        raise StateError(f"{owner}: both numbers drawn for alpha are 0; take a larger alpha")
    return one / (one + other)


def _mixed_labels(labels: Array, other: Array, shares: Any) -> Array:
    return np.asarray(shares * labels.astype(_F32) + (_F32(1) - shares) * other.astype(_F32), _F32)


class MixUpBatch(_Batch):
    """Each image and label mixed with another one's; the share is drawn from Beta(``alpha``, ``alpha``)."""

    def __init__(self, alpha: float = 1.0) -> None:
        self.alpha = positive(alpha, "alpha", self.name)

    def change(self, random: Mersenne32, images: Array, labels: Array) -> tuple[Array, Array]:
        if images.shape[1] not in (1, 3) and images.shape[3] not in (1, 3):
            raise StateError(f"MixUpBatch: images of one or three channels are needed, got shape {images.shape}")
        drawn = Gamma32(random, self.alpha), Gamma32(random, self.alpha)
        share = _share(drawn, self.name)
        order = list(range(len(images)))
        shuffle(order, random)
        rest = float(_F32(1) - share)
        made = np.stack([mixed(each, float(share), images[at], rest) for each, at in zip(images, order, strict=True)])
        return made, _mixed_labels(labels, labels[order], share)


class CutMixBatch(_Batch):
    """With probability ``prob`` a part of each image replaced by another one's, and its label mixed as much."""

    def __init__(self, image_batch_format: ImageBatchFormat, alpha: float = 1.0, prob: float = 1.0) -> None:
        if not isinstance(image_batch_format, ImageBatchFormat):
            raise SettingTypeError(f"CutMixBatch: image_batch_format must be an ImageBatchFormat, got "
                                   f"{image_batch_format!r}")  # fmt: skip
        self.image_batch_format = image_batch_format
        self.alpha = positive(alpha, "alpha", self.name)
        self.prob = probability(prob, "prob", self.name)

    def change(self, random: Mersenne32, images: Array, labels: Array) -> tuple[Array, Array]:
        last = self.image_batch_format is ImageBatchFormat.NHWC
        if images.shape[3 if last else 1] not in (1, 3):
            raise StateError(
                f"CutMixBatch: {images.shape} is not {self.image_batch_format.name} of one or three channels"
            )
        order = list(range(len(images)))
        shuffle(order, random)
        drawn = Gamma32(random, self.alpha), Gamma32(random, self.alpha)
        made, shares = images.copy(), np.ones(len(images), _F32)
        high, wide = images.shape[1:3] if last else images.shape[2:]
        for at, other in enumerate(order):
            share = _share(drawn, self.name)
            if random.real() >= _F32(self.prob):
                continue
            left, top, broad, tall = self._part(random, high, wide, share)
            rows, columns = slice(top, top + tall), slice(left, left + broad)
            place = (at, rows, columns) if last else (at, slice(None), rows, columns)
            made[place] = images[(other, *place[1:])]
            shares[at] = _F32(1) - _F32(broad * tall) / _F32(high * wide)
        of_labels = shares.reshape(-1, *(1,) * (labels.ndim - 1))
        return made, _mixed_labels(labels, labels[order], of_labels)

    @staticmethod
    def _part(random: Mersenne32, high: int, wide: int, share: Any) -> tuple[int, int, int, int]:
        ratio = np.sqrt(_F32(1) - share)
        half_broad, half_tall = int(_F32(wide) * ratio) // 2, int(_F32(high) * ratio) // 2
        x, y = random.below(wide + 1), random.below(high + 1)
        left, right = (min(max(each, 0), wide - 1) for each in (x - half_broad, x + half_broad))
        top, bottom = (min(max(each, 0), high - 1) for each in (y - half_tall, y + half_tall))
        return left, top, min(max(right - left, 1), wide - 1), min(max(bottom - top, 1), high - 1)
