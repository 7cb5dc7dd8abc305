"""The engine: memory shared with arrays or kept on a device, updates in place, views, operators without a kernel,
failures."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from harness import Parameter, Tensor, backends, context, dtypes, nn, ops
from harness.backends import gpu
from harness.backends.emulated import GRAPHS
from harness.compare import check
from harness.errors import KernelError
from harness.framework.runtime import session
from harness.framework.tensor import call
from harness.recording import Launch, Observer, Value
from harness.testing import inject
from tests.framework.compile.build import Net, floats, graph_mode
from tests.gate.emulated import within
from tests.gate.networks import NETWORKS
from tests.gate.networks.recorder import Recorder

if importlib.util.find_spec("torch") is None:
    pytest.skip("PyTorch is needed: pip install 'pytest-msdump[torch]'", allow_module_level=True)

import torch

from harness.framework.engines.torch import TorchEngine
from harness.framework.engines.torch.values import as_array, finished, taken

#: convolutions of the emulated device read 10 bits of float32; halves are rounded after each operator
GPU = {**within(10), "float16": {"scaled": 2.0**-8, "max_ulp": 2}}


class Apart(TorchEngine):
    """A device whose memory no array shares, as a CUDA device's is; counts what comes to the host."""

    def __init__(self) -> None:
        super().__init__("cpu")
        self.is_host = False
        self.fetches = 0

    def carried(self, array: Any) -> Any:
        return taken(array).clone()

    def fetched(self, tensor: Any) -> Any:
        self.fetches += 1
        return as_array(tensor).copy()


class Digest(Observer):
    """Keeps every slot's bytes."""

    def __init__(self, op: str = "") -> None:
        self.slots: list[tuple[str, int, bytes]] = []
        self._op = op

    def launch_begin(self, launch: Launch) -> None:
        self._keep("before", launch, launch.inputs)

    def launch_end(self, launch: Launch) -> None:
        self._keep("after", launch, launch.updated)
        self._keep("of", launch, launch.outputs)

    def _keep(self, when: str, launch: Launch, values: Sequence[Value]) -> None:
        if self._op in ("", launch.operator.type):
            self.slots += [(f"{when} {launch.operator.name}", v.index, v.array.tobytes()) for v in values]


def results(name: str, engine: TorchEngine) -> list[tuple[str, int, bytes]]:
    watch, state = Digest(), np.random.get_state()
    np.random.seed(1)
    try:
        with graph_mode(), session.fresh([watch], hooked=False) as used:
            used.engine = engine
            importlib.import_module(f"tests.gate.networks.{name}").play(Recorder())
    finally:
        np.random.set_state(state)
    return watch.slots


@pytest.mark.parametrize("name", NETWORKS)
def test_a_device_with_memory_of_its_own_gives_the_same(name: str) -> None:
    slots = results(name, TorchEngine())
    assert slots
    assert results(name, Apart()) == slots


