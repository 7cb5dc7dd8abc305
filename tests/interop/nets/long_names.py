"""Cells with names of given lengths, so that file names go beyond 255 bytes: ``long_names.py LENGTH...``."""

import sys

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn

ms.set_context(mode=ms.GRAPH_MODE)
ms.set_device("CPU")


class Long(nn.Cell):
    def __init__(self, lengths):
        super().__init__()
        names = [f"a{length}".ljust(length, "b") for length in lengths]
        for name in names:
            self.insert_child_to_cell(name, nn.ReLU())
        self.layers = nn.CellList([getattr(self, name) for name in names])

    def construct(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


Long([int(given) for given in sys.argv[1:]])(Tensor(np.ones((1, 2), np.float32)))
