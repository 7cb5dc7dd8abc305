"""A training with a ``SummaryCollector`` below the directory given: under the real MindSpore, or ``msdump run``."""

from __future__ import annotations

import sys

import mindspore as ms
from mindspore import nn
from mindspore.train import Model, SummaryCollector

from tests.interop.trainings import entropy, fill, rows

if __name__ == "__main__":
    ms.set_context(mode=ms.GRAPH_MODE)
    network = fill(nn.Dense(3, 2))
    model = Model(network, entropy(), nn.Momentum(network.trainable_params(), 0.1, 0.9), metrics={"accuracy"})
    model.train(2, rows((3,), 2), SummaryCollector(sys.argv[1], collect_freq=2, custom_lineage_data={"version": "one"}))
    model.eval(rows((3,), 2), callbacks=SummaryCollector(sys.argv[1] + "/later"))
