"""Every emulated backend: found by name, runs programs in a session of their own, gives a capture."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from harness import backends, ops
from harness.backends import BACKENDS
from harness.errors import KernelError, UnknownNameError, UnsupportedError
from harness.graph import Graph
from harness.runtime import session
from harness.runtime.observer import Observer
from tests.compile.build import Net, floats, graph_mode

EMULATED = [name for name in BACKENDS if BACKENDS.get(name).emulated and BACKENDS.get(name).available() is None]
X = floats(2, 3)


def program() -> Any:
    """Two steps of one network."""
    net = Net(lambda net, x: ops.relu(x * net.w - 1.5))
    net(X)
    return net(X)


def broken() -> None:
    program()
    Net(lambda net, x: ops.gather(x, ops.argmax(x * 0, 1) + 7, 0))(X)


@pytest.fixture(autouse=True)
def _graphs() -> Any:
    with graph_mode():
        yield


def test_the_cpu_is_among_them() -> None:
    assert "cpu" in EMULATED
    assert backends.get("cpu").name == "cpu"


def test_an_unknown_name_is_told_its_neighbours() -> None:
    with pytest.raises(UnknownNameError, match=r"no backend is called 'cpuu'; did you mean .*cpu"):
        backends.get("cpuu")


@pytest.mark.parametrize("name", EMULATED)
class TestEmulated:
    """The contract of ``Backend``."""

    def test_a_run_gives_a_capture(self, name: str) -> None:
        capture = backends.get(name).run(program, network="Two steps")
        assert (capture.network, capture.backend, capture.mode) == ("Two steps", name, "tensor")
        assert capture.emulated
        assert capture.rules
        records = list(capture.records())
        assert {record.key.iteration for record in records} == {0, 1}
        assert {record.key.graph for record in records} == {0}
        assert set(capture.execution_order) <= {0}  # a graph sunk as a whole has none

    def test_two_runs_give_the_same(self, name: str) -> None:
        first, second = (backends.get(name).run(program, network="Net") for _ in range(2))
        a = [(r.key, r.dtype, r.shape, np.asarray(r.load()).tobytes()) for r in first.records()]
        b = [(r.key, r.dtype, r.shape, np.asarray(r.load()).tobytes()) for r in second.records()]
        assert a == b
        assert first.execution_order == second.execution_order
        assert first.rules == second.rules

    def test_the_process_goes_on_from_program_to_program(self, name: str) -> None:
        with backends.get(name).open(network="Net") as process:
            process.execute(program)
            process.execute(program)
            capture = process.capture()
        operators: dict[int, set[str]] = {0: set(), 1: set()}
        for record in capture.records():
            if record.op_type != "Parameter":
                operators[record.key.graph].add(record.key.operator)
        assert operators[0]
        assert not operators[0] & operators[1]

    def test_what_the_program_returns_comes_back(self, name: str) -> None:
        with backends.get(name).open(network="Net") as process:
            out = process.execute(program)
        np.testing.assert_array_equal(out.asnumpy(), np.maximum(X.asnumpy() - 1.5, 0))

    def test_an_error_passes_and_what_ran_before_is_captured(self, name: str) -> None:
        with backends.get(name).open(network="Net") as process:
            with pytest.raises(KernelError):
                process.execute(broken)
            capture = process.capture()
        assert {r.key.iteration for r in capture.records() if r.key.graph == 0} == {0, 1}

    def test_programs_do_not_touch_the_session_outside(self, name: str) -> None:
        with session.fresh(hooked=False) as outside:
            backends.get(name).run(program, network="Net")
            assert session.current() is outside
            assert outside.programs == {}

    def test_observers_join_and_are_closed(self, name: str) -> None:
        told: list[str] = []

        class Watch(Observer):
            def graph_compiled(self, graph: Graph) -> None:
                told.append(graph.name)

            def closed(self) -> None:
                told.append("closed")

        with backends.get(name).open(network="Net") as process:
            process.execute(program, [Watch()])
            assert told == ["kernel_graph0"]
        assert told[-1] == "closed"

    def test_an_unknown_mode_is_refused(self, name: str) -> None:
        with pytest.raises(UnsupportedError, match="no dump mode 'sideways'"):
            backends.get(name).run(program, network="Net", mode="sideways")


def test_a_backend_of_another_process_cannot_stand_in(monkeypatch: pytest.MonkeyPatch) -> None:
    class Far:
        name = "far"
        in_process = False

    class Gone:
        name = "gone"
        in_process = True

        def available(self) -> str:
            return "no such device"

    "cpu" in BACKENDS  # noqa: B015 - fills the registry
    monkeypatch.setitem(BACKENDS._things, "far", Far())
    monkeypatch.setitem(BACKENDS._things, "gone", Gone())
    backends.stand_in("cpu")
    with pytest.raises(UnsupportedError, match="process of its own"):
        backends.stand_in("far")
    with pytest.raises(UnsupportedError, match="cannot run here: no such device"):
        backends.stand_in("gone")
