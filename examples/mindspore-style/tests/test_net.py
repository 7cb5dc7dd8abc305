import numpy as np
import pytest
from net import Classifier

from harness import nn

X = np.linspace(-1, 1, 24).reshape(6, 4).astype(np.float32)
Y = np.array([0, 1, 2, 0, 1, 2], np.int32)


@pytest.mark.msdump(backends={"cpu": "tensor", "ascend-o1": "statistic"})
def test_forward(msdump):
    scores = msdump.run(Classifier(), X)
    assert scores.shape == (6, 3)


@pytest.mark.msdump
def test_training(msdump):
    network = Classifier()
    optimizer = nn.Adam(network.trainable_params(), learning_rate=0.01)
    losses = msdump.train(network, nn.CrossEntropyLoss(), optimizer, [(X, Y), (X, Y)])
    assert losses[1] < losses[0]
