"""The interface of engines, tested with a numpy engine whose values nobody else can read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from harness import Parameter, Tensor, nn, ops
from harness.errors import KernelError, UnsupportedError
from harness.framework.ops.eager import execute
from harness.framework.runtime import session
from harness.recording.value import Array
from harness.testing import inject
from tests.framework.compile.build import Net, floats, graph_mode
from tests.framework.runtime.test_execute import Watch


@dataclass
class Value:
    """A value of the engine."""

    array: Array

    @property
    def shape(self) -> tuple[int, ...]:
        return self.array.shape


class Boxed:
    """Computes in numpy; each result is a ``Value``. Counts what is unpacked for others."""

    def __init__(self) -> None:
        self.finished = 0
        self.shown: list[tuple[int, ...]] = []
        self.ran: list[str] = []

    def _open(self, value: Any) -> Any:
        if isinstance(value, Value):
            return value.array
        return tuple(map(self._open, value)) if isinstance(value, tuple) else value

    def execute(self, operator: Any, call: Any, arguments: Any, apart: bool) -> tuple[Value, ...]:
        self.ran.append(operator.name)
        results = execute(operator, call, tuple(map(self._open, arguments)))
        return tuple(Value(r.copy() if apart else r) for r in results)

    def host(self, value: Any) -> Any:
        if isinstance(value, tuple):
            return tuple(map(self.host, value))
        if isinstance(value, Value):
            self.shown.append(value.shape)
        return self._open(value)

    def copied(self, value: Any) -> Any:
        opened = self._open(value)
        return Value(opened.copy()) if isinstance(opened, np.ndarray) else tuple(Value(v.copy()) for v in opened)

    def replaced(self, value: Value, array: Array, in_place: bool) -> Value:
        if not in_place:
            return Value(array)
        value.array[...] = array
        return value

    def finish(self) -> None:
        self.finished += 1


def ran(function: Any, *inputs: Any, watch: Watch | None = None, engine: Boxed | None = None) -> Any:
    with graph_mode(), session.fresh([watch] if watch else [], hooked=False) as used:
        used.engine = engine
        return Net(function)(*inputs)


def test_observers_see_the_same_as_without() -> None:
    x, engine = floats(2, 3), Boxed()
    own, other = Watch(), Watch()
    ran(lambda _, x: ops.sin(x * 2) + 1, x, watch=own)
    out = ran(lambda _, x: ops.sin(x * 2) + 1, x, watch=other, engine=engine)
    assert (other.events, other.slots) == (own.events, own.slots)
    assert engine.ran == ["Mul", "Sin", "Add"]
    np.testing.assert_array_equal(out.asnumpy(), np.sin(x.asnumpy() * 2) + 1)


def test_what_nobody_looks_at_stays_with_the_engine() -> None:
    engine = Boxed()
    ran(lambda _, x: (x * 2).sum(), floats(2, 3), engine=engine)
    assert engine.shown == [()], "the result alone"
    assert engine.finished == 1


def test_control_flow_asks_the_engine() -> None:
    def function(_: Any, x: Any) -> Any:
        doubled = ops.while_loop(lambda v: v.sum() < 100, lambda v: v * 2, x)
        return ops.cond(doubled.sum() > 0, lambda v: v + 1, lambda v: v - 1, doubled)

    x, engine = Tensor(np.ones(3, np.float32)), Boxed()
    own = ran(function, x)
    assert ran(function, x, engine=engine).asnumpy().tolist() == own.asnumpy().tolist()


class Steps(nn.Cell):
    """Counts its steps in a parameter."""

    def __init__(self) -> None:
        super().__init__()
        self.count = Parameter(np.zeros(1, np.float32), "count")

    def construct(self, x: Any) -> Any:
        ops.assign_add(self.count, x)
        return self.count + 0


def test_parameters_and_faults() -> None:
    x, engine = Tensor(np.ones(1, np.float32)), Boxed()
    with graph_mode(), session.fresh(hooked=False) as used:
        used.engine = engine
        net = Steps()
        assert [net(x).asnumpy().item() for _ in range(3)] == [1, 2, 3]
        with inject("AssignAdd", "inf"):
            assert np.isinf(net(x).asnumpy()).all()
        assert np.isinf(net.count.asnumpy()).all()
        with inject("Add", "error"), pytest.raises(KernelError):
            net(x)
    assert engine.finished == 5, "after a failure, too"


def test_fused_kernels_are_refused() -> None:
    from harness.devices import DEVICES

    with graph_mode(), session.in_session(session.Session(hooked=False, device=DEVICES.get("ascend-o1"))):
        session.current().engine = Boxed()
        with pytest.raises(UnsupportedError, match="no fused kernels"):
            Net(lambda _, x: (x + 1) * 2 - x)(floats(2, 3))
