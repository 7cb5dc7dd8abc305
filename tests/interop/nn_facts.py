"""Facts about describing networks, recorded from the real MindSpore and compared with the harness's.

``python tests/interop/nn_facts.py [DIR]`` (an interpreter with MindSpore 2.10.0) rewrites ``tests/data/nn/*.json``;
the tests of ``tests/framework/nn`` compute the same facts over ``harness``. Everything is written against a namespace
``ms``.
"""

from __future__ import annotations

import hashlib
import importlib
import inspect
import json
import sys
from collections import OrderedDict
from pathlib import Path

import numpy as np

DATA = Path(__file__).resolve().parents[1] / "data" / "nn"
SEED = 1


def describe(cell):
    """Names, shapes and scopes of a cell's tree, in order."""
    cell.generate_scope()
    return {
        "parameters": [
            [path, p.name, list(p.shape), str(p.dtype), p.requires_grad] for path, p in cell.parameters_and_names()
        ],
        "own": [name for name, _ in cell.parameters_and_names(expand=False)],
        "trainable": [p.name for p in cell.trainable_params()],
        "cells": [[path, type(c).__name__, c.get_scope()] for path, c in cell.cells_and_names()],
        "children": list(cell.name_cells()),
    }


def build_cells(ms):
    """Cells a network may define, over ``ms``."""
    nn, Tensor, Parameter, ParameterTuple = ms.nn, ms.Tensor, ms.Parameter, ms.ParameterTuple

    class Mixed(nn.Cell):
        """Named, unnamed and listed parameters."""

        def __init__(self):
            super().__init__()
            self.both = ParameterTuple([Parameter(Tensor([1.0])), Parameter(Tensor([2.0]), name="n.x")])
            self.weight = Parameter(Tensor([1.0]), name="other")
            self.free = Parameter(Tensor([1.0]), requires_grad=False)

    class Block(nn.Cell):
        """Containers within a cell."""

        def __init__(self):
            super().__init__()
            self.mixed = Mixed()
            self.seq = nn.SequentialCell(nn.Dense(2, 3), nn.ReLU(), nn.Dense(3, 2, has_bias=False))
            self.layers = nn.CellList([nn.Dense(2, 2, activation="relu"), nn.BatchNorm1d(2)])
            self.named = nn.SequentialCell(OrderedDict([("first", nn.Dense(1, 1)), ("then", nn.Tanh())]))

    class Net(nn.Cell):
        """Nesting, sharing, a cell attached twice, a parameter that comes after its cells."""

        def __init__(self):
            super().__init__()
            self.block = Block()
            self.again = self.block.seq
            self.head = nn.Dense(2, 1)
            self.scale = Parameter(Tensor([1.0]))

    return Mixed, Block, Net


def networks(ms):
    """Cells to describe, by name; each builder makes a new one."""
    nn = ms.nn
    mixed, block, net = build_cells(ms)

    def grown():
        cells = nn.CellList([nn.Dense(1, 1)])
        cells.append(nn.Dense(1, 2))
        cells.insert(0, nn.Dense(1, 3, has_bias=False))
        outer = nn.SequentialCell(nn.Dense(2, 2), nn.Dense(2, 3))
        outer.append(nn.Dense(3, 4))

        class Holder(nn.Cell):
            def __init__(self):
                super().__init__()
                self.cells_ = cells
                self.outer = outer

        holder = Holder()
        holder.outer.append(nn.Dense(4, 5))
        del holder.outer[0]
        holder.cells_.append(nn.ReLU())
        holder.cells_[1] = nn.Dense(7, 7)
        return holder

    def layers():
        return nn.CellList([
            nn.Conv2d(1, 2, 3, has_bias=True), nn.Conv1d(2, 4, 3, group=2), nn.BatchNorm2d(2, affine=False),
            nn.LayerNorm((2, 3)), nn.GroupNorm(1, 2), nn.Embedding(3, 2), nn.Dropout(p=0.5),
            nn.MaxPool2d(2), nn.Flatten(), nn.Conv2dTranspose(2, 4, 3, has_bias=True),
        ])  # fmt: skip

    def trained(make):
        def build():
            inner = block()
            return nn.TrainOneStepCell(nn.WithLossCell(inner, nn.MSELoss()), make(inner))

        return build

    def groups(inner):
        params = inner.trainable_params()
        return [{"params": params[:2], "lr": 0.3}, {"params": params[2:4], "weight_decay": 0.1}, {"params": params[4:]}]

    return {
        "mixed": mixed,
        "block": block,
        "net": net,
        "grown": grown,
        "lstm": lambda: nn.LSTM(2, 3, num_layers=2, bidirectional=True),
        "gru": lambda: nn.GRU(2, 3, has_bias=False),
        "steps": lambda: nn.CellList([nn.LSTMCell(2, 3), nn.GRUCell(2, 3, has_bias=False), nn.RNNCell(3, 2)]),
        "layers": layers,
        "sgd": trained(lambda n: nn.SGD(n.trainable_params(), 0.1, 0.9)),
        "momentum": trained(lambda n: nn.Momentum(n.trainable_params(), 0.1, 0.9)),
        "adam": trained(lambda n: nn.Adam(n.trainable_params())),
        "adam_weight_decay": trained(lambda n: nn.AdamWeightDecay(n.trainable_params())),
        "scheduled": trained(lambda n: nn.Momentum(n.trainable_params(), nn.ExponentialDecayLR(0.1, 0.9, 2), 0.9)),
        "listed": trained(lambda n: nn.Momentum(n.trainable_params(), [0.1, 0.2], 0.9)),
        "grouped": trained(lambda n: nn.Momentum(groups(n), 0.1, 0.9)),
        "grouped_listed": trained(lambda n: nn.Momentum(groups(n), [0.1, 0.2], 0.9)),
        "held": lambda: nn.CellList([trained(lambda n: nn.Momentum(n.trainable_params(), 0.1, 0.9))()]),
    }


