"""What the optimizers of ``mindspore.experimental.optim`` do, recorded: ``python experimental_facts.py``.

Run under the real MindSpore or under this project's stand-in for it; prints one JSON object: for each case the
parameters after three steps, in both modes.
"""

from __future__ import annotations

import json
from typing import Any

import mindspore as ms
import numpy as np
from mindspore import Parameter, Tensor
from mindspore.experimental import optim

OPTIMIZERS: dict[str, tuple[str, dict[str, Any]]] = {
    "SGD": ("SGD", {"lr": 0.1}),
    "SGD, momentum": ("SGD", {"lr": 0.1, "momentum": 0.9, "dampening": 0.2, "weight_decay": 0.01}),
    "SGD, nesterov": ("SGD", {"lr": 0.1, "momentum": 0.9, "nesterov": True, "maximize": True}),
    "Adam": ("Adam", {"lr": 0.01}),
    "Adam, settings": ("Adam", {"betas": (0.8, 0.99), "eps": 1e-3, "weight_decay": 0.1, "amsgrad": True}),
    "AdamW": ("AdamW", {"lr": 0.01}),
    "AdamW, settings": ("AdamW", {"lr": 0.01, "amsgrad": True, "maximize": True, "weight_decay": 0.1}),
    "Adagrad": ("Adagrad", {"lr": 0.1}),
    "Adagrad, settings": (
        "Adagrad", {"lr_decay": 0.5, "initial_accumulator_value": 0.1, "eps": 0.01, "weight_decay": 0.1}
    ),
    "Adadelta": ("Adadelta", {"lr": 0.5}),
    "Adadelta, settings": ("Adadelta", {"rho": 0.5, "eps": 1e-3, "weight_decay": 0.1, "maximize": True}),
    "RMSprop": ("RMSprop", {"lr": 0.01}),
    "RMSprop, settings": ("RMSprop", {"alpha": 0.9, "momentum": 0.5, "centered": True, "eps": 0.01}),
    "Adamax": ("Adamax", {"lr": 0.01}),
    "NAdam": ("NAdam", {"lr": 0.01, "weight_decay": 0.1}),
    "RAdam": ("RAdam", {"lr": 0.01}),
    "RAdam, short": ("RAdam", {"lr": 0.01, "betas": (0.9, 0.7)}),
    "ASGD": ("ASGD", {"lr": 0.1, "t0": 1.0, "weight_decay": 0.1}),
    "Rprop": ("Rprop", {"lr": 0.01, "etas": (0.4, 1.5)}),
}  # fmt: skip


def steps(name: str, settings: dict[str, Any], mode: int) -> list[float]:
    """The parameter after three steps."""
    ms.set_context(mode=mode)
    weight = Parameter(Tensor(np.array([1.0, -2.0, 0.5], np.float32)), name="weight")
    optimizer = getattr(optim, name)([weight], **settings)
    for slope in ([0.5, -0.25, 1.0], [-0.125, 0.5, 1.0], [0.25, 0.25, -2.0]):
        optimizer((Tensor(np.array(slope, np.float32)),))
    return [float(each) for each in weight.asnumpy()]


if __name__ == "__main__":
    told: dict[str, Any] = {}
    for case, (name, settings) in OPTIMIZERS.items():
        told[case] = [steps(name, settings, mode) for mode in (ms.GRAPH_MODE, ms.PYNATIVE_MODE)]
    print(json.dumps(told))
