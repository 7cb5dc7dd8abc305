"""How a device's arithmetic differs from exact evaluation rounded once.

The harness's kernels evaluate in float64 or wider and round once to the result's dtype; that is what a float32
accumulator promises at best. On top of it a device rounds the factors of matrix products and convolutions first, and
may saturate results. Vector operators compute in their own dtype on every device: nothing is added for them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from harness.devices.operators import CONVOLUTION, FACTORS, MATMUL, MOVES
from harness.devices.overflow import Overflow, saturate
from harness.devices.rounding import rounding

Array = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True, slots=True)
class Numerics:
    """Rounding and overflow of a device.

    Attributes:
        matmul: rounding of float32 factors of matrix products, a name of ``rounding.ROUNDINGS``.
        convolution: rounding of the factors of convolutions and their gradients.
        overflow: treatment of Inf and NaN in results.
    """

    matmul: str = "float32"
    convolution: str = "float32"
    overflow: Overflow = Overflow.INFNAN

    def __post_init__(self) -> None:
        rounding(self.matmul)
        rounding(self.convolution)

    def rounding_of(self, op: str) -> str:
        """Name of the rounding of operator ``op``'s float32 factors."""
        return self.matmul if op in MATMUL else self.convolution if op in CONVOLUTION else "float32"

    def prepare(self, op: str, arguments: Sequence[Any]) -> tuple[Any, ...]:
        """Prepares the arguments for the unit that computes ``op``; arrays are replaced, never changed."""
        name = self.rounding_of(op)
        if name == "float32":
            return tuple(arguments)
        return tuple(self._factor(a, name) if i in FACTORS else a for i, a in enumerate(arguments))

    def _factor(self, argument: Any, name: str) -> Any:
        if not isinstance(argument, np.ndarray) or argument.dtype != np.float32:
            return argument
        how = rounding(name)
        rounded = how.apply(argument)
        return saturate(rounded, top=how.largest) if self.overflow is Overflow.SATURATION else rounded

    def settle(self, op: str, results: Sequence[Array], in_place: bool = False) -> tuple[Array, ...]:
        """Gives the results in the device's form.

        Args:
            op: operator name; one that only moves bits is left alone.
            results: arrays, rounded to their dtype already.
            in_place: the operator updates memory that others see (a parameter), so the arrays themselves must change;
                otherwise an array that has to change is copied first.
        """
        if self.overflow is Overflow.INFNAN or op in MOVES:
            return tuple(results)
        return tuple(saturate(r, in_place) for r in results)

    def run(
        self,
        op: str,
        arguments: Sequence[Any],
        kernel: Callable[[tuple[Any, ...]], Sequence[Array]],
        in_place: bool = False,
    ) -> tuple[Array, ...]:
        """``kernel`` between ``prepare`` and ``settle``."""
        return self.settle(op, kernel(self.prepare(op, arguments)), in_place)
