"""The second derivative of values that are normalised over some axes."""

from __future__ import annotations

from harness.framework.ops import numerics
from harness.framework.ops.base import Array


class Normalized:
    """``unit = (x - mean) * scale``, where mean and variance are those of ``x`` over ``axes``, in float64.

    Args:
        x: of any shape.
        mean: of ``x`` over ``axes``, ready to broadcast over it.
        scale: 1 / sqrt(variance), likewise.
        axes: the axes over which ``x`` is normalised.
    """

    def __init__(self, x: Array, mean: Array, scale: Array, axes: tuple[int, ...]) -> None:
        self.axes = axes
        self.scale = scale
        self.unit = (numerics.wide(x) - mean) * scale

    def free(self, value: Array) -> Array:
        """``value`` without its mean and its share of ``unit``: times ``scale``, the gradient of ``unit``."""
        rest: Array = value - self._mean(value) - self.unit * self._mean(value * self.unit)
        return rest

    def bent(self, slope: Array, toward: Array) -> Array:
        """The gradient by x of ``sum(toward * scale * free(slope))``, of the shape of x."""
        along, across = self._mean(slope * self.unit), self._mean(toward * self.unit)
        shared = self._mean(slope * toward) - self._mean(slope) * self._mean(toward) - along * across
        bend: Array = self.unit * shared + along * self.free(toward) + across * self.free(slope)
        bend *= -(self.scale**2)
        return bend

    def _mean(self, value: Array) -> Array:
        return numerics.mean(value, self.axes, keepdims=True)
