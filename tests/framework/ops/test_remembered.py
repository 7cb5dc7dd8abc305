"""Remembered results equal a new computation, and are arrays of their own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import harness.framework.ops as ops
from harness.framework import Tensor
from harness.framework.ops import remembered
from harness.framework.ops.base import OPERATORS


@pytest.fixture(autouse=True)
def nothing_known() -> Iterator[None]:
    remembered.forget()
    yield
    remembered.forget()


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The kernels of MatMul and Conv2D that ran."""
    ran: list[str] = []
    for name in ("MatMul", "Conv2D"):
        kernel = OPERATORS.get(name).kernel

        def counted(call: Any, *arguments: Any, _kernel: Any = kernel) -> Any:
            ran.append(call.op)
            return _kernel(call, *arguments)

        monkeypatch.setattr(OPERATORS.get(name), "kernel", counted)
    return ran


def numbers(seed: int, *shape: int) -> Tensor:
    return Tensor(np.random.default_rng(seed).standard_normal(shape).astype(np.float32))


def test_only_where_it_is_asked_for(calls: list[str]) -> None:
    a, b = numbers(0, 3, 4), numbers(1, 4, 5)
    plain = [ops.MatMul()(a, b).asnumpy() for _ in range(2)]
    assert calls == ["MatMul"] * 2
    with remembered.remembering():
        again = [ops.MatMul()(a, b).asnumpy() for _ in range(3)]
    assert calls == ["MatMul"] * 3
    assert {array.tobytes() for array in plain + again} == {plain[0].tobytes()}


def test_a_result_belongs_to_who_asked(calls: list[str]) -> None:
    a, b = numbers(0, 3, 4), numbers(1, 4, 5)
    with remembered.remembering():
        first = ops.MatMul()(a, b).asnumpy()
        kept = first.copy()
        first[:] = 7
        second = ops.MatMul()(a, b).asnumpy()
        second[:] = 8
        third = ops.MatMul()(a, b).asnumpy()
    assert calls == ["MatMul"]
    assert np.array_equal(third, kept)


OTHERS: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "exchanged": lambda a, b: ops.MatMul()(b, a),
    "transposed": lambda a, b: ops.MatMul(transpose_a=True)(a, b),
    "negative": lambda a, b: ops.MatMul()(a, Tensor(-b.asnumpy())),
    "fewer rows": lambda a, b: ops.MatMul()(Tensor(a.asnumpy()[:2]), b),
}


@pytest.mark.parametrize("name", OTHERS)
def test_other_operands_or_attributes_are_another_call(calls: list[str], name: str) -> None:
    other = OTHERS[name]
    a, b = numbers(0, 4, 4), numbers(1, 4, 4)
    alone = other(a, b).asnumpy()
    calls.clear()
    with remembered.remembering():
        ops.MatMul()(a, b)
        found = other(a, b).asnumpy()
    assert calls == ["MatMul"] * 2
    assert found.tobytes() == alone.tobytes()
    assert found.shape == alone.shape


def test_convolutions_are_told_by_their_steps(calls: list[str]) -> None:
    x, weight = numbers(0, 1, 2, 6, 6), numbers(1, 3, 2, 3, 3)
    with remembered.remembering():
        shapes = [ops.Conv2D(3, 3, stride=stride)(x, weight).shape for stride in (1, 1, 2)]
    assert calls == ["Conv2D"] * 2
    assert shapes == [(1, 3, 4, 4), (1, 3, 4, 4), (1, 3, 2, 2)]


def test_what_is_large_is_computed_each_time_and_room_is_limited(
    calls: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remembered, "LARGEST", 1 << 12)
    monkeypatch.setattr(remembered, "ROOM", 1 << 13)
    with remembered.remembering():
        for _ in range(2):
            ops.MatMul()(numbers(0, 64, 64), numbers(1, 64, 64))
        assert calls == ["MatMul"] * 2
        for seed in range(40):
            ops.MatMul()(numbers(seed, 16, 8), numbers(seed + 1, 8, 16))
            assert remembered._remembered.size <= 1 << 13


def test_another_kernel_of_the_same_operator_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    a, b = numbers(0, 3, 4), numbers(1, 4, 5)
    with remembered.remembering():
        right = ops.MatMul()(a, b).asnumpy()
        monkeypatch.setattr(OPERATORS.get("MatMul"), "kernel", lambda *_: np.zeros((3, 5), np.float32))
        assert not ops.MatMul()(a, b).asnumpy().any()
        monkeypatch.undo()
        assert ops.MatMul()(a, b).asnumpy().tobytes() == right.tobytes()
