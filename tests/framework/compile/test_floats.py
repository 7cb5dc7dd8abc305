"""Python's floats in graphs are Float32: what MindSpore 2.10.0 makes of expressions (``tests/data/floats``)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import harness as ms
from harness import Tensor, nn, ops
from harness.framework.compile.statements import arithmetic
from tests.data.floats import make

DATA = Path(make.__file__).with_name("floats.json")
RECORDED: dict[str, Any] = json.loads(DATA.read_text(encoding="utf-8"))
FACTOR = 0.999


@pytest.fixture(autouse=True)
def graphs(tmp_path: Path) -> Iterator[None]:
    make.construct.folder = str(tmp_path)  # type: ignore[attr-defined]
    before = ms.get_context("mode")
    ms.set_context(mode=ms.GRAPH_MODE)
    yield
    ms.set_context(mode=before)


@pytest.mark.sampled(5)
@pytest.mark.parametrize("part", range(5))
def test_recorded_expressions(part: int) -> None:
    chosen = dict(list(RECORDED.items())[part::5])
    assert {each: make.value(ms, each) for each in chosen} == chosen


def rest(share: float) -> float:
    return 1 - share


class Net(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.momentum = FACTOR

    def left(self) -> float:
        return 1 - self.momentum

    def construct(self, x: Tensor, given: float = FACTOR) -> Any:
        total = 0.0
        for _ in range(10):
            total += 0.1
        listed = [1 - each for each in (FACTOR, 0.9)]
        wide = x.astype(ms.float64) * 0.1
        return x * (1 - self.momentum), x * self.left(), x * rest(given), x * (1 - total), x * listed[0], wide


#: 1 - 0.999 as a graph computes it (measured), not 0.001
REST = 0.0009999871253967285


def test_wherever_a_float_is_computed() -> None:
    *small, wide = Net()(Tensor([1.0], ms.float32))
    assert [each.asnumpy().item() for each in small] == [REST, REST, REST, -1.1920928955078125e-07, REST]
    assert wide.asnumpy().item() == 0.10000000149011612


def test_in_compiled_functions_of_both_modes_and_not_outside() -> None:
    def net(x: Tensor, share: float) -> Any:
        return x * (1 - share)

    for mode in (ms.GRAPH_MODE, ms.PYNATIVE_MODE):
        ms.set_context(mode=mode)
        x = Tensor([1.0], ms.float32)
        assert ms.jit(net)(x, FACTOR).asnumpy().item() == REST
        assert net(x, FACTOR).asnumpy().item() == np.float32(1 - FACTOR)


def test_what_is_no_number_is_left_alone() -> None:
    def net(x: Any) -> Any:
        joined = [1.5, 2.5]
        joined += [x.shape[0] / 2]
        text = "a" + "b"
        return ops.mul(x, joined[2]), joined[1], text

    out = ms.jit(net)(Tensor([1.0, 2.0], ms.float32))
    assert (out[0].asnumpy().tolist(), *out[1:]) == ([1.0, 2.0], 2.5, "ab")


FLOATS = st.floats(-1e3, 1e3, width=32)


@given(FLOATS, FLOATS, st.sampled_from(["+", "-", "*"]))
def test_arithmetic_is_that_of_float32(one: float, other: float, sign: str) -> None:
    computed = {"+": np.add, "-": np.subtract, "*": np.multiply}[sign](np.float32(one), np.float32(other))
    assert arithmetic(sign, one, other) == computed
    assert arithmetic(f"{sign}=", one, other) == computed


@given(st.integers(-50, 50), st.integers(-50, 50).filter(bool))
def test_ints_stay_ints(one: int, other: int) -> None:
    for sign, expected in {
        "+": one + other,
        "-": one - other,
        "*": one * other,
        "//": one // other,
        "%": one % other,
    }.items():
        found = arithmetic(sign, one, other)
        assert (type(found), found) == (int, expected)
    assert arithmetic("/", one, other) == np.float32(one / other)
    assert arithmetic("**", 2, -abs(other)) == 0
