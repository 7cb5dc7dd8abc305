"""Chains of elementwise kernels become one kernel with the same results."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

from harness import int32, ops
from harness.devices import DEVICES
from harness.framework.compile.fuse import POSTFIX, PREFIX, Fusion
from harness.framework.runtime import session
from harness.framework.tensor import Tensor
from harness.graph import Graph, Node, ir
from harness.graph.ir_parse import parse
from tests.framework.compile.build import Graphs, Net, graph_mode

X = np.linspace(-2, 2, 6, dtype=np.float32).reshape(2, 3)


@contextmanager
def on(device: str) -> Iterator[list[Graph]]:
    """A session in graph mode on a device; gives its graphs."""
    watcher = Graphs()
    process = session.Session([watcher], hooked=False, device=DEVICES.get(device))
    with graph_mode(), session.in_session(process):
        yield watcher.found


def kernels(function: Callable[..., Any], *inputs: Any, device: str = "ascend-o1") -> list[Node]:
    """The kernels that a cell with ``function`` runs, in order."""
    with on(device) as graphs:
        Net(function)(*map(Tensor, inputs))
    return [node for graph in graphs for node in graph.execution_order]


def result(function: Callable[..., Any], *inputs: Any, device: str) -> Any:
    with on(device):
        return Net(function)(*map(Tensor, inputs)).asnumpy()


def test_a_chain_is_one_kernel_named_after_its_members() -> None:
    (node,) = kernels(lambda net, x: ops.exp(x * net.w) + x, X)
    assert node.op == f"{PREFIX}_Mul_Exp_Add_{POSTFIX}"
    assert node.name == f"Default/{node.op}-op0"
    fusion = node.extra.fusion
    assert isinstance(fusion, Fusion)
    assert [member.name for member in fusion.members] == ["Default/Mul-op0", "Default/Exp-op0", "Default/Add-op0"]
    assert node.extra.alone == "Default/Add-op0"
    assert len(node.inputs) == 2  # x, which two members read, counts once


def test_what_two_kernels_use_is_left() -> None:
    """Its result must exist: it is the input of two kernels that are not fused with one another."""
    nodes = kernels(lambda net, x: (ops.exp(x * 2) @ net.w.T, ops.exp(x * 2) + 1), X)
    assert {node.op for node in nodes} >= {"GraphKernel_Mul_Exp_fusion", "MatMul", "Add"}
    assert sum("Exp" in node.op for node in nodes) == 1


def test_a_diamond_is_one_kernel() -> None:
    """A result that only members of one fusion use exists nowhere, however many of them use it."""
    (node,) = kernels(lambda net, x: ops.exp(x * 2) - ops.tanh(x * 2), X)
    assert sorted(member.op for member in node.extra.fusion.members) == ["Exp", "Mul", "Sub", "Tanh"]


def test_other_kernels_end_a_chain() -> None:
    nodes = kernels(lambda net, x: ops.relu(ops.ReduceSum()(ops.exp(x + 1), 0) * 2), X)
    assert [node.op for node in nodes] == ["GraphKernel_Add_Exp_fusion", "ReduceSum", "GraphKernel_Mul_ReLU_fusion"]


def test_a_result_of_the_graph_stays() -> None:
    def both(net: Net, x: Any) -> Any:
        y = ops.exp(x)
        return y, y + 1

    assert [node.op for node in kernels(both, X)] == ["Exp", "Add"]


def test_updates_of_parameters_are_not_fused() -> None:
    def update(net: Net, x: Any) -> Any:
        ops.assign(net.w, x * 2 + 1)
        return net.w * 3 + x

    nodes = kernels(update, X)
    assert [node.op for node in nodes if node.op != "TensorMove"] == [
        "GraphKernel_Mul_Add_fusion",
        "Assign",
        "GraphKernel_Mul_Add_fusion",
    ]
    assert np.array_equal(result(update, X, device="ascend-o1"), (X * 2 + 1) * 3 + X)


def test_names_of_what_is_left_count_anew_and_tell_what_they_would_be() -> None:
    """Files are numbered by the printed graph, as on every device; ``alone`` is the name without fusion."""

    def two(net: Net, x: Any) -> Any:
        return ops.ReduceSum()(ops.exp(x * x), 0) * x @ net.w.T

    fused, alone = kernels(two, X), kernels(two, X, device="ascend-o0")
    left = next(node for node in fused if node.op == "Mul")
    assert (left.name, left.extra.alone) == ("Default/Mul-op0", "Default/Mul-op1")
    assert {node.extra.alone for node in fused} < {node.name for node in alone}


@pytest.mark.parametrize("device", ["cpu", "gpu", "ascend-o0"])
def test_other_devices_fuse_nothing(device: str) -> None:
    nodes = kernels(lambda net, x: ops.exp(x * net.w) + x, X, device=device)
    assert [node.op for node in nodes] == ["Mul", "Exp", "Add"]
    assert all(node.extra.alone is None for node in nodes)


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_fused_and_alone_give_the_same_bits(dtype: type) -> None:
    """Each member rounds as if it were a kernel of its own."""

    def long(net: Net, x: Any) -> Any:
        y = ops.sigmoid(x * 3) / (ops.exp(x) + 1)
        return ops.select(x > 0, ops.tanh(y), y * x).astype(x.dtype) + ops.cast(ops.cast(y, int32), x.dtype)

    x = X.astype(dtype)
    fused, alone = (result(long, x, device=device) for device in ("ascend-o1", "ascend-o0"))
    assert len(kernels(long, x)) < len(kernels(long, x, device="ascend-o0"))
    assert fused.dtype == alone.dtype == dtype
    assert fused.tobytes() == alone.tobytes()


def test_saturation_holds_inside_a_fusion(monkeypatch: pytest.MonkeyPatch) -> None:
    """Infinity minus infinity is 0 in saturation mode, whether or not the infinities leave the kernel."""
    monkeypatch.setenv("MS_ASCEND_CHECK_OVERFLOW_MODE", "SATURATION_MODE")
    huge = np.full((2,), 3e38, np.float32)
    fused, alone = (result(lambda net, x: x * 4 - x * 5, huge, device=d) for d in ("ascend-o1", "ascend-o0"))
    assert fused.tolist() == alone.tolist() == [0.0, 0.0]


def test_the_graph_s_text_can_be_read() -> None:
    with on("ascend-o1") as graphs:
        Net(lambda net, x: ops.exp(x * net.w) + x)(Tensor(X))
    text = ir.write(graphs[0])
    assert [node.op for node in parse(text, "test").nodes if node.op.endswith(POSTFIX)] == [
        f"{PREFIX}_Mul_Exp_Add_{POSTFIX}"
    ]


def test_shapes_known_only_at_run_time() -> None:
    with on("ascend-o1") as graphs:
        net = Net(lambda net, x: ops.exp(x * 2) + 1)
        net.set_inputs(Tensor(shape=[None, 3], dtype=Tensor(X).dtype))
        outputs = [net(Tensor(np.repeat(X, count, 0))).asnumpy() for count in (1, 3)]
    assert len(graphs) == 1
    assert [node.op for node in graphs[0].execution_order] == ["GraphKernel_Mul_Exp_Add_fusion"]
    assert [output.shape for output in outputs] == [(2, 3), (6, 3)]
    assert np.array_equal(outputs[1], np.repeat(outputs[0], 3, 0))


def test_loops_and_branches() -> None:
    def run(net: Net, x: Any) -> Any:
        x = ops.while_loop(lambda s: ops.ReduceSum()(ops.abs(s)) > 2, lambda s: s * 0.5 + 0.001, x)
        return ops.cond(x[0, 0] > 0, lambda v: v * 2 + 1, lambda v: (v - 3) * 2, x)

    fused, alone = (result(run, X, device=device) for device in ("ascend-o1", "ascend-o0"))
    assert fused.tobytes() == alone.tobytes()
    assert any(node.extra.fusion is not None for node in kernels(run, X))
