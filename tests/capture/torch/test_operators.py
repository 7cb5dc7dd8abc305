"""Inputs are captured as they were before, outputs as they are after, whatever the schema says."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from harness.capture.torch import TorchCapture  # noqa: E402
from harness.capture.torch.operators import Operator  # noqa: E402
from harness.dtypes import ARGUMENT_FORMAT  # noqa: E402

pytestmark = pytest.mark.interop


def slots(step: Callable[[], Any], operator: str, net: Any = None, mode: str = "tensor") -> dict[str, Any]:
    """The arrays of an operator that ran in ``step``, by slot."""
    watch = TorchCapture(net or torch.nn.Identity(), mode=mode)
    with watch.step():
        step()
    found = [r for r in watch.capture().records() if r.format != ARGUMENT_FORMAT]
    return {r.key.slot_name: r.load() for r in found if r.key.operator == f"Default/{operator}"}


def test_in_place() -> None:
    x = torch.arange(3.0)
    found = slots(lambda: x.mul_(2), "mul_-op0")
    np.testing.assert_array_equal(found["input.0"], [0, 1, 2])
    np.testing.assert_array_equal(found["output.0"], [0, 2, 4])


def test_in_place_on_a_view_is_seen_through_the_base() -> None:
    def step() -> None:
        x = torch.zeros(4)
        x.add(1)
        x[1:3].add_(5)
        x.add(1)

    np.testing.assert_array_equal(slots(step, "add-op0")["input.0"], [0, 0, 0, 0])
    np.testing.assert_array_equal(slots(step, "add-op1")["input.0"], [0, 5, 5, 0])


def test_lists_written_in_place() -> None:
    x, y = torch.ones(2), torch.ones(3)
    found = slots(lambda: torch._foreach_add_([x, y], 1), "_foreach_add_-op0")
    assert list(found) == ["input.0", "input.1", "output.0", "output.1"]
    np.testing.assert_array_equal(found["input.1"], [1, 1, 1])
    np.testing.assert_array_equal(found["output.1"], [2, 2, 2])


def test_what_is_only_written_is_no_input() -> None:
    x, out = torch.ones(2), torch.full((2,), 7.0)
    found = slots(lambda: torch.add(x, x, out=out), "add-op0")
    assert list(found) == ["input.0", "input.1", "output.0"]
    np.testing.assert_array_equal(found["output.0"], [2, 2])
    found = slots(lambda: torch.empty(2).copy_(x), "copy_-op0")
    assert list(found) == ["input.0", "output.0"]
    assert slots(lambda: torch.empty(3), "empty-op0") == {}


@pytest.mark.skipif(not torch.backends.mkldnn.is_available(), reason="no oneDNN, another operator")
def test_scratch_memory_is_neither_output_nor_input() -> None:
    net = torch.nn.LSTM(4, 3, batch_first=True)
    watch = TorchCapture(net)
    with watch.step():
        net(torch.ones(5, 3, 4))[0].sum().backward()
    records = [each for each in watch.capture().records() if each.format != ARGUMENT_FORMAT]
    found = [each for each in records if "mkldnn_rnn_layer" in each.key.operator]
    given = [each.key.slot_name for each in found if not each.key.operator.startswith("Gradients")]
    assert given[-3:] == ["output.0", "output.1", "output.2"]
    assert any(each.key.operator.startswith("Gradients") for each in found)
    assert {each.load().dtype for each in found} == {np.dtype(np.float32)}


@pytest.mark.parametrize(
    ("forward", "backward", "results"),
    [
        ("mkldnn_rnn_layer", "mkldnn_rnn_layer_backward", 4),
        ("_cudnn_rnn", "_cudnn_rnn_backward", 5),
        ("miopen_rnn", "miopen_rnn_backward", 5),
        ("cudnn_batch_norm", "cudnn_batch_norm_backward", 4),
        ("_batch_norm_with_update", "batch_norm_backward", 4),
    ],
)
def test_scratch_memory_of_each_library_is_left_out(forward: str, backward: str, results: int) -> None:
    function = getattr(torch.ops.aten, forward).default
    assert len(function._schema.returns) == results
    given = tuple(torch.full((1,), float(at)) for at in range(results))
    arguments = tuple(None for _ in function._schema.arguments)
    kept = Operator(function).outputs(given, arguments, {})
    assert [int(each) for each in kept] == [at for at in range(results) if at != 3]
    function = getattr(torch.ops.aten, backward).default
    read = tuple(torch.full((1,), float(at)) for at in range(len(function._schema.arguments)))
    (handed,) = set(map(float, read)) - {float(each) for each in Operator(function).inputs(read, {})}
    name = function._schema.arguments[int(handed)].name
    assert name == "workspace" or name.startswith("reserve")
    by_name = {argument.name: each for argument, each in zip(function._schema.arguments, read, strict=True)}
    assert len(Operator(function).inputs((), by_name)) == len(read) - 1


def test_running_statistics_are_outputs_of_batch_normalisation() -> None:
    net = torch.nn.BatchNorm1d(2)
    found = slots(lambda: torch.nn.functional.batch_norm(
        torch.tensor([[1.0, 2.0], [3.0, 8.0]]), net.running_mean, net.running_var, training=True, momentum=0.5
    ), "native_batch_norm-op0")  # fmt: skip
    before = [each for name, each in found.items() if name.startswith("input")]
    assert any(np.array_equal(each, [0, 0]) for each in before)
    assert any(np.array_equal(each, [1, 2.5]) for name, each in found.items() if name.startswith("output"))
    np.testing.assert_array_equal(net.running_mean, [1, 2.5])


@pytest.mark.parametrize(
    "tensor",
    [
        torch.tensor([True, False]), torch.tensor([1 + 2j]), torch.tensor([1 + 2j]).conj(), torch.tensor(3),
        torch.arange(6).view(2, 3).t(), torch.ones(1).expand(4), torch.arange(4.0, dtype=torch.float16)[::2],
        torch.zeros(2, 3, 4, 5).to(memory_format=torch.channels_last),
    ],
    ids=str,
)  # fmt: skip
@pytest.mark.parametrize("mode", ["tensor", "statistic"])
def test_dtypes_and_layouts(tensor: Any, mode: str) -> None:
    watch = TorchCapture(torch.nn.Identity(), mode=mode)
    with watch.step():
        tensor.clone()
    records = [r for r in watch.capture().records() if r.op_type == "clone" and r.format != ARGUMENT_FORMAT]
    assert len(records) == 2
    assert {r.shape for r in records} == {tuple(tensor.shape)}
    assert records[0].digest == records[1].digest
    if mode == "tensor":
        for record in records:
            array = record.load()
            assert array is not None
            assert array.flags.c_contiguous
            np.testing.assert_array_equal(array, tensor.resolve_conj().numpy())


@pytest.mark.parametrize("mode", ["tensor", "statistic"])
def test_operators_that_compute_shapes_alone_are_left_out(mode: str) -> None:
    watch = TorchCapture(torch.nn.Identity(), mode=mode)
    with watch.step() as returned:
        shape = torch.ones(2).to("meta") + 1
        torch.ones(0) + torch.ones(0)
        returned(shape)
    capture = watch.capture()
    assert {record.op_type for record in capture.records()} == {"ones", "Settings"}
    assert [problem[:3] for problem in capture.problems] == [
        ("Default/result output.0", "note", "it lies on device meta")
    ]


def test_an_operator_of_somebody_else() -> None:
    def fill(x: Any, y: Any) -> None:
        x.copy_(y)

    with torch.library._scoped_library("msdump_test", "FRAGMENT") as library:
        library.define("fill(Tensor(a!) x, Tensor y) -> ()")
        library.impl("fill", fill, "CompositeExplicitAutograd")
        x = torch.zeros(2)
        found = slots(lambda: torch.ops.msdump_test.fill(x, torch.ones(2)), "msdump_test.fill-op0")
    np.testing.assert_array_equal(found["input.0"], [0, 0])
    np.testing.assert_array_equal(found["output.0"], [1, 1])
