"""Weights: initialisation, gradients that do not arrive, updates that are missing, too large or too small."""

from __future__ import annotations

import itertools
import math
from statistics import median
from typing import Any

import numpy as np

from harness.inspect.chains import chains_of
from harness.inspect.counter import chain_with_gain, layer_with_gain
from harness.inspect.numbers import rounding
from harness.inspect.rule import Certainty, Context, rule
from harness.inspect.rules.places import at_weight, training_in
from harness.inspect.training import Training, Weight
from harness.words import counted

#: results of the backward pass by rank, layer, shape and step
_Made = dict[tuple[int, str, tuple[int, ...], int], list["np.ndarray[Any, Any]"]]


@rule(
    "initialisation",
    "weights that are constant, all zero, or far too large or small for their number of inputs, in the first step",
    order=20,
    high=(8.0, "gain (root mean square times the square root of the number of inputs) that is too large"),
    low=(0.01, "gain that is too small"),
    every=(3.0, "median gain of three weights or more, without normalisation, that is too large"),
    elements=(16, "elements that a weight needs for its gain to be judged"),
)
def initialisation(context: Context) -> None:
    """The first state of every weight of a product or a convolution."""
    training = training_in(context)
    zeros, gains = [], {}
    for weight in training.matrices:
        steps = context.run.iterations[weight.rank]
        numbers = weight.first.numbers if weight.first is not None else None
        if numbers is None or numbers.bad or min(steps) > 1 or not _is_trained(training, weight):
            continue
        gain = numbers.rms * math.sqrt(weight.fan_in)
        if not numbers.is_constant:
            gains[weight] = gain
        if numbers.all_zero:
            zeros.append(weight)
        elif numbers.is_constant and numbers.count > max(1, min(weight.shape)):
            text = f"all {numbers.count} elements of {weight.name} are {numbers.low:g}: its units stay alike"
            at_weight(context, weight, "constant weights", text, details={"value": numbers.low})
        elif numbers.count >= context["elements"] and not context["low"] <= gain <= context["high"]:
            kind = "weights too large" if gain > 1 else "weights too small"
            text = (
                f"{weight.name} multiplies its input's size by about {gain:.3g} at the start ({weight.fan_in} inputs)"
            )
            proof = _with_gain_one(context, weight)
            at_weight(context, weight, kind, text, details={"gain": gain, "fan_in": weight.fan_in}, **proof)
    _zeros(context, training, zeros)
    _gains(context, gains)


def _with_gain_one(context: Context, weight: Weight) -> dict[str, object]:
    """The counter-run of a layer: whether a weight of gain 1 takes the factor away."""
    found = layer_with_gain(context.run, weight)
    if found is None or not context["low"] <= found[1] <= context["high"] or not found[0] > 0:
        return {}
    if not (found[0] > 2 * found[1] or found[0] < found[1] / 2):
        return {}
    text = f"with weights of gain 1 the layer multiplies by {found[1]:.3g}, not by {found[0]:.3g}"
    return {"reason": text, "certainty": Certainty.PROVEN}


def _gains(context: Context, gains: dict[Weight, float]) -> None:
    """Weights that are drawn alike, whatever their number of inputs: each is too large, none by far."""
    known = [gain for gain in gains.values() if gain > 0]
    if len(known) < 3 or median(known) < context["every"] or max(known) > context["high"]:
        return
    if any(op.family in ("batch_norm", "layer_norm") for op in context.run.ops):
        return
    worst = max(gains, key=lambda each: gains[each])
    proof = _values_with_gain_one(context)
    text = f"{len(known)} weights multiply their inputs' sizes by {median(known):.3g} in the median at the start"
    at_weight(context, worst, "weights too large", text, details={"gain": median(known)}, **proof)


