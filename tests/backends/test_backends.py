"""Emulated backends: what they support, refuse and report about themselves."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from harness import backends, jit, ops
from harness.backends import BACKENDS, get
from harness.capture import Capture
from harness.devices import DEVICES
from harness.devices.capabilities import MODES as CAPABLE
from harness.errors import UnsupportedError
from harness.framework.nn import Conv2d
from harness.framework.runtime import session
from harness.framework.runtime.called import FIRST
from harness.framework.tensor import Tensor
from tests.framework.compile.build import Net, graph_mode
from tests.gate.emulated import BACKENDS as BACKENDS_OF_THE_GATE

EMULATED = ("cpu", "gpu", "ascend-o0", "ascend-o1", "ascend-o2")
OTHERS = EMULATED[1:]
X = Tensor(np.linspace(-2, 2, 6, dtype=np.float32).reshape(2, 3))


def captured(backend: str, program: Callable[[], Any], mode: str = "tensor") -> Capture:
    with graph_mode():
        return get(backend).run(program, network="net", mode=mode)


#: feature of a device -> modes of a backend
FEATURES = {
    "tensor": ["tensor"], "statistic": ["statistic"], "full": ["full"], "sample": ["sample"], "overflow": ["overflow"],
    "exception": ["exception"], "kernel_args": ["kernel-args"], "asynchronous": ["async-npy", "async-bin"],
}  # fmt: skip


@pytest.mark.parametrize("name", EMULATED)
def test_modes_are_those_of_the_device(name: str) -> None:
    capabilities = DEVICES.get(name).capabilities
    assert set(FEATURES) == {*CAPABLE, "kernel_args"}
    assert get(name).modes == tuple(
        m for feature, modes in FEATURES.items() if capabilities.has(feature) for m in modes
    )
    assert get(name).modes == BACKENDS_OF_THE_GATE[name]
    assert get(name).emulated
    assert name in BACKENDS


@pytest.mark.parametrize("name", EMULATED)
@pytest.mark.parametrize("feature", FEATURES)
def test_a_mode_the_device_lacks_is_refused_as_documented(name: str, feature: str) -> None:
    answer = DEVICES.get(name).capabilities[feature]
    for mode in FEATURES[feature]:
        if answer:
            assert get(name).refusal(mode) is None
            continue
        assert get(name).refusal(mode) == answer.gist
        with (
            pytest.raises(UnsupportedError, match=re.escape(f"no dump mode {mode!r} ({answer.gist}); it has tensor")),
            get(name).open(network="net", mode=mode),
        ):
            pass


def test_a_mode_there_is_none_of() -> None:
    with pytest.raises(UnsupportedError, match="there is no dump mode 'tensors'; there are tensor, statistic, "):
        get("cpu").refusal("tensors")


@pytest.mark.parametrize("name", EMULATED)
def test_captures_say_how_they_were_made(name: str) -> None:
    capture = captured(name, lambda: Net(lambda net, x: x + net.w)(X))
    assert (capture.backend, capture.emulated) == (name, True)
    if name != "cpu":
        assert DEVICES.get(name).rules.items() <= capture.rules.items()
        assert "not measured" in capture.rules["device"]


def test_rules_follow_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MS_ASCEND_CHECK_OVERFLOW_MODE", "SATURATION_MODE")
    huge = Tensor(np.full((2, 3), 3e38, np.float32))
    capture = captured("ascend-o0", lambda: Net(lambda net, x: x * 4)(huge))
    assert "SATURATION" in capture.rules["in force"]
    (output,) = [record.load() for record in capture.records() if record.key.io == "output"]
    assert output is not None
    assert np.array_equal(output, np.full((2, 3), np.finfo(np.float32).max))


def convolved(name: str) -> Any:
    values = np.random.default_rng(3).standard_normal((1, 2, 5, 5)).astype(np.float32)
    weight = Tensor(np.random.default_rng(4).standard_normal((2, 2, 3, 3)).astype(np.float32))
    capture = captured(name, lambda: Conv2d(2, 2, 3, weight_init=weight)(Tensor(values)))
    (found,) = [r.load() for r in capture.records() if r.op_type == "Conv2D" and r.key.io == "output"]
    return found


def test_each_device_rounds_the_factors_of_convolutions_its_own_way() -> None:
    cpu, gpu, ascend = (convolved(name) for name in ("cpu", "gpu", "ascend-o0"))
    near = [float(np.abs(other - cpu).max() / np.abs(cpu).max()) for other in (gpu, ascend)]
    assert 0 < near[1] < near[0] < 2**-9
    assert convolved("ascend-o2").tobytes() == convolved("ascend-o1").tobytes() == ascend.tobytes()


@pytest.mark.parametrize("name", EMULATED)
def test_one_function_under_jit_in_pynative_mode(name: str) -> None:
    @jit
    def function(x: Any) -> Any:
        return ops.exp(x * x) + x

    capture = get(name).run(lambda: function(X * 2), network="net")
    types = {(record.key.graph >= FIRST, record.op_type) for record in capture.records()} - {(False, "Parameter")}
    compiled = {"GraphKernel_Mul_Exp_Add_fusion"} if DEVICES.get(name).fuses else {"Mul", "Exp", "Add"}
    assert types == {(True, "Muls"), *((False, each) for each in compiled)}


@pytest.mark.parametrize("name", EMULATED)
def test_several_networks_and_another_shape_in_one_process(name: str) -> None:
    one, other = Net(lambda net, x: x @ net.w.T), Net(lambda net, x: ops.ReduceSum()(x, 0))

    def program() -> None:
        for net, x in ((one, X), (other, X), (one, X), (one, Tensor(np.ones((4, 3), np.float32)))):
            net(x)

    keys = [r.key for r in captured(name, program).records() if r.op_type in ("MatMul", "ReduceSum")]
    assert sorted({(key.graph, key.iteration) for key in keys}) == [(0, 0), (0, 1), (1, 1), (2, 2)]
    assert len(set(keys)) == len(keys)


@pytest.mark.parametrize("name", EMULATED)
def test_shapes_known_only_at_run_time(name: str) -> None:
    net = Net(lambda net, x: ops.exp(x * x) + 1)
    net.set_inputs(Tensor(shape=[None, 3], dtype=X.dtype))
    capture = captured(name, lambda: [net(Tensor(np.ones((rows, 3), np.float32))) for rows in (1, 4)])
    records = [record for record in capture.records() if record.key.io == "output" and record.op_type != "Parameter"]
    assert {(record.key.graph, record.key.iteration, record.shape) for record in records} == {
        (0, 0, (1, 3)), (0, 1, (4, 3)),
    }  # fmt: skip


@pytest.mark.parametrize("name", OTHERS)
def test_a_script_s_process_can_stand_on_a_device(name: str) -> None:
    with session.fresh(hooked=False) as fresh:
        backends.stand_in(name)
        assert fresh.device is DEVICES.get(name)
