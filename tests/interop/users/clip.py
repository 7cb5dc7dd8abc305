import mindspore as ms
import numpy as np
from mindspore import Tensor, nn
from mindspore.context import ParallelMode
from mindspore.ops import composite as C
from mindspore.ops import functional as F

ms.set_seed(0)
ms.context.set_context(mode=ms.context.GRAPH_MODE)
clip_grad = C.MultitypeFuncGraph("clip_grad")


@clip_grad.register("Number", "Number", "Tensor")
def _clip(t, v, g):
    dt = F.dtype(g)
    if t == 0:
        return C.clip_by_value(g, F.cast(F.tuple_to_array((-v,)), dt), F.cast(F.tuple_to_array((v,)), dt))
    return nn.ClipByNorm()(g, F.cast(F.tuple_to_array((v,)), dt))


class Step(nn.TrainOneStepCell):
    def __init__(self, net, opt):
        super().__init__(net, opt)
        self.hyper_map = C.HyperMap()
        self.mode = ms.context.get_auto_parallel_context("parallel_mode")
        self.flag = self.mode in [ParallelMode.DATA_PARALLEL]

    def construct(self, x, y):
        loss_value = self.network(x, y)
        g = self.grad_no_sens(self.network, self.weights)(x, y)
        g = self.hyper_map(F.partial(clip_grad, 1, 0.5), g)
        return F.depend(loss_value, self.optimizer(g))


net = nn.WithLossCell(nn.Dense(3, 2), nn.MSELoss())
s = Step(net, nn.Adam(net.trainable_params(), 0.1))
r = np.random.RandomState(0)
for _ in range(3):
    print(f"{float(s(Tensor(r.randn(4, 3).astype(np.float32)), Tensor(r.randn(4, 2).astype(np.float32)))):.4f}")
