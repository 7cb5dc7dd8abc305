"""Names that graphs, tests and scripts use below MindSpore's modules; more beside the real one in ``test_programs``."""

from __future__ import annotations

import numpy as np
import pytest

from harness import Tensor, dtypes, mutable, ops
from harness.errors import SettingError, SettingTypeError
from harness.framework.ops.primitives import inner

X = np.arange(6, dtype=np.float32).reshape(2, 3)


def test_results_that_are_no_tensors_have_no_gradient() -> None:
    def mixed(x: Tensor) -> object:
        return x.shape, (x * x).sum(), None, [2.5, True, "a"], x.dtype

    assert (ops.grad(mixed)(Tensor(X)).asnumpy() == 2 * X).all()


def test_mutable_makes_an_input_of_a_constant() -> None:
    x = Tensor(X, const_arg=True)
    assert mutable(x) is x
    assert not x.const_arg


def test_numbers_become_those_of_three_dtypes() -> None:
    assert ops.scalar_cast(3.75, dtypes.int64) == 3
    with pytest.raises(SettingError, match="int64, float64 or bool"):
        ops.scalar_cast(3, dtypes.float32)


def test_only_a_tensor_forgets_its_shape() -> None:
    assert (inner.ConvertToDynamic()(Tensor(X)).asnumpy() == X).all()
    with pytest.raises(SettingTypeError, match="a Tensor is needed"):
        inner.ConvertToDynamic()((Tensor(X),))  # type: ignore[arg-type]