def _values_with_gain_one(context: Context) -> dict[str, object]:
    """The counter-run of a network: the size of its last layer's result with weights of gain 1."""
    chains = context.once("chains", lambda run: chains_of(run, training_in(context)))
    counter = chain_with_gain(context.run, chains[0]) if chains else None
    if counter is None:
        return {}
    link = chains[0].links[-1]
    again = counter.size(link.op)
    if not again < link.made / 3:
        return {}
    text = f"with weights of gain 1 the size of {link.op.kind}'s result is {again:.3g}, not {link.made:.3g}"
    return {"reason": text, "certainty": Certainty.PROVEN}


def _is_trained(training: Training, weight: Weight) -> bool:
    if weight.updates or weight.gradients or weight.unchanged is False:
        return True
    return not training.run.trained


def _zeros(context: Context, training: Training, zeros: list[Weight]) -> None:
    """Zeros in one layer can be meant; in a chain of two no gradient passes, unless each has a way around it."""
    began = min((step for each in training.weights.values() if (step := each.moved) is not None), default=None)
    several = len(zeros) > 1 and not all(each.moved == began is not None and _units_differ(each) for each in zeros)
    for at, weight in enumerate(zeros):
        others = f", as in {counted(len(zeros) - 1, 'other weight')}" if len(zeros) > 1 else ""
        text = f"every element of {weight.name} is 0 at the start{others}"
        error = at == 0 if several else weight.unchanged is True
        at_weight(context, weight, "zero weights", text, error=error)


def _units_differ(weight: Weight) -> bool:
    """Whether a weight has neither equal rows nor equal columns at last: zeros that end a residual branch or an adapter
    come to that, those of a chain do not."""
    array = weight.after[max(weight.after)].load() if weight.after else None
    if array is None or array.ndim < 2:
        return False
    flat = array.reshape(array.shape[0], -1).astype(np.float64)
    room = 1e-3 * float(np.abs(flat).max())
    return all(float(np.ptp(flat, axis=axis).max()) > room for axis in (0, 1) if flat.shape[axis] > 1)


@rule(
    "no-gradient",
    "parameters whose gradient is zero in every step, or that get none although layers before them do",
    order=40,
)
def no_gradient(context: Context) -> None:
    """Zero gradients, told at the layer nearest to the loss."""
    training = training_in(context)
    zero = []
    for weight in training.matrices:
        known = [slot.numbers for slot in weight.gradients.values() if slot.numbers is not None]
        if known and all(each.all_zero for each in known) and not any(training.run.sizes(weight.gradients).values()):
            zero.append(weight)
    if not zero:
        return
    blocked = _already(context, {"dead-units", "saturated", "initialisation", "nonfinite"})
    last = zero[-1]
    text = f"the gradient of {last.name} is 0 in every step"
    if len(zero) > 1:
        text += f", and so is that of {counted(len(zero) - 1, 'weight')} before it"
    at_weight(context, last, "zero gradient", text, error=not blocked, folded=f"as {blocked} shows" if blocked else "")


def _already(context: Context, rules: set[str]) -> str:
    return next((each.kind for each in context.findings if each.is_error and each.rule in rules), "")


@rule(
    "not-trained",
    "parameters that nothing updates while others of the network are trained",
    order=41,
    share=(0.5, "share of the weights above which it is taken for meant"),
    first=(0.25, "share of first weights, more than one, without gradients, above which it is taken for meant"),
)
def not_trained(context: Context) -> None:
    """Weights without update. The greater part, or many without gradients before the first trained layer, are taken
    for frozen on purpose."""
    training = training_in(context)
    if not training.is_updated:
        return
    matrices = [each for each in training.matrices if len(each.after) or each.updates or each.gradients]
    trained = [at for at, each in enumerate(matrices) if _moves(each)]
    still = [(at, each) for at, each in enumerate(matrices) if not _moves(each)]
    if not trained or not still:
        return
    meant = len(still) > context["share"] * len(matrices)
    many = trained[0] > max(1, context["first"] * len(matrices))
    for at, weight in still:
        before = at < trained[0] and many and not weight.gradients
        adapted = not weight.gradients and _is_adapted(weight, [matrices[each] for each in trained])
        text = (
            f"nothing updates {weight.name}, while {counted(len(trained), 'other weight')} of the network are trained"
        )
        if adapted:
            text = f"nothing updates {weight.name}, beside which an adapter of low rank is trained"
        at_weight(context, weight, "parameter not trained", text, error=not before and not meant and not adapted)
    _vectors(context, training)


