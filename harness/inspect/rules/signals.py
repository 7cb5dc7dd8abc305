"""Signals: what grows or dies from layer to layer, and from step to step."""

from __future__ import annotations

import itertools
import math
from statistics import median
from typing import Any

import numpy as np

from harness.inspect import roles
from harness.inspect.chains import Chain, Link, chains_of
from harness.inspect.counter import chain_with_gain, gradient_norm
from harness.inspect.flow import maker, parameter_read
from harness.inspect.origins import SHAPES
from harness.inspect.rule import Certainty, Context, rule
from harness.inspect.run import Op
from harness.inspect.training import Training, training_of

#: executions that are looked at above a layer
_UP = 12


def _chains(context: Context) -> list[Chain]:
    training: Training = context.once("training", training_of)
    found: list[Chain] = context.once("chains", lambda run: chains_of(run, training))
    return found


def _usable(pairs: list[tuple[int, float]]) -> list[tuple[int, float]]:
    return [(at, value) for at, value in pairs if value > 0 and math.isfinite(value)]


def _trend(pairs: list[tuple[int, float]]) -> float:
    """Decimal logarithm of the factor from the first layer to the last, by a line through all of them."""
    places, sizes = zip(*pairs, strict=True)
    slope = float(np.polyfit(places, np.log10(sizes), 1)[0])
    return float(slope * (places[-1] - places[0]))


@rule(
    "vanishing-gradient",
    "gradients that die on the way to the first layers",
    order=32,
    factor=(1e-3, "norm at the first layer over that at the last that is an error"),
    layers=(4, "layers that are needed"),
    moved=(1e-4, "relative update of the first weight that shows that it is trained all the same"),
)
def vanishing_gradient(context: Context) -> None:
    """Norms of the gradients at the layers' outputs, in the majority of the steps."""
    found = [_vanishing(context, chain) for chain in _chains(context)]
    hits = [each for each in found if each is not None]
    if not hits or len(hits) * 2 <= len([c for c in _chains(context) if len(c.backs()) >= context["layers"]]):
        return
    chain, total, link, factors = hits[0]
    first = chain.links[0].weight
    moved = [each.ratio for each in first.changes if math.isfinite(each.ratio)]
    trained = bool(moved) and median(moved) > context["moved"]
    text = f"the gradient shrinks to {total:.2g} of its norm from {chain.links[-1].weight.name} to {first.name}"
    reason, again = _why(context, chain, factors), _gradient_with_gain(context, chain, 2**0.5)
    proven = again is not None and again > 10 * context["factor"]
    if proven:
        reason = f"with weights of gain 1.4 it shrinks to {again:.2g} alone"
    context.at(
        link.op, "vanishing gradient", text, error=not trained or total < context["factor"] ** 2,
        iteration=chain.iteration, reason=reason, details={"factor": total, "layers": len(chain.links)},
        certainty=Certainty.PROVEN if proven else Certainty.SHOWN,
    )  # fmt: skip


def _vanishing(context: Context, chain: Chain) -> tuple[Chain, float, Link, list[float]] | None:
    pairs = _usable(chain.backs())
    if len(pairs) < context["layers"]:
        return None
    total = pairs[0][1] / pairs[-1][1]
    if total >= context["factor"] or _trend(pairs) < -0.5 * math.log10(context["factor"]):
        return None
    last = pairs[-1][1]
    at = next((place for place, value in reversed(pairs) if value < context["factor"] * last), pairs[0][0])
    factors = [a[1] / b[1] for a, b in itertools.pairwise(pairs)]
    return chain, total, chain.links[at], factors


