"""Sessions: isolation, recompilation, arguments, threads."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import harness
from harness import Tensor, dtypes, hooks, nn, ops
from harness.errors import HarnessError, SettingError, SettingTypeError
from harness.framework.compile.program import STAGES
from harness.framework.runtime import session
from harness.framework.runtime.session import bind
from harness.framework.tensor import Parameter, Symbol
from harness.graph import Graph
from harness.recording import Compilation, Observer, Stage
from harness.recording import Graph as RecordedGraph
from tests.framework.compile.build import Graphs, Net, compiled, floats, graph_mode

X = floats(2, 3)


def ids(graphs: list[Graph]) -> list[int]:
    return [graph.id for graph in graphs]


class Plain(nn.Cell):
    """One kernel, told apart in training."""

    def __init__(self) -> None:
        super().__init__()
        self.factor = 2

    def construct(self, x: Any, *more: Any) -> Any:
        return ops.exp(x) * (5 if self.training else 3) * self.factor


def test_every_session_begins_at_zero() -> None:
    net = Plain()
    for _ in range(2):
        with compiled() as graphs:
            net(X)
            assert ids(graphs) == [0]
            assert [n.number for n in graphs[0].execution_order if n.op == "Exp"] == [0]


def test_an_inner_session_leaves_the_outer_alone() -> None:
    with compiled() as outer:
        Plain()(X)
        with compiled() as inner:
            Plain()(X)
            Plain()(X)
        Plain()(X)
    assert ids(inner) == [0, 1]
    assert ids(outer) == [0, 1]


def test_a_session_can_be_left_and_entered_again() -> None:
    watch = Graphs()
    one = session.Session([watch], hooked=False)
    with graph_mode():
        for _ in range(2):
            with session.in_session(one):
                Plain()(X)
    assert ids(watch.found) == [0, 1]


def test_a_session_is_closed_at_its_end_even_after_an_error() -> None:
    closed: list[str] = []

    class Ends(Observer):
        def closed(self) -> None:
            closed.append("closed")

    with pytest.raises(ValueError, match="out"), session.fresh([Ends()], hooked=False):
        raise ValueError("out")
    assert closed == ["closed"]


def test_the_first_compile_is_hooked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    hooked: list[Any] = []
    monkeypatch.setattr(hooks, "first_compile", [hooked.append])
    with graph_mode():
        with session.fresh() as one:
            Plain()(X)
            Plain()(X)
        with session.fresh(hooked=False):
            Plain()(X)
    assert hooked == [one]


def test_a_hook_that_fails_is_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[Any] = []

    def fail(active: Any) -> None:
        calls.append(active)
        if len(calls) == 1:
            raise RuntimeError("bad configuration")

    monkeypatch.setattr(hooks, "first_compile", [fail])
    with graph_mode(), session.fresh():
        with pytest.raises(RuntimeError, match="bad configuration"):
            Plain()(X)
        Plain()(X)
        Plain()(X)
    assert len(calls) == 2


def steps(*changes: Callable[[Plain], Any]) -> list[int]:
    """How many graphs there are after a first call and after each change and another call."""
    net, counts = Plain(), []
    with compiled() as graphs:
        net(X)
        counts.append(len(graphs))
        for change in changes:
            args = change(net)
            net(*(args if isinstance(args, tuple) else (X,)))
            counts.append(len(graphs))
    return counts


def test_the_same_call_is_not_compiled_again() -> None:
    assert steps(lambda net: None, lambda net: (floats(2, 3, start=9.0),)) == [1, 1, 1]


@pytest.mark.parametrize(
    "args",
    [
        (floats(4, 3),), (floats(3, 2),), (floats(6),), (Tensor(np.ones((2, 3))),), (Parameter(X, name="p"),),
        (X, 1), (X, 1.0), (X, True), (X, None), (X, "text"), (X, (1, 2)), (X, X), (X, (X, X)), (X, np.ones(2)),
        (X, Tensor(np.ones(2), const_arg=True)),
    ],
    ids=[
        "length", "shape", "rank", "dtype", "parameter", "int", "float", "bool", "none", "text", "tuple", "tensor",
        "tensors", "array", "constant",
    ],
)  # fmt: skip
def test_another_signature_is_compiled_once(args: tuple[Any, ...]) -> None:
    assert steps(lambda net: args, lambda net: args, lambda net: (X,)) == [1, 2, 2, 2]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (1, 2), (1, 1.0), (1, True), ((1, 2), (1, 3)), ("a", "b"), (np.zeros(2), np.ones(2)),
        (np.zeros(2), np.zeros(2, np.float32)), (dtypes.float16, dtypes.float32),
        (Tensor(np.zeros(2), const_arg=True), Tensor(np.ones(2), const_arg=True)),
    ],
    ids=["ints", "int float", "int bool", "tuples", "texts", "arrays", "array dtypes", "dtypes", "constants"],
)  # fmt: skip
def test_constants_count_by_value(first: Any, second: Any) -> None:
    assert steps(lambda net: (X, first), lambda net: (X, second), lambda net: (X, first)) == [1, 2, 3, 3]


def test_a_list_is_compiled_at_every_call() -> None:
    values = [1, 2]
    assert steps(lambda net: (X, values), lambda net: (X, values), lambda net: (X, (1, [2]))) == [1, 2, 3, 4]


def test_a_changed_list_is_seen() -> None:
    class Uses(nn.Cell):
        def construct(self, x: Any, values: list[float]) -> Any:
            return x * values[0]

    values = [2.0]
    with compiled():
        net = Uses()
        first = net(X, values)
        values[0] = 3.0
        second = net(X, values)
    np.testing.assert_array_equal(second.asnumpy() * 2, first.asnumpy() * 3)


def test_programs_of_lists_are_not_kept() -> None:
    with graph_mode(), session.fresh(hooked=False) as active:
        net = Plain()
        for _ in range(3):
            net(X, [1])
        assert active.programs == {}


def test_the_phase_counts_and_nothing_else_of_a_cell() -> None:
    """As measured: a new cell is in the phase of training, whatever its layers do."""
    assert steps(
        lambda net: net.set_train() and None,
        lambda net: net.set_train(False) and None,
        lambda net: net.set_train() and None,
        lambda net: setattr(net, "factor", 7),
        lambda net: net.to_float(dtypes.float16) and None,
    ) == [1, 1, 2, 2, 2, 2]


def test_two_objects_are_two_programs() -> None:
    with compiled() as graphs:
        Plain()(X)
        Plain()(X)
    assert ids(graphs) == [0, 1]


def test_gradients_belong_to_their_function_object() -> None:
    def function(x: Any) -> Any:
        return ops.tanh(x).sum()

    with compiled() as graphs:
        for _ in range(2):
            harness.grad(function)(X)
        assert len(graphs) == 2
        kept = harness.value_and_grad(function)
        kept(X)
        kept(X)
        assert len(graphs) == 3
        operation = ops.GradOperation()
        operation(function)(X)
        operation(function)(X)
        assert len(graphs) == 4
        ops.GradOperation()(function)(X)
        assert len(graphs) == 5
        harness.jit(function)(X)
        harness.jit(function)(X)
        assert len(graphs) == 7


def declared(*shape: int | Symbol | None, dtype: Any = dtypes.float32) -> Tensor:
    return Tensor(shape=shape, dtype=dtype)


def test_one_program_serves_every_length_declared_dynamic() -> None:
    with compiled() as graphs:
        net = Net(lambda net, x: (ops.exp(x) * 2).sum(1))
        net.set_inputs(declared(None, 3))
        for rows in (2, 5, 1):
            out = net(floats(rows, 3))
            expected = (2 * np.exp(floats(rows, 3).asnumpy().astype(np.float64))).astype(np.float32)
            np.testing.assert_allclose(out.asnumpy(), expected.sum(1), rtol=1e-6)
    assert ids(graphs) == [0]


def test_a_network_that_asks_for_an_open_dimension_is_compiled_for_each_shape() -> None:
    with compiled() as graphs:
        net = Net(lambda net, x: (ops.relu(x).reshape(x.shape[0] * x.shape[1]) / x.shape[0], x.shape))
        net.set_inputs(declared(None, None))
        for rows in (2, 5, 2):
            out, shape = net(floats(rows, 3))
            np.testing.assert_allclose(out.asnumpy(), floats(rows, 3).asnumpy().clip(0).reshape(-1) / rows, rtol=1e-6)
            assert shape == (rows, 3)
    assert ids(graphs) == [0, 1]


def test_a_dimension_that_only_values_decide_is_known_where_it_is_asked_for() -> None:
    net = Net(lambda net, x: (x[x > 0] * ops.nonzero(x > 0).shape[0], len(ops.unique(x)[0])))
    with compiled():
        for values, found in (([1.0, -2.0, 3.0], ([2.0, 6.0], 3)), ([4.0, 4.0, 4.0], ([12.0, 12.0, 12.0], 1))):
            out, count = net(Tensor(values, dtypes.float32))
            assert (out.asnumpy().tolist(), count) == found


@pytest.mark.parametrize(
    ("symbol", "sizes", "text"),
    [
        ({"max": 3}, (4, 4), "axis 0 is at most 3"),
        ({"min": 5}, (4, 4), "axis 0 is at least 5"),
        ({"divisor": 3, "remainder": 1}, (7, 5), "input 1: .* axis 0 is a multiple of 3 plus 1"),
        ({"divisor": 3, "remainder": 1}, (1, 4), "input 0: .* axis 0 is a multiple of 3 plus 1"),
        ({"unique": True}, (4, 5), "input 1: .* axis 0 is 4, as"),
    ],
)
def test_shapes_that_a_symbol_excludes_are_refused(symbol: dict[str, Any], sizes: tuple[int, int], text: str) -> None:
    net = Net(lambda net, x, y: x.sum() + y.sum())
    given = Symbol(**symbol)
    assert declared(given, 3).shape == (-1, 3)
    assert declared(given, 3).symbolic_shape == [given.to_dict(), 3]
    net.set_inputs(declared(given, 3), declared(given, 3))
    with compiled() as graphs, pytest.raises(SettingError, match=text):
        net(*(floats(size, 3) for size in sizes))
    assert graphs == []


def test_what_a_symbol_says() -> None:
    said = {
        (): {}, (8,): {"max": 8}, (8, 2, 2, 1): {"max": 8, "divisor": 2, "remainder": 1},
        (0, 3, 2): {"min": 3, "divisor": 2}, (3, 5): {"min": 5}, (0, 4, 4): {"divisor": 4},
    }  # fmt: skip
    assert {given: Symbol(*given).to_dict() for given in said} == said
    for wrong in ({"max": 2.0}, {"unique": 1}):
        with pytest.raises(SettingTypeError):
            Symbol(**wrong)
    for refused in ({"min": 0}, {"divisor": 0}, {"divisor": 4, "remainder": 4}):
        with pytest.raises(SettingError):
            Symbol(**refused)


def test_tensors_in_a_declared_tuple_are_dynamic_too() -> None:
    class Pair(nn.Cell):
        def construct(self, pair: Any) -> Any:
            return pair[0] + pair[1]

    with compiled() as graphs:
        net = Pair()
        net.set_inputs((declared(None, 3), declared(3)))
        for rows in (2, 4):
            assert net((floats(rows, 3), floats(3))).shape == (rows, 3)
    assert ids(graphs) == [0]


@pytest.mark.parametrize(
    ("inputs", "args", "error", "text"),
    [
        ((declared(None, 3),), (floats(2, 4),), SettingError, r"Plain, input 0: .* shape \[None, 3\], \[2, 4\] given"),
        ((declared(None, 3),), (floats(3),), SettingError, r"shape \[None, 3\], \[3\] given"),
        ((X,), (floats(4, 3),), SettingError, r"shape \[2, 3\], \[4, 3\] given"),
        ((declared(None, 3),), (Tensor(np.ones((2, 3))),), SettingTypeError, "says Float32, Float64 given"),
        ((declared(None, 3),), (Parameter(X, name="p"),), SettingTypeError, "says a tensor, a Parameter given"),
        ((declared(None, 3), 2), (X, 3), SettingError, "input 1: set_inputs says 2, 3 given"),
        ((declared(None, 3), None), (X, 3), SettingError, "says None, 3 given"),
        ((3,), (X,), SettingTypeError, r"says 3, a tensor \[2, 3\] given"),
        ((declared(None, 3), (X,)), (X, X), SettingTypeError, "input 1: .* a tuple of 1"),
    ],
    ids=["size", "rank", "static", "dtype", "parameter", "number", "none", "no tensor", "tuple"],
)  # fmt: skip
def test_calls_unlike_their_declaration_are_refused(
    inputs: tuple[Any, ...], args: tuple[Any, ...], error: type[HarnessError], text: str
) -> None:
    with compiled() as graphs:
        net = Plain()
        net.set_inputs(*inputs)
        with pytest.raises(error, match=text):
            net(*args)
    assert graphs == []


def test_a_declaration_for_other_arguments_is_refused_at_once() -> None:
    net = Net(lambda net, x: x)
    with pytest.raises(SettingTypeError, match="construct"):
        nn.ReLU().set_inputs(X, X)
    net.set_inputs(X, X)
    assert net.get_inputs() == (X, X)


def test_names_and_order_of_arguments() -> None:
    def function(a: Any, b: Any = 2, *rest: Any, c: Any = 3) -> None: ...

    assert bind(function, (1,), {}) == ([1, 2], ["a", "b"], ())
    assert bind(function, (1, 5, 6, 7), {}) == ([1, 5, 6, 7], ["a", "b", "rest0", "rest1"], ())
    assert bind(function, (), {"b": 1, "a": 0}) == ([0, 1], ["a", "b"], ())
    assert bind(function, (1, 5, 6), {"c": 4}) == ([1, 5, 6, 4], ["a", "b", "rest0", "c"], ("c",))
    assert bind(lambda a, **more: None, (1,), {"d": 4}) == ([1, 4], ["a", "more[d]"], ("d",))
    with pytest.raises(TypeError, match="missing a required argument: 'a'"):
        bind(function, (), {})


class Named(nn.Cell):
    """Takes arguments by name, and gives what it is asked for by name."""

    def construct(self, x: Any, *, scale: Any = 2.0, **more: Any) -> Any:
        return {"y": x * scale, "more": [x + value for value in more.values()], "t": (x, 1)}


def test_arguments_and_results_by_name() -> None:
    net = Named()
    found = net(X, scale=3.0, one=X, two=1)
    assert list(found) == ["y", "more", "t"]
    assert np.array_equal(found["y"].asnumpy(), X.asnumpy() * 3)
    assert np.array_equal(found["more"][0].asnumpy(), X.asnumpy() * 2)
    assert np.array_equal(found["more"][1].asnumpy(), X.asnumpy() + 1)
    assert type(found["more"]) is list
    assert type(found["t"]) is tuple
    assert np.array_equal(net(X)["y"].asnumpy(), X.asnumpy() * 2)
    assert np.array_equal(net(X, scale=Tensor(4.0, dtypes.float32))["y"].asnumpy(), X.asnumpy() * 4)
    assert harness.jit(lambda x, *, k: [x, k])(X, k=5)[1] == 5


def test_threads_with_sessions_of_their_own() -> None:
    found: dict[int, tuple[list[int], list[int]]] = {}
    errors: list[BaseException] = []
    barrier = threading.Barrier(2)

    def work(at: int) -> None:
        try:
            watch = Graphs()
            with session.fresh([watch], hooked=False):
                for turn in range(10):
                    barrier.wait(timeout=600)
                    net = Net(lambda net, x: ops.exp(x) * (at + 2) + net.w)
                    out = net(floats(2, 3, start=turn))
                    expected = Net(lambda net, x: x)  # another object each turn
                    assert expected.w.asnumpy().shape == out.shape
            numbers = [n.number for g in watch.found for n in g.execution_order if n.op == "Exp"]
            found[at] = (ids(watch.found), numbers)
        except BaseException as error:
            errors.append(error)
            barrier.abort()

    with graph_mode():
        threads = [threading.Thread(target=work, args=(at,)) for at in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert errors == []
    assert found == {0: (list(range(10)), list(range(10))), 1: (list(range(10)), list(range(10)))}


def test_one_executor_may_run_in_two_threads() -> None:
    results: list[Any] = []
    with graph_mode(), session.fresh(hooked=False) as active:
        net = Net(lambda net, x: (ops.exp(x) * 2).sum(1))
        net(X)

        def work(start: float) -> None:
            with session.in_session(active):
                for _ in range(20):
                    results.append((start, net(floats(2, 3, start=start)).asnumpy()))

        threads = [threading.Thread(target=work, args=(float(at),)) for at in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len(results) == 60
    for start, got in results:
        expected = np.exp(floats(2, 3, start=start).asnumpy().astype(np.float64)).astype(np.float32) * 2
        np.testing.assert_allclose(got, expected.sum(1), rtol=1e-6)


class Compiling(Observer):
    """Keeps what it is told of compilations."""

    def __init__(self) -> None:
        self.events: list[str] = []

    def compile_begin(self, compilation: Compilation) -> None:
        self.events.append(f"begin {compilation.name}({', '.join(compilation.inputs)})")

    def compile_stage(self, stage: Stage) -> None:
        (graphs,) = re.findall(r"^# Total subgraphs: (\d+)$", stage.text, re.MULTILINE)
        self.events.append(f"{stage.kind} {graphs}")

    def graph_declared(self, graph: RecordedGraph) -> None:
        self.events.append(f"graph {graph.id}")

    def compile_end(self, compilation: Compilation, error: BaseException | None) -> None:
        self.events.append(f"end {type(error).__name__}")


def test_observers_follow_a_compilation() -> None:
    def wrong(_net: Any, x: Any) -> Any:
        return ops.matmul(x, x)

    def choice(_net: Any, x: Any) -> Any:
        return ops.cond(ops.reduce_sum(x) > 0, lambda v: ops.sin(v), lambda v: ops.cos(v), x)

    watch = Compiling()
    with graph_mode(), session.fresh([watch], hooked=False):
        net = Net(lambda net, x: ops.exp(x))
        net(X)
        net(X)
        assert watch.events == [
            "begin Net_construct(inputs0)",
            *(f"{stage} 1" for stage in STAGES),
            "graph 0",
            "end NoneType",
        ]
        watch.events.clear()
        with pytest.raises(HarnessError):
            Net(wrong)(X)
        assert watch.events == ["begin Net_construct(inputs0)", "end OperandError"]
        watch.events.clear()
        Net(lambda net, x: x)(X)
        assert watch.events == ["begin Net_construct(inputs0)", *(f"{stage} 1" for stage in STAGES), "end NoneType"]
        watch.events.clear()
        Net(choice)(X)
        graphs = sum(event.startswith("graph") for event in watch.events)
        assert graphs > 1
        assert watch.events[1:-1] == [
            *(f"{stage} {graphs}" for stage in STAGES),
            *(f"graph {n}" for n in range(1, graphs + 1)),
        ]
        session.current().run_function(choice, (None, X), {})
        assert "begin choice(_net, x)" in watch.events
