"""What the documents' examples take for granted: a model and a dataset."""

import numpy as np
from mindspore import Model, Tensor, nn
from mindspore.dataset import GeneratorDataset


def create_dataset():
    def source():
        for at in range(24):
            yield np.float32([at % 5, (at * 7) % 3, 1]) / 4, np.array(at % 2, np.int32)

    return GeneratorDataset(source, ["data", "label"], shuffle=False).batch(8)


def create_model():
    network = nn.Dense(3, 2)
    network.weight.set_data(Tensor(np.float32([[0.1, 0.2, 0.3], [0.3, 0.2, 0.1]])))
    network.bias.set_data(Tensor(np.float32([0, 0])))
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    return Model(network, loss, nn.Momentum(network.trainable_params(), 0.5, 0.9), metrics={"accuracy": nn.Accuracy()})
