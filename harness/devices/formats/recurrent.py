"""The shapes of recurrent cells' weights: FRACTAL_ZN_RNN, ND_RNN_BIAS, FRACTAL_ZN_LSTM.

Only shapes are known: MindSpore moves these tensors with a kernel of the device, not on the host.

* FRACTAL_ZN_RNN, (..., r, L): r is the input size, the hidden size or their sum, each rounded up to blocks of 16 by
  itself; L is a multiple of the hidden size, each gate rounded up to blocks of C0 by itself; 16 and C0 follow.
* ND_RNN_BIAS, (..., L): each gate rounded up to a multiple of C0.
* FRACTAL_ZN_LSTM, (N, C): with h = N // 4 and i = C - h, (blocks of i + blocks of h, 4 * blocks of h, 16, 16).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from harness.devices.formats.base import Shape, StorageFormat, storage_format
from harness.devices.formats.blocks import N0, ceil_div, cube_size, pad_rank
from harness.dtypes import DType
from harness.errors import ShapeError

#: sizes of the cell where nothing is said
DEFAULT_SIZE = 16
#: gates of an LSTM
_GATES = 4


class Recurrent(StorageFormat):
    """A format that depends on the sizes of the cell."""

    shape_only = True
    least_rank = 1

    def device_shape(
        self,
        shape: Sequence[int],
        dtype: DType | np.dtype[Any] | str,
        *,
        groups: int = 1,
        c0: int | None = None,
        hidden_size: int | None = None,
        input_size: int | None = None,
        axes: str | None = None,
    ) -> Shape:
        """See ``StorageFormat.device_shape``; ``hidden_size`` and ``input_size`` are 16 where they are not given."""
        given = pad_rank(shape, 0, self.name)
        self._check_groups(groups, given)
        hidden = DEFAULT_SIZE if hidden_size is None else hidden_size
        entered = DEFAULT_SIZE if input_size is None else input_size
        if hidden < 1 or entered < 1:
            raise ShapeError(f"{self.name}: the cell's sizes are at least 1, got hidden {hidden}, input {entered}")
        if len(given) < self.least_rank:
            raise ShapeError(f"{self.name} holds tensors of at least {self.least_rank} dimensions, got {list(given)}")
        return self._of_cell(given, c0 or cube_size(dtype), hidden, entered)

    def _of_cell(self, shape: Shape, c0: int, hidden: int, entered: int) -> Shape:
        raise NotImplementedError

    def _gates(self, length: int, hidden: int) -> int:
        """Gates in a last dimension of ``length``."""
        if length % hidden:
            raise ShapeError(f"{self.name}: the last dimension is a multiple of hidden_size {hidden}, got {length}")
        return length // hidden


@storage_format
class FractalZnRnn(Recurrent):
    """Weights of a recurrent cell."""

    name = "FRACTAL_ZN_RNN"
    least_rank = 2

    def _of_cell(self, shape: Shape, c0: int, hidden: int, entered: int) -> Shape:
        *lead, rows, length = shape
        if rows in (-1, entered, hidden):
            first = ceil_div(rows, N0)
        elif rows == entered + hidden:
            first = ceil_div(entered, N0) + ceil_div(hidden, N0)
        else:
            raise ShapeError(
                f"{self.name}: the dimension before the last is input_size {entered}, hidden_size {hidden} or their "
                f"sum, got {rows}"
            )
        second = -1 if length == -1 else self._gates(length, hidden) * ceil_div(hidden, c0)
        return *lead, first, second, N0, c0


@storage_format
class NdRnnBias(Recurrent):
    """Biases of a recurrent cell."""

    name = "ND_RNN_BIAS"

    def _of_cell(self, shape: Shape, c0: int, hidden: int, entered: int) -> Shape:
        *lead, length = shape
        return *lead, -1 if length == -1 else self._gates(length, hidden) * ceil_div(hidden, c0) * c0


@storage_format
class FractalZnLstm(Recurrent):
    """Weights of the older LSTM operator."""

    name = "FRACTAL_ZN_LSTM"
    least_rank = 2

    def _of_cell(self, shape: Shape, c0: int, hidden: int, entered: int) -> Shape:
        if len(shape) != 2:
            raise ShapeError(f"{self.name} holds matrices, got {list(shape)}")
        n, c = shape
        h = -1 if n == -1 else n // _GATES
        i = -1 if -1 in (h, c) else c - h
        if i < 0 and -1 not in shape:
            raise ShapeError(f"{self.name}: with {n} rows there are at least {h} columns, got {c}")
        first = -1 if i == -1 else ceil_div(i, N0) + ceil_div(h, N0)
        return first, -1 if h == -1 else _GATES * ceil_div(h, N0), N0, N0
