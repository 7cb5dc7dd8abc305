"""Print: writes its arguments, and is a kernel of the graph."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from harness import dtypes
from harness.errors import KernelError
from harness.framework.ops.base import Array, Backward, Call, Operator, operator
from harness.framework.ops.printing import constant_text, value_lines
from harness.framework.tensor.text import tensor_text
from harness.graph import OpaqueSpec, Spec, TensorSpec, TupleSpec


@operator
class Print(Operator):
    """Arguments of any kind, one line each on standard output; gives a tensor of one Int32, as MindSpore does."""

    name = "Print"
    functional = False
    side_effect = "io"

    def infer(self, call: Call) -> Spec:
        return TensorSpec(dtypes.int32, (1,))

    def kernel(self, call: Call, *args: Any) -> Array:
        for spec, known, arg in zip(call.inputs, call.values, args, strict=False):
            for line in _lines(spec, known is not None, arg):
                print(line, file=sys.stdout)
        sys.stdout.flush()
        return np.ones(1, np.int32)

    def gradient(self, b: Backward) -> Sequence[Any]:
        return [None] * len(b.inputs)


def _lines(spec: Spec, is_constant: bool, value: Any) -> Iterator[str]:
    if isinstance(spec, OpaqueSpec) and spec.kind in ("IOMonad", "UMonad"):
        return
    if isinstance(spec, TensorSpec):
        if spec.dtype is dtypes.bfloat16 and not is_constant:
            raise KernelError("Print: the CPU kernel has no BFloat16")
        array = np.asarray(value)
        yield constant_text(array, spec.dtype) if is_constant else tensor_text(array, spec.dtype)
    elif isinstance(spec, TupleSpec) and spec.items and isinstance(spec.items[0], TensorSpec):
        for item, member in zip(spec.items, value, strict=True):
            yield from _lines(item, False, member)
    else:
        yield from value_lines(value)
