"""AffineGrid: the places that affine maps give to the elements of a picture or volume; and its gradient."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from harness.framework.ops import numerics
from harness.framework.ops.base import Array, Backward, Call, Operator, operator
from harness.framework.ops.constants import ints
from harness.framework.ops.elementwise import check_kind
from harness.framework.tensor import call as emit
from harness.graph import Spec, TensorSpec


def _base(sizes: Sequence[int], aligned: bool) -> Array:
    """(*sizes, axes + 1): the coordinates in [-1, 1] of each element, last axis first, and a 1."""
    lines = [np.linspace(-1, 1, n) * (1 if aligned else (n - 1) / n) if n > 1 else np.zeros(1) for n in sizes]
    mesh = np.meshgrid(*lines, indexing="ij")
    return np.stack([*mesh[::-1], np.ones(tuple(sizes))], -1)


@operator
class AffineGrid(Operator):
    """theta (n, k, k + 1), size (n, c, k sizes): places (n, k sizes, k). Attribute ``align_corners``: -1 and 1 are the
    middles of the first and last elements, else their outer edges."""

    name = "AffineGrid"
    functional = False
    tensors = (0,)

    def infer(self, call: Call) -> Spec:
        check_kind(call, "f", 0)
        theta, size = call.shape(0), ints(call, 1)
        axes = len(size) - 2
        if axes not in (2, 3) or theta != (size[0], axes, axes + 1):
            raise call.fail("(n, 2, 3) and a size of 4 numbers, or (n, 3, 4) and a size of 5, are needed")
        return TensorSpec(call.dtype(0), (size[0], *size[2:], axes))

    def kernel(self, call: Call, theta: Array, size: Sequence[int]) -> Array:
        base = _base(tuple(size)[2:], call.attrs["align_corners"])
        wide = numerics.wide(theta)
        out: Any = 0
        for at in range(wide.shape[-1]):
            column = wide[:, :, at].reshape(len(wide), *(1,) * (base.ndim - 1), -1)
            out = out + base[None, ..., at, None] * column
        return np.asarray(out)

    def gradient(self, b: Backward) -> Sequence[Any]:
        names = {"output_names": ["x_grad"], "input_names": ["y_grad", "x_size"]}
        return emit("AffineGridGrad", b.dout, b.inputs[1], **{**b.attrs, **names}), None


@operator
class AffineGridGrad(Operator):
    """dout, size: the gradient of theta."""

    name = "AffineGridGrad"
    functional = False
    tensors = (0,)

    def infer(self, call: Call) -> Spec:
        size = ints(call, 1)
        return TensorSpec(call.dtype(0), (size[0], len(size) - 2, len(size) - 1))

    def kernel(self, call: Call, dout: Array, size: Sequence[int]) -> Array:
        base = _base(tuple(size)[2:], call.attrs["align_corners"])
        wide = numerics.wide(dout)[..., :, None] * base[None, ..., None, :]
        return numerics.total(wide, tuple(range(1, base.ndim)))
