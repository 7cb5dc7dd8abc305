"""What is said of an index, or of elements to write, that do not fit a tensor: MindSpore's words, which programs
match (measured: ``tests/data/programs/refused_indices.txt``)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from harness.errors import IndexKindError
from harness.framework.tensor import Tensor

__all__: list[str] = []


def refused(index: Any) -> IndexKindError:
    """An index, or a value, of a kind that no tensor takes."""
    if index is False:
        return IndexKindError("When tensor is indexed by a bool object, the value only support 'True'.")
    if isinstance(index, Tensor):
        return IndexKindError(f"The tensor index must be int or bool type, but got a tensor of {index.dtype}")
    if isinstance(index, (float, np.ndarray)):
        return IndexKindError(
            "Only support integers, slices(`:`), ellipsis(`...`), None, bool, tensor, int, list and tuple as index, "
            f"but got {index} with type {type(index)}"
        )
    return IndexKindError(
        f"Unsupported Python object type received: {type(index)}. Supported types for tensor indexing are: list, int, "
        f"float, tuple, slice, ellipsis, None, array, bool, or Tensor. Received value: {index!r}"
    )


def outside(at: int, size: int) -> IndexError:
    """An int that lies outside its axis."""
    return IndexError(f"index {at} is out of bounds for dimension with size {size}")


def check_items(items: Tensor, size: int) -> None:
    """Raises ``IndexError`` if one of a list of ints lies outside an axis."""
    beyond = [] if items.dtype.kind == "b" else [each for each in items.asnumpy().ravel() if not -size <= each < size]
    if beyond:
        raise IndexError(f"index {beyond[0]} out of bounds for dimension with size {size}")


def too_many(rank: int) -> IndexError:
    """More indices than axes."""
    return IndexError(f"too many indices for tensor of dimension{rank}")


def check_mask(mask: Sequence[int], shape: Sequence[int], axis: int = 0) -> None:
    """Raises ``ValueError`` unless a mask of one shape fits a tensor of another, from ``axis`` on."""
    for at, size in enumerate(mask):
        if axis + at >= len(shape) or shape[axis + at] != size:
            raise ValueError(
                f"The shape of index {_vector(mask)}does not match the shape of the indexed data {_vector(shape)} at "
                f"dim index{at}"
            )


def together(shapes: Sequence[Sequence[int]], action: str) -> tuple[int, ...]:
    """The shape that several tensors of ints have together; ``action``: ``getitem`` or ``setitem``.

    Raises:
        ValueError: they have none.
    """
    whole: tuple[int, ...] = ()
    for shape in shapes:
        try:
            whole = np.broadcast_shapes(whole, tuple(shape))
        except ValueError:
            pairs = [(len(whole) - n, len(shape) - n) for n in range(1, min(len(whole), len(shape)) + 1)]
            one, other = next((x, y) for x, y in pairs if whole[x] != shape[y] and 1 not in (whole[x], shape[y]))
            raise ValueError(
                f"For 'tensor {action}', x.shape and y.shape need to broadcast. The value of x.shape[{one}] or "
                f"y.shape[{other}] must be 1 or -1 when they are not the same, but got x.shape = {_vector(whole)} and "
                f"y.shape = {_vector(shape)}"
            ) from None
    return whole


def unfit(shape: Sequence[int], target: Sequence[int]) -> ValueError:
    """Elements of one shape that do not fill another."""
    if len(shape) > max(len(target), 1):
        return ValueError("For primitive [BroadcastTo]: input's rank should be less equal to the number of "
                          f"proposed_shape, but got {len(shape)} and {len(target)}")  # fmt: skip
    return ValueError(
        "For 'BroadcastTo', in order to broadcast, each dimension pair must be equal or input dimension is 1 or target "
        f"dimension is -1. But got x_shape: {_listed(shape)}, target shape: {_listed(target)}."
    )


def _vector(shape: Sequence[int]) -> str:
    return f"[const vector]{{{', '.join(map(str, shape))}}}"


def _listed(shape: Sequence[int]) -> str:
    return f"({', '.join(map(str, shape))})"
