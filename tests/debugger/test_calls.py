"""Levels L0, L1 and mix: the calls that ``PrecisionDebugger`` sees in PyNative mode, and what it writes of them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import harness as ms
from harness import Tensor, context, nn, ops
from harness.debugger.debugger import PrecisionDebugger
from harness.errors import DumpConfigError, SettingTypeError, StateError
from harness.framework.tensor import watch

Make = Callable[..., type[PrecisionDebugger]]


class Net(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.fc = nn.Dense(3, 2)
        self.bn = nn.BatchNorm1d(2)

    def construct(self, x: Tensor) -> Tensor:
        return ops.relu(self.bn(self.fc(x))) * 2


@pytest.fixture
def make(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Make]:
    """Makes the debugger of a process that has none."""
    monkeypatch.setattr(PrecisionDebugger, "_instance", None)
    before = context.get_context("mode")
    context.set_context(mode=context.PYNATIVE_MODE)

    def made(level: str, task: str = "tensor", section: dict[str, Any] | None = None, **more: Any) -> Any:
        config = {"task": task, "dump_path": str(tmp_path / "dump"), "level": level, task: section or {}, **more}
        (tmp_path / "config.json").write_text(json.dumps(config))
        return PrecisionDebugger(str(tmp_path / "config.json"))

    yield made
    watch(None)
    context.set_context(mode=before)


def train(debugger: Any, steps: int = 1) -> Net:
    ms.set_seed(3)
    net = Net()
    net.set_train()
    gradient = ms.value_and_grad(lambda x: net(x).sum(), None, net.trainable_params())
    for _ in range(steps):
        debugger.start(net)
        gradient(Tensor(np.arange(6).reshape(2, 3), ms.float32))
        debugger.stop()
        debugger.step()
    return net


def written(tmp_path: Path, name: str = "dump.json", number: int = 0) -> Any:
    (directory,) = (tmp_path / "dump" / f"step{number}").iterdir()
    return json.loads((directory / name).read_text())


def test_cells_with_their_parameters_and_gradients(make: Make, tmp_path: Path) -> None:
    net = train(make("L0"))
    data = written(tmp_path)["data"]
    assert list(data) == [
        "Cell.fc.Dense.forward.0", "Cell.bn.BatchNorm1d.forward.0", "Cell.bn.BatchNorm1d.parameters_grad.0",
        "Cell.bn.BatchNorm1d.backward.0", "Cell.fc.Dense.parameters_grad.0", "Cell.fc.Dense.backward.0",
    ]  # fmt: skip
    assert set(data["Cell.fc.Dense.forward.0"]) == {"input_args", "input_kwargs", "output", "parameters"}
    assert set(data["Cell.fc.Dense.parameters_grad.0"]) == {"weight", "bias"}
    assert data["Cell.fc.Dense.backward.0"]["output"] == [None]  # the argument of the network has no gradient
    (directory,) = (tmp_path / "dump" / "step0").iterdir()
    kept = np.load(directory / "dump_tensor_data" / "Cell.bn.BatchNorm1d.forward.0.parameters.moving_mean.npy")
    assert np.array_equal(kept, net.bn.moving_mean.asnumpy())
    assert written(tmp_path, "construct.json")["Cell.fc.Dense.forward.0"] is None


def test_functions_methods_and_primitives(make: Make, tmp_path: Path) -> None:
    train(make("L1", "statistics"))
    data = written(tmp_path)["data"]
    forward = [key for key in data if key.endswith(".forward")]
    assert forward == [
        "Primitive.matmul.MatMul.0.forward", "Primitive.bias_add.BiasAdd.0.forward",
        "Primitive.bn_train.BatchNorm.0.forward", "Functional.relu.0.forward", "Tensor.__mul__.0.forward",
        "Tensor.sum.0.forward",
    ]  # fmt: skip
    assert data["Tensor.__mul__.0.forward"]["input_args"][1] == {"type": "int", "value": 2}
    assert len(data["Primitive.matmul.MatMul.0.backward"]["output"]) == 1  # of the weight alone
    assert written(tmp_path, "construct.json") == {}
    assert not list((tmp_path / "dump").rglob("*.npy"))


def test_mix_knows_the_cell_of_each_call(make: Make, tmp_path: Path) -> None:
    train(make("mix", "statistics"))
    parents = written(tmp_path, "construct.json")
    assert parents["Primitive.matmul.MatMul.0.forward"] == "Cell.fc.Dense.forward.0"
    assert parents["Primitive.matmul.MatMul.0.backward"] == "Cell.fc.Dense.backward.0"
    assert parents["Functional.relu.0.forward"] is None
    stacks = written(tmp_path, "stack.json")
    names, lines = next(row for row in stacks.values() if "Functional.relu.0.forward" in row[0])
    assert "ops.relu(self.bn(self.fc(x)))" in lines[0], names


def test_steps_and_counts(make: Make, tmp_path: Path) -> None:
    train(make("L0", "statistics", step=[1]), steps=3)
    assert [path.name for path in (tmp_path / "dump").iterdir()] == ["step1"]
    assert "Cell.fc.Dense.forward.0" in written(tmp_path, number=1)["data"]


@pytest.mark.parametrize(
    ("section", "expected"),
    [
        ({"list": ["relu"]}, {"Functional.relu.0.forward", "Functional.relu.0.backward"}),
        ({"scope": ["Functional.relu.0.forward", "Tensor.__mul__.0.forward"]},
         {"Functional.relu.0.forward", "Tensor.__mul__.0.forward"}),
        ({"data_mode": ["backward"], "list": ["__mul__"]}, {"Tensor.__mul__.0.backward"}),
    ],
)  # fmt: skip
def test_selection(make: Make, tmp_path: Path, section: dict[str, Any], expected: set[str]) -> None:
    train(make("L1", "statistics", section))
    assert set(written(tmp_path)["data"]) == expected


def test_md5_and_tensor_list(make: Make, tmp_path: Path) -> None:
    train(make("L1", "statistics", {"summary_mode": "md5", "tensor_list": ["relu"]}))
    assert len(written(tmp_path)["data"]["Tensor.__mul__.0.forward"]["output"][0]["md5"]) == 8
    kept = {path.name for path in (tmp_path / "dump").rglob("*.npy")}
    assert kept == {f"Functional.relu.0.{part}.0.npy" for part in
                    ("forward.input", "forward.output", "backward.input", "backward.output")}  # fmt: skip


def test_a_run_that_fails_keeps_what_was_computed(make: Make, tmp_path: Path) -> None:
    debugger: Any = make("L0", "statistics")
    net = nn.SequentialCell(nn.Dense(3, 2), nn.Dense(3, 2))
    debugger.start(net)
    with pytest.raises(ValueError, match="inner dimensions"):
        ms.grad(lambda x: net(x).sum())(Tensor(np.ones((1, 3)), ms.float32))
    debugger.stop()
    assert written(tmp_path)["data"]["Cell.0.Dense.forward.0"]["output"][0]["Max"] is not None


def test_refusals(make: Make, tmp_path: Path) -> None:
    with pytest.raises(DumpConfigError, match="data_mode"):
        make("L1", section={"data_mode": ["kwargs"]})
    with pytest.raises(DumpConfigError, match="scope"):
        make("L0", section={"scope": ["relu", "add"]})
    debugger: Any = make("L0")
    with pytest.raises(SettingTypeError, match="needs the model"):
        debugger.start()
    context.set_context(mode=context.GRAPH_MODE)
    with pytest.raises(StateError, match="PyNative"):
        debugger.start(Net())


def test_nothing_is_watched_after_stop(make: Make, tmp_path: Path) -> None:
    debugger: Any = make("mix", "statistics")
    net = train(debugger)
    net(Tensor(np.ones((2, 3)), ms.float32))
    assert [path.name for path in (tmp_path / "dump").iterdir()] == ["step0"]


def test_another_runs_dump_is_not_mixed_with_ours(make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    train(make("L0", "statistics"))
    monkeypatch.setattr(PrecisionDebugger, "_instance", None)
    with pytest.raises(OSError, match="another run"):
        train(make("L0", "statistics"))
