"""Primitives that change rows of a tensor."""

from __future__ import annotations

from typing import Any

import numpy as np

from harness.framework.ops.functions import index_put
from harness.framework.ops.primitive import Primitive
from harness.framework.tensor import Tensor

__all__ = ["InplaceAdd", "InplaceSub", "InplaceUpdateV2"]


class InplaceAdd(Primitive):
    """A copy with a tensor added to some of its rows."""

    def __init__(self, indices: Any) -> None:
        super().__init__(attrs={
            "output_names": ["y"], "input_names": ["x", "v"], "indices": index_put.rows(indices, self.name),
        })  # fmt: skip


class InplaceSub(InplaceAdd):
    """A copy with a tensor taken from some of its rows."""


class InplaceUpdateV2(Primitive):
    """A copy with some of its rows changed."""

    def __init__(self) -> None:
        super().__init__(attrs={"output_names": ["y"], "input_names": ["x", "indices", "v"]})

    def __call__(self, x: Any, indices: Any, v: Any) -> Any:
        chosen = indices if isinstance(indices, Tensor) else Tensor(np.asarray(indices, np.int64))
        return super().__call__(x, chosen, v)
