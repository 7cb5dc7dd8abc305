"""What optimizers and schedulers of ``mindspore.experimental.optim`` do, recorded: ``python experimental_facts.py``.

Run under the real MindSpore or under this project's stand-in for it; prints one JSON object: for each case the
parameters after three steps in both modes, or the learning rates of some epochs.
"""

from __future__ import annotations

import json
from typing import Any

import mindspore as ms
import numpy as np
from mindspore import Parameter, Tensor
from mindspore.experimental import optim
from mindspore.experimental.optim import lr_scheduler

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


#: name -> the scheduler of an optimizer, or what is called with the metric of each epoch
SCHEDULERS: dict[str, Any] = {
    "StepLR": lambda o: lr_scheduler.StepLR(o, 2, 0.5),
    "LinearLR": lambda o: lr_scheduler.LinearLR(o, 0.25, 0.75, 4),
    "ExponentialLR": lambda o: lr_scheduler.ExponentialLR(o, 0.7),
    "PolynomialLR": lambda o: lr_scheduler.PolynomialLR(o, 4, 2.0),
    "LambdaLR": lambda o: lr_scheduler.LambdaLR(o, [lambda epoch: 0.9**epoch, lambda epoch: epoch * 0.5]),
    "MultiplicativeLR": lambda o: lr_scheduler.MultiplicativeLR(o, lambda epoch: 0.8),
    "MultiStepLR": lambda o: lr_scheduler.MultiStepLR(o, [2, 4, 4], 0.5),
    "ConstantLR": lambda o: lr_scheduler.ConstantLR(o, 0.5, 3),
    "CosineAnnealingLR": lambda o: lr_scheduler.CosineAnnealingLR(o, 3, 0.01),
    "CosineAnnealingWarmRestarts": lambda o: lr_scheduler.CosineAnnealingWarmRestarts(o, 2, 2, 0.01),
    "CosineAnnealingWarmRestarts, one length": lambda o: lr_scheduler.CosineAnnealingWarmRestarts(o, 3),
    "CyclicLR": lambda o: lr_scheduler.CyclicLR(o, 0.1, 0.5, 2, 3),
    "CyclicLR, triangular2": lambda o: lr_scheduler.CyclicLR(o, [0.1, 0.2], [0.5, 0.4], 2, mode="triangular2"),
    "CyclicLR, exp_range": lambda o: lr_scheduler.CyclicLR(o, 0.1, 0.5, 2, mode="exp_range", gamma=0.9),
    "SequentialLR": lambda o: lr_scheduler.SequentialLR(
        o, [lr_scheduler.ConstantLR(o, 0.1, 2), lr_scheduler.ExponentialLR(o, 0.9)], [3]
    ),
    "ReduceLROnPlateau": lambda o: lr_scheduler.ReduceLROnPlateau(o, patience=1, cooldown=1, factor=0.5),
    "ReduceLROnPlateau, max": lambda o: lr_scheduler.ReduceLROnPlateau(
        o, "max", 0.5, 0, 0.5, "abs", min_lr=[0.2, 0.01]
    ),
}  # fmt: skip
#: the epochs that a closed form is asked for
CLOSED = ("StepLR", "LinearLR", "ExponentialLR", "PolynomialLR", "ConstantLR", "CosineAnnealingLR",
          "CosineAnnealingWarmRestarts, one length")  # fmt: skip


def rates(name: str, epochs: list[Any]) -> list[list[float]]:
    """The learning rates of both groups at first, and after each epoch."""
    weights = [Parameter(Tensor(np.ones(2, np.float32)), name=each) for each in ("one", "other")]
    optimizer = optim.SGD([{"params": weights[:1]}, {"params": weights[1:], "lr": 0.3}], lr=0.8)
    scheduler = SCHEDULERS[name](optimizer)
    told = [[float(lr) for lr in scheduler.get_last_lr()]]
    for epoch in epochs:
        scheduler.step(*epoch)
        told.append([float(group["lr"].asnumpy()) for group in optimizer.param_groups])
    return told


if __name__ == "__main__":
    told: dict[str, Any] = {}
    for case, (name, settings) in OPTIMIZERS.items():
        told[case] = [steps(name, settings, mode) for mode in (ms.GRAPH_MODE, ms.PYNATIVE_MODE)]
    metrics = [1.0, 0.5, 0.5, 0.4999, 0.6, 0.7, 0.4, 0.4, 0.9, 1.5]
    for mode in (ms.GRAPH_MODE, ms.PYNATIVE_MODE):
        ms.set_context(mode=mode)
        for case in SCHEDULERS:
            given = [(Tensor(each, ms.float32),) for each in metrics] if "Plateau" in case else [()] * 9
            told[f"{case}, mode {mode}"] = rates(case, given)
    for case in CLOSED:
        told[f"{case}, epochs"] = rates(case, [(Tensor(each, ms.float32),) for each in (0, 3, 7, 1)])
    print(json.dumps(told))
