"""Methods that are functions of their own, and what ``arange`` calls: looked up in the order of inference, too."""

import mindspore as ms
import numpy as np
from mindspore import Parameter, Tensor, nn, ops

ms.set_context(mode=ms.GRAPH_MODE)
data = Tensor(np.arange(16, dtype=np.float32).reshape(4, 4) / 8)


class Body(nn.Cell):
    def __init__(self):
        super().__init__()
        self.queue = Parameter(Tensor(np.ones((4, 4), np.float32)), name="queue", requires_grad=False)
        self.loss = nn.CrossEntropyLoss()

    def enqueue(self, keys):
        ops.assign(self.queue, keys.expand_dims(-1).sum(-1))

    def construct(self, x):
        loss = self.loss(x, ops.zeros(4, ms.int32))
        self.enqueue(x)
        return loss


class Attribute(Body):
    def enqueue(self, keys):
        self.queue = keys.expand_dims(-1).sum(-1)


class Unused(Body):
    def enqueue(self, keys):
        keys.expand_dims(-1).sum(-1)


class Returned(Body):
    def enqueue(self, keys):
        return keys.expand_dims(-1).sum(-1)


class Before(Body):
    def construct(self, x):
        loss = self.loss(x, ops.zeros(4, ms.int32))
        return x.expand_dims(-1).sum() + loss


class Behind(Body):
    def construct(self, x):
        loss = self.loss(x, ops.zeros(4, ms.int32))
        return loss + x.expand_dims(-1).sum()


class Half(nn.Cell):
    def construct(self, x):
        return x.astype(ms.float16)


class Ascending(nn.Cell):
    def __init__(self):
        super().__init__()
        self.half = Half()

    def construct(self, x):
        return ops.arange(3).sum() * self.half(x).sum()


class Around(nn.Cell):
    def __init__(self, body):
        super().__init__()
        self.body = body

    def construct(self, x):
        return self.body(x)


for body in (Body, Attribute, Unused, Returned, Before, Behind, Ascending):
    Around(body())(data)
