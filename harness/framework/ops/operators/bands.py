"""MatrixBandPart, MatrixDiagV3, MatrixDiagPartV3, FillDiagonal, TrilIndices and TriuIndices."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from harness import dtypes
from harness.framework.ops.base import Array, Backward, Call, Operator, operator
from harness.framework.ops.constants import ints
from harness.framework.ops.expansion import scalar
from harness.framework.tensor import call as emit
from harness.graph import Spec, TensorSpec


@operator
class MatrixBandPart(Operator):
    """Matrices, and how many diagonals below and above the main one are kept (below 0: all)."""

    name = "MatrixBandPart"
    functional = False
    tensors = (0, 1, 2)

    def infer(self, call: Call) -> Spec:
        if len(call.shape(0)) < 2:
            raise call.fail("matrices are needed")
        return call.tensor(0).tensor

    def kernel(self, call: Call, x: Array, lower: Array, upper: Array) -> Array:
        apart = np.arange(x.shape[-2])[:, None] - np.arange(x.shape[-1])
        below, above = (int(np.asarray(v).reshape(())) for v in (lower, upper))
        kept = ((below < 0) | (apart <= below)) & ((above < 0) | (-apart <= above))
        return np.where(kept, x, np.zeros((), x.dtype))

    def gradient(self, b: Backward) -> Sequence[Any]:
        _x, lower, upper = b.inputs
        return emit(self.name, b.dout, lower, upper, output_names=("y",), input_names=("x",)), None, None


def _number(call: Call, index: int) -> int:
    found = ints(call, index)
    if len(found) != 1:
        raise call.fail(f"argument {index} must be one number, got {len(found)}")
    return found[0]


def _ends(call: Call, index: int) -> tuple[int, int]:
    """The lowest and the highest of the diagonals that argument ``index`` names: one number, or both."""
    found = ints(call, index)
    if len(found) not in (1, 2) or found[0] > found[-1]:
        raise call.fail(f"a diagonal, or the lowest and the highest of several, is needed, got {list(found)}")
    return found[0], found[-1]


def _places(low: int, high: int, rows: int, columns: int, align: str) -> Iterator[tuple[int, Array, Array, Array]]:
    """For each diagonal from the highest to the lowest: its row among the bands, the places in that row, and the rows
    and columns of the matrix. Short diagonals begin or end their row, as ``align`` says of those above (its first
    word) and of those from the main one down (its second)."""
    above, below = align.split("_")
    counts = {k: min(rows + min(k, 0), columns - max(k, 0)) for k in range(low, high + 1)}
    width = max(counts.values())
    for k in range(high, low - 1, -1):
        at = np.arange(max(0, counts[k]))
        late = (above if k > 0 else below if k < 0 else "LEFT") == "RIGHT"
        yield high - k, at + (width - counts[k] if late else 0), at - min(k, 0), at + max(k, 0)


def _width(call: Call, low: int, high: int, rows: int, columns: int) -> int:
    """How long the rows of bands are; ``ShapeError`` where a diagonal lies outside."""
    if not -rows < low <= high < columns and not (low == high == 0):
        raise call.fail(f"a matrix of {rows} rows and {columns} columns has no diagonals {low} to {high}")
    return min(rows + min(high, 0), columns - max(low, 0))


@operator
class MatrixDiagV3(Operator):
    """Diagonals (..., n), or bands of them (..., bands, n), their numbers, rows and columns (-1: as few as possible),
    and what stands elsewhere."""

    name = "MatrixDiagV3"
    functional = False
    tensors = (0, 1, 2, 3, 4)

    def infer(self, call: Call) -> Spec:
        if any(value is None for value in call.values[1:4]):
            return TensorSpec(call.dtype(0), (-1,) * len(call.shape(0)))
        sides = [_number(call, at) for at in (2, 3)]
        return TensorSpec(call.dtype(0), self._shape(call, call.shape(0), *_ends(call, 1), *sides))

    @staticmethod
    def _shape(call: Call, given: tuple[int, ...], low: int, high: int, rows: int, columns: int) -> tuple[int, ...]:
        many = low != high
        if len(given) < 1 + many or (many and given[-2] != high - low + 1):
            raise call.fail(f"rows for the diagonals {low} to {high} are needed")
        *lead, count = given
        lead = lead[:-1] if many else lead
        shape = [count - min(high, 0) if rows < 0 else rows, count + max(low, 0) if columns < 0 else columns]
        if rows < 0 and columns < 0:
            shape = [max(shape)] * 2
        if _width(call, low, high, *shape) != count:
            raise call.fail(f"{count} elements do not fill diagonals {low} to {high} of a matrix of {shape}")
        return (*lead, *shape)

    def kernel(self, call: Call, x: Array, k: Array, rows: Array, columns: Array, padding: Array) -> Array:
        ends = np.asarray(k).reshape(-1)
        sides = [int(n.reshape(())) for n in (rows, columns)]
        shape = self._shape(call, x.shape, int(ends[0]), int(ends[-1]), *sides)
        out = np.full(shape, padding.reshape(()), x.dtype)
        set_bands(out, x, k, call.attrs["align"])
        return out

    def gradient(self, b: Backward) -> Sequence[Any]:
        dx = emit("MatrixDiagPartV3", b.dout, b.inputs[1], scalar(0, b.dout.dtype), **part_names(b.attrs["align"]))
        return dx, None, None, None, None


def set_bands(out: Array, x: Array, k: Array, align: str) -> None:
    """Writes diagonals, or bands of them, into matrices ``out``."""
    found = np.asarray(k).reshape(-1)
    low, high = int(found[0]), int(found[-1])
    bands = x if high != low else x[..., None, :]
    for band, at, row, column in _places(low, high, out.shape[-2], out.shape[-1], align):
        out[..., row, column] = bands[..., band, at]


def part_names(align: str) -> dict[str, Any]:
    """Attributes of MatrixDiagPartV3 in a gradient."""
    return {
        "output_names": ("y",), "input_names": ("x", "k", "padding_value"), "max_length": 200000000, "align": align,
    }  # fmt: skip


@operator
class MatrixDiagPartV3(Operator):
    """Matrices, the number of a diagonal, or of the lowest and the highest of several, and a number that fills short
    ones of several."""

    name = "MatrixDiagPartV3"
    functional = False
    tensors = (0, 1, 2)

    def infer(self, call: Call) -> Spec:
        if len(call.shape(0)) < 2:
            raise call.fail("matrices are needed")
        if call.values[1] is None:
            return TensorSpec(call.dtype(0), (-1,) * len(call.shape(0)))
        return TensorSpec(call.dtype(0), self._shape(call, call.shape(0), *_ends(call, 1)))

    @staticmethod
    def _shape(call: Call, given: tuple[int, ...], low: int, high: int) -> tuple[int, ...]:
        *lead, rows, columns = given
        bands = () if low == high else (high - low + 1,)
        return (*lead, *bands, _width(call, low, high, rows, columns))

    def kernel(self, call: Call, x: Array, k: Array, padding: Array) -> Array:
        found = np.asarray(k).reshape(-1)
        low, high = int(found[0]), int(found[-1])
        out = np.full(self._shape(call, x.shape, low, high), padding.reshape(()), x.dtype)
        bands = out if high != low else out[..., None, :]
        for band, at, row, column in _places(low, high, x.shape[-2], x.shape[-1], call.attrs["align"]):
            bands[..., band, at] = x[..., row, column]
        return out

    def gradient(self, b: Backward) -> Sequence[Any]:
        x, k, _padding = b.inputs
        sides = (scalar(n, dtypes.int32) for n in x.shape[-2:])
        names = {"output_names": ("y",), "input_names": ("x", "k", "num_rows", "num_cols", "padding_value")}
        dx = emit("MatrixDiagV3", b.dout, k, *sides, scalar(0, x.dtype), **names, align=b.attrs["align"])  # type: ignore[arg-type]
        return dx, None, None


@operator
class FillDiagonal(Operator):
    """Attributes ``fill_value`` and ``wrap`` (begin again below a tall matrix's last row)."""

    name = "FillDiagonal"
    functional = False
    tensors = (0,)

    def infer(self, call: Call) -> Spec:
        shape = call.shape(0)
        if len(shape) < 2 or (len(shape) > 2 and len(set(shape)) > 1):
            raise call.fail("a matrix, or a tensor whose axes have one length, is needed")
        return call.tensor(0).tensor

    def kernel(self, call: Call, x: Array) -> Array:
        out = x.copy()
        np.fill_diagonal(out, np.asarray(call.attrs["fill_value"]).astype(x.dtype), bool(call.attrs["wrap"]))
        return out


class _Indices(Operator):
    """Attributes ``row``, ``col``, ``offset`` and ``dtype``: places of a triangle (2, n)."""

    functional = False

    def found(self, call: Call) -> Array:
        """The places, Int64."""
        raise NotImplementedError

    def infer(self, call: Call) -> Spec:
        return TensorSpec(call.attrs["dtype"], self.found(call).shape)

    def kernel(self, call: Call) -> Array:
        return self.found(call)


@operator
class TrilIndices(_Indices):
    """On and below a diagonal."""

    name = "TrilIndices"

    def found(self, call: Call) -> Array:
        return np.stack(np.tril_indices(call.attrs["row"], call.attrs["offset"], call.attrs["col"]))


@operator
class TriuIndices(_Indices):
    """On and above a diagonal."""

    name = "TriuIndices"

    def found(self, call: Call) -> Array:
        return np.stack(np.triu_indices(call.attrs["row"], call.attrs["offset"], call.attrs["col"]))
