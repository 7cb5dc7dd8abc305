"""Tensor constants that operators take where a graph shows a tensor (shapes, bounds, counts)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from harness import dtypes
from harness.dtypes import DType
from harness.framework.ops.base import Call
from harness.framework.tensor import Tensor

#: MindSpore's numbers of dtypes in graphs (``TypeId``, measured)
TYPE_IDS = {
    "Bool": 30, "Int8": 32, "Int16": 33, "Int32": 34, "Int64": 35, "UInt8": 37, "UInt16": 38, "UInt32": 39,
    "UInt64": 40, "Float16": 42, "Float32": 43, "Float64": 44, "BFloat16": 45, "Complex64": 48, "Complex128": 49,
}  # fmt: skip
_BY_ID = {number: name for name, number in TYPE_IDS.items()}


def int_tensor(values: int | Sequence[int]) -> Tensor:
    """An int64 tensor constant: 0-d for a number, 1-D for a sequence."""
    return Tensor(np.array(values, np.int64))


def type_tensor(dtype: DType) -> Tensor:
    """A dtype as the 0-d int64 tensor a graph shows for it."""
    return int_tensor(TYPE_IDS[dtype.name])


def type_of(number: Any) -> DType:
    """The dtype behind a type number."""
    return dtypes.by_name(_BY_ID[int(np.asarray(number))])


def ints(call: Call, index: int) -> tuple[int, ...]:
    """The integers of the constant argument ``index`` (number, tuple or tensor); ``ShapeError`` if it is not a
    constant."""
    value = call.values[index]
    if value is None:
        raise call.fail(f"argument {index} must be a constant")
    return tuple(int(v) for v in np.asarray(value).reshape(-1))
