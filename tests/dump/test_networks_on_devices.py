"""The dump of real networks on every device that runs kernel by kernel: its tree against what the kernels showed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import harness as ms
from harness import Tensor, nn, ops
from harness.capture import Capture, read_tree
from harness.devices import DEVICES
from harness.dump import parse
from harness.dump.environment import observer_for
from harness.framework.ops.base import OPERATORS
from harness.framework.runtime import session
from harness.recording import Launch, Observer
from harness.recording.value import Array
from tests.dump.build import config_text

KERNEL_BY_KERNEL = ("cpu", "gpu", "ascend-o0", "ascend-o1")
ON_DEVICE = ("gpu", "ascend-o0", "ascend-o1")


@pytest.fixture(autouse=True)
def graph_mode() -> Iterator[None]:
    before = ms.get_context("mode")
    ms.set_context(mode=ms.GRAPH_MODE)
    yield
    ms.set_context(mode=before)


class Shown(Observer):
    """Copies of everything the kernels showed, by operator, slot and execution."""

    def __init__(self) -> None:
        self.tensors: dict[tuple[str, str, int], list[Array]] = {}

    def launch_end(self, launch: Launch) -> None:
        for io, slots in (("input", launch.updated), ("output", launch.outputs)):
            for slot in slots:
                self.tensors.setdefault((launch.operator.name, io, slot.index), []).append(slot.array.copy())


def run(
    root: Path, device: str, program: Callable[[], Any], e2e: dict[str, Any] | None = None, **changes: Any
) -> tuple[Capture, Shown]:
    """Runs a program under the dump of a device; its tree, and what its kernels showed."""
    config = parse(config_text(root, {"enable": True} | (e2e or {}), **changes), device, environ={})
    dump, shown = observer_for(config, DEVICES.get(device)), Shown()
    assert dump is not None
    process = session.Session([shown, dump], hooked=False, device=DEVICES.get(device))
    try:
        with session.in_session(process):
            program()
    finally:
        process.close()
    return read_tree(root), shown


class Net(nn.Cell):
    """A small convolutional network."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(4, 4, 3, group=2, has_bias=True)
        self.relu = nn.ReLU()
        self.pool = nn.MaxPool2d(2, 2)
        self.flatten = nn.Flatten()
        self.fc = nn.Dense(16, 5)

    def construct(self, x: Any) -> Any:
        return self.fc(self.flatten(self.pool(self.relu(self.conv(x)))))


def training() -> None:
    """Two steps."""
    ms.set_seed(7)
    net = Net()
    momentum = nn.Momentum(net.trainable_params(), 0.1, 0.9)
    step = nn.TrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()), momentum)
    data = Tensor(np.linspace(-1, 1, 64, dtype=np.float32).reshape(1, 4, 4, 4))
    for _ in range(2):
        step(data, Tensor(np.ones((1, 5), np.float32)))


def agree(capture: Capture, shown: Shown) -> int:
    """Compares each operator's tensors, execution by execution; how many there are."""
    left = {key: list(arrays) for key, arrays in shown.tensors.items()}
    count = 0
    for record in capture.records():
        if record.op_type == "Parameter":
            continue
        array = left[record.key.operator, record.key.io, record.key.slot].pop(0)
        found = record.load()
        assert found is not None
        assert (found.dtype, found.shape) == (array.dtype, array.shape)
        assert np.array_equal(
            found.view(np.uint8) if found.ndim else found, array.view(np.uint8) if array.ndim else array
        )
        count += 1
    assert capture.problems == []
    assert not any(array.size for arrays in left.values() for array in arrays)
    return count


@pytest.mark.sampled(3)
@pytest.mark.parametrize("trans_flag", [True, False])
@pytest.mark.parametrize("device", KERNEL_BY_KERNEL)
def test_a_training_network(tmp_path: Path, device: str, trans_flag: bool) -> None:
    capture, shown = run(tmp_path, device, training, {"trans_flag": trans_flag})
    assert agree(capture, shown) > 100
    formats = {record.format for record in capture.records()}
    on_device = device.startswith("ascend") and not trans_flag
    assert formats == ({"DefaultFormat", "NC1HWC0", "FRACTAL_Z", "FRACTAL_NZ"} if on_device else {"DefaultFormat"})
    assert any(record.op_type == "Parameter" for record in capture.records()) == (device in ("cpu", "gpu"))


@pytest.mark.sampled(3)
@pytest.mark.parametrize("device", ON_DEVICE)
def test_full_statistics_are_those_of_the_tensors(tmp_path: Path, device: str) -> None:
    items = ["md5", "hash", "max", "l2norm", "nan count"]
    capture, shown = run(tmp_path, device, training, saved_data="full", statistic_category=items)
    assert agree(capture, shown) > 100
    for record in capture.records():
        array = record.load()
        assert array is not None
        assert list(record.extra.row) == ["md5", "sha1", "max", "l2norm", "nan count"]
        assert record.extra.row.changes(array) == ""


