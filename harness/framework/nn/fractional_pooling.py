"""Pooling by windows whose distances a random number settles."""

from __future__ import annotations

from typing import Any

from harness.framework.nn.cell import Cell
from harness.framework.ops.functions import fractional


class _Fractional(Cell):
    def __init__(
        self,
        kernel_size: Any,
        output_size: Any = None,
        output_ratio: Any = None,
        return_indices: bool = False,
        _random_samples: Any = None,
    ) -> None:
        super().__init__()
        self.kernel_size = kernel_size
        self.output_size = output_size
        self.output_ratio = output_ratio
        self.return_indices = return_indices
        self._random_samples = _random_samples


class FractionalMaxPool2d(_Fractional):
    """``ops.fractional_max_pool2d`` over ([n,] c, h, w)."""

    def construct(self, input: Any) -> Any:
        return fractional.fractional_max_pool2d(
            input, self.kernel_size, self.output_size, self.output_ratio, self.return_indices, self._random_samples
        )


class FractionalMaxPool3d(_Fractional):
    """``ops.fractional_max_pool3d`` over ([n,] c, d, h, w)."""

    def construct(self, input: Any) -> Any:
        return fractional.fractional_max_pool3d(
            input, self.kernel_size, self.output_size, self.output_ratio, self.return_indices, self._random_samples
        )
