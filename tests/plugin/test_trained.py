"""``msdump.train`` with epochs, callbacks or metrics: what a training leaves beside tensors is checked, too."""

from __future__ import annotations

import pytest

pytest_plugins = ["pytester"]

TRAINED = """
import os
import numpy as np
import pytest
from harness import Tensor, nn
from harness.framework.train import Callback, LossMonitor, TimeMonitor

WORD = os.environ.get("ADDED", "a")


class Says(Callback):
    def on_train_end(self, run_context):
        print("said", WORD)


@pytest.mark.msdump
def test_trained(msdump):
    network = nn.Dense(2, 2)
    optimizer = nn.Adam(network.trainable_params(), 0.1)
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    batches = [(Tensor(np.eye(2, dtype=np.float32) + at), Tensor(np.int32([0, 1]))) for at in range(3)]
    losses = msdump.train(network, loss, optimizer, batches, epochs=2, metrics={"loss", "accuracy"},
                          callbacks=[LossMonitor(3), TimeMonitor(), Says()])
    assert len(losses) == 6
"""


@pytest.fixture
def trained(gate: pytest.Pytester) -> pytest.Pytester:
    gate.makepyfile(test_nets=TRAINED)
    gate.runpytest("--msdump-regen").assert_outcomes(passed=1)
    return gate


def test_an_equal_training_holds(trained: pytest.Pytester) -> None:
    for _ in range(2):
        trained.runpytest("--msdump").assert_outcomes(passed=1)


def test_what_it_left_is_in_the_golden(trained: pytest.Pytester) -> None:
    from harness.store import GoldenStore

    (path,) = (trained.path / "golden").rglob("*.h5")
    with GoldenStore.open(path) as store:
        lines = store.run("cpu", "tensor").artefacts()["compared/training_0.txt"].decode().splitlines()
    heads = [
        line.partition(" float")[0].partition(" checkpoint")[0] for line in lines if not line.startswith("printed")
    ]
    steps = [[f"step {at}: loss" for at in part] for part in ((1, 2, 3), (4, 5, 6))]
    ends = [[f"epoch {at}: accuracy", f"epoch {at}: loss", f"epoch {at}:"] for at in (1, 2)]
    assert heads == [*steps[0], *ends[0], *steps[1], *ends[1]]
    printed = [line.removeprefix("printed: ") for line in lines if line.startswith("printed")]
    assert printed[0].startswith("epoch: 1 step: 3, loss is 0.")
    assert "Eval epoch time: # ms, per step time: # ms" in printed
    assert printed[-1] == "said a"


def test_another_printed_line_is_found(trained: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ADDED", "b")
    result = trained.runpytest("--msdump")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*compared/training_0.txt*", "*said b*"])


def test_what_is_printed_is_shown(trained: pytest.Pytester) -> None:
    trained.runpytest("--msdump", "-s").stdout.fnmatch_lines(["*epoch: 1 step: 3, loss is *", "*said a*"])
