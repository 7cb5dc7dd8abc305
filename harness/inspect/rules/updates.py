"""Updates: too large or too small a part of a weight, or up the gradient."""

from __future__ import annotations

import math
from collections.abc import Iterable
from statistics import median

import numpy as np

from harness.inspect.chains import chains_of
from harness.inspect.counter import smaller_update
from harness.inspect.flow import maker
from harness.inspect.rule import Certainty, Context, rule
from harness.inspect.rules.places import at_weight, training_in
from harness.inspect.training import Flow, Training, Update, Weight


@rule(
    "update-ratio",
    "weights that a step changes by too large or too small a part of themselves",
    order=60,
    high=(1.0, "part that is too large, as the median over steps"),
    noted=(0.1, "part that is worth a note"),
    leap=(10.0, "part that is too large in one step, if the weight's gain is above ``gain`` then"),
    gain=(8.0, "root mean square times the square root of the number of inputs"),
    early=(3.0, "part that is too large, as the median over the first three steps"),
    low=(1e-6, "part that is too small, in every weight"),
    steps=(2, "changes that are needed"),
)
def update_ratio(context: Context) -> None:
    """Root mean square of the change over that of the weight, for weights of products and convolutions."""
    training = training_in(context)
    ratios = {}
    for weight in training.matrices:
        found = [each.ratio for each in weight.changes if math.isfinite(each.ratio)]
        if len(found) >= context["steps"]:
            ratios[weight] = median(found)
    if not ratios:
        if training.is_updated:
            context.cannot_tell("changes of weights need their values, finite, in two steps or more")
        return
    largest = max(ratios, key=lambda each: ratios[each])
    leap = _leap(context, ratios) if ratios[largest] <= context["high"] else None
    if leap is not None:
        weight, change = leap
        text = f"one step changes {weight.name} by {change.ratio:.2g} times its size"
        at_weight(
            context, weight, "update too large", text, iteration=change.iteration, details={"ratio": change.ratio},
            **_with_a_smaller_step(context, weight),
        )  # fmt: skip
    elif ratios[largest] > context["noted"]:
        first = next(each for each in largest.changes if each.ratio > context["noted"])
        error = ratios[largest] > context["high"]
        text = f"a step changes {largest.name} by {ratios[largest]:.2g} of its size (median)"
        kind = "update too large" if error else "large update"
        proof = _with_a_smaller_step(context, largest) if error else {}
        at_weight(
            context, largest, kind, text, error=error, iteration=first.iteration,
            details={"ratio": ratios[largest]}, **proof,
        )  # fmt: skip
    moving = [value for value in ratios.values() if value > 0]
    if moving and max(moving) < context["low"]:
        weight = max(ratios, key=lambda each: ratios[each])
        text = f"no step changes any weight by more than {max(moving):.2g} of its size"
        at_weight(context, weight, "update too small", text, details={"ratio": max(moving)})


def _leap(context: Context, weights: Iterable[Weight]) -> tuple[Weight, Update] | None:
    """The first change of a weight that is far larger than the weight and leaves it far too large, or that begins three
    large ones; None without one. A large rate saturates what follows, so that later changes are small."""
    found: list[tuple[Weight, Update]] = []
    for weight in weights:
        first = weight.changes[:3]
        if len(first) == 3 and context["early"] < median(each.ratio for each in first) < math.inf:
            found.append((weight, first[0]))
        for change in weight.changes:
            slot = weight.after.get(change.iteration)
            numbers = slot.numbers if slot is not None else None
            if numbers is None or not context["leap"] < change.ratio < math.inf:
                continue
            if numbers.rms * math.sqrt(weight.fan_in) > context["gain"]:
                found.append((weight, change))
    return min(found, key=lambda each: each[1].iteration, default=None)


def _with_a_smaller_step(context: Context, weight: Weight) -> dict[str, object]:
    """The counter-run of an update: whether a part of it, a fiftieth of the weight, lowers the loss that the whole one
    raised."""
    ratios = [each.changes[0].ratio for each in training_in(context).matrices if each.changes]
    largest = max((each for each in ratios if math.isfinite(each)), default=0.0)
    part = 0.02 / largest if largest > 0.02 else 1.0
    found = smaller_update(context.run, training_in(context), weight.rank, part)
    if found is None or not (found[2] < found[0] and not found[1] <= found[0]):
        return {}
    text = (
        f"with {part:.2g} of the first update the loss falls by {found[0] - found[2]:.3g} from {found[0]:.4g};"
        f" with the whole it is {found[1]:.4g}"
    )
    return {"reason": text, "certainty": Certainty.PROVEN}


@rule("ascent", "updates that go up the gradient, so that the loss grows", order=61, cosine=(0.5, "cosine that is up"))
def ascent(context: Context) -> None:
    """The change of a weight and its gradient point the same way in every step."""
    training = training_in(context)
    if _negated(context) or _against_labels(context, training):
        return
    up = []
    for weight in training.matrices:
        along = [each.along for each in weight.changes if not math.isnan(each.along)]
        if along and min(along) > context["cosine"]:
            up.append(weight)
    known = [each for each in training.matrices if any(not math.isnan(u.along) for u in each.changes)]
    if up and len(up) > len(known) / 2:
        text = f"every step moves {up[0].name} up its gradient, not down"
        at_weight(context, up[0], "update up the gradient", text)


def _negated(context: Context) -> bool:
    """Whether the trained scalar is a loss function's value, or a mean of squares, with a minus before it."""
    training = training_in(context)
    for series in training.losses.values():
        step, value, op = series[0]
        if op.family != "neg" or value >= 0:
            continue
        ops = [each for each in context.run.ops if each.where[:3] == op.where[:3]]
        by = maker(op, 0)
        squares = maker(by, 0) if by is not None and by.family in ("mean", "sum") else None
        squared = squares is not None and squares.family in ("square", "pow")
        if by is not None and (squared or op.at in Flow(ops, training.data).lossy):
            text = f"what is trained is minus {by.kind}: each step makes the loss larger"
            context.at(op, "update up the gradient", text, iteration=step, certainty=Certainty.PROVEN)
            return True
    return False


def _against_labels(context: Context, training: Training) -> bool:
    """Whether the gradient that the last layer gets would lower the score of the right class in every step."""
    chains = context.once("chains", lambda run: chains_of(run, training))
    seen = []
    for chain in chains:
        labels = [op for op in context.run.ops if op.family in ("sparse_ce", "nll") and op.phase == "forward"]
        op = next((o for o in labels if (o.where.rank, o.where.iteration) == (chain.rank, chain.iteration)), None)
        link = chain.links[-1]
        slot = op.inputs.get(1) if op is not None else None
        given, back = slot.load() if slot is not None else None, link.slot.load() if link.slot is not None else None
        if given is None or back is None or back.ndim != 2 or given.shape != back.shape[:1] or given.size < 4:
            continue
        if given.min() < 0 or given.max() >= back.shape[1] or not np.isfinite(back).all():
            continue
        right = back[np.arange(given.size), given]
        seen.append(float(right.mean()) > 0 and float((right < 0).mean()) < 0.02)
    if len(seen) < 2 or not all(seen):
        return False
    weight = chains[0].links[-1].weight
    text = "the gradient has the wrong sign: it would lower the score of the right class"
    at_weight(context, weight, "update up the gradient", text, certainty=Certainty.PROVEN)
    return True