def _why(context: Context, chain: Chain, factors: list[float]) -> str:
    """What the numbers show: saturation, small weights, or many layers of a little less than one each."""
    flat = next((each for each in context.findings if each.rule in ("saturated", "dead-units")), None)
    if flat is not None:
        return f"{flat.kind} at {flat.operator}"
    gains = [_gain(link) for link in chain.links if math.isfinite(_gain(link))]
    each = math.exp(sum(math.log(f) for f in factors) / len(factors))
    if gains and median(gains) < 0.3:
        return f"weights are small: the median gain is {median(gains):.2g}; a layer passes on {each:.2g}"
    gain = median(gains) if gains else math.nan
    return f"{len(chain.links)} layers pass on {each:.2g} each; their weights have a median gain of {gain:.2g}"


def _gain(link: Link) -> float:
    first = link.weight.first
    if first is None or first.numbers is None:
        return math.nan
    return first.numbers.rms * math.sqrt(link.weight.fan_in)


@rule(
    "exploding",
    "values or gradients that grow from layer to layer",
    order=33,
    forward=(1e3, "growth of values from the first layer's input to any layer's output that is an error"),
    backward=(1e3, "growth of gradients from the last layer to the first that is an error"),
    layers=(3, "layers that are needed"),
)
def exploding(context: Context) -> None:
    """Sizes of values and norms of gradients along the layers of a step."""
    for chain in _chains(context):
        pairs = _usable([(at, link.made) for at, link in enumerate(chain.links)])
        start = chain.links[0].given
        peak = max(pairs, key=lambda each: each[1], default=(0, 0.0))
        if len(pairs) >= context["layers"] and start > 0 and peak[1] / max(start, 1e-3) > context["forward"]:
            link = next(chain.links[at] for at, value in pairs if value / max(start, 1e-3) > context["forward"])
            op, factor = _grower(link)
            text = f"values grow {peak[1] / start:.2g} times from the input to {chain.links[peak[0]].weight.name}"
            gains = [_gain(each) for each in chain.links if math.isfinite(_gain(each))]
            reason = f"the weights' median gain is {median(gains):.2g}" if gains else ""
            if op is not link.op:
                reason = f"{op.kind} alone multiplies the size by {factor:.3g}"
            again = _values_with_gain_one(context, chain)
            proven = again is not None and again < context["forward"] / 10
            if proven:
                reason = f"with weights of gain 1 they grow {again:.3g} times"
            context.at(
                op, "exploding values", text, reason=reason, details={"factor": peak[1] / start},
                certainty=Certainty.PROVEN if proven else Certainty.SHOWN,
            )  # fmt: skip
            return
        backs = _usable(chain.backs())
        if len(backs) > context["layers"] and backs[0][1] / backs[-1][1] > context["backward"]:
            at = next(p for p, v in reversed(backs) if v / backs[-1][1] > context["backward"])
            text = f"the gradient grows {backs[0][1] / backs[-1][1]:.2g} times from the last layer to the first"
            context.at(chain.links[at].op, "exploding gradient", text)
            return


def _values_with_gain_one(context: Context, chain: Chain) -> float | None:
    """The counter-run of growing values: their growth with weights of gain 1; None if it cannot be computed."""
    counter = chain_with_gain(context.run, chain)
    if counter is None:
        return None
    sizes = [counter.size(link.op) for link in chain.links]
    return max(sizes) / chain.links[0].given if all(math.isfinite(size) for size in sizes) else None


def _gradient_with_gain(context: Context, chain: Chain, gain: float) -> float | None:
    """The counter-run of a gradient that dies: what is left of it with weights of another gain."""
    counter = chain_with_gain(context.run, chain, gain)
    norms = [gradient_norm(counter, link) for link in chain.links] if counter is not None else []
    known = [norm for norm in norms if math.isfinite(norm) and norm > 0]
    return known[0] / known[-1] if len(known) >= context["layers"] else None


def _grower(link: Link) -> tuple[Op, float]:
    """The execution that multiplies sizes most on the way to a layer's output, from the layer before on; and by what.
    The layer itself, unless another one does ten times as much."""
    best, most = link.op, _factor(link.op)
    op, own = _above(link.op), most
    for _ in range(_UP):
        if op is None or op.family in roles.WEIGHTED:
            break
        if _factor(op) > max(most, 10 * own):
            best, most = op, _factor(op)
        op = _above(op)
    return best, most