@pytest.mark.parametrize("name", NETWORKS)
def test_graphs_of_a_gpu(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Halves without casts, and what stands in for a CUDA device."""
    monkeypatch.setattr(gpu, "DEVICE", "cpu")
    monkeypatch.setattr(gpu, "cuda_missing", lambda: None)
    captures, network = [], importlib.import_module(f"tests.gate.networks.{name}")
    for choice in ("emulated", "cuda"):
        monkeypatch.setenv("MSDUMP_GPU", choice)
        context.set_seed(1)
        np.random.seed(1)
        with graph_mode():
            captures.append(backends.get("gpu").run(lambda: network.play(Recorder()), network=name))
    assert [each.emulated for each in captures] == [True, False]
    assert captures[1].rules["graph"] == f"{GRAPHS['']}; compiled by the harness"
    comparison = check(list(captures[0].records()), list(captures[1].records()), GPU)
    assert comparison.holds, [str(slot) for slot in comparison.failures()][:5]


def ran(function: Any, *inputs: Any, engine: TorchEngine, watch: Observer | None = None) -> Any:
    with graph_mode(), session.fresh([watch] if watch else [], hooked=False) as used:
        used.engine = engine
        return Net(function)(*inputs)


def test_only_what_is_looked_at_comes_to_the_host() -> None:
    engine, x = Apart(), floats(2, 3)
    out = ran(lambda _, x: ops.exp(ops.sin(ops.cos(x))), x, engine=engine)
    assert engine.fetches == 1, "the result alone"
    np.testing.assert_allclose(out.asnumpy(), np.exp(np.sin(np.cos(x.asnumpy()))), 1e-6)
    engine = Apart()
    ran(lambda _, x: ops.exp(ops.sin(ops.cos(x))), x, engine=engine, watch=Digest("Sin"))
    assert engine.fetches == 3, "Sin's input and output, and the result"


class Counter(nn.Cell):
    """Adds its input to a parameter, and shows what it was before."""

    def __init__(self) -> None:
        super().__init__()
        self.total = Parameter(np.zeros(3, np.float32), "total")

    def construct(self, x: Any) -> Any:
        before = self.total * 1
        ops.assign_add(self.total, x)
        return before, self.total + 0


@pytest.mark.parametrize("engine", [TorchEngine(), Apart()], ids=["host", "apart"])
def test_parameters_are_updated_where_they_are(engine: TorchEngine) -> None:
    x = Tensor(np.array([1, 2, 3], np.float32))
    with graph_mode(), session.fresh(hooked=False) as used:
        used.engine = engine
        net = Counter()
        array = net.total.asnumpy()
        for step in range(3):
            before, after = net(x)
            assert net.total.asnumpy() is array
            assert array.tolist() == after.asnumpy().tolist() == [step + 1, 2 * step + 2, 3 * step + 3]
            assert before.asnumpy().tolist() == [step, 2 * step, 3 * step]
            array += 0  # and the user may write into it between steps


@pytest.mark.parametrize("engine", [TorchEngine(), Apart()], ids=["host", "apart"])
def test_a_result_does_not_share_the_input_of_the_caller(engine: TorchEngine) -> None:
    x = floats(2, 3)
    out = ran(lambda _, x: ops.reshape(x, (3, 2)), x, engine=engine)
    out.asnumpy()[...] = 7
    assert not (x.asnumpy() == 7).any()


@pytest.mark.parametrize("engine", [TorchEngine(), Apart()], ids=["host", "apart"])
def test_faults_strike_here_too(engine: TorchEngine) -> None:
    with graph_mode(), session.fresh(hooked=False) as used:
        used.engine = engine
        net = Net(lambda _, x: ops.sin(ops.cos(x)))
        with inject("Cos", "nan"):
            assert np.isnan(net(floats(2)).asnumpy()).tolist() == [True, False]
        with inject("Sin"), pytest.raises(KernelError, match="injected"):
            net(floats(2))


@pytest.mark.parametrize("kind", ["nan", "inf"])
@pytest.mark.parametrize("engine", [TorchEngine(), Apart()], ids=["host", "apart"])
def test_faults_of_updates_reach_the_parameter(engine: TorchEngine, kind: Any) -> None:
    with graph_mode(), session.fresh(hooked=False) as used:
        used.engine = engine
        net = Counter()
        with inject("AssignAdd", kind):
            net(Tensor(np.ones(3, np.float32)))
        assert np.isfinite(net.total.asnumpy()).tolist() == [False, True, True]


def test_a_failure_names_the_operator_and_its_source() -> None:
    index = Tensor(np.array([7], np.int32))
    with pytest.raises(KernelError, match=r"Gather: an index lies outside -2..1 -- Default/Gather-op0, at .*py:\d+"):
        ran(lambda _, x, i: ops.gather(x, i, 0), floats(2, 3), index, engine=TorchEngine())


@pytest.mark.parametrize("engine", [TorchEngine(), Apart()], ids=["host", "apart"])
def test_what_pytorch_has_no_kernel_for_is_said(engine: TorchEngine) -> None:
    x = Tensor(np.array([2**64 - 1, 5], np.uint64))
    out = ran(lambda _, x: ops.maximum(x + x, x), x, engine=engine)
    assert out.asnumpy().tolist() == [2**64 - 1, 10]
    assert engine.by_numpy == {"Maximum (UInt64)"}


def test_random_numbers_are_the_harness_s_own() -> None:
    def drop(_: Any, x: Any) -> Any:
        return ops.StandardNormal(3, 4)((4,)) + call("Dropout", x, 0.5, 1, 2)[0]

    x, engine = floats(4), TorchEngine()
    with graph_mode(), session.fresh(hooked=False):
        own = Net(drop)(x)
    np.testing.assert_allclose(ran(drop, x, engine=engine).asnumpy(), own.asnumpy(), 1e-6)
    assert engine.by_numpy == {"StandardNormal"}


@pytest.mark.parametrize("dtype", dtypes.ALL, ids=str)
@pytest.mark.parametrize("shape", [(), (0, 3), (2, 3)])
def test_arrays_become_tensors_and_back(dtype: Any, shape: tuple[int, ...]) -> None:
    array = np.arange(6)[: int(np.prod(shape))].reshape(shape).astype(dtype.numpy)
    tensor = taken(array)
    back = as_array(finished(tensor, dtype))
    assert back.dtype == array.dtype
    assert back.shape == array.shape
    assert back.tobytes() == array.tobytes()
    assert np.shares_memory(back, array) == bool(array.size)


def test_an_array_that_cannot_be_written_is_copied() -> None:
    array = np.arange(3.0)
    array.flags.writeable = False
    assert taken(array).data_ptr() != array.ctypes.data


@pytest.mark.parametrize("dtype", [d for d in dtypes.ALL if d.kind in "iu" and d is not dtypes.uint64], ids=str)
def test_results_wrap_and_are_cut_as_the_harness_does(dtype: Any) -> None:
    from harness.framework.ops.numerics import finish

    whole = np.array([2**40 + 3, -(2**33) - 1, 300, -1])
    assert as_array(finished(taken(whole), dtype)).tolist() == finish(whole, dtype).tolist()
    floating = np.array([3.9, -3.9, 1e5])
    assert as_array(finished(taken(floating), dtype)).tolist() == finish(floating, dtype).tolist()


def test_settings_are_set_for_a_block() -> None:
    from harness.framework.engines.torch.settings import deterministic, recorded

    before = torch.are_deterministic_algorithms_enabled(), torch.backends.cudnn.benchmark
    with deterministic():
        assert torch.are_deterministic_algorithms_enabled()
        assert not torch.backends.cudnn.allow_tf32
        found = recorded("cpu")
    assert found["torch"] == torch.__version__
    assert found["deterministic_algorithms"] is True
    assert (torch.are_deterministic_algorithms_enabled(), torch.backends.cudnn.benchmark) == before
