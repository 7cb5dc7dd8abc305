"""A ``SummaryRecord`` below the directory given, in the mode given: under the real MindSpore, or ``msdump run``."""

from __future__ import annotations

import sys

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.dense = nn.Dense(3, 2, weight_init="ones", bias_init="zeros")
        self.scalar, self.tensor = ops.ScalarSummary(), ops.TensorSummary()
        self.histogram, self.image = ops.HistogramSummary(), ops.ImageSummary()

    def construct(self, x):
        y = self.dense(x)
        self.scalar("loss", y.mean())
        self.tensor("y", y)
        self.histogram("weight", self.dense.weight)
        self.image("picture", x.reshape(1, 1, 2, 3))
        return y.sum()


if __name__ == "__main__":
    ms.set_context(mode=int(sys.argv[2]))
    network = Net()
    with ms.SummaryRecord(sys.argv[1], network=network) as record:
        for step in range(3):
            network(Tensor(np.arange(6).reshape(2, 3) * (step + 1.0), ms.float32))
            record.add_value("scalar", "accuracy", Tensor(0.5 * step, ms.float32))
            record.add_value("tensor", "numbers", Tensor(np.arange(4, dtype=np.int32)))
            record.add_value("image", "pictures", Tensor((np.arange(96) % 7).reshape(2, 3, 4, 4).astype(np.float32)))
            record.add_value("histogram", "spread", Tensor(np.arange(12, dtype=np.float32)))
            record.record(step)
        record.flush()
    # MindInsight 2.3.1 shows neither picture nor tensor here, of whichever side.
    with ms.SummaryRecord(sys.argv[1] + "/plain") as record:
        for step in range(3):
            record.add_value("scalar", "accuracy", Tensor(0.5 * step, ms.float32))
            record.add_value("histogram", "spread", Tensor(np.arange(12, dtype=np.float32) * step))
            record.record(step)
