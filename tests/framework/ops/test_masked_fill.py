"""Which values ``masked_fill`` takes, as MindSpore 2.10.0 on a CPU: in graphs and outside the same (measured)."""

from __future__ import annotations

import contextlib
from typing import Any

import pytest

from harness import Tensor, bool_, context, dtypes, float32, ops
from harness.errors import DtypeError, SettingTypeError

#: a number, or the dtype of a tensor without axes -> the dtypes that the function fills with it, and the method
FILLED: dict[Any, tuple[str, str]] = {
    0: ("Int32 Int64", "Float16 Float32 Float64 Int8 Int32 Int64 UInt8 Bool"),
    1.5: ("Float16 Float32 Float64", "Float16 Float32 Float64 Int8 Int32 Int64 UInt8 Bool"),
    dtypes.int64: ("Int32 Int64", "Int32 Int64"),
    dtypes.int32: ("Int32 Int64", "Int32 Int64"),
    **dict.fromkeys((dtypes.float16, dtypes.float32, dtypes.float64), ("Float16 Float32 Float64",) * 2),
    bool_: ("Bool", "Bool"),
}
DTYPES = ["Float16", "Float32", "Float64", "Int8", "Int32", "Int64", "UInt8", "Bool"]
MASK = Tensor([True, False])


@pytest.mark.parametrize("mode", [context.PYNATIVE_MODE, context.GRAPH_MODE], ids=["pynative", "graph"])
@pytest.mark.parametrize("given", FILLED, ids=str)
def test_values_that_are_taken(given: Any, mode: int) -> None:
    value = Tensor(1, given) if isinstance(given, dtypes.DType) else given
    before = context.get_context("mode")
    context.set_context(mode=mode)
    try:
        found: tuple[list[str], list[str]] = [], []
        for name in DTYPES:
            x = Tensor([1.0, 2.0], float32).astype(getattr(dtypes, "bool_" if name == "Bool" else name.lower()))
            for at, fill in enumerate((ops.masked_fill, Tensor.masked_fill)):
                with contextlib.suppress(DtypeError, SettingTypeError):
                    out = fill(x, MASK, value)
                    assert out.dtype is x.dtype
                    assert out.asnumpy()[1] == x.asnumpy()[1]
                    found[at].append(name)
    finally:
        context.set_context(mode=before)
    assert tuple(map(" ".join, found)) == FILLED[given]