def _is_adapted(weight: Weight, trained: list[Weight]) -> bool:
    """Whether two trained weights beside it multiply to its shape, with fewer numbers: then it is frozen on purpose."""
    parts = weight.name.split(".")
    near = [
        each.shape for each in trained for up in (1, 2)
        if len(parts) > up and len(each.shape) == 2 and each.name.startswith(".".join(parts[:-up]) + ".")
    ]  # fmt: skip
    whole = sorted(weight.shape)
    return len(whole) == 2 and any(
        min(one) == min(other) < whole[0] and sorted((max(one), max(other))) == whole
        for one, other in itertools.combinations(near, 2)
    )


def _moves(weight: Weight) -> bool:
    return bool(weight.updates) or weight.unchanged is False


def _vectors(context: Context, training: Training) -> None:
    """Biases and scales that nothing updates although the matrix of their layer is."""
    trained = {each.op.layer for each in training.matrices if _moves(each)}
    for weight in training.weights.values():
        vector = len(weight.shape) == 1 and weight.op.layer in trained
        if vector and not _moves(weight) and weight.unchanged is True:
            text = f"nothing updates {weight.name}, although the weight of its layer is trained"
            at_weight(context, weight, "parameter not trained", text, error=False)


@rule(
    "unchanged",
    "weights that keep their values although they have gradients and are given to the optimizer",
    order=42,
    steps=(3, "steps that a weight needs to be judged without an update that was recorded"),
)
def unchanged(context: Context) -> None:
    """Weights that stay as they are: a learning rate of zero, updates below rounding, an optimizer that never runs."""
    training = training_in(context)
    stuck = [each for each in training.matrices if each.unchanged and _has_gradient(each)]
    if not stuck or not training.run.trained:
        return
    every = len(stuck) == len([each for each in training.matrices if _has_gradient(each)])
    updated = [each for each in stuck if each.updates]
    if not updated and (not every or len(context.run.iterations[stuck[0].rank]) < context["steps"]):
        return
    for weight in (updated or stuck)[:1] if every else updated:
        kind, why, certainty = _why_unchanged(weight)
        others = f", as are {len(stuck) - 1} others" if every and len(stuck) > 1 else ""
        text = f"{weight.name} has the same values after every step{others}"
        at_weight(context, weight, kind, text, reason=why, certainty=certainty)


def _has_gradient(weight: Weight) -> bool:
    known = [slot.numbers for slot in weight.gradients.values() if slot.numbers is not None]
    return any(not each.all_zero for each in known)


def _why_unchanged(weight: Weight) -> tuple[str, str, Certainty]:
    if not weight.updates:
        return "weights not changed", "gradients are computed, and no operator applies them", Certainty.SHOWN
    rates = list(weight.rates.values())
    if rates and all(rate == 0 for rate in rates):
        return "learning rate zero", "the learning rate is 0 in every step", Certainty.PROVEN
    step, slot = next(iter(weight.gradients.items()))
    numbers, first = slot.numbers, weight.first.numbers if weight.first is not None else None
    rate = weight.rates.get(step)
    if numbers is not None and first is not None and rate is not None:
        part = rate * numbers.peak / first.rms if first.rms else math.inf
        if part < rounding(slot.record.dtype):
            why = f"rate {rate:g} times gradient {numbers.peak:.3g} is below the rounding of {slot.record.dtype}"
            return "update lost in rounding", why, Certainty.SHOWN
    return "weights not changed", "the optimizer runs, and the values stay", Certainty.SHOWN


