"""Windows, slices, paddings and indices of every kind: PyTorch's kernels beside the harness's own."""

from __future__ import annotations

import importlib.util
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness import Tensor, ops
from harness.errors import HarnessError
from harness.framework.compile.api import value_and_grad_traced
from harness.framework.tensor import call
from tests.framework.compile.build import graph_mode

if importlib.util.find_spec("torch") is None:
    pytest.skip("PyTorch is needed: pip install 'pytest-msdump[torch]'", allow_module_level=True)

from tests.framework.engines.torch.beside import Beside, beside

SMALL = st.integers(1, 3)
SIDE = st.integers(3, 9)


def tensor(*shape: int, seed: int = 1) -> Tensor:
    """Float32 values in (-1, 1), of which many repeat."""
    whole = np.random.Generator(np.random.PCG64(seed)).integers(-8, 8, shape)
    return Tensor((whole / 8).astype(np.float32))


def agree(function: Any, *inputs: Tensor) -> None:
    """The function's operators and those of its gradient agree; what it refuses is no matter."""
    with beside() as found, graph_mode():
        try:
            out = with_gradient(function, inputs)
        except HarnessError:
            return
        assert out is not None
    _holds(found)


def with_gradient(function: Any, inputs: tuple[Tensor, ...]) -> Any:
    """Runs the function and its gradient as a graph."""
    from harness.framework.runtime.session import fresh

    def both(*args: Any) -> Any:
        out, slopes, _ = value_and_grad_traced(function, args, range(len(args)))
        return out, slopes

    with fresh(hooked=False) as session:
        return session.run_function(both, list(inputs), {})


def called(name: str, *arguments: Any, **attrs: Any) -> None:
    """An operator agrees; what it refuses is no matter."""
    with beside() as found:
        try:
            call(name, *arguments, **attrs)
        except HarnessError:
            return
    _holds(found)


def _holds(found: Beside) -> None:
    assert found.met
    assert not found.faults, "\n".join(found.faults)


@settings(max_examples=40, derandomize=True)
@given(SIDE, SIDE, SMALL, SMALL, SMALL, st.integers(1, 2), st.sampled_from(["valid", "same", "pad"]), st.integers(0, 2))
def test_convolutions(
    height: int, width: int, k: int, stride: int, dilation: int, groups: int, mode: str, pad: int
) -> None:
    padding = (pad, 0, 1, pad) if mode == "pad" else 0
    x, w = tensor(2, 2, height, width), tensor(4, 2 // groups, k, k, seed=2)
    convolution = ops.Conv2D(4, k, 1, mode, padding, stride, dilation, groups)
    agree(lambda x, w: convolution(x, w), x, w)


@settings(max_examples=30, derandomize=True)
@given(SIDE, SIDE, SMALL, SMALL, st.integers(1, 4), st.sampled_from(["valid", "same"]))
def test_pools(height: int, width: int, kernel: int, other: int, stride: int, mode: str) -> None:
    x = tensor(2, 2, height, width)
    agree(lambda x: ops.MaxPool((kernel, other), stride, mode)(x), x)
    agree(lambda x: ops.AvgPool((kernel, other), stride, mode)(x), x)


@settings(max_examples=20, derandomize=True)
@given(SIDE, SIDE, SMALL, SMALL, st.integers(0, 1), st.integers(1, 2))
def test_pools_that_give_places(h: int, w: int, kernel: int, stride: int, pad: int, dilation: int) -> None:
    x = tensor(2, 2, h, w)
    agree(lambda x: ops.max_pool2d(x, kernel, stride, pad, dilation, True)[0], x)
    agree(lambda x: ops.adaptive_avg_pool2d(x, (kernel, stride)), x)


@settings(max_examples=40, derandomize=True)
@given(
    st.lists(st.tuples(st.integers(-5, 5), st.integers(-6, 6), st.sampled_from([-2, -1, 1, 2])), min_size=1, max_size=3)
)
def test_slices(parts: list[tuple[int, int, int]]) -> None:
    x = tensor(4, 5, 3)
    begin, end, step = (tuple(column) for column in zip(*parts, strict=True))
    for masks in ((0, 0, 0, 0, 0), (1, 2, 0, 0, 0), (0, 0, 1, 0, 2), (2, 1, 0, 1, 4)):
        agree(lambda x, masks=masks: call("StridedSlice", x, begin, end, step, *masks), x)


def test_gradients_of_slices() -> None:
    x = tensor(4, 5, 3)
    for index in (np.s_[1:3], np.s_[..., ::2], np.s_[0], np.s_[:, -1], np.s_[1:, None, 2], np.s_[::1, 4:1:1]):
        agree(lambda x, index=index: x[index] * 2, x)


@settings(max_examples=30, derandomize=True)
@given(
    st.lists(st.integers(-1, 2), min_size=2, max_size=4), st.sampled_from(["constant", "reflect", "edge", "circular"])
)
def test_paddings(flat: list[int], mode: str) -> None:
    x = tensor(3, 4, 5)
    agree(lambda x: ops.PadV3(mode)(x, tuple(flat[: len(flat) // 2 * 2]), 1.5 if mode == "constant" else None) * 2, x)


@settings(max_examples=30, derandomize=True)
@given(st.lists(st.integers(-4, 3), min_size=1, max_size=6), st.integers(-2, 1), st.integers(0, 1))
def test_indices_that_repeat(chosen: list[int], axis: int, how: int) -> None:
    x, index = tensor(4, 4), Tensor(np.array(chosen, np.int32))
    agree(lambda x: ops.gather(x, index, axis) * 2, x)
    rows = Tensor(np.array([chosen] * 2, np.int32) if axis % 2 else np.array([chosen] * 2, np.int32).T)
    agree(lambda x: ops.gather_elements(x, axis, rows) * 2, x)
    updates = tensor(*rows.shape, seed=4)
    called("TensorScatterElements", x, rows, updates, axis, how)
    places = Tensor(np.abs(np.array(chosen, np.int32))[:, None] % 4)
    called("TensorScatterUpdate", x, places, tensor(len(chosen), 4, seed=5))
    called("ScatterNd", places, tensor(len(chosen), 4, seed=5), (4, 4))
    called("UnsortedSegmentSum", tensor(len(chosen), 2), index, 4)


@settings(max_examples=20, derandomize=True)
@given(st.integers(2, 4), st.integers(0, 3), st.integers(0, 3), st.booleans(), st.booleans())
def test_normalization(rank: int, norm: int, params: int, exclusive: bool, reverse: bool) -> None:
    shape = (3, 4, 5, 3)[:rank]
    x, norm, params = tensor(*shape), norm % rank, params % rank
    gamma, beta = tensor(*shape[params:], seed=6), tensor(*shape[params:], seed=7)
    agree(lambda x, g, b: ops.LayerNorm(norm, params, 1e-5)(x, g, b)[0], x, gamma, beta)
    called("CumSum", x, norm, exclusive, reverse)
    called("CumProd", x, norm, exclusive, reverse)
    for training in (True, False):
        scale, bias, mean = tensor(4, seed=8), tensor(4, seed=9), tensor(4, seed=10)
        called("BatchNorm", x, scale, bias, mean, Tensor(np.full(4, 0.5, np.float32)), training, 1e-5, 0.1, 0)


def test_one_element_has_no_unbiased_variance() -> None:
    scale, bias, mean = (tensor(2, seed=i) for i in range(3))
    called("BatchNorm", tensor(1, 2), scale, bias, mean, Tensor(np.full(2, 0.5, np.float32)), True, 1e-5, 0.1, 0)
