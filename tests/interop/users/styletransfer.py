import mindspore as ms
import numpy as np
from mindspore import Parameter, Tensor, nn, ops
from mindspore.common.initializer import Constant, HeNormal

ms.set_seed(8)


class Features(nn.Cell):
    def __init__(self):
        super().__init__()
        self.blocks = nn.CellList()
        c = 3
        for o in (4, 8):
            self.blocks.append(
                nn.SequentialCell(
                    nn.Conv2d(
                        c,
                        o,
                        3,
                        pad_mode="pad",
                        padding=1,
                        weight_init=HeNormal(mode="fan_out", nonlinearity="relu"),
                        has_bias=True,
                        bias_init=Constant(0.05),
                    ),
                    nn.ReLU(),
                    nn.MaxPool2d(2, 2),
                )
            )
            c = o

    def construct(self, x):
        outs = []
        for b in self.blocks:
            x = b(x)
            outs.append(x)
        return outs


def gram(f):
    n, c, h, w = f.shape
    f = f.reshape(n, c, h * w)
    return ops.bmm(f, f.transpose(0, 2, 1)) / (c * h * w)


def tv(x):
    return ops.abs(x[:, :, 1:, :] - x[:, :, :-1, :]).mean() + ops.abs(x[..., 1:] - x[..., :-1]).mean()


class Image(nn.Cell):
    def __init__(self, init):
        super().__init__()
        self.image = Parameter(init.copy(), name="image")

    def construct(self):
        return self.image.clip(0, 1)


feat = Features()
feat.set_grad(False)
for p in feat.trainable_params():
    p.requires_grad = False
print(len(feat.trainable_params()), len(list(feat.get_parameters())))
rng = np.random.RandomState(0)
content = Tensor(rng.rand(1, 3, 8, 8).astype(np.float32))
style = Tensor(rng.rand(1, 3, 8, 8).astype(np.float32))
targets = [ops.stop_gradient(gram(f)) for f in feat(style)]
cf = ops.stop_gradient(feat(content)[-1])
img = Image(content)
opt = nn.Adam(img.trainable_params(), learning_rate=0.05)


def loss_fn():
    x = img()
    fs = feat(x)
    sl = 0
    for f, t in zip(fs, targets, strict=False):
        sl += ((gram(f) - t) ** 2).sum()
    cl = ((fs[-1] - cf) ** 2).mean()
    return (100 * sl + cl + 0.1 * tv(x), sl, cl)


vg = ms.value_and_grad(loss_fn, None, opt.parameters, has_aux=True)
for i in range(6):
    (value, s, c), g = vg()
    opt(g)
    print(f"{i}: {value.asnumpy():.5f} {s.asnumpy():.6f} {c.asnumpy():.6f} |g| {ops.norm(g[0]).asnumpy():.5f}")
out = img().asnumpy()
print(out.min().round(3), out.max().round(3), out.mean().round(4))
