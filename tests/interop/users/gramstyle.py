"""Neural style: Gram matrices of features, total variation, the image is the only parameter."""

import mindspore as ms
import numpy as np
from mindspore import Parameter, Tensor, nn, ops

ms.set_context(mode=ms.GRAPH_MODE)


class Features(nn.Cell):
    def __init__(self):
        super().__init__()
        r = np.random.RandomState(3)
        self.convs = nn.CellList()
        for a, b in ((3, 4), (4, 6)):
            c = nn.Conv2d(a, b, 3, pad_mode="same")
            c.weight.set_data(Tensor(r.randn(b, a, 3, 3) * 0.3, ms.float32))
            self.convs.append(c)
        self.pool = nn.MaxPool2d(2, 2)
        for p in self.get_parameters():
            p.requires_grad = False

    def construct(self, x):
        out = []
        for i, conv in enumerate(self.convs):
            x = ops.relu(conv(x))
            out.append(x)
            if i == 0:
                x = self.pool(x)
        return out


def gram(f):
    b, c, h, w = f.shape
    f = f.reshape(b, c, h * w)
    return ops.matmul(f, f.transpose(0, 2, 1)) / (c * h * w)


class StyleLoss(nn.Cell):
    def __init__(self, features, content, style):
        super().__init__()
        self.features = features
        self.image = Parameter(content.copy(), name="image")
        self.content = features(content)[-1]
        self.style = [gram(f) for f in features(style)]

    def construct(self):
        feats = self.features(self.image)
        content = ((feats[-1] - self.content) ** 2).mean()
        style = 0
        for at, g in enumerate(self.style):
            f = feats[at]
            style = style + ((gram(f) - g) ** 2).sum()
        tv = (
            ops.abs(self.image[:, :, 1:] - self.image[:, :, :-1]).mean()
            + ops.abs(self.image[..., 1:] - self.image[..., :-1]).mean()
        )
        return content + 10 * style + 0.1 * tv


r = np.random.RandomState(8)
content, style = Tensor(r.rand(1, 3, 8, 8), ms.float32), Tensor(r.rand(1, 3, 8, 8), ms.float32)
loss = StyleLoss(Features(), content, style)
opt = nn.Adam([loss.image], 0.05)
step = nn.TrainOneStepCell(loss, opt)
for i in range(4):
    print(i, step())
print(loss.image[0, 0, :2], len(loss.trainable_params()))
