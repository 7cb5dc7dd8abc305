"""A device's arithmetic before and after an operator's own kernel."""

from __future__ import annotations

from typing import Any

import numpy as np

from harness import dtypes
from harness.devices import DEVICES, Device
from harness.devices.rounding import hf32, tf32
from harness.framework.ops.base import OPERATORS, Call
from harness.framework.ops.eager import execute
from harness.graph import ScalarSpec, TensorSpec

SATURATED = {"MS_ASCEND_CHECK_OVERFLOW_MODE": "SATURATION_MODE"}
RNG = np.random.default_rng(5)
A, B = RNG.standard_normal((2, 8, 8)).astype(np.float32)


def run(device: Device, op: str, *arguments: Any, in_place: bool = False) -> np.ndarray[Any, Any]:
    """First result of operator ``op`` on ``device``."""
    specs = [
        TensorSpec(dtypes.from_numpy(a.dtype), a.shape) if isinstance(a, np.ndarray) else ScalarSpec(dtypes.bool_)
        for a in arguments
    ]
    constants = tuple(None if isinstance(a, np.ndarray) else a for a in arguments)
    call = Call(op, tuple(specs), constants, {})
    call.out = OPERATORS.get(op).infer(call)
    return device.run(op, arguments, lambda args: execute(OPERATORS.get(op), call, args), in_place)[0]


def product(a: np.ndarray[Any, Any], b: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    return run(DEVICES.get("cpu"), "MatMul", a, b, False, False)


def test_matrix_products() -> None:
    exact = product(A, B)
    asked = {"gpu_config": {"matmul_allow_tf32": True}, "ascend_config": {"matmul_allow_hf32": True}}
    for name, how in (("gpu", tf32), ("ascend-o0", hf32)):
        plain = run(DEVICES.get(name), "MatMul", A, B, False, False)
        short = run(DEVICES.get(name).configured(context=asked), "MatMul", A, B, False, False)
        assert np.array_equal(plain, exact)
        assert np.array_equal(short, product(how(A), how(B)))
        assert not np.array_equal(short, exact)


def test_half_precision_sums_saturate_only_where_asked() -> None:
    big = np.array([60000, -60000, 1], np.float16)
    device = DEVICES.get("ascend-o0")
    assert run(device, "Add", big, big).tolist() == [np.inf, -np.inf, 2]
    assert run(device.configured(SATURATED), "Add", big, big).tolist() == [65504, -65504, 2]


def test_a_parameter_that_overflows_saturates_itself() -> None:
    parameter, added = np.array([3e38, 1], np.float32), np.array([3e38, 1], np.float32)
    result = run(DEVICES.get("ascend-o0").configured(SATURATED), "AssignAdd", parameter, added, in_place=True)
    assert parameter.tolist() == [np.finfo(np.float32).max, 2]
    assert np.array_equal(result, parameter)
