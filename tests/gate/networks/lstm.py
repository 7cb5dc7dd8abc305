"""A sentence classifier over an LSTM, trained two steps with SGD."""

import numpy as np

from harness import Tensor, float32, nn
from tests.gate.networks.values import fill, tensor


class LSTMClassifier(nn.Cell):
    """The last hidden state of an LSTM over sentences of known lengths, and a dense layer."""

    def __init__(self, features, hidden, classes, lengths):
        super().__init__()
        self.lstm = nn.LSTM(features, hidden, batch_first=True)
        self.fc = nn.Dense(hidden, classes)
        self.lengths = Tensor(np.array(lengths, np.int32))

    def construct(self, x):
        _, (last, _) = self.lstm(x, None, self.lengths)
        return self.fc(last[0])


def play(msdump):
    """Two batches of 3 sentences of up to 3 words."""
    network = fill(LSTMClassifier(5, 6, 2, (3, 1, 2)))
    optimizer = nn.SGD(network.trainable_params(), 0.125, momentum=0.9, nesterov=True)
    labels = Tensor(np.array([[0, 1], [1, 0], [1, 1]], np.float32))
    batches = [(tensor((3, 3, 5), f"words{i}", float32), labels) for i in range(2)]
    msdump.train(network, nn.BCEWithLogitsLoss(), optimizer, batches)
