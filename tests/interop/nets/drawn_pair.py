"""A network drawn from a seed, trained two steps, with or without one fault: ``drawn_pair.py SEED FAULT``.

``FAULT`` is a number; -1 plants none. ``train`` runs it on any module with MindSpore's names.
"""

import sys

import numpy as np

ACTIVATIONS = ("ReLU", "Tanh", "Sigmoid", "GELU")


def settings_of(seed):
    """What a seed draws."""
    random = np.random.default_rng(seed)
    return {
        "seed": seed, "act": ACTIVATIONS[random.integers(4)], "rate": float(random.choice([0.1, 0.05])),
        "momentum": 0.9, "decay": 0.0, "optimizer": str(random.choice(["Momentum", "SGD", "Adam"])),
        "loss": str(random.choice(["MSELoss", "L1Loss"])), "width": int(random.choice([4, 6])),
        "scale": float(random.choice([0.5, 2.0, 0.7])), "norm": bool(random.integers(2)), "eps": 1e-5,
        "conv": bool(random.integers(2)), "bias": True, "more": "", "frozen": False, "weight": None, "data": None,
        "axis": 1, "reduction": "mean",
    }  # fmt: skip


def _rows(w):
    return w[[2, 0, 1, *range(3, len(w))]]


def _channel(w):
    made = w.copy()
    made[1] = 0
    return made


def _one(value):
    def change(w):
        made = w.copy()
        made.reshape(-1)[5] = value
        return made

    return change


def _weight(change):
    return lambda s: {"weight": change}


#: name -> the settings it changes, given the right ones
FAULTS = {
    "rate": lambda s: {"rate": s["rate"] / 2},
    "momentum": lambda s: {"momentum": 0.8},
    "decay": lambda s: {"decay": 0.01},
    "activation": lambda s: {"act": ACTIVATIONS[(ACTIVATIONS.index(s["act"]) + 1) % 4]},
    "loss": lambda s: {"loss": "L1Loss" if s["loss"] == "MSELoss" else "MSELoss"},
    "optimizer": lambda s: {"optimizer": "Adam" if s["optimizer"] != "Adam" else "SGD"},
    "reduction": lambda s: {"reduction": "sum"},
    "bias": lambda s: {"bias": False},
    "scale": lambda s: {"scale": s["scale"] * 1.5},
    "inserted": lambda s: {"more": "scaled"},
    "negated": lambda s: {"more": "negated"},
    "eps": lambda s: {"eps": 1e-3},
    "axis": lambda s: {"axis": 0},
    "frozen": lambda s: {"frozen": True},
    "weight times 2": _weight(lambda w: w * 2),
    "weight times 0.1": _weight(lambda w: (w * np.float32(0.1)).astype(np.float32)),
    "weight negated": _weight(np.negative),
    "weight 0": _weight(np.zeros_like),
    "weight in another order": _weight(_rows),
    "weight back to front": _weight(lambda w: np.ascontiguousarray(w[:, ::-1])),
    "weight without a channel": _weight(_channel),
    "weight in float16": _weight(lambda w: w.astype(np.float16).astype(np.float32)),
    "one element": _weight(_one(1.5)),
    "one denormal": _weight(_one(1e-41)),
    "one NaN": _weight(_one(np.nan)),
    "weight clipped": _weight(lambda w: np.clip(w, -0.2, 0.2)),
    "data times 2": lambda s: {"data": lambda x: x * 2},
    "data in another order": lambda s: {"data": _rows},
    "data with -0": lambda s: {"data": _one(-0.0)},
    "data without a row": lambda s: {"data": _channel},
    "rate and weight": lambda s: {"rate": s["rate"] / 2, "weight": lambda w: w * 2},
    "scale and activation": lambda s: {"scale": s["scale"] * 3, "act": ACTIVATIONS[ACTIVATIONS.index(s["act"]) - 1]},
}  # fmt: skip


def values(seed, number, shape):
    """Numbers of 12 bits, the same with every numpy."""
    words = np.random.PCG64([seed, number]).random_raw(int(np.prod(shape)))
    return ((words >> np.uint64(52)).astype(np.float32) / 4096 - 0.5).reshape(shape)


def network(ms, s):
    """The network of these settings."""
    nn, ops = ms.nn, ms.ops

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            width = s["width"]
            self.conv = nn.Conv2d(2, 3, 3, has_bias=s["bias"]) if s["conv"] else None
            self.flatten = nn.Flatten()
            self.fc1 = nn.Dense(48 if s["conv"] else 32, width, has_bias=s["bias"])
            self.norm = nn.LayerNorm((width,), epsilon=s["eps"]) if s["norm"] else None
            self.act = getattr(nn, s["act"])()
            self.fc2 = nn.Dense(width, width)
            self.softmax = nn.Softmax(s["axis"])
            self.scale, self.more = s["scale"], s["more"]

        def construct(self, x):
            if self.conv is not None:
                x = self.conv(x)
            x = self.fc1(self.flatten(x))
            if self.norm is not None:
                x = self.norm(x)
            x = self.act(x) * self.scale
            if self.more == "scaled":
                x = x * 0.5
            if self.more == "negated":
                x = ops.neg(x)
            return self.softmax(self.fc2(x))

    return Net()


def train(ms, seed, fault):
    """Trains it as a graph."""
    right = settings_of(seed)
    s = right if fault < 0 else {**right, **list(FAULTS.values())[fault % len(FAULTS)](right)}
    nn = ms.nn
    net = network(ms, s)
    for parameter in net.get_parameters():
        kind = parameter.name.rpartition(".")[2]
        given = values(seed, sum(map(ord, parameter.name)), parameter.shape) + (1 if kind == "gamma" else 0)
        if s["weight"] is not None and parameter.name == "fc1.weight":
            given = s["weight"](given)
        parameter.set_data(ms.Tensor(np.ascontiguousarray(given, np.float32)))
        if s["frozen"] and parameter.name == "fc1.weight":
            parameter.requires_grad = False
    trained = [each for each in net.get_parameters() if each.requires_grad]
    if s["optimizer"] == "Adam":
        optimizer = nn.Adam(trained, s["rate"], weight_decay=s["decay"])
    else:
        optimizer = getattr(nn, s["optimizer"])(trained, s["rate"], momentum=s["momentum"], weight_decay=s["decay"])
    loss = getattr(nn, s["loss"])(reduction=s["reduction"])
    step = nn.TrainOneStepCell(nn.WithLossCell(net, loss), optimizer)
    step.set_train()
    for at in range(2):
        x, y = values(seed, 7000 + at, (4, 2, 4, 4)), values(seed, 8000 + at, (4, s["width"]))
        x = x if s["data"] is None else s["data"](x)
        step(ms.Tensor(np.ascontiguousarray(x)), ms.Tensor(y))


if __name__ == "__main__":
    import mindspore

    mindspore.set_context(mode=mindspore.GRAPH_MODE)
    mindspore.set_device("CPU")
    train(mindspore, int(sys.argv[1]), int(sys.argv[2]))
