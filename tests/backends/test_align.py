"""Captures of two devices compared: known differences are removed, all others are found."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from harness import dtypes, float16, nn, ops
from harness.backends import get
from harness.backends.aligned import aligned
from harness.compare import Verdict, check
from harness.framework.tensor import Tensor
from harness.records import Record, SlotKey
from tests.framework.compile.build import Net, graph_mode

X = Tensor(np.linspace(-2, 2, 6, dtype=np.float32).reshape(2, 3))


def records(backend: str, function: Callable[..., Any], mode: str = "tensor") -> list[Record]:
    with graph_mode():
        return list(get(backend).run(lambda: Net(function)(X), network="net", mode=mode).records())


def mixed(net: Net, x: Any) -> Any:
    """A chain, a product, another chain."""
    return ops.relu(ops.exp(x * x) @ net.w.T) + 1


@pytest.mark.sampled(2)
@pytest.mark.parametrize("mode", ["tensor", "statistic"])
@pytest.mark.parametrize("backend", ["gpu", "ascend-o0", "ascend-o1", "ascend-o2"])
def test_the_same_network_agrees(backend: str, mode: str) -> None:
    cpu, other = aligned(records("cpu", mixed), records(backend, mixed, mode), "cpu", backend)
    comparison = check(cpu, other, "exact", order=False)
    assert {slot.verdict for slot in comparison.slots} == {Verdict.IDENTICAL}
    outputs = {record.key.operator.rpartition("/")[2] for record in cpu if record.key.io == "output"}
    assert outputs >= {"Exp-op0", "MatMul-op0", "Add-op0"}


def test_the_result_of_a_fused_kernel_is_compared() -> None:
    found = records("ascend-o1", mixed)
    for at, record in enumerate(found):
        if "fusion" in record.op_type and record.key.io == "output":
            array = record.load()
            assert array is not None
            found[at] = replace(record, values=array + 1, digest=None)
    comparison = check(*aligned(records("cpu", mixed), found, "cpu", "ascend-o1"), "default", order=False)
    differing = {slot.key.operator for slot in comparison.slots if slot.verdict is Verdict.DIFFERS}
    assert differing == {"Default/Exp-op0", "Default/Add-op0"}


@pytest.mark.parametrize("backend", ["gpu", "ascend-o0", "ascend-o1"])
def test_a_slot_that_nothing_explains_is_found(backend: str) -> None:
    cpu, found = records("cpu", mixed), records(backend, mixed)
    fewer = [record for record in found if record.op_type != "MatMul"]
    comparison = check(*aligned(cpu, fewer, "cpu", backend), "default", order=False)
    assert {slot.op_type for slot in comparison.slots if slot.verdict is Verdict.MISSING} == {"MatMul"}
    less = [record for record in cpu if record.op_type != "MatMul"]
    comparison = check(*aligned(less, found, "cpu", backend), "default", order=False)
    assert {slot.op_type for slot in comparison.slots if slot.verdict is Verdict.UNEXPECTED} == {"MatMul"}


def test_kernels_one_device_lacks_are_left_out() -> None:
    """The CPU has no MatMul in float16 and casts around one in float32."""

    def half(net: Net, x: Any) -> Any:
        x = ops.cast(x, float16)
        return ops.cast(x @ ops.cast(net.w, float16).T, float16) + x[0, 0]

    cpu, gpu = aligned(records("cpu", half), records("gpu", half), "cpu", "gpu")
    assert {record.op_type for record in cpu} == {record.op_type for record in gpu}
    assert not any(record.op_type == "Cast" for record in cpu)
    assert check(cpu, gpu, "default", order=False).holds


def test_outputs_a_device_does_not_read_are_left_out() -> None:
    def program() -> Any:
        return nn.BatchNorm1d(3).set_train()(X)

    with graph_mode():
        sides = [list(get(name).run(program, network="net").records()) for name in ("cpu", "gpu")]
    slots = [{r.key.slot for r in side if r.op_type == "BatchNorm" and r.key.io == "output"} for side in sides]
    assert slots == [{0, 1, 2, 3, 4}, {0, 3, 4}]
    assert check(*aligned(sides[0], sides[1], "cpu", "gpu"), "default", order=False).holds


def slot(dtype: str, values: list[float]) -> Record:
    with np.errstate(over="ignore"):
        array = np.array(values).astype(dtypes.by_name(dtype).numpy)
    return Record(SlotKey(0, 0, 0, "Default/MatMul-op0", 0, "output", 0), "MatMul", dtype, array.shape, values=array)


@pytest.mark.parametrize(
    ("expected", "found", "left"),
    [
        ("Float32", "Float16", "Float16"),
        ("Float32", "BFloat16", "BFloat16"),
        ("Float64", "Float32", "Float32"),
        ("Float16", "Float32", None),
        ("Float16", "BFloat16", None),
        ("Int64", "Int32", None),
        ("Float32", "Int32", None),
    ],
)
def test_a_wider_float_is_rounded_to_what_was_found(expected: str, found: str, left: str | None) -> None:
    numbers = [1.0, 3.0, 70000.0]
    ours, theirs = aligned([slot(expected, numbers)], [slot(found, numbers)], "cpu", "gpu")
    assert [record.dtype for record in ours] == [record.dtype for record in theirs] == ([left] if left else [])
    if left:
        assert {each.verdict for each in check(ours, theirs, "exact").slots} == {Verdict.IDENTICAL}


def test_what_was_found_is_held_against_the_rounded_value() -> None:
    ours, theirs = aligned([slot("Float32", [1.0001])], [slot("Float16", [1.001])], "cpu", "gpu")
    (each,) = check(ours, theirs, "exact").slots
    assert each.verdict is Verdict.DIFFERS
