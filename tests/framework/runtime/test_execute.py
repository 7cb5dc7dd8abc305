"""Running a program: the events that observers get and their order, failures, memory, copies."""

from __future__ import annotations

import gc
import tracemalloc
import weakref
from typing import Any

import numpy as np
import pytest

from harness import Tensor, dtypes, nn, ops
from harness.errors import KernelError
from harness.framework.ops import OPERATORS, Call, Operator
from harness.framework.runtime import session
from harness.framework.tensor import call
from harness.recording import Graph, Launch, Observer, Step, TensorSpec
from tests.framework.compile.build import Net, floats, graph_mode

X = floats(2, 3)


class Watch(Observer):
    """Keeps every event as text, and every slot as (index, dtype, copy)."""

    def __init__(self) -> None:
        self.events: list[str] = []
        self.slots: dict[str, list[tuple[int, str, Any]]] = {}

    def graph_declared(self, graph: Graph) -> None:
        self.events.append(f"compiled {graph.id}")

    def step_begin(self, step: Step) -> None:
        self.events.append(f"begin {step.graph.id}.{step.run}")

    def launch_begin(self, launch: Launch) -> None:
        self.events.append(f"inputs {launch.operator.type}")

    def launch_end(self, launch: Launch) -> None:
        self.events.append(f"outputs {launch.operator.type}")
        for io, slots in (("input", launch.updated), ("output", launch.outputs)):
            self.slots[f"{launch.operator.type} {io}"] = [(s.index, s.dtype.name, s.array.tolist()) for s in slots]

    def launch_failed(self, launch: Launch, error: BaseException) -> None:
        self.events.append(f"failed {launch.operator.type} {type(error).__name__}")

    def step_end(self, step: Step) -> None:
        self.events.append(f"end {step.graph.id}.{step.run}")

    def failed(self, step: Step, error: BaseException) -> None:
        self.events.append(f"failed step {type(error).__name__}")

    def closed(self) -> None:
        self.events.append("closed")


def watched(function: Any, *inputs: Any, times: int = 1) -> Watch:
    watch = Watch()
    with graph_mode(), session.fresh([watch], hooked=False):
        net = Net(function)
        for _ in range(times):
            net(*inputs)
    return watch


def test_events_in_order() -> None:
    watch = watched(lambda net, x: ops.exp(x) * x, X, times=2)
    step = ["inputs Exp", "outputs Exp", "inputs Mul", "outputs Mul"]
    assert watch.events == [
        "compiled 0", "begin 0.0", *step, "end 0.0", "begin 0.1", *step, "end 0.1", "closed",
    ]  # fmt: skip


def test_observers_are_told_in_order() -> None:
    told: list[str] = []

    class Named(Observer):
        def __init__(self, name: str) -> None:
            self.name = name

        def launch_end(self, launch: Launch) -> None:
            told.append(self.name)

    with graph_mode(), session.fresh([Named("a"), Named("b")], hooked=False):
        Net(lambda net, x: ops.exp(x))(X)
    assert told == ["a", "b"]


def test_slots_count_flat_arguments() -> None:
    watch = watched(lambda net, x, y: ops.concat((x, y, x), 1), X, Tensor(np.ones((2, 1), np.float32)))
    assert [(i, d) for i, d, _ in watch.slots["Concat input"]] == [
        (0, "Float32"), (1, "Float32"), (2, "Float32"), (3, "Int64"),
    ]  # fmt: skip
    assert watch.slots["Concat input"][3][2] == 1


def test_slots_of_numbers_and_tuples() -> None:
    watch = watched(lambda net, x: x.sum(1) + 2, X)
    assert watch.slots["ReduceSum input"] == [
        (0, "Float32", X.asnumpy().tolist()), (1, "Int64", [1]), (2, "Bool", False), (3, "Bool", False),
    ]  # fmt: skip
    assert watch.slots["Add input"][1] == (1, "Float32", 2.0)


def test_what_a_kernel_does_not_read_has_no_slot() -> None:
    assert OPERATORS.get("Reshape").unread == {1}
    watch = watched(lambda net, x: ops.exp(ops.reshape(x, (6,))), X)
    assert [i for i, _, _ in watch.slots["Reshape input"]] == [0]


def test_monads_and_empty_tuples_have_no_slot() -> None:
    watch = watched(lambda net, x: (ops.assign(net.w, x), ops.sum(x))[1], X)
    assert [i for i, _, _ in watch.slots["Assign input"]] == [0, 1]
    assert [i for i, _, _ in watch.slots["ReduceSum input"]] == [0, 2, 3]


def test_updated_arguments_show_what_became_of_them() -> None:
    watch = watched(lambda net, x: (ops.assign(net.w, x), x * 2)[1], X)
    assert watch.slots["Assign input"][0][2] == X.asnumpy().tolist()


