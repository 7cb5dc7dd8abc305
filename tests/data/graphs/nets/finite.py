"""Loss scales: what is not finite is counted; outside a graph that, and dividing gradients, are graphs of their own."""

import mindspore as ms
import numpy as np
from mindspore import Tensor, amp, nn

x = Tensor(np.linspace(-1, 1, 8, dtype=np.float32).reshape(2, 4))
half = Tensor(np.ones(2, np.float16))


class Finite(nn.Cell):
    def construct(self, x, half):
        return amp.all_finite((x, half, x + 1)), amp.all_finite([half]), x + 1


class Scaled(nn.Cell):
    def __init__(self):
        super().__init__()
        self.scaler = amp.StaticLossScaler(4)
        self.finite = Finite()

    def construct(self, x, half):
        ok = self.finite(x, half)
        return self.scaler.unscale((x, half)), ok, self.scaler.scale(x)


ms.set_context(mode=ms.GRAPH_MODE)
Scaled()(x, half)
ms.set_context(mode=ms.PYNATIVE_MODE)
amp.StaticLossScaler(4).unscale(x)
for given in ((half, x), [half, x], [half, x]):
    amp.all_finite(given)
