"""What a device's kernels cannot take, so that the compiler inserts casts."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from harness import dtypes
from harness.dtypes import DType
from harness.graph import Node


@dataclass(frozen=True, slots=True)
class Kernels:
    """What a device's kernels cannot take.

    Attributes:
        widened: operators that compute float16 in float32.
        narrowed: (operator, argument) that take int32 where the network says int64.
        halved: operators that compute float64 in float32.
    """

    widened: AbstractSet[str] = frozenset()
    narrowed: AbstractSet[tuple[str, int]] = frozenset()
    halved: AbstractSet[str] = frozenset()

    def takes(self, node: Node, argument: int, dtype: DType) -> DType:
        """The dtype ``node`` takes argument ``argument`` in."""
        if self.in_float32(node.op, dtype):
            return dtypes.float32
        if dtype is dtypes.int64 and (node.op, argument) in self.narrowed:
            return dtypes.int32
        return dtype

    def in_float32(self, op: str, dtype: DType) -> bool:
        """Whether ``op`` computes ``dtype`` in float32."""
        return (dtype is dtypes.float16 and op in self.widened) or (dtype is dtypes.float64 and op in self.halved)
