"""ReduceAll and ReduceAny."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from harness import dtypes
from harness.framework.ops.base import Array, Backward, Call, operator
from harness.framework.ops.reduce import Reduction
from harness.graph import Spec, TensorSpec


class _Truth(Reduction):
    """Over truth values (not 0)."""

    accepts = "biufc"
    result = dtypes.bool_
    absent: ClassVar[dict[int, str]] = {1: "Int64"}

    def gradient(self, b: Backward) -> Sequence[Any]:
        return None, None, None


@operator
class ReduceAll(_Truth):
    """Whether all hold."""

    name = "ReduceAll"

    def kernel(self, call: Call, x: Array, _axes: Any, keep: bool) -> Array:
        return np.asarray((x != 0).all(axis=self.axes(call), keepdims=keep))


@operator
class ReduceAny(_Truth):
    """Whether one holds; of UInt8 a UInt8, 0 or 1 (measured). Over some axes of other dtypes it reads as many bytes as
    there are elements, from the first on, as MindSpore's CPU does (measured)."""

    name = "ReduceAny"

    def infer(self, call: Call) -> Spec:
        spec = super().infer(call)
        assert isinstance(spec, TensorSpec)
        return TensorSpec(dtypes.uint8, spec.shape) if call.dtype(0) is dtypes.uint8 else spec

    def kernel(self, call: Call, x: Array, _axes: Any, keep: bool) -> Array:
        if x.dtype.kind != "b" and len(self.axes(call)) < x.ndim:
            x = np.ascontiguousarray(x).reshape(-1).view(np.uint8)[: x.size].reshape(x.shape)
        return np.asarray((x != 0).any(axis=self.axes(call), keepdims=keep))
