"""The restrictions of a device's kernels, for which the compiler inserts casts."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from harness import dtypes
from harness.dtypes import DType
from harness.graph import Node, TensorSpec


@dataclass(frozen=True, slots=True)
class Kernels:
    """The restrictions of a device's kernels.

    Attributes:
        widened: operators that compute float16 in float32.
        narrowed: (operator, argument) that take int32 where the network says int64.
        halved: operators that compute float64 in float32.
        narrowed_beside_half: as ``narrowed``, but only where the operator was to compute in float16.
        mixed: operators that compute in float32 where one floating argument is float32 and another is not.
    """

    widened: AbstractSet[str] = frozenset()
    narrowed: AbstractSet[tuple[str, int]] = frozenset()
    halved: AbstractSet[str] = frozenset()
    narrowed_beside_half: AbstractSet[tuple[str, int]] = frozenset()
    mixed: AbstractSet[str] = frozenset()

    def takes(self, node: Node, argument: int, dtype: DType) -> DType:
        """The dtype that ``node`` accepts for argument ``argument``."""
        if self.in_float32(node.op, dtype) or (dtype.kind == "f" and self.is_mixed(node)):
            return dtypes.float32
        if dtype is dtypes.int64 and (node.op, argument) in self.narrowed:
            return dtypes.int32
        if dtype is dtypes.int64 and (node.op, argument) in self.narrowed_beside_half and _is_half(node):
            return dtypes.int32
        return dtype

    def is_mixed(self, node: Node) -> bool:
        """Whether ``node`` computes in float32 because one of its floating arguments is float32 and another not."""
        if node.op not in self.mixed:
            return False
        given = {i.spec.dtype for i in node.inputs if isinstance(i.spec, TensorSpec) and i.spec.dtype.kind == "f"}
        return dtypes.float32 in given and len(given) > 1

    def in_float32(self, op: str, dtype: DType) -> bool:
        """Whether ``op`` computes ``dtype`` in float32."""
        return (dtype is dtypes.float16 and op in self.widened) or (dtype is dtypes.float64 and op in self.halved)


def _is_half(node: Node) -> bool:
    spec = node.spec
    return isinstance(spec, TensorSpec) and spec.dtype is dtypes.float16
