"""One rank fails before a sum that the others wait in."""

import sys

import mindspore as ms
import numpy as np
from mindspore import Tensor, ops
from mindspore.communication import get_rank, init
from said import said

ms.set_context(mode=ms.PYNATIVE_MODE, device_target="CPU")
init()
x = Tensor(np.ones(2, np.float32))
said("first", ops.AllReduce()(x))
if get_rank() == 1:
    raise ValueError("enough") if "raises" in sys.argv else SystemExit(3)
said("second", ops.AllReduce()(x))
