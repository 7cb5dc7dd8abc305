import mindspore as ms
import mindspore.dataset as ds
import mindspore.nn as nn
import numpy as np
from mindspore import ops, train
from mindspore.common.initializer import Normal

ms.set_seed(4)
np.random.seed(4)
weight_init = Normal(mean=0, sigma=0.02)
gamma_init = Normal(mean=1, sigma=0.02)


class ResidualBlockBase(nn.Cell):
    expansion: int = 1

    def __init__(
        self,
        in_channel: int,
        out_channel: int,
        stride: int = 1,
        norm: nn.Cell | None = None,
        down_sample: nn.Cell | None = None,
    ) -> None:
        super().__init__()
        self.norm = norm if norm else nn.BatchNorm2d(out_channel)
        self.conv1 = nn.Conv2d(in_channel, out_channel, kernel_size=3, stride=stride, weight_init=weight_init)
        self.conv2 = nn.Conv2d(out_channel, out_channel, kernel_size=3, weight_init=weight_init)
        self.relu = nn.ReLU()
        self.down_sample = down_sample

    def construct(self, x):
        identity = x
        out = self.conv1(x)
        out = self.norm(out)
        out = self.relu(out)
        out = self.conv2(out)
        out = self.norm(out)
        if self.down_sample is not None:
            identity = self.down_sample(x)
        out += identity
        out = self.relu(out)
        return out


def make_layer(last: int, block: type[ResidualBlockBase], channel: int, nums: int, stride: int = 1):
    down_sample = None
    if stride != 1 or last != channel * block.expansion:
        down_sample = nn.SequentialCell(
            [
                nn.Conv2d(last, channel * block.expansion, kernel_size=1, stride=stride, weight_init=weight_init),
                nn.BatchNorm2d(channel * block.expansion, gamma_init=gamma_init),
            ]
        )
    layers = [block(last, channel, stride=stride, down_sample=down_sample)]
    for _ in range(1, nums):
        layers.append(block(channel * block.expansion, channel))
    return nn.SequentialCell(layers)


class ResNet(nn.Cell):
    def __init__(self, block, nums: list[int], classes: int) -> None:
        super().__init__()
        self.relu = nn.ReLU()
        self.conv1 = nn.Conv2d(3, 4, kernel_size=7, stride=2, weight_init=weight_init)
        self.norm = nn.BatchNorm2d(4)
        self.max_pool = nn.MaxPool2d(kernel_size=3, stride=2, pad_mode="same")
        self.layer1 = make_layer(4, block, 4, nums[0])
        self.layer2 = make_layer(4, block, 8, nums[1], stride=2)
        self.avg_pool = ops.AdaptiveAvgPool2D(1)
        self.flatten = nn.Flatten()
        self.fc = nn.Dense(8, classes)

    def construct(self, x):
        x = self.max_pool(self.relu(self.norm(self.conv1(x))))
        x = self.layer2(self.layer1(x))
        x = self.flatten(self.avg_pool(x))
        return self.fc(x)


net = ResNet(ResidualBlockBase, [1, 2], 5)
opt = nn.Momentum(
    params=[
        {"params": [p for p in net.trainable_params() if "conv" in p.name], "weight_decay": 1e-3},
        {"params": [p for p in net.trainable_params() if "conv" not in p.name]},
    ],
    learning_rate=nn.cosine_decay_lr(0.001, 0.1, 4, 2, 2),
    momentum=0.9,
)
loss_fn = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
x = np.random.rand(8, 3, 16, 16).astype(np.float32)
y = np.random.randint(0, 5, 8).astype(np.int32)
data = ds.NumpySlicesDataset({"image": x, "label": y}, shuffle=False).batch(4)


def forward_fn(inputs, targets):
    logits = net(inputs)
    return loss_fn(logits, targets)


grad_fn = ms.value_and_grad(forward_fn, None, opt.parameters)
for _epoch in range(2):
    net.set_train()
    losses = []
    for _i, (images, labels) in enumerate(data.create_tuple_iterator(num_epochs=1)):
        loss, grads = grad_fn(images, labels)
        opt(grads)
        losses.append(loss)
    print(f"Average train loss: [{(sum(losses) / len(losses)).asnumpy():4.3f}]")
model = ms.Model(net, loss_fn, opt, metrics={"Accuracy": train.Accuracy()})
print({k: float(v) for k, v in model.eval(data, dataset_sink_mode=False).items()})
