"""Occlusion sensitivity: how much a score falls when a part of the image is covered."""

from __future__ import annotations

from typing import Any

import numpy as np

from harness.errors import SettingError, StateError
from harness.framework.nn.cell import Cell
from harness.framework.tensor import Tensor
from harness.framework.train.metrics.base import Array, Metric, rearrange_inputs, typed


class OcclusionSensitivity(Metric):
    """Score of the whole image less the score with each point's surroundings covered; the last update counts.

    Updates are (model, image of shape (1, ...), label).

    Args:
        pad_val: value of the covering part.
        margin: how far around a point is covered; an int, or a list of one for each axis.
        n_batch: images the model is given at a time.
        b_box: [lowest, highest] of each axis where the map is made; negative highest counts from the end. None: all.
    """

    def __init__(
        self, pad_val: float = 0.0, margin: int | list[int] = 2, n_batch: int = 128, b_box: list[int] | None = None
    ) -> None:
        super().__init__()
        owner = "OcclusionSensitivity"
        self.pad_val = typed(pad_val, (float,), "pad_val", owner)
        self.margin = typed(margin, (int, list), "margin", owner)
        self.n_batch = typed(n_batch, (int,), "n_batch", owner)
        if n_batch < 1:
            raise SettingError(f"{owner}: n_batch must be at least 1, got {n_batch}")
        self.b_box = None if b_box is None else typed(b_box, (list,), "b_box", owner)
        self.clear()

    def clear(self) -> None:
        self._map: Array | None = None

    @rearrange_inputs
    def update(self, *inputs: Any) -> None:
        self._require(inputs, 3, "model, image, label")
        model = typed(inputs[0], (Cell,), "model", "OcclusionSensitivity.update")
        image, label = self._convert_data(inputs[1]), self._convert_data(inputs[2])
        if image.ndim < 2 or image.shape[0] != 1 or label.size != 1:
            raise StateError(f"OcclusionSensitivity.update: one image of shape (1, ...) and one label are needed, "
                             f"got shapes {image.shape} and {label.shape}")  # fmt: skip
        column = int(label.reshape(-1)[0])
        low, high = self._box(image.shape[1:])
        covered = [self._covered(image, low + np.array(at)) for at in np.ndindex(*(high - low + 1))]
        scores = [
            model(Tensor(np.concatenate(covered[at : at + self.n_batch]))).asnumpy()[:, column]
            for at in range(0, len(covered), self.n_batch)
        ]
        whole = model(Tensor(image)).asnumpy()[0, column].item()
        self._map = whole - np.squeeze(np.concatenate(scores).reshape(high - low + 1))

    def _box(self, shape: tuple[int, ...]) -> tuple[Array, Array]:
        """Lowest and highest index of each axis."""
        size = np.array(shape)
        if self.b_box is None:
            return np.zeros_like(size), size - 1
        if len(self.b_box) != 2 * len(shape):
            raise SettingError(f"OcclusionSensitivity: b_box must have two numbers for each axis of {shape}, "
                               f"got {self.b_box}")  # fmt: skip
        low, high = np.maximum(self.b_box[::2], 0), np.array(self.b_box[1::2])
        high = np.where(high < 0, size - 1, high)
        if (high >= size).any() or (low > high).any():
            raise SettingError(f"OcclusionSensitivity: b_box {self.b_box} must lie in an image of shape {shape}, "
                               "lowest before highest")  # fmt: skip
        return low, high

    def _covered(self, image: Array, point: Array) -> Array:
        margin = np.broadcast_to(self.margin, point.shape)
        where = tuple(
            slice(max(0, at - width), at + width) for at, width in zip(point.tolist(), margin.tolist(), strict=True)
        )
        copy = image.copy()
        copy[(slice(None), *where)] = self.pad_val
        return copy

    def eval(self) -> Array:
        if self._map is None:
            raise StateError("OcclusionSensitivity.eval: call update first")
        return self._map
