"""Forty faults of trainings that public studies list, retold as programs: AutoTrainer (symptoms), DeepFD and DEFault
(what was wrong in the script), TrainCheck (silent errors of training loops). The rules were not made with them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tests.inspect.other.frameworks import Job
from tests.inspect.other.networks import NETWORKS, classes_of

_CLASSES, _FEATURES = 4, 10


def _net(
    widths: Sequence[int], act: str, loss: Callable[..., Any], end: Callable[..., Any] | None = None, **more: Any
) -> Job:
    """Layers of these widths with an activation between them, for features and labels that follow from them."""

    def forward(f: Any, n: Any, x: Any, p: Any) -> Any:
        for at in range(len(widths)):
            x = n[f"d{at}"](x)
            if act and at < len(widths) - 1:
                x = getattr(f, act)(x)
        return end(f, x) if end is not None else x

    layers = {f"d{at}": ("linear", ([_FEATURES, *widths][at], width)) for at, width in enumerate(widths)}
    data = more.pop("data", None) or classes_of(np.random.default_rng(8), (_FEATURES,), _CLASSES, 32)
    return Job(layers, forward, loss, data, **{"steps": 24, "seed": 5, **more})


def _ce(f: Any, z: Any, y: Any) -> Any:
    return f.ce(z, y)


def _changed(x: Callable[[np.ndarray[Any, Any]], Any] | None, y: Callable[[np.ndarray[Any, Any]], Any] | None) -> Any:
    inner = classes_of(np.random.default_rng(8), (_FEATURES,), _CLASSES, 32)

    def data(step: int) -> Any:
        one, two = inner(step)
        return (x(one) if x else one).astype(np.float32), (y(two) if y else two)

    return data


def _with(name: str, **more: Any) -> Job:
    job = NETWORKS[name](np.random.default_rng(12))
    for key, value in {"steps": 24, **more}.items():
        setattr(job, key, value)
    return job


def _matrices(change: Callable[[Any], Any]) -> Callable[[str, Any], Any]:
    return lambda name, values: change(values) if values.ndim > 1 else None


def _biases(value: float, of: str) -> Callable[[str, Any], Any]:
    return lambda name, values: np.full(values.shape, value) if name == f"{of}.bias" else None


def _yes(step: int) -> Any:
    x, y = classes_of(np.random.default_rng(8), (_FEATURES,), 2, 32)(step)
    return x, y.astype(np.float32)[:, None]


def _one_hot_mse(f: Any, z: Any, y: Any) -> Any:
    return f.mse(f.softmax(z, -1), y)


def _rows(step: int) -> Any:
    x, y = classes_of(np.random.default_rng(8), (_FEATURES,), _CLASSES, 32)(step)
    return x, np.asarray(y[:, None] == np.arange(_CLASSES), np.float32)


def _own_entropy(f: Any, z: Any, y: Any) -> Any:
    return -(y * f.log(f.softmax(z * 200, -1))).sum() / 32


def _half_loss(f: Any, z: Any, y: Any) -> Any:
    return f.single(f.half(f.ce(z, y)) * 60000 * 4)


def _distance(f: Any, z: Any, y: Any) -> Any:
    return f.sqrt(f.total(f.square(z - z * 1.0), -1)).mean() + f.ce(z, y)


@dataclass(frozen=True)
class Study:
    """A fault of a study: where it is listed, what is wrong, the program, kinds that name it, engines that have it."""

    study: str
    wrong: str
    make: Callable[[], Job]
    says: tuple[str, ...]
    engines: tuple[str, ...] = ("emulator", "torch")


_EXPLODES = (
    "update too large", "exploding gradient", "exploding weight", "exploding values", "loss grows", "dead units",
    "overflow of Float32", "intermediate overflow",
)  # fmt: skip
_STUCK = ("weights not changed", "learning rate zero", "update too small", "update lost in rounding", "zero gradient")
STUDIES = [
    Study("AutoTrainer", "ten layers of sigmoid", lambda: _net([16] * 10 + [4], "sigmoid", _ce, rate=0.01,
          optimizer="sgd"), ("vanishing gradient",)),
    Study("AutoTrainer", "small first weights under tanh", lambda: _net([16] * 7 + [4], "tanh", _ce, optimizer="sgd",
          weights=_matrices(lambda v: v * 0.1)), ("vanishing gradient", "vanishing values", "weights too small")),
    Study("AutoTrainer", "large first weights under ReLU", lambda: _net([16] * 7 + [4], "relu", _ce, rate=1e-6,
          weights=_matrices(lambda v: v * 6)), ("exploding values", "exploding gradient", "weights too large")),
    Study("AutoTrainer", "a ReLU that died of its offset", lambda: _net([16, 16, 4], "relu", _ce,
          weights=_biases(-40, "d1")), ("dead units",)),
    Study("AutoTrainer", "ReLUs that die of the rate", lambda: _net([16, 16, 4], "relu", _ce, rate=300.0,
          optimizer="sgd"), _EXPLODES),
    Study("AutoTrainer", "the loss jumps", lambda: _net([16, 4], "tanh", _ce, rate=60.0, optimizer="sgd"), _EXPLODES),
    Study("AutoTrainer", "the loss hardly falls", lambda: _net([16, 4], "tanh", _ce, rate=1e-11, optimizer="sgd"),
          _STUCK),
    Study("DeepFD", "rate of another optimizer", lambda: _net([24, 4], "relu", _ce, rate=20.0), _EXPLODES),
    Study("DeepFD", "squares for classes", lambda: _net([24, 4], "relu", _one_hot_mse, data=_rows, rate=1e-3),
          ("squares of probabilities", "loss does not fall")),
    Study("DeepFD", "no activation between layers", lambda: _net([24, 24, 4], "", _ce), ("layers without activation",)),
    Study("DeepFD", "a ReLU before the loss", lambda: _net([24, 4], "tanh", _ce, lambda f, x: f.relu(x)),
          ("activation before the loss", "dead units")),
    Study("DeepFD", "a sigmoid before the loss of classes", lambda: _net([24, 4], "relu", _ce, lambda f, x:
          f.sigmoid(x)), ("softmax before cross entropy",)),
    Study("DeepFD", "softmax over one unit", lambda: _net([24, 1], "relu", lambda f, z, y: f.mse(f.softmax(z, -1), y),
          data=_yes), ("softmax over one element",)),
    Study("DeepFD", "labels are not those of the network", lambda: _net([24, 4], "relu", _ce,
          data=_changed(None, lambda y: np.zeros_like(y))), ("one class alone",)),
    Study("DeepFD", "features in bytes", lambda: _net([24, 24, 4], "tanh", _ce,
          data=_changed(lambda x: np.abs(x) * 200, None)), ("saturated units",)),
    Study("DeepFD", "too few passes at a rate of nothing", lambda: _net([24, 4], "relu", _ce, rate=0.0,
          optimizer="sgd"), _STUCK),
    Study("DEFault", "weights of zeros", lambda: _net([24, 24, 4], "relu", _ce, weights=_matrices(lambda v: v * 0)),
          ("zero weights",)),
    Study("DEFault", "weights of ones", lambda: _net([24, 24, 4], "relu", _ce,
          weights=_matrices(lambda v: v * 0 + 1)), ("constant weights",)),
    Study("DEFault", "weights drawn with a spread of 1", lambda: _net([96, 96, 96, 4], "relu", _ce, rate=1e-5,
          weights=_matrices(lambda v: v / np.sqrt(np.mean(v * v)))),
          ("weights too large", "exploding values", "exploding gradient")),
    Study("DEFault", "softmax twice", lambda: _net([24, 4], "relu", _ce, lambda f, x: f.softmax(x, -1)),
          ("softmax before cross entropy",)),
    Study("DEFault", "sigmoid twice", lambda: _net([24, 1], "relu", lambda f, z, y: f.bce_logits(f.sigmoid(z), y),
          data=_yes), ("sigmoid before cross entropy",)),
    Study("DEFault", "a softmax over the batch", lambda: _net([24, 4], "relu", lambda f, z, y:
          f.nll(f.log_softmax(z, 0), y)), ("wrong softmax axis",)),
    Study("DEFault", "a likelihood of scores", lambda: _net([24, 4], "relu", lambda f, z, y: f.nll(z, y)),
          ("scores instead of log probabilities",)),
    Study("DEFault", "an entropy by hand", lambda: _net([24, 4], "relu", _own_entropy, data=_rows),
          ("log of zero", "infinity times zero")),
    Study("DEFault", "a distance at zero", lambda: _net([24, 4], "relu", _distance),
          ("division by zero", "infinity times zero", "zero divided by zero")),
    Study("DEFault", "features divided by a spread of zero", lambda: _net([24, 4], "relu", _ce,
          data=_changed(lambda x: np.where(np.arange(10) == 3, np.nan, x), None)), ("given by data", "given")),
    Study("TrainCheck", "gradients are never set to zero", lambda: _net([24, 4], "relu", _ce, keep=True,
          optimizer="sgd", rate=0.02), ("gradients add up",), ("torch",)),
    Study("TrainCheck", "the optimizer holds another model", lambda: _net([24, 4], "relu", _ce, never=True), _STUCK,
          ("torch",)),
    Study("TrainCheck", "the optimizer lacks a layer", lambda: _net([24, 24, 4], "relu", _ce, without=("d1.weight",
          "d1.bias")), ("parameter not trained",)),
    Study("TrainCheck", "the optimizer lacks the head", lambda: _net([24, 24, 4], "relu", _ce, without=("d2.weight",
          "d2.bias")), ("parameter not trained",)),
    Study("TrainCheck", "the scores are cut off the graph", lambda: _with("lenet", points={"late": lambda f, x:
          f.stop(x)}), ("parameter not trained", "zero gradient", "weights not changed")),
    Study("TrainCheck", "the loss has another sign", lambda: _net([24, 4], "relu", lambda f, z, y: -f.ce(z, y),
          optimizer="sgd", rate=0.05), ("update up the gradient",)),
    Study("TrainCheck", "dropout while it predicts", lambda: _with("squeezed", predict=True, steps=3),
          ("dropout in evaluation",)),
    Study("TrainCheck", "a clip to nothing", lambda: _net([24, 4], "relu", _ce, scale=1e-14, optimizer="sgd"), _STUCK),
    Study("TrainCheck", "a loss scale in float16", lambda: _net([24, 4], "relu", _half_loss),
          ("overflow of Float16", "intermediate overflow")),
    Study("TrainCheck", "a loader that gives zeros", lambda: _net([24, 4], "relu", _ce,
          data=_changed(lambda x: x * 0, None)), ("constant data",)),
    Study("TrainCheck", "a loader that gives one sample", lambda: _net([24, 4], "relu", _ce,
          data=_changed(lambda x: x * 0 + x[:1], None)), ("constant data",)),
    Study("TrainCheck", "shuffled labels", lambda: _net([24, 4], "relu", _ce, rate=1e-3, data=_changed(None, lambda y:
          np.random.default_rng(3).integers(0, 4, y.size).astype(np.int32)[np.argsort(y)])), ("loss does not fall",)),
    Study("TrainCheck", "weights that are not numbers any more", lambda: _net([24, 4], "relu", _ce,
          weights=lambda name, v: np.where(np.arange(v.size).reshape(v.shape) == 1, np.nan, v)
          if name == "d1.weight" else None), ("given by weights", "given")),
    Study("TrainCheck", "a state that grows without bound", lambda: _net([16] * 9 + [4], "", _ce, rate=1e-7,
          weights=_matrices(lambda v: v * 8)), ("exploding values", "exploding gradient", "weights too large")),
]  # fmt: skip
#: the same programs without their faults, and other healthy ones
HEALTHY: list[Callable[[], Job]] = [
    lambda: _net([24, 4], "relu", _ce), lambda: _net([24, 24, 4], "tanh", _ce), lambda: _net([32, 16, 4], "relu", _ce),
    lambda: _net([24, 1], "relu", lambda f, z, y: f.bce_logits(z, y), data=_yes),
    lambda: _net([24, 4], "sigmoid", _ce, rate=0.03), lambda: _with("transformer"), lambda: _with("gated"),
    lambda: _with("yes_or_no"), lambda: _with("autoencoder"), lambda: _with("regression"),
]  # fmt: skip
