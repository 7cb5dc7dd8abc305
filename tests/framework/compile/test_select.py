"""The casts that a device's kernels need: of inputs, of results, and of what is returned."""

from __future__ import annotations

from typing import Any

import numpy as np

from harness import Tensor, dtypes, ops
from harness.devices import Kernels
from harness.framework.compile.order import Numbering
from harness.framework.compile.program import CPU_KERNELS, compile_function
from harness.graph import Graph, Node, TensorSpec, TupleSpec
from tests.framework.compile.build import Net, compiled, floats, graph_of, kernels, only

HALF = Tensor((np.arange(6).reshape(2, 3) / 3).astype(np.float16))


def half_graph(function: Any, kernels: Kernels) -> Graph:
    return compile_function(function, [HALF], ["x"], 0, Numbering(), kernels=kernels).graph


def dtype_of(node: Node) -> str:
    assert isinstance(node.spec, TensorSpec)
    return node.spec.dtype.name


def test_a_widened_operator_is_cast_before_and_after() -> None:
    graph = half_graph(lambda x: ops.exp(x) * x, Kernels(frozenset({"Exp"})))
    assert kernels(graph) == ["Cast", "Exp", "Cast", "Mul"]
    assert [dtype_of(node) for node in graph.nodes if node.kernel] == ["Float32", "Float32", "Float16", "Float16"]


def test_a_widened_operator_keeps_its_wish() -> None:
    exp = only(half_graph(lambda x: ops.exp(x) * x, Kernels(frozenset({"Exp"}))), "Exp")
    assert exp.extra.abstract == TensorSpec(dtypes.float16, (2, 3))


def test_widened_operators_in_a_row_still_go_through_float16() -> None:
    graph = half_graph(lambda x: ops.sqrt(ops.exp(x)), Kernels(frozenset({"Exp", "Sqrt"})))
    assert [dtype_of(n) for n in graph.nodes if n.kernel] == ["Float32", "Float32", "Float32", "Float16"]
    assert kernels(graph) == ["Cast", "Exp", "Sqrt", "Cast"]


def test_a_device_with_every_kernel_needs_no_cast() -> None:
    assert kernels(half_graph(lambda x: ops.exp(x) * x, Kernels())) == ["Exp", "Mul"]


def test_inserted_casts_stand_with_their_user() -> None:
    class Part(Net):
        """Its own scope."""

    with compiled() as graphs:
        net = Net(lambda net, x: net.part(x) * x)
        net.part = Part(lambda net, x: x.sum(0))
        net(HALF)
    assert "ReduceSum" in CPU_KERNELS.widened
    scopes = [node.scope for node in graphs[0].nodes if node.op == "Cast"]
    assert scopes == ["Expand/_SumExt", "Default"]


def test_members_of_a_tuple_are_given_back_as_they_are() -> None:
    graph = half_graph(lambda x: (ops.exp(x), x), Kernels(frozenset({"Exp"})))
    assert kernels(graph) == ["Cast", "Exp"]
    inner = graph.nodes[-2]
    assert isinstance(inner.spec, TupleSpec)
    assert [s.dtype.name for s in inner.spec.items if isinstance(s, TensorSpec)] == ["Float32", "Float16"]


def test_results_have_the_dtype_asked_for() -> None:
    with compiled():
        alone = Net(lambda net, x: ops.exp(x))(HALF)
        first, second = Net(lambda net, x: (ops.exp(x), (ops.exp(x), x)))(HALF)
    assert [t.dtype for t in (alone, first, *second)] == [dtypes.float16] * 4
    np.testing.assert_array_equal(alone.asnumpy(), first.asnumpy())
    expected = np.exp(HALF.asnumpy().astype(np.float64)).astype(np.float32).astype(np.float16)
    np.testing.assert_array_equal(alone.asnumpy(), expected)


def test_narrowed_arguments_are_cast_to_int32() -> None:
    indices = Tensor(np.array([1, 0], np.int64))
    kept = compile_function(
        lambda x: ops.gather(x, indices, 0), [floats(2, 3)], ["x"], 0, Numbering(),
        kernels=Kernels(frozenset(), frozenset({("Gather", 1)})),
    ).graph  # fmt: skip
    assert kernels(kept) == ["Cast", "Gather"]
    assert dtype_of(only(kept, "Cast")) == "Int32"


def test_casts_of_an_expansion_show_the_number_of_their_dtype() -> None:
    whole = Tensor(np.arange(6, dtype=np.int32).reshape(2, 3))
    graph = graph_of(lambda net, x: (x * 2.5, ops.cast(x, dtypes.float32)), whole)
    casts = {node.scope: node for node in graph.nodes if node.op == "Cast"}
    assert [getattr(i, "value", None) for i in casts["Expand/_Muls"].inputs[1:]] == [np.array(43)]
    assert len(casts["Default"].inputs) == 1


def test_float64_without_a_kernel_runs_in_float32() -> None:
    function, given = (lambda x: ops.log_softmax(x, -1) * x), [Tensor(np.arange(6.0).reshape(2, 3))]
    graph = compile_function(function, given, ["x"], 0, Numbering(), kernels=CPU_KERNELS).graph
    assert kernels(graph) == ["Cast", "LogSoftmax", "Cast", "Mul"]
    assert [dtype_of(node) for node in graph.nodes if node.kernel] == ["Float32", "Float32", "Float64", "Float64"]