@pytest.mark.parametrize("device", ["ascend-o0", "ascend-o1"])
def test_the_dump_beside_the_run_is_the_same(tmp_path: Path, device: str) -> None:
    capture, shown = run(tmp_path, device, training, {"enable": False}, saved_data="full")
    assert agree(capture, shown) > 100


@pytest.mark.parametrize("device", KERNEL_BY_KERNEL)
def test_control_flow_dynamic_shapes_and_recompilation(tmp_path: Path, device: str) -> None:
    class Branch(nn.Cell):
        def construct(self, x: Any) -> Any:
            y = ops.cond(ops.ReduceSum()(x) > 0, lambda v: v * 2, lambda v: v - 1, x)
            return y + Tensor(np.array([5.0, 6.0], np.float32))

    class Sum(nn.Cell):
        def construct(self, x: Any) -> Any:
            return ops.relu(x) + x

    def program() -> None:
        branch, total = Branch(), Sum()
        total.set_inputs(Tensor(shape=[None, 2], dtype=ms.float32))
        for sign in (1, -1):
            branch(Tensor(np.full(2, sign, np.float32)))
        for rows in (1, 3):
            total(Tensor(np.ones((rows, 2), np.float32)))
        for size in (2, 4):
            Sum()(Tensor(np.ones(size, np.float32)))

    capture, shown = run(tmp_path, device, program)
    assert agree(capture, shown) > 15
    graphs = {path.name for path in (tmp_path / "rank_0" / "Net").iterdir()}
    assert len(graphs) > 3
    constants = list(tmp_path.rglob("constants/*.npy"))
    assert bool(constants) == (device in ("cpu", "gpu"))
    if device == "gpu":
        assert [5.0, 6.0] in [np.load(path).tolist() for path in constants]


@pytest.mark.parametrize("device", ["ascend-o0", "ascend-o1"])
def test_marks_select_operators_forward_and_backward(tmp_path: Path, device: str) -> None:
    @pytest.mark.filterwarnings("ignore")
    def program() -> None:
        ms.set_seed(1)
        net = Net()
        with pytest.warns(UserWarning, match="dump mode 2"):
            ms.set_dump(net.fc)
        loss = nn.WithLossCell(net, nn.MSELoss())
        step = nn.TrainOneStepCell(loss, nn.SGD(net.trainable_params(), 0.1))
        step(Tensor(np.ones((1, 4, 4, 4), np.float32)), Tensor(np.ones((1, 5), np.float32)))

    capture, shown = run(tmp_path, device, program, dump_mode=2)
    names = {record.key.operator for record in capture.records()}
    scopes = {name.rpartition("/")[0] for name in names}
    assert all("fc-Dense" in scope for scope in scopes)
    assert any(scope.startswith("Default") for scope in scopes)
    assert any(scope.startswith("Gradients") for scope in scopes)
    assert len(names) < len({name for name, _, _ in shown.tensors})


@pytest.mark.parametrize("device", KERNEL_BY_KERNEL)
def test_a_kernel_that_fails(tmp_path: Path, device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = OPERATORS.get("MaxPool")

    def broken(*_: Any) -> Any:
        raise RuntimeError("the device is gone")

    monkeypatch.setattr(type(kernel), "kernel", broken)
    read = parse(config_text(tmp_path, {"enable": True}, op_debug_mode=4), device, environ={})
    dump = observer_for(read, DEVICES.get(device))
    assert dump is not None
    process = session.Session([dump], hooked=False, device=DEVICES.get(device))
    with session.in_session(process), pytest.raises(RuntimeError, match="the device is gone"):
        training()
    process.close()
    records = list(read_tree(tmp_path).records())
    if device.startswith("ascend"):
        assert [(record.op_type, record.key.slot_name) for record in records] == [("MaxPool", "input.0")]
    else:
        assert records == []


@pytest.mark.parametrize("device", ["ascend-o0", "ascend-o1"])
def test_only_what_overflows(tmp_path: Path, device: str) -> None:
    class Large(nn.Cell):
        def construct(self, x: Any) -> Any:
            y = ops.relu(x)
            return ops.Exp()(y), ops.neg(y)

    def program() -> None:
        Large()(Tensor(np.array([1.0, 100.0], np.float32)))

    capture, _ = run(tmp_path, device, program, op_debug_mode=3)
    records = list(capture.records())
    assert records
    overflowed = {r.key.operator for r in records if r.key.io == "output" and not np.isfinite(r.load()).all()}
    assert overflowed == {record.key.operator for record in records}
    assert {record.key.io for record in records} == {"input", "output"}
