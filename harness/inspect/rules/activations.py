"""Activations: dead and saturated units, softmax, normalisation, dropout, masks."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from harness.inspect.flow import consumers, maker
from harness.inspect.roles import FORWARD, WEIGHTED
from harness.inspect.rule import Certainty, Context, rule
from harness.inspect.run import Op, Run, Slot
from harness.inspect.training import training_of

Array = np.ndarray[Any, np.dtype[Any]]


def _forward(run: Run, *families: str) -> Iterable[tuple[str, list[Op]]]:
    """Forward executions of families, by rank and operator, over all steps."""
    groups: dict[tuple[int, str], list[Op]] = {}
    for op in run.ops:
        if op.phase == FORWARD and op.family in families and 0 in op.outputs:
            groups.setdefault((op.where.rank, op.name), []).append(op)
    return ((name, ops) for (_, name), ops in groups.items())


@rule(
    "dead-units",
    "units of a ReLU that give 0 for every sample of every step",
    order=30,
    share=(0.9, "share of a layer's units that is an error"),
    noted=(0.5, "share that is worth a note"),
    samples=(4, "samples that are needed"),
)
def dead_units(context: Context) -> None:
    """Units that are zero throughout; from statistics alone, layers that are zero whole."""
    for _, ops in _forward(context.run, "relu"):
        slots = [op.outputs[0] for op in ops]
        whole = [slot.numbers is not None and slot.numbers.all_zero for slot in slots]
        alive = [slot.seen["alive"] for slot in slots if "alive" in slot.seen]
        first = next((op for op, zero in zip(ops, whole, strict=True) if zero), ops[0])
        if alive and len({each.shape for each in alive}) == 1:
            dead = 1 - float(np.any(alive, axis=0).mean())
            samples = sum(slot.seen["samples"] for slot in slots)
        else:
            dead, samples = float(all(whole)), sum(slot.numbers.count if slot.numbers else 0 for slot in slots)
        late = _dead_from(whole, len(ops))
        if samples < context["samples"] or (dead < context["noted"] and late is None):
            continue
        if late is not None and dead < context["share"]:
            text = f"from this step on every unit of {first.kind} gives 0"
            context.at(ops[late], "dead units", text, error=not _falls_on(context, ops[late]))
            continue
        error = dead >= context["share"]
        text = f"{dead:.0%} of the units give 0 for every sample of every step"
        context.at(first if all(whole) else ops[0], "dead units", text, error=error, details={"share": dead})


def _falls_on(context: Context, op: Op) -> bool:
    """Whether the loss, from the step of ``op`` on, is below the first one's and no higher than right before."""
    series = context.once("training", training_of).losses.get(op.where.rank, [])
    before = [value for step, value, _ in series if step < op.where.iteration]
    after = [value for step, value, _ in series if step >= op.where.iteration]
    if not before or not after:
        return False
    return bool(np.median(after) < 0.98 * before[0] and np.median(after) <= 1.2 * before[-1])


def _dead_from(whole: list[bool], steps: int) -> int | None:
    """The step from which on a layer is zero whole: two steps or more, to the end."""
    at = steps
    while at and whole[at - 1]:
        at -= 1
    return at if 0 < at <= steps - 2 else None


@rule(
    "saturated",
    "units of a sigmoid or tanh whose slope is under a hundredth of its peak, before the last layer",
    order=31,
    share=(0.8, "share of elements that is an error"),
    noted=(0.5, "share that is worth a note"),
)
def saturated(context: Context) -> None:
    """Shares of elements where nearly no gradient passes."""
    last = max((each.op.at for each in context.once("training", training_of).matrices), default=-1)
    for _, ops in _forward(context.run, "sigmoid", "tanh"):
        shares = [op.outputs[0].seen.get("flat") for op in ops]
        known = [share for share in shares if share is not None]
        if not known or not _before_a_layer(context, ops[0], last):
            continue
        share = float(np.median(known))
        if share < context["noted"]:
            continue
        at = next(op for op, each in zip(ops, shares, strict=True) if each is not None and each >= context["noted"])
        text = f"{share:.0%} of the elements of {at.kind} lie where its slope is under a hundredth of its peak"
        context.at(at, "saturated units", text, error=share >= context["share"], details={"share": share})


def _before_a_layer(context: Context, op: Op, last: int) -> bool:
    """Whether a product or convolution follows, in the order of the first step."""
    return op.at < last


