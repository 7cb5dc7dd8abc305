"""The text log of a training."""

from __future__ import annotations

import numpy as np
import pytest

from harness import nn
from harness.framework.tensor import Tensor
from harness.framework.train import Callback, recording
from tests.framework.train.reference import FACTS, network


class Says(Callback):
    def on_train_begin(self, run_context):
        print("took 1.234 ms", np.float64(0.5).__repr__())


def results(**more):
    net = network()
    batches = [
        (Tensor(np.float32(FACTS["x"][at : at + 4])), Tensor(np.int32(FACTS["y"][at : at + 4]))) for at in (0, 4, 8)
    ]
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    optimizer = nn.Momentum(net.trainable_params(), 0.1, 0.9)
    return recording.train(net, loss, optimizer, more.get("batches", batches), 2, Says(), {"accuracy"})


def test_losses_metrics_checkpoints_and_lines(capsys: pytest.CaptureFixture[str]) -> None:
    outputs, text = results()
    assert [float(each.asnumpy()) for each in outputs] == pytest.approx(FACTS["ms_losses_epoch1_2"], abs=4e-7)
    lines = text.splitlines()
    assert [line.partition(":")[0] for line in lines] == [
        "step 1", "step 2", "step 3", "epoch 1", "epoch 1", "step 4", "step 5", "step 6", "epoch 2", "epoch 2",
        "printed",
    ]  # fmt: skip
    assert lines[0] == f"step 1: loss {recording.exact(outputs[0])}"
    assert lines[-1] == "printed: took # ms 0.5"
    assert "took 1.234 ms" in capsys.readouterr().out
    assert results()[1] == text


def test_a_training_needs_a_batch() -> None:
    with pytest.raises(ValueError, match="at least one batch"):
        results(batches=[])


def test_values_are_exact() -> None:
    assert (
        recording.exact((Tensor(np.float32(0.1)), [1, 2.5])) == "[float32 0.10000000149011612, [int64 1, float64 2.5]]"
    )