def names(ms):
    """Facts on names: each network, also without class names in scopes."""
    found = {name: describe(build()) for name, build in networks(ms).items()}
    ms.set_context(reserve_class_name_in_scope=False)
    try:
        found["net without classes"] = describe(networks(ms)["net"]())
    finally:
        ms.set_context(reserve_class_name_in_scope=True)
    return found


def texts(ms):
    """``repr`` of cells whose text holds no address."""
    nn = ms.nn
    cells = [
        nn.Dense(2, 3, activation="relu"), nn.Dense(2, 3, has_bias=False), nn.LeakyReLU(), nn.MaxPool2d(2, 2),
        nn.Dropout(p=0.25), nn.Flatten(), nn.SequentialCell(nn.ReLU(), nn.SequentialCell(nn.Tanh())), nn.CellList(),
        nn.WithLossCell(nn.Dense(1, 1), nn.MSELoss()), nn.BatchNorm2d(2),
    ]  # fmt: skip
    return [repr(cell) for cell in cells]


def digest(array):
    """Bits of an array, shortly."""
    data = np.ascontiguousarray(array)
    return [str(data.dtype), list(data.shape), hashlib.sha256(data.tobytes()).hexdigest()[:16]]


def initializers(ms):
    """Initializers with a shape, by name."""
    made = ms.common.initializer
    return {
        "he_uniform": (made.HeUniform(5**0.5), (12, 40)),
        "he_normal": (made.HeNormal(0, "fan_out", "relu"), (6, 3, 5, 5)),
        "uniform": (made.Uniform(0.3), (101,)),
        "normal": (made.Normal(1.5, 3.0), (33, 7)),
        "by_name": ("normal", (2, 3, 4)),
        "xavier_uniform": (made.XavierUniform(2), (6, 3, 5)),
        "xavier_normal": (made.XavierNormal(), (60, 35)),
        "truncated_normal": (made.TruncatedNormal(), (60, 35)),
        "truncated_wide": (made.TruncatedNormal(1.0, 0.5, -1.0, 3.0), (60, 35)),
        "scaling": (made.VarianceScaling(), (60, 35)),
        "scaling_normal": (made.VarianceScaling(2.0, "fan_avg", "untruncated_normal"), (60, 35)),
        "sparse": (made.Sparse(0.3), (10, 7)),
        "dirac": (made.Dirac(2), (6, 4, 3, 3)),
        "identity": ("identity", (3, 4)),
        "ones": ("ones", (3,)),
        "number": (0.1, (3,)),
        "scalar": (1, ()),
        "one element": ("normal", (1,)),
        "odd": ("normal", (5,)),
    }


