"""Functions settled in float64 give the bits of long double, whatever float64's last bits are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from harness import dtypes
from harness.dtypes import DType
from harness.framework.ops import certified, numerics
from harness.framework.ops.base import OPERATORS
from harness.framework.ops.elementwise import Floating
from harness.framework.ops.operators.gelu import GeLU, GeLUGrad
from harness.framework.ops.rounding import finish

Array = np.ndarray[Any, np.dtype[Any]]
Function = Callable[..., Array]
STEADY = ("Exp", "Tanh", "Sigmoid", "Log", "Sin", "Cos")
CASES: dict[str, tuple[Function, Function | None, int]] = {
    **{name: (OPERATORS.get(name).function, None, 1) for name in STEADY},  # type: ignore[attr-defined]
    "GeLU": (GeLU.function, np.abs, 1),
    "GeLUGrad": (GeLUGrad.slope, GeLUGrad.size, 2),
}


def given(random: np.random.Generator, dtype: DType, scale: float) -> Array:
    odd = [0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 5e-324, 3e38]
    with np.errstate(all="ignore"):
        return np.concatenate([random.standard_normal(4000) * scale, odd]).astype(dtype.numpy)


@pytest.mark.parametrize("dtype", [dtypes.float32, dtypes.float16, dtypes.bfloat16, dtypes.float64], ids=str)
@pytest.mark.parametrize("name", CASES)
def test_the_bits_are_those_of_long_double(name: str, dtype: DType) -> None:
    function, size, count = CASES[name]
    random = np.random.Generator(np.random.PCG64(1))

    def elsewhere(*arrays: Array) -> Array:
        """As another processor may compute it: off by some units in the last places."""
        out = function(*arrays)
        return out if out.dtype != np.float64 else out * (1 + random.uniform(-1, 1, out.shape) * 2.0**-47)

    with np.errstate(all="ignore"):
        for scale in (1.0, 0.01, 30.0, 1e-20, 1e5):
            arrays = [given(random, dtype, scale) for _ in range(count)]
            wanted = finish(numerics.widest(function, *arrays), dtype)
            for each in (function, elsewhere):
                got = finish(certified.evaluated(each, dtype, *arrays, size=size), dtype)
                np.testing.assert_array_equal(got.view(f"u{dtype.itemsize}"), wanted.view(f"u{dtype.itemsize}"))


def test_what_float64_leaves_open_goes_to_long_double(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    widest = numerics.widest
    monkeypatch.setattr(numerics, "widest", lambda f, *a: asked.append(a[0].size) or widest(f, *a))
    x = np.linspace(0.1, 4, 4096, dtype=np.float32)
    certified.evaluated(np.exp, dtypes.float32, x)
    assert sum(asked) < 10
    monkeypatch.setattr(certified, "_OFF", 2.0**-20)
    whole = certified.evaluated(np.exp, dtypes.float32, x)
    assert sum(asked) > 4000
    assert whole.tobytes() == finish(widest(np.exp, x), dtypes.float32).tobytes()


def test_all_steady_functions_are_looked_at() -> None:
    operators = (OPERATORS.get(name) for name in OPERATORS)
    assert {op.name for op in operators if isinstance(op, Floating) and op.steady} == set(STEADY)
