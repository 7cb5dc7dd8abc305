"""What the gate must catch: a change as small as one unit in the last place, named exactly where it is.

Every shipped network is run with one change in it and judged against its own golden. (``test_gate_notices`` holds the
same for pytest's own run, its names and its stores.)
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from harness import backends, context, nn
from harness.compare import Comparison, State, Tolerances, Verdict, check, first_divergence
from harness.framework.ops.base import OPERATORS
from harness.store import GoldenStore
from tests.gate.networks import values

ROOT = Path(__file__).parents[2]
GOLDENS = ROOT / "golden" / "tests" / "gate" / "test_networks"
NETWORKS = sorted(path.stem.removeprefix("test_") for path in GOLDENS.glob("*.h5"))
#: networks with a parameter and a dense layer called ``fc1``
DENSE = ["half", "lenet", "mlp"]


@pytest.fixture(autouse=True)
def graph_mode() -> Iterator[None]:
    """What the gate sets around a test: graph mode and a fixed seed."""
    before = context.get_context("mode")
    context.set_context(mode=context.GRAPH_MODE)
    context.set_seed(0)
    yield
    context.set_context(mode=before)


class Recorder:
    """Stands in for the fixture ``msdump``: only runs."""

    def run(self, network: Any, *inputs: Any, steps: int = 1) -> None:
        for _ in range(steps):
            network(*inputs)

    def train(self, network: Any, loss: Any, optimizer: Any, batches: Any) -> None:
        step = nn.TrainOneStepCell(nn.WithLossCell(network, loss), optimizer).set_train()
        for batch in batches:
            step(*batch)


def judged(name: str) -> Comparison:
    """The network's run now against its golden, nothing tolerated."""
    module = importlib.import_module(f"tests.gate.networks.{name}")
    capture = backends.get("cpu").run(lambda: module.play(Recorder()), network=name, rootdir=str(ROOT))
    with GoldenStore.open(GOLDENS / f"test_{name}.h5") as store:
        return check(store.run("cpu", "tensor"), capture, Tolerances())


def change_weights(monkeypatch: pytest.MonkeyPatch, name: str, change: Callable[[Any], None]) -> None:
    """Lets ``change`` work on the network once its weights are set."""
    module = importlib.import_module(f"tests.gate.networks.{name}")

    def filled(network: Any) -> Any:
        change(values.fill(network))
        return network

    monkeypatch.setattr(module, "fill", filled)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", NETWORKS)
def test_an_unchanged_network_is_identical(name: str) -> None:
    comparison = judged(name)
    assert {slot.verdict for slot in comparison.slots} == {Verdict.IDENTICAL}


@pytest.mark.parametrize("name", DENSE)
def test_a_weight_moved_by_one_ulp(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def change(network: Any) -> None:
        weight = dict(network.parameters_and_names())["fc1.weight"].asnumpy()
        weight[1, 2] = np.nextafter(weight[1, 2], np.float32(np.inf))

    change_weights(monkeypatch, name, change)
    divergence = first_divergence(judged(name))
    assert divergence is not None
    assert "fc1-Dense" in divergence.where.operator
    (given,) = [each.slot for each in divergence.inputs if each.state is State.DIFFERS]
    assert given is not None
    assert given.measurement is not None
    assert given.measurement.max_ulp == 1
    assert given.measurement.at_ulp == (1, 2)


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("name", "operator", "place"),
    [
        ("mlp", "Sigmoid", "fc1-Dense/activation-Sigmoid/Sigmoid-op0"),
        ("lenet", "MaxPool", "pool-MaxPool2d/MaxPool-op0"),
        ("residual", "ReduceMean", "ReduceMean-op0"),
        ("transformer", "LayerNorm", "norm1-LayerNorm/LayerNorm-op0"),
        ("lstm", "Tanh", "Tanh-op0"),
        ("alexnet", "Conv2D", "conv1-Conv2d/Conv2D-op0"),
        ("half", "ReLU", "activation-ReLU/ReLU-op0"),
    ],
)
def test_one_element_of_a_kernel_s_result(
    name: str, operator: str, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    kernel = OPERATORS.get(operator).kernel
    left = [1]

    def wrong(call: Any, *args: Any) -> Any:
        result = kernel(call, *args)
        if not left[0]:
            return result
        left[0] = 0
        first = np.array(result[0] if isinstance(result, tuple) else result, call.outputs()[0].dtype.numpy)
        first.flat[3] = np.nextafter(first.flat[3], first.dtype.type(np.inf))
        return (first, *result[1:]) if isinstance(result, tuple) else first

    monkeypatch.setattr(OPERATORS.get(operator), "kernel", wrong)
    comparison = judged(name)
    divergence = first_divergence(comparison)
    assert divergence is not None
    assert divergence.inputs_agree
    assert divergence.where.operator.endswith(place)
    assert divergence.where.iteration == 0
    assert [slot.key.slot_name for slot in divergence.slots if not slot.verdict.holds] == ["output.0"]
