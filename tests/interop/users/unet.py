import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops

ms.set_seed(0)
ms.set_context(mode=ms.GRAPH_MODE)


class UNet3D(nn.Cell):
    def __init__(self):
        super().__init__()
        self.a = nn.Conv3d(1, 2, 3)
        self.bn = nn.BatchNorm3d(2)
        self.p = ops.MaxPool3D(2, 2)
        self.b = nn.Conv3d(2, 4, 3)
        self.u = nn.Conv3dTranspose(4, 2, 2, stride=2, pad_mode="valid")
        self.o = nn.Conv3d(4, 1, 1)
        self.cat = ops.Concat(1)

    def construct(self, x):
        a = ops.relu(self.bn(self.a(x)))
        return self.o(self.cat((a, self.u(ops.relu(self.b(self.p(a)))))))


net = UNet3D()
step = nn.TrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()), nn.Adam(net.trainable_params(), 0.01))
step.set_train()
r = np.random.RandomState(0)
x = Tensor(r.randn(1, 1, 4, 4, 4).astype(np.float32))
for _ in range(3):
    print(f"{float(step(x, x)):.4f}")
