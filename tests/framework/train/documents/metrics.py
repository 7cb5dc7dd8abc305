"""The document's uses of a metric: by itself, and in a model."""

import mindspore
import numpy as np
from mindspore import Tensor, nn
from mindspore.nn import Accuracy
from mindspore.train.callback import LossMonitor
from model import create_dataset, create_model

x = Tensor(np.array([[0.2, 0.5], [0.3, 0.1], [0.9, 0.6]]), mindspore.float32)
y = Tensor(np.array([1, 0, 1]), mindspore.float32)
metric = Accuracy()
metric.clear()
metric.update(x, y)
accuracy = metric.eval()
print("Accuracy is ", accuracy)

model = create_model()
model.train(1, create_dataset(), callbacks=LossMonitor())
print(sorted(model.eval(create_dataset())), isinstance(nn.Accuracy(), nn.Metric))
