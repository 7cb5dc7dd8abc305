"""Faults strike where they are meant to, look like real ones, and leave a trace in the capture."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

import numpy as np
import pytest

from harness import backends, nn, ops
from harness.capture import Capture
from harness.errors import HarnessError, InjectionError, KernelError, SettingError, SettingTypeError
from harness.framework.ops.base import OPERATORS
from harness.framework.runtime import session
from harness.framework.tensor import Parameter, Tensor
from harness.recording import Launch, Observer, Step
from harness.testing import KINDS, inject
from tests.framework.compile.build import graph_mode

EMULATED = ("cpu", "gpu", "ascend-o0", "ascend-o1", "ascend-o2")
X = Tensor(np.linspace(-2, 2, 6, dtype=np.float32).reshape(2, 3))
INDEX = Tensor(np.array([[0, 1, 1], [1, 0, 0]], np.int32))


class Net(nn.Cell):
    """Three operators of results that float, one of results that do not, one that updates in place."""

    def __init__(self) -> None:
        super().__init__()
        self.w = Parameter(Tensor(np.ones((2, 3), np.float32)), name="w")

    def construct(self, x: Any, index: Any) -> Any:
        picked = ops.gather_d(ops.sin(x), 0, index)
        ops.assign(self.w, picked)
        return ops.matmul(picked, ops.transpose(x, (1, 0))), ops.argmax(picked, 1)


class Log(Observer):
    """What an observer is told."""

    def __init__(self) -> None:
        self.told: list[tuple[Any, ...]] = []

    def launch_begin(self, launch: Launch) -> None:
        self.told.append(("inputs", launch.operator.name, [value.array.copy() for value in launch.inputs]))

    def launch_end(self, launch: Launch) -> None:
        self.told.append(("outputs", launch.operator.name, [value.array.copy() for value in launch.outputs]))

    def launch_failed(self, launch: Launch, error: BaseException) -> None:
        self.told.append(("failed", launch.operator.name, str(error)))

    def failed(self, step: Step, error: BaseException) -> None:
        self.told.append(("failed", step.graph.id, str(error)))


def play(backend: str, *given: Any, steps: int = 1, expect: type[BaseException] | None = None, **how: Any) -> Capture:
    """Runs ``steps`` steps of a new ``Net`` under a fault; ``expect`` is what the last one raises."""
    with graph_mode(), backends.get(backend).open(network="net") as process:
        net = Net()

        def program() -> None:
            for _ in range(steps):
                net(X, INDEX)

        with inject(*given, session=process.session, **how) as fault:  # type: ignore[attr-defined]
            if expect is None:
                process.execute(program)
            else:
                with pytest.raises(expect):
                    process.execute(program)
        capture = process.capture()
        assert capture.rules["injected"] == fault.struck
    return capture


def values(capture: Capture, operator: str, io: str = "output") -> dict[int, Any]:
    """First such slot of an operator (part of its name) by iteration."""
    found: dict[int, Any] = {}
    for record in capture.records():
        if operator in record.key.operator and record.key.io == io:
            found.setdefault(record.key.iteration, record.load())
    return found


@pytest.mark.parametrize("backend", EMULATED)
@pytest.mark.parametrize("kind", ["error", "memory"])
def test_a_kernel_fails(backend: str, kind: str) -> None:
    capture = play(backend, "GatherD", kind, iteration=1, steps=3, expect=KernelError)
    (struck,) = capture.rules["injected"]
    assert struck.startswith(f"{kind} in Default/GatherD-op")
    assert struck.endswith(", iteration 1, rank 0")
    assert set(values(capture, "Sin")) == {0, 1}
    assert set(values(capture, "GatherD")) == {0}


@pytest.mark.parametrize("backend", EMULATED)
@pytest.mark.parametrize("kind", ["nan", "inf", "-inf"])
def test_a_kernel_returns_what_is_no_number(backend: str, kind: str) -> None:
    plain = values(play(backend, "Sin", "nan", iteration=2, steps=3), "Sin")[0]
    found = values(play(backend, "Sin", kind, iteration=1, steps=3), "Sin")
    assert set(found) == {0, 1, 2}
    for iteration in (0, 2):
        np.testing.assert_array_equal(found[iteration], plain)
    np.testing.assert_array_equal(found[1].ravel()[:1], [float(kind)])
    np.testing.assert_array_equal(found[1].ravel()[1:], plain.ravel()[1:])


@pytest.mark.parametrize("backend", EMULATED)
def test_readers_and_parameters_get_what_was_spoilt(backend: str) -> None:
    capture = play(backend, "GatherD", "nan")
    assert np.isnan(values(capture, "MatMul", "input")[0]).sum() == 1
    with graph_mode(), backends.get(backend).open(network="net") as process:
        net = Net()
        with inject("Assign", "inf", session=process.session):  # type: ignore[attr-defined]
            process.execute(lambda: net(X, INDEX))
    assert np.isinf(net.w.asnumpy()).sum() == 1


def test_inputs_stay_as_they_are_where_the_result_is_a_view_of_them() -> None:
    x = Tensor(np.ones((2, 3), np.float32))
    with graph_mode(), session.fresh(), inject("Reshape", "nan"):
        result = Function(lambda given: ops.reshape(given, (3, 2)))(x)
    assert np.isnan(result.asnumpy()).sum() == 1
    assert not np.isnan(x.asnumpy()).any()


class Function(nn.Cell):
    def __init__(self, function: Any) -> None:
        super().__init__()
        self.function = function

    def construct(self, x: Any) -> Any:
        return self.function(x)


def test_a_failure_is_what_a_real_one_is() -> None:
    """The same type, text and cause, and observers are told the same."""
    wrong = Tensor(np.array([[7, 1, 1], [1, 0, 0]], np.int32))
    told = []
    injected = inject("GatherD", message="an index lies outside -2..1")
    for index, fault in ((wrong, nullcontext()), (INDEX, injected)):
        log = Log()
        with graph_mode(), session.fresh([log]), pytest.raises(KernelError) as caught, fault:
            Net()(X, index)
        told.append((str(caught.value), type(caught.value), caught.value.__cause__, [each[:2] for each in log.told]))
        assert log.told[-1][2] == str(caught.value)
    assert told[0] == told[1]


def test_memory_that_is_not_there_is_what_a_kernel_without_memory_says(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = []
    for fault in (inject("Sin", "memory"), nullcontext()):
        with graph_mode(), session.fresh(), pytest.raises(KernelError) as caught, fault:
            Net()(X, INDEX)
        monkeypatch.setattr(type(OPERATORS.get("Sin")), "kernel", out_of_memory)
        assert isinstance(caught.value.__cause__, MemoryError)
        texts.append(str(caught.value))
    assert texts[0] == texts[1]


def out_of_memory(*_given: Any) -> Any:
    raise MemoryError("Unable to allocate 24 bytes for an array with shape (2, 3) and data type float32")


def test_an_error_says_that_it_was_injected() -> None:
    with graph_mode(), session.fresh(), pytest.raises(KernelError, match="injected") as caught, inject("Sin"):
        Net()(X, INDEX)
    assert "injected" in caught.value.__notes__[0]


@pytest.mark.parametrize(
    "operator", ["Default/Sin-op0", "sin", "name-regex(.+/Sin-op\\d+)", " Sin", "name-regex(Default/[ST]in.*)"]
)
def test_operators_are_named_as_in_a_dump_configuration(operator: str) -> None:
    assert play("cpu", operator, "nan").rules["injected"] == ["nan in Default/Sin-op0, iteration 0, rank 0"]


def test_every_step_without_an_iteration_and_every_execution() -> None:
    assert len(play("cpu", "Sin", "nan", steps=3).rules["injected"]) == 3


def test_a_fused_kernel_is_found_by_its_members() -> None:
    def chain(x: Any) -> Any:
        return ops.exp(x) * 2 + 1

    with (
        graph_mode(),
        backends.get("ascend-o1").open(network="net") as process,
        inject("Exp", "nan", session=process.session) as fault,  # type: ignore[attr-defined]
    ):
        process.execute(lambda: Function(chain)(X))
    (struck,) = fault.struck
    assert struck.startswith("nan in Default/GraphKernel_Exp_Mul_Add_fusion-op0,")


def test_labels_go_on_with_the_graph_that_ran_last() -> None:
    """As the dump counts: with two graphs that take turns, labels repeat."""
    with graph_mode(), backends.get("cpu").open(network="net") as process:
        one, two = Function(ops.sin), Function(ops.cos)
        with inject("name-regex(.*(Sin|Cos).*)", "nan", session=process.session) as fault:  # type: ignore[attr-defined]
            process.execute(lambda: [net(X) for net in (one, one, two, one, two)])
        records = list(process.capture().records())
    spoilt = {
        (record.key.operator, record.key.iteration)
        for record in records
        if record.op_type in ("Sin", "Cos") and record.key.io == "output"
    }
    assert {iteration for _, iteration in spoilt} == {0, 1, 2, 3}
    assert set(fault.struck) == {f"nan in {name}, iteration {iteration}, rank 0" for name, iteration in spoilt}


@pytest.mark.parametrize(("here", "strikes"), [("2", True), ("1", False)])
def test_ranks(monkeypatch: pytest.MonkeyPatch, here: str, strikes: bool) -> None:
    monkeypatch.setenv("MSDUMP_DISTRIBUTED", "1")
    monkeypatch.setenv("RANK_ID", here)
    with graph_mode(), session.fresh(), inject("Sin", "nan", rank=2) as fault:
        Net()(X, INDEX)
    assert bool(fault.struck) is strikes


def test_a_fault_that_never_struck_is_an_error() -> None:
    near = pytest.raises(InjectionError, match=r"'Simm' ran at iteration 4; nearest of the \d that ran: .*Sin-op0")
    with near, graph_mode(), session.fresh(), inject("Simm", iteration=4):
        Net()(X, INDEX)
    with pytest.raises(InjectionError, match="nothing ran"), inject("Sin"):
        pass


def test_what_a_test_raises_is_not_hidden_by_that() -> None:
    with pytest.raises(ZeroDivisionError), inject("Sin"):
        raise ZeroDivisionError


def test_nothing_floats_nothing_can_be_spoilt() -> None:
    with graph_mode(), session.fresh(), pytest.raises(InjectionError, match=r"Argmax.*Int64"), inject("Argmax", "nan"):
        Net()(X, INDEX)


def test_afterwards_all_is_well_again() -> None:
    with graph_mode(), session.fresh() as here:
        net = Net()
        with inject("Sin", "nan"):
            spoilt = net(X, INDEX)[0]
        assert np.isnan(spoilt.asnumpy()).any()
        with pytest.raises(KernelError), inject("Sin"):
            net(X, INDEX)
        assert not np.isnan(net(X, INDEX)[0].asnumpy()).any()
        assert here.faults == []
        assert len(here.struck) == 2


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ({"operator": ""}, SettingTypeError),
        ({"operator": 3}, SettingTypeError),
        ({"operator": "name-regex(()"}, SettingError),
        ({"operator": "Sin", "kind": "zero"}, SettingError),
        ({"operator": "Sin", "iteration": -1}, SettingError),
        ({"operator": "Sin", "iteration": True}, SettingError),
        ({"operator": "Sin", "rank": "0"}, SettingError),
        ({"operator": "Sin", "message": 3}, SettingTypeError),
        ({"operator": "Sin", "kind": "nan", "message": "x"}, SettingTypeError),
    ],
)
def test_arguments_that_are_refused(given: dict[str, Any], error: type[HarnessError]) -> None:
    with pytest.raises(error, match="inject"):
        inject(**given)


def test_kinds() -> None:
    assert KINDS == ("error", "memory", "nan", "inf", "-inf")