def test_several_outputs_have_an_index_each() -> None:
    watch = watched(lambda net, x: ops.topk(x, 1)[0] * 2, X)
    assert [(i, d) for i, d, _ in watch.slots["TopK output"]] == [(0, "Float32"), (1, "Int32")]


def test_bfloat16_slots_say_so() -> None:
    watch = watched(lambda net, x: x * x, Tensor(np.ones(2, np.float32), dtypes.bfloat16))
    assert watch.slots["Mul output"] == [(0, "BFloat16", [1.0, 1.0])]


def test_parameters_of_a_step_are_those_now() -> None:
    seen: list[dict[str, Any]] = []

    class Ends(Observer):
        def step_begin(self, step: Step) -> None:
            seen.append({p.name: a.tolist() for p, a in step.parameters()})

        def step_end(self, step: Step) -> None:
            seen.append({p.name: a.tolist() for p, a in step.parameters()})

    with graph_mode(), session.fresh([Ends()], hooked=False):
        Net(lambda net, x: (ops.assign(net.w, x), x * 2)[1])(X)
    begin, end = seen
    assert set(begin) == {"w", "inputs0"}
    assert begin["w"] == np.ones((2, 3)).tolist()
    assert end["w"] == X.asnumpy().tolist()


class Broken(Operator):
    """Fails when told to by its second argument."""

    name = "BrokenForTests"
    tensors = (0,)

    def infer(self, call: Call) -> TensorSpec:
        return call.tensor(0).tensor

    def kernel(self, call: Call, x: Any, how: str) -> Any:
        if how == "error" and float(x.sum()) > 0:
            raise ZeroDivisionError("on purpose")
        if how == "interrupt":
            raise KeyboardInterrupt
        return x[:1] if how == "shape" else (x, x) if how == "count" else x


@pytest.fixture(autouse=True)
def _broken(monkeypatch: pytest.MonkeyPatch) -> None:
    "Add" in OPERATORS  # noqa: B015 - fills the registry
    monkeypatch.setitem(OPERATORS._things, Broken.name, Broken())


def test_a_failing_kernel_is_named() -> None:
    watch = Watch()
    with graph_mode(), session.fresh([watch], hooked=False):
        net = Net(lambda net, x: call("BrokenForTests", ops.exp(x), "error") * 2)
        with pytest.raises(KernelError) as caught:
            net(X)
        message = str(caught.value)
        for text in ("BrokenForTests failed", "ZeroDivisionError: on purpose", "Default/BrokenForTests-op0"):
            assert text in message
        assert "test_execute.py:" in message
        assert isinstance(caught.value.__cause__, ZeroDivisionError)
        assert watch.events[-2:] == ["failed BrokenForTests KernelError", "failed step KernelError"]
        assert "end 0.0" not in watch.events


def test_the_session_goes_on_after_a_failure() -> None:
    watch = Watch()
    with graph_mode(), session.fresh([watch], hooked=False):
        net = Net(lambda net, x: call("BrokenForTests", x * 2, "error"))
        with pytest.raises(KernelError):
            net(X)
        out = net(Tensor(-X.asnumpy()))
        np.testing.assert_array_equal(out.asnumpy(), -2 * X.asnumpy())
    assert watch.events.count("compiled 0") == 1
    assert watch.events[-4:] == ["inputs BrokenForTests", "outputs BrokenForTests", "end 0.0", "closed"]


def test_what_was_written_before_a_failure_is_whole_and_what_follows_is_not_written() -> None:
    def update(net: Any, x: Any) -> Any:
        ops.assign(net.w, x)
        bad = call("BrokenForTests", x, "error")
        ops.assign(net.v, ops.depend(bad, net.w))
        return x * 2

    with graph_mode(), session.fresh(hooked=False):
        net = Net(update)
        with pytest.raises(KernelError):
            net(X)
    assert net.v.asnumpy().tolist() == np.ones((2, 3)).tolist()
    assert net.w.asnumpy().tolist() in (X.asnumpy().tolist(), np.ones((2, 3)).tolist())


def test_an_interrupt_is_told_and_passes() -> None:
    watch = Watch()
    with graph_mode(), session.fresh([watch], hooked=False), pytest.raises(KeyboardInterrupt):
        Net(lambda net, x: call("BrokenForTests", x, "interrupt"))(X)
    assert watch.events[-3:] == [
        "failed BrokenForTests KeyboardInterrupt", "failed step KeyboardInterrupt", "closed",
    ]  # fmt: skip


@pytest.mark.parametrize(("how", "text"), [("shape", "gave a result of shape"), ("count", "gave 2 results")])
def test_a_result_unlike_its_shape_rule_is_refused(how: str, text: str) -> None:
    with graph_mode(), session.fresh(hooked=False), pytest.raises(KernelError, match=text):
        Net(lambda net, x: call("BrokenForTests", x, how))(X)


