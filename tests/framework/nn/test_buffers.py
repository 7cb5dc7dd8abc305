"""Buffers of cells, and a cell's state as a dict."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from harness import Tensor, nn, ops
from harness.framework import context
from harness.framework.tensor import Parameter


class Part(nn.Cell):
    """A weight, a buffer, one that is not kept, and one without a value."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("mean", Tensor([1.0, 2.0]))
        self.register_buffer("none", None)
        self.register_buffer("passing", Tensor([3]), persistent=False)
        self.w = Parameter(Tensor([5.0, 6.0]), name="w")

    def construct(self, x: Any) -> Any:
        return x + self.mean * self.w


class Whole(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.a = Part()
        self.again = self.a
        self.register_buffer("top", Tensor(7))

    def construct(self, x: Any) -> Any:
        return self.a(x)


def test_buffers_are_found_by_their_paths_and_are_no_parameters() -> None:
    cell = Whole()
    assert [name for name, _ in cell.named_buffers("p")] == ["p.top", "p.a.mean", "p.a.passing"]
    assert [name for name, _ in cell.named_buffers(recurse=False)] == ["top"]
    assert len(list(cell.buffers())) == 3
    assert cell.get_buffer("a.mean") is cell.a.mean
    assert cell.get_sub_cell("a") is cell.a
    assert cell.get_sub_cell("") is cell
    assert [p.name for p in cell.get_parameters()] == ["again.w"]
    assert cell.a.none is None
    assert list(cell.state_dict(prefix="x.")) == ["x.top", "x.a.w", "x.a.mean", "x.again.w", "x.again.mean"]


@pytest.mark.parametrize(
    ("name", "tensor", "error"),
    [(3, Tensor(1), TypeError), ("a.b", Tensor(1), KeyError), ("", Tensor(1), KeyError), ("a", Tensor(1), KeyError),
     ("b", [1], TypeError)],
)  # fmt: skip
def test_what_is_no_buffer_is_refused(name: Any, tensor: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        Whole().register_buffer(name, tensor)


@pytest.mark.parametrize("path", ["a.w", "b.mean", "a.b"])
def test_a_path_to_no_buffer_is_refused(path: str) -> None:
    with pytest.raises(AttributeError):
        Whole().get_buffer(path)


def test_a_buffer_is_written_to_not_replaced() -> None:
    cell = Part()
    with pytest.raises(TypeError, match="mean is a buffer"):
        cell.mean = Tensor([0.0, 0.0])
    ops.assign_add(cell.mean, Tensor([1.0, 1.0]))
    cell.mean[1] = 9.0
    assert cell(Tensor([0.0, 0.0])).tolist() == [10.0, 54.0]
    cell.register_buffer("mean", Tensor([0.0, 1.0]))
    assert cell(Tensor([0.0, 0.0])).tolist() == [0.0, 6.0]
    cell.mean = None
    del cell.mean
    assert not hasattr(cell, "mean")


@pytest.fixture
def graphs() -> Iterator[None]:
    before = context.get_context("mode")
    context.set_context(mode=context.GRAPH_MODE)
    yield
    context.set_context(mode=before)


@pytest.mark.usefixtures("graphs")
@pytest.mark.parametrize("buffer", [True, False])
def test_a_graph_sees_what_is_written_to_a_tensor_that_it_holds(buffer: bool) -> None:
    cell = Part()
    if not buffer:
        del cell.mean
        cell.mean = Tensor([1.0, 2.0])
    assert cell(Tensor([0.0, 0.0])).tolist() == [5.0, 12.0]
    cell.mean[0] = 50.0
    assert cell(Tensor([0.0, 0.0])).tolist() == [250.0, 12.0]


def test_state_goes_from_one_cell_to_another() -> None:
    one, two = Whole(), Whole()
    one.a.mean[0] = 8.0
    one.a.w.set_data(Tensor([0.5, 0.5]))
    assert repr(two.load_state_dict(one.state_dict())) == "<All keys matched successfully>"
    np.testing.assert_array_equal(two.a.mean.asnumpy(), [8.0, 2.0])
    np.testing.assert_array_equal(two.a.w.asnumpy(), [0.5, 0.5])
    assert two.load_state_dict({"top": Tensor(1), "b": Tensor(1)}, strict=False) == (
        ["a.w", "a.mean", "again.w", "again.mean"], ["b"],
    )  # fmt: skip
    assert two.top.item() == 1
    with pytest.raises(RuntimeError, match="size mismatch for top"):
        two.load_state_dict({"top": Tensor([1, 2])}, strict=False)
    with pytest.raises(RuntimeError, match=r"missing: a\.w"):
        two.load_state_dict({"top": Tensor(1)})
    with pytest.raises(TypeError):
        two.load_state_dict(3)
