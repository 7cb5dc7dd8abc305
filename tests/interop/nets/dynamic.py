"""A first dimension that is known only at run time, down to none."""

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops

ms.set_context(mode=ms.GRAPH_MODE)
ms.set_device("CPU")


class Dynamic(nn.Cell):
    def construct(self, x):
        y = ops.relu(x)
        return ops.concat((y, y), axis=0) + 1, ops.nonzero(y)


net = Dynamic()
net.set_inputs(Tensor(shape=[None, 2], dtype=ms.float32))
for rows in (2, 3, 0):
    try:
        print([out.shape for out in net(Tensor(np.arange(rows * 2).reshape(rows, 2).astype(np.float32)))])
    except Exception as error:
        print(type(error).__name__)
