"""Faults of another hand in trainings: weights, activations, losses, updates, data; and ``make``, which draws one."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.inspect.other.faults import FAULTS, Other, fault
from tests.inspect.other.frameworks import Job
from tests.inspect.other.networks import Rng, classes_of, draw


def _matrix(rng: Rng, job: Job) -> str:
    kinds = ("linear", "conv", "same", "plain")
    return str(rng.choice([name for name, each in job.layers.items() if each[0] in kinds])) + ".weight"


@fault
def one_matrix_too_large(rng: Rng) -> Other:
    name, job = draw(rng)
    factor, which = float(rng.uniform(20, 50)), _matrix(rng, job)
    job.weights = lambda at, values: values * factor if at == which else None
    return Other("one matrix too large", name, job, ("weights too large",), (which,))


@fault
def all_normal_of_one(rng: Rng) -> Other:
    """A spread of 1 for every weight, whatever its number of inputs."""
    name, job = draw(rng, "lenet")
    seed = int(rng.integers(1 << 30))
    job.weights = lambda at, values: np.random.default_rng(seed).normal(size=values.shape) if values.ndim > 1 else None
    says = ("weights too large", "exploding values", "exploding gradient")
    return Other("all normal of one", name, job, says)


@fault
def one_matrix_nearly_zero(rng: Rng) -> Other:
    name, job = draw(rng, str(rng.choice(["lenet", "regression", "autoencoder", "gated"])))
    factor, which = float(10 ** rng.uniform(-6, -4)), _matrix(rng, job)
    job.weights = lambda at, values: values * factor if at == which else None
    return Other("one matrix nearly zero", name, job, ("weights too small",), (which,))


@fault
def every_weight_alike(rng: Rng) -> Other:
    name, job = draw(rng, str(rng.choice(["lenet", "regression", "autoencoder", "gated", "yes_or_no"])))
    value = float(rng.uniform(0.01, 0.1))
    job.weights = lambda at, values: np.full(values.shape, value) if values.ndim > 1 else None
    return Other("every weight alike", name, job, ("constant weights",), (".weight",))


@fault
def zeros_everywhere(rng: Rng) -> Other:
    name, job = draw(rng, str(rng.choice(["lenet", "regression", "autoencoder", "yes_or_no"])))
    job.weights = lambda at, values: np.zeros(values.shape) if values.ndim > 1 else None
    return Other("zeros everywhere", name, job, ("zero weights",), (".weight",))


def _deep(rng: Rng, depth: int, act: str, normal: bool = False) -> Job:
    features, width, classes = int(rng.integers(4, 9)), int(rng.integers(10, 24)), int(rng.integers(3, 6))

    def forward(f: Any, n: Any, x: Any, p: Any) -> Any:
        for at in range(depth):
            x = getattr(f, act)(n[f"h{at}"](x))
        return n["out"](x)

    layers = {f"h{at}": ("linear", (features if at == 0 else width, width)) for at in range(depth)}
    layers["out"] = ("linear", (width, classes))
    data = classes_of(rng, (features,), classes, 30)
    return Job(
        layers, forward, lambda f, z, y: f.ce(z, y), data, optimizer="sgd", rate=0.02, seed=int(rng.integers(1 << 30))
    )  # fmt: skip


@fault
def many_sigmoids(rng: Rng) -> Other:
    return Other(
        "many sigmoids", "deep", _deep(rng, int(rng.integers(7, 12)), "sigmoid"), ("vanishing gradient",)
    )  # fmt: skip


@fault
def many_small_tanhs(rng: Rng) -> Other:
    job = _deep(rng, int(rng.integers(6, 10)), "tanh")
    factor = float(rng.uniform(0.15, 0.25))
    job.weights = lambda at, values: values * factor if values.ndim > 1 else None
    return Other("many small tanhs", "deep", job, ("vanishing gradient", "vanishing values"))


@fault
def many_large_relus(rng: Rng) -> Other:
    job = _deep(rng, int(rng.integers(6, 10)), "relu")
    factor = float(rng.uniform(4, 6))
    job.rate = 1e-6
    job.weights = lambda at, values: values * factor if values.ndim > 1 else None
    return Other("many large relus", "deep", job, ("exploding values", "exploding gradient", "weights too large"))


@fault
def dead_by_bias(rng: Rng) -> Other:
    name, job = draw(rng, str(rng.choice(["lenet", "wide_and_deep"])))
    which = {"lenet": ("c1", "c2", "fc"), "wide_and_deep": ("a", "b")}[name]
    chosen, low = str(rng.choice(which)), -float(rng.uniform(20, 90))
    job.weights = lambda at, values: np.full(values.shape, low) if at == f"{chosen}.bias" else None
    return Other("dead by bias", name, job, ("dead units",), ("relu",))


@fault
def data_in_bytes_into_tanh(rng: Rng) -> Other:
    name, job = draw(rng, "autoencoder")
    inner, factor = job.data, float(rng.uniform(200, 900))
    job.data = lambda at: tuple(each * np.float32(factor) for each in inner(at))
    return Other("data in bytes into tanh", name, job, ("saturated units",), ("tanh",))


@fault
def wrong_attention_axis(rng: Rng) -> Other:
    name, job = draw(rng, "transformer")
    inner = job.forward

    class Turned:
        def __init__(self, f: Any) -> None:
            self.f = f

        def __getattr__(self, name: str) -> Any:
            return getattr(self.f, name)

        def softmax(self, x: Any, axis: int) -> Any:
            return self.f.softmax(x, -2)

    job.forward = lambda f, n, x, p: inner(Turned(f), n, x, p)
    return Other("wrong attention axis", name, job, ("wrong softmax axis",), ("softmax",))


@fault
def scores_normalised_over_the_batch(rng: Rng) -> Other:
    name, job = draw(rng, str(rng.choice(["lenet", "gated", "squeezed"])))
    job.loss = lambda f, z, y: f.nll(f.log_softmax(z, 0), y)
    return Other("over the batch", name, job, ("wrong softmax axis",), ("softmax",))


@fault
def shares_into_cross_entropy(rng: Rng) -> Other:
    name, job = draw(rng, str(rng.choice(["lenet", "gated", "squeezed", "wide_and_deep", "transformer"])))
    job.loss = lambda f, z, y: f.ce(f.softmax(z, -1), y)
    return Other("shares", name, job, ("softmax before cross entropy",))


@fault
def scores_into_likelihood(rng: Rng) -> Other:
    name, job = draw(rng, str(rng.choice(["lenet", "gated", "squeezed", "wide_and_deep"])))
    job.loss = lambda f, z, y: f.nll(z, y)
    return Other("scores", name, job, ("scores instead of log probabilities",), ("nll", "gather"))


@fault
def sigmoid_into_binary_scores(rng: Rng) -> Other:
    name, job = draw(rng, "yes_or_no")
    job.loss = lambda f, z, y: f.bce_logits(f.sigmoid(z), y)
    return Other("sigmoid twice", name, job, ("sigmoid before cross entropy",))


@fault
def mask_of_one(rng: Rng) -> Other:
    name, job = draw(rng, "transformer")
    inner, low = job.forward, float(rng.uniform(0.5, 3))

    class Weak:
        """A framework whose large masks are small."""

        def __init__(self, f: Any) -> None:
            self.f = f

        def __getattr__(self, name: str) -> Any:
            return getattr(self.f, name)

        def constant(self, array: Any) -> Any:
            return self.f.constant(np.maximum(array, -low) if np.min(array) < -1000 else array)

    job.forward = lambda f, n, x, p: inner(Weak(f), n, x, p)
    return Other("mask of one", name, job, ("mask leaks",), ("softmax",))


@fault
def rate_of_zero(rng: Rng) -> Other:
    name, job = draw(rng)
    job.rate, job.optimizer = 0.0, "sgd"
    return Other("rate of zero", name, job, ("learning rate zero", "weights not changed"))


@fault
def optimizer_never_run(rng: Rng) -> Other:
    name, job = draw(rng)
    job.never = True
    return Other("never run", name, job, ("weights not changed",))


@fault
def rate_far_too_small(rng: Rng) -> Other:
    name, job = draw(rng)
    job.rate, job.optimizer = float(10 ** rng.uniform(-13, -10)), "sgd"
    says = ("update lost in rounding", "update too small", "weights not changed")
    return Other("rate too small", name, job, says)


@fault
def rate_far_too_large(rng: Rng) -> Other:
    name, job = draw(rng, str(rng.choice(["lenet", "gated", "yes_or_no", "squeezed"])))
    job.rate, job.optimizer = float(rng.uniform(100, 1000)), "sgd"
    says = ("update too large", "exploding gradient", "exploding weight", "loss grows")
    return Other("rate too large", name, job, says, (), None)


@fault
def loss_with_the_wrong_sign(rng: Rng) -> Other:
    name, job = draw(rng, str(rng.choice(["lenet", "regression", "yes_or_no", "autoencoder"])))
    inner = job.loss
    job.loss, job.optimizer, job.rate = (lambda f, z, y: -inner(f, z, y)), "sgd", 0.05
    return Other("wrong sign", name, job, ("update up the gradient", "loss falls without end"), (), None)


@fault
def gradients_never_cleared(rng: Rng) -> Other:
    name, job = draw(rng, str(rng.choice(["lenet", "autoencoder", "regression", "yes_or_no"])))
    job.keep, job.optimizer, job.rate = True, "sgd", 0.01
    return Other("never cleared", name, job, ("gradients add up",), (), None)


@fault
def cut_in_the_middle(rng: Rng) -> Other:
    name, job = draw(rng, str(rng.choice(["lenet", "autoencoder", "regression", "wide_and_deep"])))
    job.points["late"] = lambda f, x: f.stop(x)
    says = ("zero gradient", "parameter not trained", "weights not changed")
    return Other("cut", name, job, says)


@fault
def layer_left_out(rng: Rng) -> Other:
    name, job = draw(rng, str(rng.choice(["lenet", "regression", "autoencoder", "yes_or_no"])))
    which = {"lenet": "fc", "regression": "l1", "autoencoder": "c", "yes_or_no": "b"}[name]
    job.without = (f"{which}.weight", f"{which}.bias")
    return Other("left out", name, job, ("parameter not trained",), (f"{which}.weight",))


@fault
def batches_of_nothing(rng: Rng) -> Other:
    name, job = draw(rng, str(rng.choice(["lenet", "yes_or_no", "regression", "squeezed"])))
    inner, value = job.data, float(rng.choice([0.0, 0.3, 255.0]))
    job.data = lambda at: (np.full_like(inner(at)[0], value), inner(at)[1])
    return Other("nothing", name, job, ("constant data",))


@fault
def one_label(rng: Rng) -> Other:
    name, job = draw(rng, str(rng.choice(["lenet", "gated", "squeezed", "wide_and_deep"])))
    inner = job.data
    job.data = lambda at: (inner(at)[0], np.zeros_like(inner(at)[1]) + 1)
    return Other("one label", name, job, ("one class alone",), (), None)


@fault
def predicting_with_dropout(rng: Rng) -> Other:
    name, job = draw(rng, "squeezed")
    job.predict = True
    job.layers = {**job.layers, "drop": ("drop", (40,))}
    return Other("predicting", name, job, ("dropout in evaluation",), ("drop",))


#: faults that an engine cannot have
NOT_IN = {"emulator": {"optimizer never run", "gradients never cleared"}, "torch": set()}


def make(kind: str, seed: int) -> Other:
    """A sick training of a kind."""
    made = FAULTS[kind](np.random.default_rng((seed, *kind.encode())))
    made.kind = kind
    return made
