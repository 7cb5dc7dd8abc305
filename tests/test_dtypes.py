"""Names of dtypes: one is kept, another is shown where the tensor was PyTorch's."""

from __future__ import annotations

import numpy as np
import pytest

from harness import dtypes
from harness.compare import check
from harness.compare.table import row
from harness.errors import DtypeError
from harness.records import Record, SlotKey
from harness.stats import digest


@pytest.mark.parametrize("dtype", dtypes.STORED, ids=str)
def test_the_name_that_is_shown_is_known(dtype: dtypes.DType) -> None:
    shown = dtypes.spelled(dtype.name, dtypes.TORCH_FORMAT)
    assert shown == f"torch.{dtype.lower}"
    assert dtypes.by_name(shown) is dtype
    assert dtypes.spelled(dtype.name, "DefaultFormat") == dtype.name


def test_another_prefix_is_no_name() -> None:
    with pytest.raises(DtypeError, match=r"unknown dtype 'jax\.float32'"):
        dtypes.by_name("jax.float32")


def _record(dtype: str) -> Record:
    values = np.zeros(3, dtypes.by_name(dtype).numpy)
    key = SlotKey(0, 0, 0, "fc/addmm-op0", 0, "output", 0)
    known = digest(values, dtype)
    return Record(key, "addmm", dtype, (3,), dtypes.TORCH_FORMAT, values, digest=known)


def test_what_a_comparison_shows_of_a_tensor_of_pytorch() -> None:
    slot = check([_record("BFloat16")], [_record("Float64")]).slots[0]
    assert slot.reason == "dtype is torch.float64, expected torch.bfloat16"
    assert row(slot)["dtype"] == "torch.bfloat16"
    assert slot.dtype == "BFloat16"
