"""Losses: what they are given, and whether they fall."""

from __future__ import annotations

import math
from statistics import median

import numpy as np

from harness.inspect.flow import consumers, log_softmax_of, maker
from harness.inspect.roles import FORWARD
from harness.inspect.rule import Context, rule
from harness.inspect.run import Op, Slot
from harness.inspect.training import Training, training_of


@rule("loss-input", "scores that were given to a loss function in another form than it takes", order=24)
def loss_input(context: Context) -> None:
    """Probabilities in place of scores, scores in place of logarithms of probabilities."""
    told: set[str] = set()
    readers = context.once("consumers", consumers)
    for op in context.run.ops:
        slot = op.inputs.get(0)
        if op.phase != FORWARD or slot is None or slot.numbers is None or op.name in told or slot.numbers.bad:
            continue
        if op.family == "pick" and not any(each.family == "neg" for each, _ in readers.get((op.at, 0), ())):
            continue
        said = _wrong_form(op, slot)
        if said:
            told.add(op.name)
            context.at(op, *said)


def _wrong_form(op: Op, slot: Slot) -> tuple[str, str] | None:
    numbers = slot.numbers
    assert numbers is not None
    if op.family == "pick":
        made = maker(op, 0)
        inner = log_softmax_of(made) if made is not None else None
        scores = inner[0].inputs.get(inner[1]) if inner is not None else None
        if inner is not None:
            by = maker(*inner)
            if by is not None and by.family in ("softmax", "sigmoid") and _are_shares(scores):
                return _TWICE
            return _CUT if by is not None and by.family == "relu" else None
    classes = op.family in ("sparse_ce", "dense_ce", "cross_entropy") or (op.family == "log_softmax" and _to_loss(op))
    if classes and _are_shares(slot) and _made_by(op, "softmax", "sigmoid"):
        return _TWICE
    if classes and numbers.low >= 0 and _made_by(op, "relu"):
        return _CUT
    if op.family in ("nll", "pick") and numbers.high > 1e-6:
        return "scores instead of log probabilities", f"the largest log probability is {numbers.high:.3g}, above 0"
    if op.family == "bce" and (numbers.low < 0 or numbers.high > 1):
        text = f"probabilities lie in {numbers.low:.3g} to {numbers.high:.3g}"
        return "scores instead of probabilities", text
    if op.family == "bce_logits" and numbers.low >= 0 and numbers.high <= 1 and _made_by(op, "sigmoid"):
        return "sigmoid before cross entropy", "the scores are probabilities already: the sigmoid is applied twice"
    return None


_TWICE = "softmax before cross entropy", "the scores are probabilities already: the softmax is applied twice"

_CUT = "activation before the loss", "a ReLU makes the scores: none is below 0, and a unit that gives 0 learns nothing"


def _are_shares(slot: Slot | None) -> bool:
    if slot is None or slot.numbers is None:
        return False
    return len(slot.record.shape) >= 2 and slot.numbers.low >= 0 and slot.numbers.high <= 1


def _to_loss(op: Op) -> bool:
    """A logarithm of a softmax outside of layers belongs to a loss function."""
    return "/" not in op.layer


def _made_by(op: Op, *families: str) -> bool:
    by = maker(op, 0)
    return by is not None and by.family in families


@rule(
    "loss",
    "a loss that does not fall, grows, or is the same in every step",
    order=90,
    steps=(8, "steps that are needed"),
    sure=(20, "steps after which a loss that does not fall is an error"),
    fall=(0.02, "part of the loss by which it has to fall"),
)
def loss(context: Context) -> None:
    """The first third of the steps beside the last. Where another rule has found an error, this is a consequence."""
    training: Training = context.once("training", training_of)
    if not training.is_updated and not any(each.gradients for each in training.weights.values()):
        return
    for rank, series in training.losses.items():
        values = [value for _, value, _ in series if math.isfinite(value)]
        if len(values) < max(2, context["steps"]):
            if len(context.run.iterations[rank]) > 1:
                context.cannot_tell(f"{len(values)} losses were found, and a trend needs {int(context['steps'])}")
            continue
        trend = _Trend(values)
        followed = next((each.kind for each in context.findings if each.is_error and each.rank == rank), "")
        op, step = series[0][2], series[0][0]
        more = {"iteration": step, "error": not followed, "folded": f"as {followed} explains" if followed else ""}
        if len(set(values)) == 1:
            context.at(op, "loss constant", f"the loss is {values[0]:.6g} in all {len(values)} steps", **more)
        elif trend.grows:
            context.at(op, "loss grows", f"the loss grows from {trend.first:.4g} to {trend.last:.4g}", **more)
        elif trend.is_flat(context["fall"]):
            text = f"the loss is {trend.first:.4g} at first and {trend.last:.4g} at last"
            more["error"] = more["error"] and len(values) >= context["sure"]
            context.at(op, "loss does not fall", text, **more)
        elif trend.last > trend.first * (1 - context["fall"]):
            context.cannot_tell(f"{len(values)} steps of this loss scatter too much for a trend")


class _Trend:
    """A line through the losses of a run.

    Args:
        values: the losses, in order.
    """

    def __init__(self, values: list[float]) -> None:
        number = len(values)
        part = max(2, number // 3)
        self.values = values
        self.first, self.last = median(values[:part]), median(values[-part:])
        self.scale = max(abs(self.first), 1e-12)
        places = np.arange(number)
        slope, start = (float(each) for each in np.polyfit(places, values, 1))
        self.change = slope * (number - 1)
        rest = np.asarray(values) - (start + slope * places)
        #: standard error of ``change``
        self.error = math.sqrt(float((rest**2).sum()) / max(1, number - 2) * 12 / number)

    @property
    def grows(self) -> bool:
        """Whether it grows beyond its scatter."""
        return self.change > max(0.1 * self.scale, 3 * self.error) and self.last > 1.2 * max(self.values[:2])

    def is_flat(self, fall: float) -> bool:
        """Whether it surely falls by less than ``fall`` of itself, and has somewhere to fall to."""
        if min(self.values) < 1e-3 * max(abs(value) for value in self.values) or abs(self.first) < 1e-6:
            return False
        return self.change - 2 * self.error > -fall * self.scale and self.last > self.first * (1 - fall)
