"""Faults of another hand in numbers: what is done to a healthy training, and what an inspection has to say."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from harness.capture import Capture
from harness.inspect import Finding, Report
from tests.inspect.other.frameworks import Job
from tests.inspect.other.networks import Rng, draw

#: name -> makes one
FAULTS: dict[str, Callable[[Rng], Other]] = {}
_VALUES = ("lenet", "autoencoder", "yes_or_no", "regression", "squeezed", "variational", "gated")


@dataclass
class Other:
    """A sick training and the truth: kinds that are right, texts of which one is in its operator, the first step."""

    kind: str
    network: str
    job: Job
    says: tuple[str, ...]
    places: tuple[str, ...] = ()
    iteration: int | None = 0

    def capture(self, framework: str) -> Capture:
        """Runs it."""
        return self.job.capture(framework)

    def right(self, report: Report) -> list[Finding]:
        """The errors that say the right kind, place and step."""
        return [
            each
            for each in report.errors
            if each.kind in self.says
            and (not self.places or any(place in each.operator.lower() for place in self.places))
            and self.iteration in (None, each.iteration)
        ]


def fault(make: Callable[[Rng], Other]) -> Callable[[Rng], Other]:
    FAULTS[make.__name__.replace("_", " ")] = make
    return make


def _at_point(
    rng: Rng, kind: str, what: Callable[[Any, Any], Any], says: tuple[str, ...], *places: str, of: tuple[str, ...] = ()
) -> Other:
    name, job = draw(rng, str(rng.choice(of or _VALUES)))
    job.points[str(rng.choice(["mid", "late"]))] = what
    return Other(kind, name, job, says, places)


@fault
def log_of_clamped(rng: Rng) -> Other:
    return _at_point(
        rng, "log", lambda f, x: f.log(f.floor_at(x - f.constant(0.5), 0.0)), ("log of zero",), "/log-op"
    )  # fmt: skip


@fault
def entropy_of_a_hard_share(rng: Rng) -> Other:
    def what(f: Any, x: Any) -> Any:
        share = f.softmax(f.flat(x) * 500, -1) if len(x.shape) > 2 else f.softmax(x * 500, -1)
        return x * (share * f.log(share)).sum()

    return _at_point(rng, "entropy", what, ("log of zero",), "/log-op")


@fault
def row_divided_by_its_sum(rng: Rng) -> Other:
    def what(f: Any, x: Any) -> Any:
        keep = np.ones(x.shape, np.float32)
        keep[int(rng.integers(x.shape[0]))] = 0
        x = x * f.constant(keep)
        return x / f.total(f.abs(x), -1)

    return _at_point(rng, "row", what, ("zero divided by zero", "division by zero"), "div-op")


@fault
def spread_without_epsilon(rng: Rng) -> Other:
    def what(f: Any, x: Any) -> Any:
        centred = (x - f.average(x, -1)) * 0
        return x * f.rsqrt(f.average(f.square(centred), -1))

    return _at_point(rng, "spread", what, ("division by zero",), "sqrt-op")


@fault
def root_at_zero_backward(rng: Rng) -> Other:
    says = ("division by zero", "infinity times zero", "zero divided by zero")
    return _at_point(rng, "root", lambda f, x: x + f.sqrt(f.square(x * 0)), says, "sqrt", "div", "mul", "/do", "pow")


@fault
def softplus_by_hand(rng: Rng) -> Other:
    amount = float(rng.uniform(1e3, 1e4))
    return _at_point(
        rng, "softplus", lambda f, x: f.log(1 + f.exp(x * amount)), ("exponential overflow",), "/exp-op"
    )  # fmt: skip


@fault
def softmax_by_hand(rng: Rng) -> Other:
    def what(f: Any, x: Any) -> Any:
        high = f.exp(x * 1000)
        return high / f.total(high, -1)

    return _at_point(rng, "softmax", what, ("exponential overflow",), "/exp-op")


@fault
def angle_beyond_one(rng: Rng) -> Other:
    says = ("outside of the domain", "NaN")
    return _at_point(rng, "angle", lambda f, x: f.acos(x * 1e3), says, "acos")


@fault
def product_in_half(rng: Rng) -> Other:
    def what(f: Any, x: Any) -> Any:
        large = f.half(f.flat(x) * 300 + f.constant(200.0))
        return x * 0 + f.single(f.matmul(large, f.turned(large))).mean()

    return _at_point(rng, "product", what, ("overflow of Float16",), "mm-op", "matmul", "cast")


@fault
def sum_in_half(rng: Rng) -> Other:
    def what(f: Any, x: Any) -> Any:
        return x * 0 + f.single(f.square(f.half(x + f.constant(400.0))).sum())

    return _at_point(rng, "sum", what, ("overflow of Float16", "infinity"), "square", "pow", "mul", "cast")


@fault
def power_of_a_negative(rng: Rng) -> Other:
    return _at_point(
        rng, "power", lambda f, x: f.pow(x - f.constant(50.0), 0.3), ("root of a negative number",), "pow"
    )  # fmt: skip


@fault
def infinity_in_a_batch(rng: Rng) -> Other:
    name, job = draw(rng, str(rng.choice(_VALUES)))
    step, inner, value = int(rng.integers(1, 8)), job.data, float(rng.choice([np.inf, np.nan]))

    def data(at: int) -> Any:
        x, y = inner(at)
        if at == step:
            x = x.copy()
            x.reshape(-1)[3] = value
        return x, y

    job.data = data
    return Other("infinity in a batch", name, job, ("given by data", "given"), (), step)


@fault
def a_target_is_no_number(rng: Rng) -> Other:
    name, job = draw(rng, str(rng.choice(["regression", "yes_or_no"])))
    step, inner = int(rng.integers(1, 8)), job.data

    def data(at: int) -> Any:
        x, y = inner(at)
        if at == step:
            y = y.copy()
            y.reshape(-1)[0] = np.nan
        return x, y

    job.data = data
    return Other("a target is no number", name, job, ("given by data", "given"), (), step)
