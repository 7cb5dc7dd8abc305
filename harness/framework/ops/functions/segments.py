"""Functions of segments and sequences."""

from __future__ import annotations

from typing import Any

import numpy as np

from harness import dtypes
from harness.errors import UnsupportedError
from harness.framework.tensor import Tensor, call, is_eager, tensor_method

__all__ = [
    "reverse_sequence", "sequence_mask", "unsorted_segment_max", "unsorted_segment_min", "unsorted_segment_prod",
]  # fmt: skip

#: attributes of the older operators of segments
SEGMENTS: dict[str, Any] = {"output_names": ["y"], "input_names": ["x", "segment_ids", "num_segments"]}


def _count(number: Any) -> Tensor:
    return number if isinstance(number, Tensor) else Tensor(np.asarray(number, np.int64))


@tensor_method("unsorted_segment_max")
def unsorted_segment_max(x: Any, segment_ids: Any, num_segments: Any) -> Any:
    """The largest of the slices that share a segment number."""
    return call("UnsortedSegmentMax", x, segment_ids, _count(num_segments), **SEGMENTS)


@tensor_method("unsorted_segment_min")
def unsorted_segment_min(x: Any, segment_ids: Any, num_segments: Any) -> Any:
    """The smallest of the slices that share a segment number."""
    return call("UnsortedSegmentMin", x, segment_ids, _count(num_segments), **SEGMENTS)


@tensor_method("unsorted_segment_prod")
def unsorted_segment_prod(x: Any, segment_ids: Any, num_segments: Any) -> Any:
    """The products of the slices that share a segment number."""
    return call("UnsortedSegmentProd", x, segment_ids, _count(num_segments), **SEGMENTS)


@tensor_method("reverse_sequence")
def _reverse_sequence(self: Any, seq_lengths: Any, seq_dim: int = 0, batch_dim: int = 0) -> Any:
    return reverse_sequence(self, seq_lengths, seq_dim, batch_dim)


def reverse_sequence(x: Any, seq_lengths: Any, seq_dim: int, batch_dim: int = 0) -> Any:
    """The first so many elements of each member of a batch the other way round."""
    names: dict[str, Any] = {"output_names": ["y"], "input_names": ["x", "seq_lengths"]}
    return call("ReverseSequence", x, seq_lengths, **names, batch_dim=batch_dim, seq_dim=seq_dim)


def sequence_mask(lengths: Any, maxlen: int | None = None) -> Any:
    """True for the first so many places of a new last axis of length ``maxlen`` (None: the largest length).

    Raises ``UnsupportedError`` in graphs without ``maxlen``: the shape would depend on values.
    """
    if maxlen is None:
        if not is_eager() and type(lengths) is not Tensor:
            raise UnsupportedError("sequence_mask in a graph is supported with maxlen only; give it")
        maxlen = int(lengths.asnumpy().max())
    places = Tensor(np.arange(maxlen, dtype=np.int64))
    wide = call("ExpandDims", lengths, -1)
    if wide.dtype is not dtypes.int64 and is_eager():
        wide = call("Cast", wide, dtypes.int64)
    return call("Less", places, wide)
