import mindspore as ms
import numpy as np
from mindspore import Tensor, nn

ms.set_seed(3)
ms.set_context(mode=ms.GRAPH_MODE)


class DnCNN(nn.Cell):
    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(1, 4, 3, pad_mode="same", has_bias=True)
        self.act = nn.LeakyReLU(0.1)
        self.last = nn.Conv2d(4, 1, 3, pad_mode="same", has_bias=True)

    def construct(self, x):
        return x - self.last(self.act(self.first(x)))


r = np.random.RandomState(0)
clean = r.rand(2, 1, 12, 12).astype(np.float32)
noisy = (clean + 0.1 * r.randn(2, 1, 12, 12)).astype(np.float32)
net = DnCNN()
step = nn.TrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()), nn.Adam(net.trainable_params(), 1e-2))
step.set_train()
for _ in range(3):
    print(f"loss {float(step(Tensor(noisy), Tensor(clean))):.4f}")
out = net(Tensor(noisy))
psnr, ssim = nn.PSNR()(out, Tensor(clean)), nn.SSIM()(out, Tensor(clean))
print("psnr", [f"{float(v):.3f}" for v in psnr.asnumpy()], "ssim", [f"{float(v):.4f}" for v in ssim.asnumpy()])