@rule(
    "softmax-axis",
    "a softmax that does not sum to 1 along the axis that is used: the last one of a matrix, or the one that a product"
    " adds up",
    order=35,
)
def softmax_axis(context: Context) -> None:
    """What the sums of a softmax show."""
    readers = context.once("consumers", consumers)
    for _, ops in _forward(context.run, "softmax", "log_softmax"):
        op = ops[0]
        slot = op.outputs[0]
        sums, shape = slot.seen.get("sums"), slot.record.shape
        if op.family == "log_softmax":
            sums = _sums_of_log(slot)
        if not sums or not shape:
            continue
        if shape[-1] == 1 and sums[-1] and len(shape) > 1 and not any(sums[at] for at in range(len(shape) - 1)):
            if slot.numbers is not None and slot.numbers.count > 1:
                context.at(op, "softmax over one element", "the axis has length 1, so that every element is 1")
            continue
        wrong = _wrong_axis(op, sums, shape, readers)
        if wrong:
            axis = next((at for at, each in enumerate(sums) if each and shape[at] > 1), None)
            text = f"{op.kind} sums to 1 along {f'axis {axis}' if axis is not None else 'no axis'}, not along {wrong}"
            context.at(op, "wrong softmax axis", text, certainty=Certainty.PROVEN)


def _sums_of_log(slot: Slot) -> tuple[bool, ...]:
    array = slot.load()
    if array is None:
        return ()
    with np.errstate(all="ignore"):
        wide = np.exp(array.astype(np.float64))
    return tuple(bool(np.allclose(wide.sum(axis=at), 1, rtol=0, atol=1e-2)) for at in range(array.ndim))


def _wrong_axis(
    op: Op, sums: tuple[bool, ...], shape: tuple[int, ...], readers: dict[tuple[int, int], list[tuple[Op, int]]]
) -> str:
    """The axis along which it should sum to 1 and does not; empty if there is nothing to say."""
    used = _contracted(op, readers)
    if used is not None and shape[used] > 1:
        return "" if sums[used] else f"axis {used % len(shape)}, which a product adds up"
    if used is None and len(shape) == 2 and shape[0] > 1 and shape[1] > 1 and not sums[1] and sums[0]:
        return "axis 1, that of the classes"
    return ""


def _contracted(op: Op, readers: dict[tuple[int, int], list[tuple[Op, int]]]) -> int | None:
    """The axis of an output that a product adds up; None if no product reads it."""
    for reader, at in readers.get((op.at, 0), ()):
        if reader.phase != FORWARD or reader.where.iteration != op.where.iteration:
            continue
        if reader.family in ("dropout", "cast") or reader.kind.lower() in ("clone", "expand", "view", "identity"):
            found = _contracted(reader, readers)
            if found is not None:
                return found
        if reader.family == "matmul" and at in (0, 1) and reader.kind.lower() not in ("addmm", "baddbmm"):
            flags = [s.numbers.mean for i, s in sorted(reader.inputs.items()) if i >= 2 and s.numbers is not None]
            turned = bool(flags[at]) if len(flags) >= 2 and len(reader.inputs) >= 4 else False
            return (-2 if turned else -1) if at == 0 else (-1 if turned else -2)
    return None


@rule(
    "normalisation",
    "a normalisation whose result is not normal",
    order=36,
    low=(0.5, "spread of the result, without scale, that is too small"),
    high=(2.0, "spread that is too large"),
)
def normalisation(context: Context) -> None:
    """Mean and spread of what a batch or layer normalisation gives in training, without its scale and offset."""
    for _, ops in _forward(context.run, "layer_norm", "batch_norm"):
        if not context.run.trained:
            return
        op = ops[0]
        found = _spread(op)
        if found is None:
            continue
        spread, small = found
        if not context["low"] <= spread <= context["high"]:
            why = "its input hardly varies beside epsilon" if small else ""
            text = f"without scale and offset {op.kind} gives a spread of {spread:.3g}, not 1"
            context.at(op, "normalisation not normal", text, error=not small, reason=why)


