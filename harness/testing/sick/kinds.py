"""Kinds of sick trainings: what is done to a healthy one, and what an inspection has to say."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from harness.capture import Capture
from harness.inspect import Finding, Report
from harness.testing.sick.cells import Do
from harness.testing.sick.plans import Plan, draw

Array = np.ndarray[Any, np.dtype[Any]]
Rng = np.random.Generator


@dataclass(frozen=True)
class Sick:
    """A sick training, and the truth about it.

    Attributes:
        kind: key of ``KINDS``.
        plan: the training.
        says: kinds of findings that are right.
        places: texts of which one is in the operator of a right finding, in any case; empty for anywhere.
        iteration: step in which it begins; None if it may be any.
    """

    kind: str
    plan: Plan
    says: tuple[str, ...]
    places: tuple[str, ...] = ()
    iteration: int | None = None

    def capture(self) -> Capture:
        """Runs it, everything captured."""
        return self.plan.capture()

    def right(self, report: Report) -> list[Finding]:
        """The errors of a report that say the right kind, place and step."""
        return [
            each
            for each in report.errors
            if each.kind in self.says
            and (not self.places or any(place.lower() in each.operator.lower() for place in self.places))
            and self.iteration in (None, each.iteration)
        ]


#: kind -> makes one
KINDS: dict[str, Callable[[Rng], Sick]] = {}


def _kind(make: Callable[[Rng], Sick]) -> Callable[[Rng], Sick]:
    KINDS[make.__name__.replace("_", " ")] = make
    return make


def _mlp(rng: Rng, **more: Any) -> Plan:
    plan = draw(rng, "mlp").having(drop=0.0)
    return plan.having(**more)


def _inserted(rng: Rng, what: str, amount: float = 1.0, **more: Any) -> Plan:
    plan = _mlp(rng, **more)
    return plan.having(insert=Do(what, amount), at=int(rng.integers(plan.depth)))


def _matrix(plan: Plan, at: int) -> str:
    """Name of the weight of hidden layer ``at`` of a perceptron."""
    cells = 1 + bool(plan.norm) + (not plan.linear) + bool(plan.drop)
    extra = plan.insert is not None and plan.at < at
    return f"{at * cells + extra}.weight"


def _sick(name: str, plan: Plan, says: tuple[str, ...], *places: str, iteration: int | None = 0) -> Sick:
    return Sick(name, plan, says, places, iteration)


@_kind
def log_of_zero(rng: Rng) -> Sick:
    plan = _inserted(rng, "log_of_relu", activation=str(rng.choice(["tanh", "relu", "elu"])))
    return _sick("log of zero", plan, ("log of zero",), "/Log-op")


@_kind
def log_of_a_negative_number(rng: Rng) -> Sick:
    plan = _inserted(rng, "log", activation="tanh")
    return _sick("log of a negative number", plan, ("log of a negative number",), "/Log-op")


@_kind
def division_by_zero(rng: Rng) -> Sick:
    plan = _inserted(rng, "divide", activation="tanh")
    return _sick("division by zero", plan, ("division by zero", "zero divided by zero"), "Div-op")


@_kind
def root_of_a_negative_number(rng: Rng) -> Sick:
    plan = _inserted(rng, "root", activation="tanh")
    return _sick("root of a negative number", plan, ("root of a negative number",), "Sqrt-op")


@_kind
def inverse_root_of_zero(rng: Rng) -> Sick:
    plan = _inserted(rng, "inverse_root", activation="tanh")
    return _sick("inverse root of zero", plan, ("division by zero",), "Rsqrt-op", "Sqrt-op")


@_kind
def exponential_overflow(rng: Rng) -> Sick:
    plan = _inserted(rng, "exponential", float(rng.uniform(300, 3000)), activation="tanh")
    return _sick("exponential overflow", plan, ("exponential overflow",), "/Exp-op")


@_kind
def square_overflow_of_float16(rng: Rng) -> Sick:
    plan = _inserted(rng, "square_in_half", float(rng.uniform(2e3, 9e3)), activation="tanh")
    return _sick(
        "square overflow of float16",
        plan,
        ("overflow of Float16",),
        "Square-op",
        "Mul-op",
        "Cast-op",
        "Pow-op",
        "To_copy-op",
    )


@_kind
def cast_overflow_of_float16(rng: Rng) -> Sick:
    plan = _inserted(rng, "cast_to_half", float(rng.uniform(1e6, 1e9)), activation="tanh")
    return _sick("cast overflow of float16", plan, ("overflow of Float16",), "Cast-op", "To_copy-op")


@_kind
def nan_in_the_data(rng: Rng) -> Sick:
    step = int(rng.integers(1, 10))

    def data(at: int, x: Array, y: Array) -> tuple[Array, Array]:
        if at == step:
            x = x.copy()
            x.reshape(-1)[int(rng.integers(x.size))] = np.nan
        return x, y

    plan = draw(rng, str(rng.choice(["mlp", "conv", "recurrent", "residual"]))).having(data=data)
    return _sick("nan in the data", plan, ("given by data", "given"), iteration=step)


@_kind
def nan_in_a_weight(rng: Rng) -> Sick:
    def weights(name: str, values: Array) -> Array:
        values = np.asarray(values, np.float64).copy()
        if name == "0.weight":
            values.reshape(-1)[0] = np.nan
        return values

    return _sick("nan in a weight", _mlp(rng, weights=weights), ("given by weights", "given"), "0.weight")


@_kind
def zero_weights(rng: Rng) -> Sick:
    plan = _mlp(rng, weights=lambda name, values: np.zeros_like(values) if values.ndim > 1 else None)
    return _sick("zero weights", plan, ("zero weights",), ".weight")


@_kind
def constant_weights(rng: Rng) -> Sick:
    value = float(rng.uniform(0.05, 0.5))
    plan = _mlp(rng, norm="")
    name_ = _matrix(plan, int(rng.integers(plan.depth)))
    plan = plan.having(weights=lambda name, values: np.full(values.shape, value) if name == name_ else None)
    return _sick("constant weights", plan, ("constant weights",), name_)


@_kind
def weights_too_large(rng: Rng) -> Sick:
    factor = float(rng.uniform(15, 60))
    plan = _mlp(rng, norm="")
    name_ = _matrix(plan, int(rng.integers(plan.depth)))
    plan = plan.having(weights=lambda name, values: values * factor if name == name_ else None)
    return _sick("weights too large", plan, ("weights too large",), name_)


@_kind
def weights_too_small(rng: Rng) -> Sick:
    factor = float(10 ** rng.uniform(-5, -3))
    plan = _mlp(rng, norm="")
    name_ = _matrix(plan, int(rng.integers(plan.depth)))
    plan = plan.having(weights=lambda name, values: values * factor if name == name_ else None)
    return _sick("weights too small", plan, ("weights too small",), name_)


@_kind
def vanishing_gradient(rng: Rng) -> Sick:
    depth = int(rng.integers(7, 11))
    plan = _mlp(rng, depth=depth, activation="sigmoid", norm="", optimizer="sgd", rate=0.05)
    return _sick("vanishing gradient", plan, ("vanishing gradient",))


@_kind
def exploding_values(rng: Rng) -> Sick:
    factor = float(rng.uniform(3, 5))
    plan = _mlp(rng, depth=int(rng.integers(7, 10)), activation="relu", norm="", optimizer="sgd", rate=1e-5)
    plan = plan.having(weights=lambda name, values: values * factor if values.ndim > 1 else None)
    return _sick("exploding values", plan, ("exploding values", "exploding gradient", "weights too large"))


@_kind
def exploding_recurrence(rng: Rng) -> Sick:
    factor = float(rng.uniform(12, 40))
    plan = draw(rng, "recurrent").having(linear=True, insert=None, optimizer="sgd", rate=1e-5)
    plan = plan.having(weights=lambda name, values: values * factor if "again" in name and values.ndim > 1 else None)
    says = ("exploding values", "exploding gradient", "weights too large")
    return _sick("exploding recurrence", plan, says, "again")


@_kind
def dead_units(rng: Rng) -> Sick:
    plan = _mlp(rng, activation="relu", norm="")
    name_ = _matrix(plan, int(rng.integers(plan.depth))).replace("weight", "bias")
    plan = plan.having(weights=lambda name, values: np.full(values.shape, -50.0) if name == name_ else None)
    return _sick("dead units", plan, ("dead units",), f"/{name_.split('.')[0]}", "ReLU")


@_kind
def saturated_units(rng: Rng) -> Sick:
    plan = _mlp(rng, activation=str(rng.choice(["tanh", "sigmoid"])), norm="")
    name_ = _matrix(plan, int(rng.integers(plan.depth))).replace("weight", "bias")
    side = np.where(rng.random(plan.width) < 0.5, 30.0, -30.0)
    plan = plan.having(weights=lambda name, values: side if name == name_ else None)
    return _sick("saturated units", plan, ("saturated units",), "Sigmoid", "Tanh")


@_kind
def wrong_softmax_axis(rng: Rng) -> Sick:
    plan = draw(rng, "attention").having(axis=int(rng.choice([0, -2])), mask=None)
    return _sick("wrong softmax axis", plan, ("wrong softmax axis",), "Softmax-op")


@_kind
def softmax_over_the_batch(rng: Rng) -> Sick:
    plan = draw(rng, str(rng.choice(["mlp", "words", "residual"]))).having(end=Do("softmax_over_batch"), drop=0.0)
    return _sick("softmax over the batch", plan, ("wrong softmax axis",), "Softmax-op")


@_kind
def softmax_twice(rng: Rng) -> Sick:
    plan = draw(rng, str(rng.choice(["mlp", "words", "residual", "conv"]))).having(end=Do("softmax"))
    return _sick("softmax twice", plan, ("softmax before cross entropy",), "CrossEntropy", "Log_softmax-op")


@_kind
def mask_leaks(rng: Rng) -> Sick:
    plan = draw(rng, "attention").having(mask=-float(rng.uniform(0.5, 4)))
    return _sick("mask leaks", plan, ("mask leaks",), "Softmax-op")


@_kind
def learning_rate_zero(rng: Rng) -> Sick:
    plan = draw(rng).having(optimizer=str(rng.choice(["sgd", "momentum", "adam"])), rate=0.0)
    return _sick("learning rate zero", plan, ("learning rate zero", "weights not changed"))


@_kind
def learning_rate_too_small(rng: Rng) -> Sick:
    rate = float(10 ** rng.uniform(-12, -9))
    plan = draw(rng, str(rng.choice(["mlp", "residual", "words"]))).having(optimizer="sgd", rate=rate)
    says = ("update lost in rounding", "update too small", "weights not changed")
    return _sick("learning rate too small", plan, says)


@_kind
def learning_rate_too_large(rng: Rng) -> Sick:
    rate = float(rng.uniform(30, 300))
    activation = str(rng.choice(["elu", "leakyrelu", "tanh"]))
    plan = _mlp(rng, depth=2, optimizer="sgd", rate=rate, norm="", activation=activation)
    says = ("update too large", "exploding gradient", "exploding weight")
    return _sick("learning rate too large", plan, says, iteration=None)


@_kind
def gradient_ascent(rng: Rng) -> Sick:
    plan = draw(rng, str(rng.choice(["mlp", "residual"]))).having(optimizer="sgd", rate=0.2, sens=-1.0)
    plan = plan.having(drop=0.0, steps=16)
    return _sick("gradient ascent", plan, ("update up the gradient",), iteration=None)


@_kind
def forgotten_parameter(rng: Rng) -> Sick:
    plan = _mlp(rng, depth=3)
    name_ = _matrix(plan, int(rng.integers(1, 3)))
    return _sick("forgotten parameter", plan.having(left_out=(name_,)), ("parameter not trained",), name_)


@_kind
def constant_data(rng: Rng) -> Sick:
    value = float(rng.choice([0.0, 1.0, 0.5]))
    plan = draw(rng, str(rng.choice(["mlp", "residual", "conv"])))
    plan = plan.having(data=lambda at, x, y: (np.full_like(x, value), y))
    return _sick("constant data", plan, ("constant data",))


@_kind
def one_class_alone(rng: Rng) -> Sick:
    plan = draw(rng)
    chosen = int(rng.integers(plan.targets))
    plan = plan.having(data=lambda at, x, y: (x, np.full_like(y, chosen)))
    return _sick("one class alone", plan, ("one class alone",), "CrossEntropy", "Nll_loss", iteration=None)


@_kind
def label_outside_of_the_classes(rng: Rng) -> Sick:
    plan = draw(rng, str(rng.choice(["mlp", "residual", "conv"])))
    above = plan.targets + int(rng.integers(0, 3))

    def data(at: int, x: Array, y: Array) -> tuple[Array, Array]:
        y = y.copy()
        y[0] = above
        return x, y

    says = ("label outside of the classes",)
    return _sick(
        "label outside of the classes",
        plan.having(data=data, dense=True),
        says,
        "CrossEntropy",
        "Default/Mul-op",
        "Nll_loss",
    )


@_kind
def dropout_in_evaluation(rng: Rng) -> Sick:
    plan = draw(rng, "mlp").having(drop=0.3, evaluate=True)
    return _sick("dropout in evaluation", plan, ("dropout in evaluation",), "Dropout")


def make(kind: str, seed: int, engine: str = "emulator") -> Sick:
    """A sick training of a kind.

    Args:
        kind: key of ``KINDS``.
        seed: draws the network, its data and the place of the fault.
        engine: ``emulator``, or ``torch`` for PyTorch.

    Raises:
        KeyError: there is no such kind.
    """
    made = KINDS[kind](np.random.default_rng((seed, len(kind))))
    return replace(made, plan=made.plan.having(engine=engine))
