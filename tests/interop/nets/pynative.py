"""PyNative mode: only the function under ``jit`` is a graph."""

import mindspore as ms
import numpy as np
from mindspore import Tensor, ops

ms.set_context(mode=ms.PYNATIVE_MODE)
ms.set_device("CPU")


@ms.jit
def f(x):
    return x * 2 + 1


x = Tensor(np.ones(3, np.float32))
print(ops.add(x, x))
print(f(x))
print(f(x))