def _factor(op: Op) -> float:
    """Size of the result over that of the largest input that is no parameter; 0 if unknown."""
    slot = op.outputs.get(0)
    sizes = [
        each.numbers.rms
        for at, each in op.inputs.items()
        if each.is_floating and each.numbers is not None and not parameter_read(op, at) and at in op.makers
        and not op.makers[at].constant
    ]  # fmt: skip
    if slot is None or slot.numbers is None or not sizes or not max(sizes) > 0:
        return 0.0
    factor = slot.numbers.rms / max(sizes)
    return factor if math.isfinite(factor) else 0.0


def _above(op: Op) -> Op | None:
    """The maker of the largest input."""
    known = [
        (each.numbers.rms, made.by)
        for at, each in op.inputs.items()
        if (made := op.makers.get(at)) is not None and made.by is not None and each.numbers is not None
        and math.isfinite(each.numbers.rms)
    ]  # fmt: skip
    return max(known, key=lambda each: each[0])[1] if known else None


@rule(
    "vanishing-values",
    "values that die from layer to layer",
    order=34,
    factor=(1e-4, "size at the last layer over that of the first layer's input that is an error"),
    layers=(4, "layers that are needed"),
)
def vanishing_values(context: Context) -> None:
    """Sizes of values along the layers, without zeros: those are told by other rules."""
    for chain in _chains(context):
        pairs = _usable([(at, link.made) for at, link in enumerate(chain.links)])
        start = chain.links[0].given
        if len(pairs) < context["layers"] or not start > 0 or len(pairs) < len(chain.links):
            continue
        least = min(value for _, value in pairs)
        if least / start < context["factor"] and pairs[-1][1] / start < context["factor"] * 10:
            at = next(place for place, value in pairs if value / start < context["factor"])
            text = f"values shrink to {least / start:.2g} of the input's size"
            context.at(chain.links[at].op, "vanishing values", text)
            return