def initial_values(ms):
    """Digests of initial values: initializers by dtype, layers, and the order of draws."""
    found = {}
    for dtype in ("float32", "float16", "float64"):
        for name, (init, shape) in initializers(ms).items():
            ms.set_seed(SEED)
            made = ms.common.initializer.initializer(init, shape, getattr(ms, dtype))
            found[f"{name} {dtype}"] = digest(ms.Parameter(made, name="p").asnumpy())
    for name, build in networks(ms).items():
        ms.set_seed(SEED)
        found[f"network {name}"] = [[p.name, *digest(p.asnumpy())] for p in build().get_parameters()]
    ms.set_seed(SEED)
    first = ms.common.initializer.initializer("normal", (3,))
    second = ms.common.initializer.initializer("normal", (3,))
    later = ms.Parameter(second, name="second"), ms.Parameter(first, name="first")
    found["drawn when a parameter is made"] = [digest(p.asnumpy()) for p in later]
    ms.set_seed(7)
    np.random.rand(3)
    found["after numpy draws"] = digest(ms.nn.Dense(3, 2).weight.asnumpy())
    np.random.seed(SEED)
    found["numpy's seed alone"] = digest(ms.nn.Dense(3, 2).weight.asnumpy())
    return found


def operator_seeds(seeds, set_seed):
    """Pairs of seeds given one after the other; ``seeds(op_seed, kernel)`` is the function under test."""
    found = []
    for seed in (SEED, 0, 2**31 + 5):
        set_seed(seed)
        found.append([list(seeds(at, kind)) for at, kind in ((0, "dropout"), (0, "dropout"), (5, "dropout"), (0, "x"))])
    return found


SIGNATURES = (
    "Cell", "SequentialCell", "Conv2d", "Conv1d", "Conv2dTranspose", "Dense", "BatchNorm1d", "BatchNorm2d",
    "LayerNorm", "GroupNorm", "ReLU", "ReLU6", "GELU", "Sigmoid", "Tanh", "Softmax", "LogSoftmax", "LeakyReLU",
    "SiLU", "ELU", "MaxPool2d", "AvgPool2d", "MaxPool1d", "AvgPool1d", "Flatten", "Dropout", "Embedding", "RNNCell",
    "GRUCell", "Identity", "SoftmaxCrossEntropyWithLogits", "CrossEntropyLoss", "MSELoss", "L1Loss", "SmoothL1Loss",
    "BCELoss", "BCEWithLogitsLoss", "NLLLoss", "HuberLoss", "AdamWeightDecay", "Optimizer", "WithLossCell",
    "TrainOneStepCell", "WithEvalCell", "WithGradCell", "ForwardValueAndGrad", "ExponentialDecayLR",
    "NaturalExpDecayLR", "InverseDecayLR", "CosineDecayLR", "PolynomialDecayLR", "WarmUpLR",
)  # fmt: skip


def signatures(ms):
    """Arguments and defaults of every class, and the arguments of ``construct``."""

    def arguments(function):
        found = []
        for p in inspect.signature(function).parameters.values():
            default = "" if p.default is p.empty else repr(p.default)
            found.append([str(p.kind), p.name, default])
        return found

    return {
        name: [arguments(getattr(ms.nn, name).__init__), arguments(getattr(ms.nn, name).construct)]
        for name in SIGNATURES
    }


def learning_rates(ms):
    """What each call of the stored list gives: rates, or the name of the exception."""

    def result(call):
        try:
            return getattr(ms.nn, call["name"])(*call["args"], **call["kwargs"])
        except (TypeError, ValueError) as error:
            return type(error).__name__

    calls = json.loads((DATA / "learning_rates.json").read_text(encoding="utf-8"))
    return [{**call, "result": result(call)} for call in calls]


def record(directory):
    """Writes the files of facts from the real MindSpore into ``directory``."""
    import mindspore

    seed = importlib.import_module("mindspore.common.seed")

    facts = {
        "names": names(mindspore),
        "texts": texts(mindspore),
        "initial_values": initial_values(mindspore),
        "operator_seeds": operator_seeds(seed._get_graph_seed, mindspore.set_seed),
        "signatures": signatures(mindspore),
        "learning_rates": learning_rates(mindspore),
    }
    directory.mkdir(parents=True, exist_ok=True)
    for name, found in facts.items():
        if isinstance(found, dict):
            text = "{\n" + ",\n".join(f"{json.dumps(k)}: {json.dumps(v)}" for k, v in found.items()) + "\n}"
        elif name == "learning_rates":
            text = "[\n" + ",\n".join(map(json.dumps, found)) + "\n]"
        else:
            text = json.dumps(found, indent=1)
        (directory / f"{name}.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    record(Path(sys.argv[1]) if len(sys.argv) > 1 else DATA)
