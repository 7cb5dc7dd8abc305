"""ZerosLike and OnesLike, with the forms that take a dtype."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from harness.framework.ops.base import Array, Backward, Call, Operator, operator
from harness.framework.ops.expansion import Composite, cast
from harness.framework.tensor import call as emit
from harness.graph import Spec


class _Like(Operator):
    """A constant of the shape and dtype of the argument."""

    tensors = (0,)

    def infer(self, call: Call) -> Spec:
        return call.tensor(0).tensor

    def gradient(self, b: Backward) -> Sequence[Any]:
        return (emit("ZerosLike", b.inputs[0]),)


@operator
class ZerosLike(_Like):
    """Zeros like ``x``."""

    name = "ZerosLike"

    def kernel(self, call: Call, x: Array) -> Array:
        return np.zeros(x.shape, x.dtype)


@operator
class OnesLike(_Like):
    """Ones like ``x``."""

    name = "OnesLike"

    def kernel(self, call: Call, x: Array) -> Array:
        return np.ones(x.shape, x.dtype)


class _LikeExt(Composite):
    tensors = (0,)

    def expand(self, x: Any, dtype: Any) -> Any:
        out = emit(self.name.removesuffix("Ext"), x)
        return out if dtype is None else cast(out, dtype)

    def gradient(self, b: Backward) -> Sequence[Any]:
        return None, None


@operator
class ZerosLikeExt(_LikeExt):
    """Zeros like ``x``, in the dtype of argument 1 unless it is None."""

    name = "ZerosLikeExt"


@operator
class OnesLikeExt(_LikeExt):
    """Ones like ``x``, in the dtype of argument 1 unless it is None."""

    name = "OnesLikeExt"
