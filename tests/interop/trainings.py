"""Five small trainings: ``trainings.py OUT`` plays them and writes their traces and weights (JSON); lines are printed.

The same file runs under the real MindSpore and under ``msdump run``.
"""

from __future__ import annotations

import json
import sys

import mindspore as ms
import mindspore.dataset as ds
import numpy as np
from mindspore import Tensor, nn, ops
from mindspore.train import (
    Callback,
    EarlyStopping,
    History,
    LearningRateScheduler,
    LossMonitor,
    Model,
    ReduceLROnPlateau,
)

HOOKS = ("begin", "epoch_begin", "step_begin", "step_end", "epoch_end", "end")


class Trace(Callback):
    """Notes every hook with what the run knows; the loss to what both sides agree on."""

    def __init__(self):
        self.notes = []

    def note(self, hook, run_context):
        args = run_context.original_args()
        seen = [args.get(name) for name in ("cur_epoch_num", "cur_step_num", "batch_num", "mode")]
        output = args.get("net_outputs")
        loss = output[0] if isinstance(output, tuple) else output
        found = {name: np.asarray(value).tolist() for name, value in sorted((args.get("eval_results") or {}).items())}
        self.notes.append([hook, seen, None if loss is None else float(loss.asnumpy()), found])


for _hook in (f"on_{_mode}_{_name}" for _mode in ("train", "eval") for _name in HOOKS):
    setattr(Trace, _hook, lambda self, context, hook=_hook: self.note(hook, context))


class LeNet(nn.Cell):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 3, 3, pad_mode="valid", has_bias=True)
        self.norm = nn.BatchNorm2d(3)
        self.relu = nn.ReLU()
        self.pool = nn.MaxPool2d(2, 2)
        self.flat = nn.Flatten()
        self.fc = nn.Dense(27, 4)

    def construct(self, x):
        return self.fc(self.flat(self.pool(self.relu(self.norm(self.conv(x))))))


class Words(nn.Cell):
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(7, 4)
        self.cell = nn.Dense(4, 5, activation="tanh")
        self.out = nn.Dense(5, 3)

    def construct(self, words):
        return self.out(ops.ReduceMean()(self.cell(self.table(words)), 1))


def fill(network):
    """The same weights on both sides."""
    for at, parameter in enumerate(network.get_parameters()):
        if parameter.requires_grad:
            count = int(np.prod(parameter.shape))
            values = np.sin(np.arange(count) * 1.7 + at).reshape(parameter.shape) / 3
            parameter.set_data(Tensor(values.astype(np.float32)))
    return network


def rows(shape, classes, count=12, words=0):
    def source():
        for at in range(count):
            size = int(np.prod(shape))
            data = (np.arange(size) * (at + 3) % 11).reshape(shape)
            yield (
                (data % words).astype(np.int32) if words else (data / 11).astype(np.float32),
                np.array(at % classes, np.int32),
            )

    return ds.GeneratorDataset(source, ["data", "label"], shuffle=False).batch(4)


def entropy():
    return nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")


def dense(trace):
    network = fill(nn.Dense(3, 2))
    model = Model(network, entropy(), nn.Momentum(network.trainable_params(), 0.1, 0.9))
    model.train(3, rows((3,), 2), [LossMonitor(), trace])
    return network


def perceptron(trace):
    network = fill(nn.SequentialCell(nn.Dense(5, 8), nn.ReLU(), nn.Dense(8, 3)))
    model = Model(network, entropy(), nn.Adam(network.trainable_params(), 0.02), metrics={"accuracy", "loss"})
    model.fit(4, rows((5,), 3), rows((5,), 3, 8), 2, [LossMonitor(2), trace, EarlyStopping("loss", patience=3)])
    return network


def lenet(trace):
    network = fill(LeNet())
    model = Model(network, entropy(), nn.SGD(network.trainable_params(), 0.05), metrics={"accuracy": nn.Accuracy()})
    model.train(2, rows((1, 8, 8), 4), [LearningRateScheduler(lambda rate, step: rate * 0.5), LossMonitor(), trace])
    found = model.eval(rows((1, 8, 8), 4), callbacks=[trace])
    print({name: float(value) for name, value in found.items()})
    return network


def words(trace):
    network = fill(Words())
    model = Model(network, entropy(), nn.Adam(network.trainable_params(), 0.05), metrics={"loss"})
    plateau = ReduceLROnPlateau("eval_loss", factor=0.5, patience=1, verbose=False, min_delta=10)
    model.fit(3, rows((6,), 3, words=7), rows((6,), 3, words=7), callbacks=[plateau, trace])
    return network


def regression(trace):
    network = fill(nn.Dense(3, 1))

    def source():
        for at in range(6):
            yield np.float32([at, at % 2, 1]) / 6, np.float32([at / 3])

    data = ds.GeneratorDataset(source, ["data", "label"], shuffle=False).batch(4)
    model = Model(network, nn.MSELoss(), nn.SGD(network.trainable_params(), 0.1), metrics={"mae", "mse"})
    history = History()
    model.train(3, data, [history, LossMonitor(3), trace], initial_epoch=1)
    print(history.epoch)
    return network


if __name__ == "__main__":
    results = {}
    for training in (dense, perceptron, lenet, words, regression):
        for mode in (ms.GRAPH_MODE, ms.PYNATIVE_MODE):
            ms.set_context(mode=mode)
            trace = Trace()
            network = training(trace)
            weights = {each.name: each.asnumpy().tolist() for each in network.get_parameters()}
            results[f"{training.__name__} {mode}"] = {"trace": trace.notes, "weights": weights}
    with open(sys.argv[1], "w", encoding="utf-8") as file:
        json.dump(results, file)