@rule(
    "growth",
    "gradients or weights that grow from step to step",
    order=62,
    gradient=(100.0, "growth of the gradients' norm over the first steps' that is an error"),
    weight=(10.0, "growth of a weight's size that is an error"),
    steps=(3, "steps that are needed"),
)
def growth(context: Context) -> None:
    """Norms over time, while the loss grows or is not known."""
    training: Training = context.once("training", training_of)
    for rank in context.run.iterations:
        norms = _norms(training, rank)
        if len(norms) < context["steps"]:
            continue
        start = median(norm for _, norm in norms[: max(1, len(norms) // 4)])
        late = [(step, norm) for step, norm in norms if norm > context["gradient"] * start > 0]
        if late and norms[-1][1] > context["gradient"] * start / 10 and not _loss_falls(training, rank):
            weight = max(training.matrices, key=lambda w: _last(w))
            text = f"the gradients' norm grows from {start:.3g} to {max(n for _, n in norms):.3g}"
            context.at(weight.op, "exploding gradient", text, iteration=late[0][0], reason=_rate(training))
            continue
        _weights(context, training, rank)


def _last(weight: object) -> float:
    slots = getattr(weight, "gradients", {})
    numbers = slots[max(slots)].numbers if slots else None
    return numbers.rms if numbers is not None and math.isfinite(numbers.rms) else 0.0


def _norms(training: Training, rank: int) -> list[tuple[int, float]]:
    squares: dict[int, float] = {}
    for weight in training.matrices:
        sizes = training.run.sizes(weight.gradients) if weight.rank == rank else {}
        for step, rms in sizes.items():
            if math.isfinite(rms):
                squares[step] = squares.get(step, 0.0) + rms * rms * math.prod(weight.shape)
    return [(step, math.sqrt(value)) for step, value in sorted(squares.items())]


def _loss_falls(training: Training, rank: int) -> bool:
    values = [value for _, value, _ in training.losses.get(rank, []) if math.isfinite(value)]
    return len(values) > 1 and values[-1] < values[0]


def _rate(training: Training) -> str:
    rates = {rate for weight in training.matrices for rate in weight.rates.values()}
    return f"the learning rate is {max(rates):g}" if rates else ""


def _weights(context: Context, training: Training, rank: int) -> None:
    for weight in training.matrices:
        first = weight.first.numbers if weight.first is not None else None
        sizes = [(step, rms) for step, rms in training.run.sizes(weight.after).items() if math.isfinite(rms)]
        if first is not None and math.isfinite(first.rms):
            sizes.insert(0, (0, first.rms))
        if weight.rank != rank or len(sizes) < context["steps"] or sizes[0][1] < 1e-3:
            continue
        if sizes[-1][1] > context["weight"] * sizes[0][1] and not _loss_falls(training, rank):
            step = next(step for step, size in sizes if size > context["weight"] * sizes[0][1])
            text = f"the size of {weight.name} grows from {sizes[0][1]:.3g} to {sizes[-1][1]:.3g}"
            context.at(weight.op, "exploding weight", text, iteration=step, reason=_rate(training))
            return


@rule("constant-activation", "values of a hidden layer that are the same for every sample", order=39)
def constant_activation(context: Context) -> None:
    """Outputs of a layer that no longer depend on the sample: nothing of the input is left."""
    for chain in _chains(context):
        for link in chain.links:
            out = link.op.outputs.get(0)
            array = out.load() if out is not None else None
            if array is None or array.ndim < 2 or array.shape[0] < 4 or not _same(array) or link.op.kind in SHAPES:
                continue
            data = context.once("training", training_of).data
            op = link.op if _varies(link.op, data) else _collapsed(link.op, array.shape[0], data)
            if op is None or _has_zero_weight(op, data):  # another rule tells of weights that are zero
                continue
            known = {each.rule for each in context.findings if each.is_error}
            error = not known & {"inputs", "dead-units", "initialisation", "nonfinite", "vanishing-values", "saturated"}
            text = f"{op.kind} gives the same for all {array.shape[0]} samples"
            context.at(op, "constant activation", text, error=error)
            return


def _is_weight(op: Op, at: int, data: frozenset[str]) -> bool:
    name = parameter_read(op, at)
    return bool(name) and name not in data


def _has_zero_weight(op: Op, data: frozenset[str]) -> bool:
    return any(_is_weight(op, at, data) and slot.numbers and slot.numbers.all_zero for at, slot in op.inputs.items())


def _varies(op: Op, data: frozenset[str]) -> bool:
    """Whether an input differs from sample to sample: of equal ones nothing else can come."""
    out = op.outputs[0].record.shape
    for at, slot in op.inputs.items():
        given = slot.is_floating and slot.record.shape[:1] == out[:1] and not _is_weight(op, at, data)
        array = slot.load() if given else None
        if array is not None and array.ndim >= 2 and not _same(array):
            return True
    return False


def _collapsed(op: Op, samples: int, data: frozenset[str], limit: int = 64) -> Op | None:
    """The operator before ``op`` that made the same for every sample of what differed; None if the data are the same,
    if it is weights that ``op`` reads, or if it is a ReLU, whose units are another rule's subject."""
    for _ in range(limit):
        above = (made for made in (maker(op, at) for at in sorted(op.makers)) if made is not None)
        by = next((made for made in above if made.kind not in SHAPES), None)
        if by is None:
            return None
        op = by
        given = [slot for at, slot in op.inputs.items() if slot.is_floating and not _is_weight(op, at, data)]
        arrays = [slot.load() for slot in given if slot.record.shape[:1] == (samples,) and len(slot.record.shape) > 1]
        if any(array is not None and not _same(array) for array in arrays):
            return op if op.family != "relu" else None
    return None


def _same(array: np.ndarray[Any, Any]) -> bool:
    return bool((array == array[:1]).all())
