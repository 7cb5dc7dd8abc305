import mindspore as ms
import mindspore.dataset as ds
import numpy as np
from mindspore import nn
from mindspore.train import Accuracy, Model

rng = np.random.default_rng(7)
features = rng.normal(size=(60, 6)).astype(np.float32)
labels = (features[:, 0] * features[:, 1] + features[:, 2] > 0).astype(np.int32)


def pipeline(rows, shuffle):
    data = ds.NumpySlicesDataset((features[rows], labels[rows]), ["x", "y"], shuffle=False)
    return data.batch(10 if shuffle else 12, drop_remainder=shuffle)


class Classifier(nn.Cell):
    def __init__(self):
        super().__init__()
        self.layers = nn.SequentialCell(nn.Dense(6, 12), nn.Tanh(), nn.Dense(12, 2))

    def construct(self, x):
        return self.layers(x)


ms.set_context(mode=ms.PYNATIVE_MODE)
scores = []
for fold in range(4):
    ms.set_seed(fold)
    held = np.arange(60) % 4 == fold
    net = Classifier()
    model = Model(
        net,
        nn.CrossEntropyLoss(),
        nn.Adam(net.trainable_params(), 0.05),
        metrics={"accuracy": Accuracy(), "loss": nn.Loss()},
    )
    model.train(4, pipeline(~held, True), dataset_sink_mode=False)
    found = model.eval(pipeline(held, False), dataset_sink_mode=False)
    scores.append(found["accuracy"])
    print(f"fold {fold}: accuracy {found['accuracy']:.4f} loss {found['loss']:.4f}")
print(f"mean {np.mean(scores):.4f} deviation {np.std(scores):.4f}")
