"""Tracing: nodes in their scopes, reads of parameters and their states, constants, arguments."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from harness import Tensor, dtypes, mutable, nn, ops
from harness.errors import TraceError
from harness.framework.compile.regions import Region
from harness.framework.compile.scopes import cell_scope, scope, tracer
from harness.framework.compile.simplify import constant_key
from harness.framework.compile.trace import Tracer
from harness.framework.tensor import Parameter as ParameterTensor
from harness.framework.tensor import call, graph_function, using
from harness.graph import Const, Node, OpaqueSpec, Parameter, TensorSpec, TupleSpec, U
from tests.framework.compile.build import Net, compiled, constants, floats, graph_of, kernels, only


@pytest.fixture
def active() -> Tracer:
    """A tracer of its own; ``using`` puts it in force."""
    return Tracer()


def weight(name: str = "w") -> ParameterTensor:
    return ParameterTensor(Tensor(np.ones((2, 3), np.float32)), name=name)


def test_no_tracer_outside_of_a_graph() -> None:
    assert tracer() is None


def test_scopes_nest_and_end(active: Tracer) -> None:
    with using(active):
        with scope("Default/a"):
            with scope(None):
                assert active.scope == "Default/a"
            with scope("Default/b"):
                assert active.scope == "Default/b"
            assert active.scope == "Default/a"
        with pytest.raises(ValueError, match="out"), scope("Default/c"):
            raise ValueError("out")
    assert active.scope == "Default"


def test_a_scope_outside_of_a_graph_is_nothing() -> None:
    with scope("Default/a"), cell_scope(nn.ReLU()):
        assert tracer() is None


def test_cells_give_their_scope_and_their_dump_mark() -> None:
    class Two(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.first = nn.ReLU()
            self.second = nn.ReLU()
            self.second.__dict__["_dump"] = True

        def construct(self, x: Any) -> Any:
            return ops.exp(self.second(self.first(x)))

    with compiled() as graphs:
        Two()(floats(2, 3))
    nodes = graphs[0].execution_order
    assert [node.scope for node in nodes] == ["Default/first-ReLU", "Default/second-ReLU", "Default"]
    assert [node.attrs.get("dump") for node in nodes] == [None, "true", None]


def test_an_explicit_scope_wins() -> None:
    graph = graph_of(lambda net, x: call("ReLU", x, scope="Expand/_Some"), floats(2, 3))
    assert [node.scope for node in graph.execution_order] == ["Expand/_Some"]


def test_a_graph_function_keeps_the_scope_of_its_first_call() -> None:
    twice = graph_function("twice", lambda x: call("ReLU", x))
    other = graph_function("other", lambda x: call("ReLU", x))

    class Part(nn.Cell):
        def construct(self, x: Any) -> Any:
            return twice(x) + 0.5

    class Whole(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.a = Part()
            self.b = Part()

        def construct(self, x: Any) -> Any:
            return other(self.b(self.a(x)))

    with compiled() as graphs:
        Whole()(floats(2, 3))
    scopes = [node.scope for node in graphs[0].execution_order if node.op == "ReLU"]
    assert scopes == ["Default/a-Part", "Default/a-Part", "Default"]


def test_function_scopes_begin_anew_in_every_graph() -> None:
    relu = graph_function("relu of this test", lambda x: call("ReLU", x))

    class Part(nn.Cell):
        def construct(self, x: Any) -> Any:
            return relu(x)

    class Whole(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.a = Part()

        def construct(self, x: Any) -> Any:
            return self.a(x) * 2

    with compiled() as graphs:
        Whole()(floats(2, 3))
        Part()(floats(2, 3))
    assert only(graphs[0], "ReLU").scope == "Default/a-Part"
    assert only(graphs[1], "ReLU").scope == "Default"


def test_reads_of_a_parameter_are_one_node_until_it_is_updated(active: Tracer) -> None:
    w = weight()
    with using(active):
        first, again = active.load(w), active.load(w)
        assert first is again
        assert first.inputs == [active.params[id(w)], U]
        call("Assign", w, Tensor(np.zeros((2, 3), np.float32)))
        after = active.load(w)
    assert after is not first
    assert isinstance(after.inputs[1], Node)
    assert after.inputs[1].op == "UpdateState"


def test_an_update_follows_the_reads_before_it(active: Tracer) -> None:
    w, v = weight("w"), weight("v")
    with using(active):
        loads = [active.load(w), active.load(v)]
        call("Assign", v, Tensor(np.zeros((2, 3), np.float32)))
    (assign,) = active.created
    state = assign.inputs[-1]
    assert isinstance(state, Node)
    assert state.op == "UpdateState"
    gathered = state.inputs[1]
    assert isinstance(gathered, Node)
    assert gathered.op == "MakeTuple"
    assert {id(i) for i in gathered.inputs} == {id(load) for load in loads}
    assert active.params[id(v)].is_inplace
    assert not active.params[id(w)].is_inplace
    assert isinstance(active.states.state, Node)
    assert active.states.state.inputs == [state, assign]


def test_an_update_takes_the_parameter_itself(active: Tracer) -> None:
    w = weight()
    with using(active):
        call("Assign", w, w)
    (assign,) = active.created
    assert assign.inputs[:2] == [active.params[id(w)]] * 2


def test_printing_has_a_state_of_its_own(active: Tracer) -> None:
    with using(active):
        call("Print", "value", Tensor(np.zeros(2, np.float32)))
        call("Print", "again", Tensor(np.zeros(2, np.float32)))
    first, second = active.created
    assert isinstance(active.states.io_state, Node)
    assert active.states.io_state.inputs[1] is second
    before = second.inputs[-1]
    assert isinstance(before, Node)
    assert before.inputs[1] is first
    assert active.states.state is U


def test_a_tensor_has_one_constant_that_lies_in_its_memory_and_equal_ones_are_told_by_value(active: Tracer) -> None:
    array = np.array([1.0, -0.0], np.float32)
    tensor = Tensor(array)
    with using(active):
        first = active.operand(tensor)
        assert active.operand(tensor) is first
        equal = active.operand(Tensor(array.copy()))
        assert equal is not first
        assert constant_key(equal) == constant_key(first)
        others = [np.array([1.0, 0.0], np.float32), array.reshape(1, 2), array.view(np.int32)]
        assert all(constant_key(active.operand(Tensor(other))) != constant_key(first) for other in others)
        halves = [active.operand(Tensor(array, dtype)) for dtype in (dtypes.bfloat16, dtypes.float16)]
        assert constant_key(halves[0]) != constant_key(halves[1])
    assert isinstance(first, Const)
    array[0] = 5
    assert first.value.tolist() == [1.0, 0.0]
    tensor.asnumpy()[0] = 5
    assert first.value.tolist() == [5.0, 0.0]


def test_a_constant_that_is_changed_in_place_equals_no_other(active: Tracer) -> None:
    tensor = Tensor(np.ones(2, np.float32))
    with using(active):
        equal = active.operand(Tensor(np.ones(2, np.float32)))
        _ = tensor.add_(1)
        changed = active.operand(tensor)
    assert isinstance(changed, Const)
    assert changed.memory is tensor.asnumpy()
    assert constant_key(changed) != constant_key(equal)


@pytest.mark.parametrize("value", [None, True, 3, 2.5, "text", (1, 2), [1, 2], dtypes.float16])
def test_plain_values_are_constants(active: Tracer, value: Any) -> None:
    operand = active.operand(value)
    assert isinstance(operand, Const)
    assert operand.value == (tuple(value) if isinstance(value, list) else value)


def test_a_tuple_with_tensors_is_made_of_its_members(active: Tracer) -> None:
    with using(active):
        operand = active.operand((Tensor(np.zeros(2, np.float32)), (1, Tensor(np.zeros(3, np.float32)))))
    assert isinstance(operand, Node)
    assert operand.op == "MakeTuple"
    assert isinstance(operand.inputs[1], Node)
    assert operand.inputs[1].op == "MakeTuple"
    assert isinstance(operand.spec, TupleSpec)
    assert operand.spec.items[0] == TensorSpec(dtypes.float32, (2,))


def test_tensors_in_a_tuple_are_flat_arguments() -> None:
    graph = graph_of(lambda net, x, y: ops.concat((x, y, x), 1), floats(2, 3), floats(2, 1))
    concat = only(graph, "Concat")
    assert [type(i) for i in concat.inputs] == [Parameter, Parameter, Parameter, Const]
    assert concat.extra.layout == (3, None)


def test_numbers_beside_tensors_become_tensors() -> None:
    node = only(graph_of(lambda net, x: x + 2, floats(2, 3)), "Add")
    value = node.inputs[1]
    assert isinstance(value, Const)
    assert value.spec == TensorSpec(dtypes.float32, ())


def test_dtypes_are_brought_together_by_casts() -> None:
    graph = graph_of(lambda net, x, y: x + y, floats(2, 3), Tensor(np.ones((2, 3), np.int32)))
    assert kernels(graph) == ["Cast", "Add"]
    assert only(graph, "Cast").spec == TensorSpec(dtypes.float32, (2, 3))


def test_several_results_are_items() -> None:
    graph = graph_of(lambda net, x: ops.split(x, 1, 1)[1] * 2, floats(2, 3))
    item = only(graph, "TupleGetItem")
    assert constants(item) == [1]
    assert not item.kernel


def test_a_dtype_is_no_argument_of_a_finished_graph() -> None:
    cast = only(graph_of(lambda net, x: ops.cast(x, dtypes.int32), floats(2, 3)), "Cast")
    assert len(cast.inputs) == 1
    assert cast.extra.layout == (None, (dtypes.int32,))
    assert all(i.spec != OpaqueSpec("Type") for i in cast.inputs)


def test_names_of_data_inputs() -> None:
    class Named(nn.Cell):
        def construct(self, x: Any, pair: Any, *more: Any) -> Any:
            return x + pair[0] + pair[1] + more[0] + more[1]

    with compiled() as graphs:
        Named()(floats(2), mutable((floats(2), floats(2))), floats(2), floats(2))
    assert {p.name for p in graphs[0].parameters} == {"x", "pair_0", "pair_1", "more0", "more1"}


def test_branches_of_unequal_results_are_refused() -> None:
    expected = r"different results, at .*test_trace\.py.*equal shapes and dtypes"
    with compiled(), pytest.raises(TraceError, match=expected):
        Net(lambda net, x: ops.cond(x.sum() > 0, lambda x: x, lambda x: x.sum(0), x))(floats(2, 3))


def test_a_loop_that_changes_its_state_is_refused() -> None:
    with compiled(), pytest.raises(TraceError, match=r"changes its state .* at .*test_trace\.py"):
        Net(lambda net, x: ops.while_loop(lambda x: x.sum() > 0, lambda x: x.sum(0), x))(floats(2, 3))


def test_every_node_belongs_to_its_region(active: Tracer) -> None:
    with using(active):
        call("ReLU", Tensor(np.zeros(2, np.float32)))
    assert isinstance(active.region, Region)
    assert active.created[0].extra.region is active.region
    assert active.created[0].extra.functional is True
