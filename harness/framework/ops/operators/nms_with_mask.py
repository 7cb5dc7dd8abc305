"""NMSWithMask: boxes by falling score, and which of them no better box overlaps too much.

Source: MindSpore 2.10.0 CPU, measured.
"""

from __future__ import annotations

import numpy as np

from harness import dtypes
from harness.framework.ops import numerics
from harness.framework.ops.base import Array, Call, Operator, operator
from harness.framework.ops.elementwise import check_kind
from harness.graph import Spec, TensorSpec, TupleSpec


@operator
class NMSWithMask(Operator):
    """x (n, 5): boxes with a score. Gives them by falling score, the places 0 to n - 1 (Int32), and a mask (Bool)."""

    name = "NMSWithMask"
    functional = False
    tensors = (0,)

    def infer(self, call: Call) -> Spec:
        check_kind(call, "f", 0)
        shape = call.shape(0)
        if len(shape) != 2 or shape[1] != 5:
            raise call.fail("boxes with scores (n, 5) are needed")
        count = (shape[0],)
        return TupleSpec((TensorSpec(call.dtype(0), shape), TensorSpec(dtypes.int32, count),
                          TensorSpec(dtypes.bool_, count)))  # fmt: skip

    def kernel(self, call: Call, x: Array) -> tuple[Array, Array, Array]:
        order = np.argsort(-numerics.wide(x)[:, 4], kind="stable")
        boxes = numerics.wide(x)[order]
        kept = np.ones(len(boxes), bool)
        x0, y0, x1, y1 = (np.minimum(boxes[:, 0], boxes[:, 2]), np.minimum(boxes[:, 1], boxes[:, 3]),
                          np.maximum(boxes[:, 0], boxes[:, 2]), np.maximum(boxes[:, 1], boxes[:, 3]))  # fmt: skip
        area = (x1 - x0) * (y1 - y0)
        for at in range(len(boxes)):
            if not kept[at]:
                continue
            width = np.minimum(x1[at], x1[at + 1 :]) - np.maximum(x0[at], x0[at + 1 :])
            height = np.minimum(y1[at], y1[at + 1 :]) - np.maximum(y0[at], y0[at + 1 :])
            common = np.maximum(width, 0) * np.maximum(height, 0)
            kept[at + 1 :] &= ~(common > call.attrs["iou_threshold"] * (area[at] + area[at + 1 :] - common))
        return x[order], np.arange(len(x), dtype=np.int32), kept
