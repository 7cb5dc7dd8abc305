"""Functions of ``numpy`` where their composition shows: infinities, NaN, zeros; what MindSpore 2.10.0 answered."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from harness import Tensor, dtypes, ops
from harness import numpy as mnp

INF, NAN = float("inf"), float("nan")
FLOATS = [-INF, -3.5, -1.0, -0.0, 0.0, 2.0, INF, NAN, 1e30]


def f(*values: float) -> Tensor:
    return Tensor(np.array(values, np.float32))


def d(*values: float) -> Tensor:
    return Tensor(np.array(values, np.float64))


def i(*values: int) -> Tensor:
    return Tensor(np.array(values, np.int64))


ANSWERS: dict[str, tuple[Callable[[], Any], str, Any]] = {
    "sign": (lambda: mnp.sign(f(*FLOATS)), "Float32", [NAN, -1, -1, 0, 0, 1, NAN, NAN, 1]),
    "sign of doubles": (lambda: mnp.sign(d(-2, 0, 3, INF, NAN)), "Float64", [-1, 0, 1, NAN, NAN]),
    "sign of ints": (lambda: mnp.sign(i(-3, 0, 2)), "Float32", [-1, 0, 1]),
    "reciprocal": (lambda: mnp.reciprocal(f(-INF, -0.0, 0.0, 2, INF, NAN)), "Float32", [-0.0, INF, INF, 0.5, 0, NAN]),
    "reciprocal of ints": (lambda: mnp.reciprocal(i(-3, 0, 2)), "Int64", [0, 2**63 - 1, 0]),
    "reciprocal of bytes": (lambda: mnp.reciprocal(Tensor(np.array([0, 3], np.uint8))), "UInt8", [255, 0]),
    "nanmax": (lambda: mnp.nanmax(f(NAN)), "Float32", np.float32(-(2.0**63))),
    "nanmin": (lambda: mnp.nanmin(f(NAN)), "Float32", np.float32(2.0**63)),
    "nanvar": (lambda: mnp.nanvar(f(INF, 1.0)), "Float32", INF),
    "nanvar of all": (lambda: mnp.nanvar(f(*FLOATS)), "Float32", 0),
    "nanstd": (lambda: mnp.nanstd(f(NAN, INF, -INF, 1.0)), "Float32", 0),
    "nanstd of bools": (lambda: mnp.nanstd(Tensor([True, False])), "Float32", 1),
    "nanmean of bools": (lambda: mnp.nanmean(Tensor([True, False])), "Float32", 1),
    "gcd": (lambda: mnp.gcd(i(0, 4, 6), i(0, 6, 4)), "Int64", [0, 4, 4]),
    "gcd of others": (lambda: mnp.gcd(i(4, 6, 9), i(6, 4, 6)), "Int64", [2, 2, 3]),
    "gcd of floats": (lambda: mnp.gcd(f(4, 7.5), f(6, 2.5)), "Float32", [2, 2.5]),
    "gcd with a number": (lambda: mnp.gcd(i(12, 8), 18), "Int64", [6, 2]),
    "lcm": (lambda: mnp.lcm(i(0, 4, 6), i(0, 6, 4)), "Int64", [0, 6, 6]),
    "lcm of floats": (lambda: mnp.lcm(f(4, 7.5), f(6, 2.5)), "Float32", [12, 7.5]),
    "remainder by 0": (lambda: mnp.remainder(i(0, 4, 6), i(0, 6, 4)), "Int64", [0, 4, 2]),
    "logaddexp": (lambda: mnp.logaddexp(f(-INF, INF, 1e30, 89.0), f(-INF, INF, 1.0, 1.0)), "Float32",
                  [-INF, INF, INF, INF]),
    "i0": (lambda: ops.i0(d(709.0, 710.0, -713.0)), "Float64", [1.231547706701654e306, INF, INF]),
    "i0 of floats": (lambda: ops.i0(f(88.0, 89.0)), "Float32", [7.034019512534214e36, INF]),
    "i1": (lambda: ops.bessel_i1(d(-710.0)), "Float64", [-INF]),
}  # fmt: skip


@pytest.mark.parametrize("name", ANSWERS)
def test_as_measured(name: str) -> None:
    call, dtype, expected = ANSWERS[name]
    found = call()
    assert found.dtype.name == dtype
    rtol = 1e-14 if dtype == "Float64" else 0
    np.testing.assert_allclose(found.asnumpy(), np.array(expected, found.asnumpy().dtype), rtol=rtol)


@pytest.mark.filterwarnings("error")
def test_what_is_too_large_for_float16_is_infinite_and_silent() -> None:
    half = Tensor([70000.0, 1.0], dtypes.float16)
    made = [
        half, ops.full((2,), 70000.0, dtype=dtypes.float16), ops.full_like(half, -1e9), half * 70000.0,
        ops.cast(f(1e30), dtypes.float16), mnp.full((2,), 1e9, dtypes.float16),
    ]  # fmt: skip
    half[1] = 1e9
    assert all(np.isinf(each.asnumpy()[0]) for each in made)
    assert np.isinf(half.asnumpy()).all()