def _spread(op: Op) -> tuple[float, bool] | None:
    """Spread of the result without scale and offset, and whether the input hardly varies."""
    arrays = {at: slot.load() for at, slot in op.inputs.items() if slot.is_floating}
    out = op.outputs[0].load()
    x, scale, offset = (arrays.get(at) for at in (0, 1, 2))
    if out is None or x is None or scale is None or offset is None or out.ndim < 2 or out.shape != x.shape:
        return None
    axis = 1 if op.family == "batch_norm" else out.ndim - 1
    if scale.ndim != 1 or scale.size != out.shape[axis] or not np.all(scale):
        return None
    form = tuple(-1 if at == axis else 1 for at in range(out.ndim))
    wide = (out.astype(np.float64) - offset.reshape(form)) / scale.reshape(form)
    over = tuple(at for at in range(out.ndim) if at != axis) if op.family == "batch_norm" else axis
    if min(wide.size // max(1, wide.shape[axis]) if op.family == "batch_norm" else wide.shape[axis], wide.size) < 4:
        return None
    varied = float(np.median(x.astype(np.float64).var(axis=over)))
    return float(np.median(wide.std(axis=over))), varied < 1e-4


@rule("dropout", "dropout that drops in a step without gradients", order=37)
def dropout(context: Context) -> None:
    """A step that only evaluates while others train, or a run that only predicts."""
    for _, iteration, ops in context.run.by_step():
        if any(op.phase != FORWARD for op in ops):
            continue
        drops = [op for op in ops if (op.family == "dropout" or _in_dropout(op)) and _drops(op)]
        if not drops:
            continue
        loss = any(op.family in ("sparse_ce", "dense_ce", "nll", "cross_entropy", "loss", "bce") for op in ops)
        text = f"{drops[0].kind} sets elements to 0 in step {iteration}, which computes no gradient"
        context.at(drops[0], "dropout in evaluation", text, error=context.run.trained or not loss)
        return


def _in_dropout(op: Op) -> bool:
    """A product within a layer of that name, or with a drawn mask that was divided by the share that stays: what a
    framework makes of it where no gradient is needed."""
    return op.family == "mul" and ("dropout" in op.layer.rpartition("/")[2].lower() or any(map(_is_mask, _makers(op))))


def _makers(op: Op) -> list[Op]:
    return [made.by for made in op.makers.values() if made.by is not None]


def _is_mask(op: Op) -> bool:
    return op.family == "div" and any(made.kind.lower().startswith("bernoulli") for made in _makers(op))


def _drops(op: Op) -> bool:
    given, made = op.inputs.get(0), op.outputs.get(0)
    if given is None or made is None or given.numbers is None or made.numbers is None:
        return False
    before, after = given.numbers.zero, made.numbers.zero
    return before is not None and after is not None and after > before


def _behind_views(op: Op, readers: dict[tuple[int, int], list[tuple[Op, int]]]) -> Iterable[Op]:
    """The executions that read what ``op`` gives, through views of it."""
    for follower, _ in readers.get((op.at, 0), ()):
        yield from _behind_views(follower, readers) if follower.family == "view" else (follower,)


@rule(
    "mask",
    "a mask that leaves weight on what it hides",
    order=38,
    weight=(1e-3, "weight on a hidden place, relative to an even one, that is a leak"),
)
def mask(context: Context) -> None:
    """A softmax of scores to which a mask of two values was added, whose hidden places still get weight; or one whose
    weights are set to 0 afterwards, so that they no longer sum to 1."""
    readers = context.once("consumers", consumers)
    for _, ops in _forward(context.run, "softmax"):
        op = ops[0]
        out = op.outputs[0].load()
        hidden = _hidden(op)
        if out is None:
            continue
        if hidden is not None:
            try:
                places = np.broadcast_to(hidden, out.shape)
            except ValueError:
                continue
            leak = float(out[places].max(initial=0)) * out.shape[-1] if places.any() and not places.all() else 0.0
            if leak > context["weight"] and _most_open(places):
                text = f"places that the mask hides still get a weight of {leak / out.shape[-1]:.3g}"
                context.at(op, "mask leaks", text)
                continue
        _masked_afterwards(context, op, readers)


def _most_open(places: Array) -> bool:
    """Whether some row keeps an open place: a row that is hidden whole has to put its weight somewhere."""
    return not bool(places.all(axis=-1).all())


def _hidden(op: Op) -> Array | None:
    """Where a mask that was added to the scores, or that fills them with a constant, hides them; None if none does."""
    by = maker(op, 0)
    if by is not None and by.family == "masked":
        return _filled(by)
    if by is None or by.family not in ("add", "sub"):
        return None
    for slot in by.inputs.values():
        array = slot.load() if slot.is_floating and slot.numbers is not None and slot.numbers.count > 1 else None
        if array is None:
            continue
        values = np.unique(array)
        if len(values) == 2 and 0 in values:
            other = values[values != 0][0]
            if (by.family == "add" and other < 0) or (by.family == "sub" and other > 0):
                return _in_open_rows(array != 0)
    return None


def _filled(by: Op) -> Array | None:
    """The places of scores that hold one constant where a mask of truths says so."""
    out, truths = by.outputs.get(0), (slot for slot in by.inputs.values() if slot.record.dtype == "Bool")
    made, slot = out.load() if out is not None else None, next(truths, None)
    places = slot.load() if slot is not None else None
    if made is None or places is None or np.broadcast_shapes(places.shape, made.shape) != made.shape:
        return None
    spread = np.broadcast_to(places, made.shape)
    for each in (spread, ~spread):
        if each.all() or not each.any():
            continue
        filled, left = made[each], made[~each]
        if filled.min() == filled.max() and left.min() != left.max():
            return _in_open_rows(each)
    return None


def _in_open_rows(places: Array) -> Array:
    return np.asarray(places & ~places.all(axis=-1, keepdims=True))


def _masked_afterwards(context: Context, op: Op, readers: dict[tuple[int, int], list[tuple[Op, int]]]) -> None:
    for reader, at in readers.get((op.at, 0), ()):
        if reader.family != "mul" or reader.phase != FORWARD:
            continue
        other = reader.inputs.get(1 - at)
        array = other.load() if other is not None and other.record.shape else None
        if array is None or {*np.unique(array)[:3].tolist()} != {0.0, 1.0}:
            continue
        if any(follower.family in WEIGHTED for follower in _behind_views(reader, readers)):
            text = f"{reader.kind} sets weights to 0 after the softmax, so that the rest does not sum to 1"
            context.at(reader, "mask leaks", text)
            return
