"""AlexNet on CIFAR-10 files, as MindSpore's documents train it: ``alexnet.py [BATCH [PART]]``.

PART divides the numbers of channels; 1 is the whole network. Two steps are trained.
"""

import sys

import mindspore.dataset as ds
import mindspore.dataset.transforms as C
import mindspore.dataset.vision as CV
import mindspore.nn as nn
import numpy as np
from mindspore import Tensor, context, set_seed
from mindspore import dtype as mstype
from mindspore.common.initializer import TruncatedNormal
from mindspore.nn import Accuracy
from mindspore.ops import operations as P
from mindspore.train import Model
from mindspore.train.callback import Callback, LossMonitor

set_seed(1)
ds.config.set_num_parallel_workers(1)
batch = int(sys.argv[1]) if len(sys.argv) > 1 else 2
part = int(sys.argv[2]) if len(sys.argv) > 2 else 1


def pictures(path, status="train"):
    """Batches of pictures, cut and flipped by chance where ``status`` is train, as large as AlexNet wants them."""
    rows = ds.Cifar10Dataset(path, usage=status)
    rows = rows.map(operations=C.TypeCast(mstype.int32), input_columns="label")
    if status == "train":
        # Within a border of one colour every place of a pool is its maximum to rounding, which differs by machine.
        crop = CV.RandomCrop([32, 32], [4, 4, 4, 4], padding_mode=CV.Border.REFLECT)
        rows = rows.map(operations=crop, input_columns="image")
        rows = rows.map(operations=CV.RandomHorizontalFlip(), input_columns="image")
    for step in (
        CV.Resize(size=(227, 227)),
        CV.Rescale(1.0 / 255.0, 0.0),
        CV.Normalize((0.4914, 0.4822, 0.4465), (0.2023, 0.1994, 0.2010)),
        CV.HWC2CHW(),
    ):
        rows = rows.map(operations=step, input_columns="image")
    return rows.shuffle(buffer_size=1000).batch(batch, drop_remainder=True).repeat(1)


def conv(inside, outside, size, stride=1, pad_mode="same"):
    return nn.Conv2d(
        inside, outside, kernel_size=size, stride=stride, pad_mode=pad_mode, weight_init=TruncatedNormal(0.02)
    )


def dense(inside, outside):
    return nn.Dense(inside, outside, TruncatedNormal(0.02), TruncatedNormal(0.02))


class AlexNet(nn.Cell):
    def __init__(self, classes=10):
        super(AlexNet, self).__init__()  # noqa: UP008 - as scripts are written
        first, second, third, wide = 96 // part, 256 // part, 384 // part, 4096 // part
        self.conv1 = conv(3, first, 11, stride=4, pad_mode="valid")
        self.conv2 = conv(first, second, 5)
        self.conv3 = conv(second, third, 3)
        self.conv4 = conv(third, third, 3)
        self.conv5 = conv(third, second, 3)
        self.relu = nn.ReLU()
        self.max_pool2d = P.MaxPool(kernel_size=3, strides=2)
        self.flatten = nn.Flatten()
        self.fc1 = dense(6 * 6 * second, wide)
        self.fc2 = dense(wide, wide)
        self.fc3 = dense(wide, classes)

    def construct(self, x):
        x = self.max_pool2d(self.relu(self.conv1(x)))
        x = self.max_pool2d(self.relu(self.conv2(x)))
        x = self.relu(self.conv3(x))
        x = self.relu(self.conv4(x))
        x = self.max_pool2d(self.relu(self.conv5(x)))
        x = self.flatten(x)
        x = self.relu(self.fc1(x))
        x = self.relu(self.fc2(x))
        return self.fc3(x)


class Enough(Callback):
    def on_train_step_end(self, run_context):
        if run_context.original_args().cur_step_num == 2:
            run_context.request_stop()


context.set_context(mode=context.GRAPH_MODE, device_target="CPU")
net = AlexNet()
loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
optimizer = nn.Momentum(net.trainable_params(), Tensor(0.01, mstype.float32), momentum=0.9)
model = Model(net, loss, optimizer, metrics={"Accuracy": Accuracy()})
rows = pictures("cifar-10-batches-bin")
print("steps", rows.get_dataset_size())
model.train(1, rows, callbacks=[LossMonitor(1), Enough()], dataset_sink_mode=False)
for row in pictures("cifar-10-batches-bin", "test").create_dict_iterator(output_numpy=True):
    print(row["image"].sum(dtype=np.float64), row["label"].tolist())
    break