@pytest.mark.parametrize("hook", ["step_begin", "launch_begin", "launch_end"])
def test_an_observers_error_stops_the_step_and_is_told(hook: str) -> None:
    is_full = True

    def fail(*_args: Any) -> None:
        if is_full:
            raise OSError("disk full")

    failing, watch = type("Failing", (Observer,), {hook: fail})(), Watch()
    with graph_mode(), session.fresh([watch, failing], hooked=False):
        net = Net(lambda net, x: ops.exp(x))
        with pytest.raises(OSError, match="disk full"):
            net(X)
        assert watch.events[-1] == "failed step OSError"
        is_full = False
        net(X)
    assert "end 0.0" in watch.events


def test_results_are_not_the_parameters_memory() -> None:
    with graph_mode(), session.fresh(hooked=False):
        net = Net(lambda net, x: (net.w, x, net.w.reshape((6,)), x[0]))
        given = Tensor(X.asnumpy().copy())
        weight, same, flat, row = net(given)
        for out in (weight, same, flat, row):
            out.asnumpy()[...] = 77
        assert 77 not in net.w.asnumpy()
        assert 77 not in given.asnumpy()
        other = Net(lambda net, x: net.c)
        other(X).asnumpy()[...] = 77
        assert 77 not in other(X).asnumpy()


def test_kernels_of_control_flow_tell_their_graph() -> None:
    told: list[tuple[int, str]] = []

    class Graphs(Observer):
        def launch_end(self, launch: Launch) -> None:
            told.append((launch.graph.id, launch.operator.type))

        def step_begin(self, step: Step) -> None:
            told.append((step.graph.id, "begin"))

    with graph_mode(), session.fresh([Graphs()], hooked=False):
        net = Net(lambda net, x: ops.tanh(ops.while_loop(lambda x: x.sum() > 2, lambda x: x * 0.5, ops.exp(x))))
        net(Tensor(np.zeros(6, np.float32)))
    test = [(1, "ReduceSum"), (1, "Greater")]
    turn = [(2, "Mul")]
    assert told == [(0, "begin"), (0, "Exp"), *test, *turn, *test, *turn, *test, (3, "Tanh")]


def test_silent_functions_tell_nobody() -> None:
    assert watched(lambda net, x: x, X).events == ["closed"]


class Lives(Observer):
    """Counts the arrays of a step that are still alive."""

    def __init__(self) -> None:
        self.found: list[weakref.ref[Any]] = []
        self.alive: list[int] = []

    def launch_end(self, launch: Launch) -> None:
        if not launch.operator.mutates:  # what an update gives is the parameter itself
            self.found += [weakref.ref(slot.array) for slot in launch.outputs]
        self.alive.append(sum(ref() is not None for ref in self.found))


def chain(net: Any, x: Any) -> Any:
    for _ in range(8):
        x = ops.tanh(x) * 0.25
    return x


@pytest.mark.long
def test_values_live_until_their_last_reader() -> None:
    lives = Lives()
    with graph_mode(), session.fresh([lives], hooked=False):
        out = Net(chain)(X)
        assert max(lives.alive) <= 3
        gc.collect()
        assert [ref for ref in lives.found if ref() is not None] == []
    assert out.shape == (2, 3)


def test_a_value_needed_late_is_kept() -> None:
    def late(net: Any, x: Any) -> Any:
        first = ops.exp(x)
        return chain(net, first) * 0 + first

    with graph_mode(), session.fresh(hooked=False):
        out = Net(late)(X)
    np.testing.assert_array_equal(out.asnumpy(), np.exp(X.asnumpy().astype(np.float64)).astype(np.float32))


@pytest.mark.long
def test_peak_memory_does_not_grow_with_depth() -> None:
    def peak(depth: int) -> int:
        def deep(net: Any, x: Any) -> Any:
            for _ in range(depth):
                x = ops.tanh(x) * 0.25
            return x

        big = Tensor(np.zeros(100_000, np.float32))
        with graph_mode(), session.fresh(hooked=False):
            net = Net(deep)
            net(big)
            gc.collect()
            tracemalloc.start()
            net(big)
            top = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
        return top

    assert peak(40) < 1.25 * peak(4)


@pytest.mark.long
def test_training_keeps_only_what_backward_needs() -> None:
    lives = Lives()
    with graph_mode(), session.fresh([lives], hooked=False):
        cells = [nn.Dense(3, 3), nn.Sigmoid()] * 5
        network = nn.SequentialCell(*cells)
        step = nn.TrainOneStepCell(nn.WithLossCell(network, nn.MSELoss()), nn.SGD(network.trainable_params(), 0.1))
        step(X, X)
        gc.collect()
    assert max(lives.alive) < len(lives.found) / 2
    assert [ref for ref in lives.found if ref() is not None] == []