@rule(
    "stale-gradient",
    "gradients that repeat while weights and data change, or that only add up from step to step",
    order=43,
    steps=(2, "steps in a row that are needed"),
)
def stale_gradient(context: Context) -> None:
    """Equal gradients in steps that differ; gradients that hold those of the step before."""
    training = training_in(context)
    for weight in training.matrices:
        steps = sorted(weight.gradients)
        if len(steps) <= context["steps"] or weight.unchanged is not False:
            continue
        contents = [weight.gradients[step].content for step in steps]
        numbers = weight.gradients[steps[0]].numbers
        plain = numbers is None or numbers.is_constant
        plain = plain or bool(numbers and numbers.bad)
        if len(set(contents)) == 1 and contents[0] is not None and not plain and _data_change(context):
            text = f"the gradient of {weight.name} is the same in all {len(steps)} steps, while weights and data change"
            at_weight(context, weight, "stale gradient", text)
            return
    _added(context, training)


def _data_change(context: Context) -> bool:
    found: dict[str, set[bytes | None]] = {}
    for op in context.run.ops:
        for at, slot in op.inputs.items():
            if op.phase == "forward" and op.family in ("matmul", "conv", "embedding") and at not in op.makers:
                found.setdefault(f"{op.name}{at}", set()).add(slot.content)
    for (_, name), steps in context.run.parameters.items():
        if name in training_in(context).data:
            found[name] = {slot.content for slot in steps.values()}
    return any(len(each) > 1 for each in found.values())


def _added(context: Context, training: Training) -> None:
    """Gradients, recorded as the framework keeps them, that grow by what each backward pass gives."""
    made: _Made = {}
    if not context.run.gradients:
        _carried(context, training)
        return
    for op in context.run.ops:
        if op.phase == "backward" and op.family != "add":  # that is how a framework adds to what it keeps
            for slot in op.outputs.values():
                key = op.where.rank, op.layer, slot.record.shape, op.where.iteration
                array = slot.load() if len(slot.record.shape) >= 2 else None
                if array is not None:
                    made.setdefault(key, []).append(array)
    for weight in training.matrices:
        if _adds_up(context, weight, made):
            text = f"the gradient of {weight.name} holds those of the steps before: nothing sets it to zero"
            step = sorted(weight.gradients)[1]
            at_weight(context, weight, "gradients add up", text, iteration=step, certainty=Certainty.PROVEN)
            return


def _carried(context: Context, training: Training) -> None:
    """Backward passes that add to what they had left in the step before, although an update has used it since."""
    left: dict[tuple[int, bytes], tuple[int, int, int]] = {}
    weights = {(each.rank, each.op.layer, each.shape): each for each in training.matrices}
    for rank, step, ops in context.run.by_step():
        for op in ops:
            given, gives = op.inputs.get(0), op.outputs.get(0)
            if op.phase != "backward" or op.family != "add" or given is None or gives is None or gives.content is None:
                continue
            before, began, number = left.get((rank, given.content or b""), (step, step, 0))
            weight = weights.get((rank, op.layer, gives.record.shape))
            plain = given.numbers is None or given.numbers.bad or given.numbers.is_constant
            if before != step and not plain and weight is not None and before in weight.updates:
                number += 1
                if number >= context["steps"]:
                    text = f"the gradient of {weight.name} holds those of the steps before: nothing sets it to zero"
                    proof = Certainty.PROVEN
                    at_weight(context, weight, "gradients add up", text, iteration=began, certainty=proof)
                    return
            else:
                began, number = step, 0
            left[rank, gives.content] = step, began, number


def _adds_up(context: Context, weight: Weight, made: _Made) -> bool:
    steps = sorted(weight.gradients)
    if len(steps) <= context["steps"] or weight.unchanged is not False:
        return False
    for before, step in itertools.pairwise(steps):
        old, new = weight.gradients[before].load(), weight.gradients[step].load()
        parts = made.get((weight.rank, weight.op.layer, weight.shape, step), [])
        if old is None or new is None or not parts or not np.any(old):
            return False
        room = 1e-4 * float(np.abs(new).max() + np.abs(old).max())
        if not math.isfinite(room):
            return False
        if not any(np.allclose(new - old, part, rtol=1e-4, atol=room) for part in parts):
            return False
        if any(np.allclose(new, part, rtol=1e-6, atol=0) for part in parts):
            return False
    return True
