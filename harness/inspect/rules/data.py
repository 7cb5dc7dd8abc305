"""Data: labels, constant or repeated batches, scale, rows of an embedding."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np

from harness.inspect.flow import consumers, upstream
from harness.inspect.roles import FORWARD
from harness.inspect.rule import Context, rule
from harness.inspect.run import Op, Run, Slot
from harness.inspect.training import Training, training_of

#: family -> slots of scores and of labels
_LABELLED = {"sparse_ce": (0, 1), "nll": (0, 1), "cross_entropy": (0, 1), "pick": (0, 2)}
#: family -> slots of what is picked from, and of the indices
_PICKED = {"pick": (0, 2), "embedding": (0, 1)}
#: label that frameworks leave out by default
_IGNORED = -100


def _labelled(run: Run) -> list[tuple[Op, Slot, Slot]]:
    """Loss functions of classes with their scores and labels."""
    found = []
    readers = consumers(run) if any(op.family == "pick" for op in run.ops) else {}
    for op in run.ops:
        if op.family == "pick" and not any(each.family == "neg" for each, _ in readers.get((op.at, 0), ())):
            continue
        if op.phase == FORWARD and op.family in _LABELLED:
            scores, labels = (op.inputs.get(at) for at in _LABELLED[op.family])
            if scores is not None and labels is not None and not labels.is_floating and len(scores.record.shape) >= 2:
                found.append((op, scores, labels))
    return found


@rule("labels", "labels outside of the classes, of one class alone, or far from even", order=22,
      samples=(16, "labels that are needed for a statement about their classes"),
      share=(0.95, "share of one class that is worth a note"))  # fmt: skip
def labels(context: Context) -> None:
    """Integer labels of loss functions, and probabilities given as labels."""
    counts: dict[tuple[int, str], Counter[int]] = {}
    told: set[str] = set()
    at: dict[tuple[int, str], tuple[Op, int]] = {}
    for op, scores, given in _labelled(context.run):
        classes, numbers = scores.record.shape[1], given.numbers
        if numbers is None or op.name in told:
            continue
        low = numbers.low if numbers.low != _IGNORED else 0
        if low < 0 or numbers.high >= classes:
            worst = numbers.low if low < 0 else numbers.high
            text = f"a label is {worst:g}, and there are {classes} classes, 0 to {classes - 1}"
            context.at(op, "label outside of the classes", text, details={"classes": classes})
            told.add(op.name)
            continue
        array = given.load()
        if array is not None:
            counts.setdefault((op.where.rank, op.name), Counter()).update(array.reshape(-1).tolist())
            at.setdefault((op.where.rank, op.name), (op, classes))
    for key, counter in counts.items():
        _balance(context, *at[key], counter)
    _targets(context)


def _balance(context: Context, op: Op, classes: int, counter: Counter[int]) -> None:
    counter.pop(_IGNORED, None)
    total, (most, number) = sum(counter.values()), (counter.most_common(1) or [(0, 0)])[0]
    if classes < 2 or total < context["samples"]:
        return
    if number == total:
        context.at(op, "one class alone", f"all {total} labels are {most}, of {classes} classes")
    elif number > context["share"] * total:
        context.at(op, "uneven classes", f"{number} of {total} labels are {most}", error=False)


def _target(op: Op) -> Slot | None:
    """What a loss function, or a product with logarithms of probabilities, takes as probabilities."""
    if op.family in ("bce", "bce_logits", "dense_ce"):
        return op.inputs.get(1)
    if op.family == "mul" and len(op.inputs) == 2:
        for at in (0, 1):
            made = next(iter(upstream(op, at)), None)
            other = op.inputs.get(1 - at)
            if made is None or made.by is None or made.by.family != "log_softmax" or other is None:
                continue
            source = op.makers.get(1 - at)  # smoothed labels and scores of other networks are computed
            given = source is None or (source.by is None and not source.constant)
            return other if given and other.record.shape == op.inputs[at].record.shape else None
    return None


def _targets(context: Context) -> None:
    """Targets of cross entropies that are no probabilities."""
    for op in context.run.ops:
        slot = _target(op) if op.phase == FORWARD else None
        if slot is None or slot.numbers is None or not slot.is_floating or slot.numbers.bad:
            continue
        numbers = slot.numbers
        if numbers.low < -1e-6 or numbers.high > 1 + 1e-6:
            text = f"targets lie in {numbers.low:g} to {numbers.high:g}, and a cross entropy takes 0 to 1"
            context.at(op, "label outside of the classes", text)
            return
        if op.family in ("dense_ce", "mul") and len(slot.record.shape) == 2:
            array = slot.load()
            sums = array.astype(np.float64).sum(axis=1) if array is not None else np.ones(1)
            if not np.allclose(sums, 1, atol=1e-3):
                worst = float(sums[np.argmax(np.abs(sums - 1))])
                context.at(op, "label outside of the classes", f"the targets of a sample sum to {worst:.3g}, not to 1")
                return


@rule("inputs", "data that are constant, the same in every step, or of a size that networks are not made for", order=21,
      size=(30.0, "root mean square of the data that is worth a note"),
      steps=(3, "steps with equal data that are worth a note"))  # fmt: skip
def inputs(context: Context) -> None:
    """What the network is given."""
    training: Training = context.once("training", training_of)
    found = _data(context.run, training) or _first_inputs(training)
    if not found:
        return
    last = max((each.op.at for each in training.matrices), default=len(context.run.ops))
    given = {name: seen for name, seen in found.items() if seen[0][0].at <= last} or found
    largest = max(given, key=lambda each: max(s.numbers.count if s.numbers else 0 for _, _, s in given[each]))
    for name, seen in found.items():
        numbers = [slot.numbers for _, _, slot in seen if slot.numbers is not None and not slot.numbers.bad]
        if not numbers:
            continue
        op, step, _ = seen[0]
        constant = numbers[0].count > 1 and all(each.is_constant for each in numbers)
        if constant:
            text = f"every element of {name} is {numbers[0].low:g} in every step"
            context.at(op, "constant data", text, error=name == largest, iteration=step)
        elif _alike(seen):
            context.at(
                op, "constant data", f"every sample of {name} is the same", error=name == largest, iteration=step
            )
        elif seen[0][2].is_floating and max(each.rms for each in numbers) > context["size"]:
            size = max(each.rms for each in numbers)
            context.at(op, "data not scaled", f"the size of {name} is {size:.3g}", error=False, iteration=step)
    contents = [slot.content for _, _, slot in found[largest]]
    if len(contents) >= context["steps"] and len(set(contents)) == 1 and contents[0] is not None:
        text = f"{largest} is the same in all {len(contents)} steps"
        context.at(found[largest][0][0], "repeated batch", text, error=False)


def _alike(seen: list[tuple[Op, int, Slot]]) -> bool:
    """Whether all samples, along the first axis, are equal."""
    for _, _, slot in seen:
        array = slot.load()
        if array is None or array.ndim < 2 or array.shape[0] < 4 or not bool((array == array[:1]).all()):
            return False
    return bool(seen)


def _data(run: Run, training: Training) -> dict[str, list[tuple[Op, int, Slot]]]:
    """Data by name with the first reader: inputs of the graph, else inputs of layers that no operator made."""
    found: dict[str, list[tuple[Op, int, Slot]]] = {}
    seen: set[tuple[str, int, int]] = set()
    for op in run.ops:
        if op.phase != FORWARD:
            continue
        for at, slot in op.inputs.items():
            made = op.makers.get(at)
            name = made.parameter if made is not None else ""
            if made is not None and name not in training.data:
                continue
            if made is None and not (op.family in ("matmul", "conv", "recurrent") and slot.is_floating):
                continue
            if made is None and (at > 1 or len(slot.record.shape) < 2 or training.data or _is_weight(op, at)):
                continue
            key = name or f"{op.name} input.{at}", op.where.rank, op.where.iteration
            if key not in seen and len(slot.record.shape) > 1:
                seen.add(key)
                found.setdefault(key[0], []).append((op, op.where.iteration, slot))
    return found


def _first_inputs(training: Training) -> dict[str, list[tuple[Op, int, Slot]]]:
    """What the first layer reads, where operators before it made the data."""
    if not training.matrices:
        return {}
    first = training.matrices[0]
    found = []
    for op, at in first.readers:
        others = [s for i, s in op.inputs.items() if i != at and s.is_floating and len(s.record.shape) > 1]
        if others and (op.name, op.where.execution) == (first.op.name, first.op.where.execution):
            found.append((op, op.where.iteration, others[0]))
    return {f"the input of {first.name}": found} if found else {}


def _is_weight(op: Op, at: int) -> bool:
    """A product's second input may be a weight that no record names."""
    return at > 0 and op.kind.lower() not in ("addmm", "baddbmm")


@rule("embedding", "rows of an embedding that are asked for and not there, or never read", order=23,
      share=(0.5, "share of rows never read that is worth a note"))  # fmt: skip
def embedding(context: Context) -> None:
    """Indices of look-ups."""
    _outside(context)
    training: Training = context.once("training", training_of)
    for weight in training.weights.values():
        if not weight.is_embedding or len(weight.shape) != 2:
            continue
        read: set[int] = set()
        for op, at in weight.readers:
            slot = next((s for i, s in sorted(op.inputs.items()) if i != at and not s.is_floating), None)
            numbers = slot.numbers if slot is not None else None
            if slot is None or numbers is None:
                continue
            told = any(each.kind == "index outside of the embedding" for each in context.findings)
            if not told and (numbers.high >= weight.shape[0] or numbers.low < -weight.shape[0]):
                worst = numbers.high if numbers.high >= weight.shape[0] else numbers.low
                text = f"row {worst:g} is asked for, and {weight.name} has {weight.shape[0]} rows"
                context.at(op, "index outside of the embedding", text)
                return
            array = slot.load()
            if array is not None:
                read |= set(np.unique(array).tolist())
        unread = weight.shape[0] - len(read)
        if read and unread > math.ceil(context["share"] * weight.shape[0]):
            text = f"{unread} of {weight.shape[0]} rows of {weight.name} are never read"
            context.at(weight.op, "rows never read", text, error=False)


def _outside(context: Context) -> None:
    """Indices that lie outside of the rows of a table, or of every axis of what they pick from; an exception dump keeps
    them, and the capture of a step that raised."""
    for op in context.run.ops:
        slots = _PICKED.get(op.family)
        source, index = (op.inputs.get(at) for at in slots) if slots else (None, None)
        if source is None or index is None or index.is_floating or index.numbers is None or not source.record.shape:
            continue
        length = source.record.shape[0] if "embedding" in op.kind.lower() else max(source.record.shape)
        if index.numbers.high >= length or index.numbers.low < -length:
            worst = index.numbers.high if index.numbers.high >= length else index.numbers.low
            text = f"index {worst:g} is asked for of a tensor of shape {list(source.record.shape)}"
            context.at(op, "index outside of the embedding" if op.family == "embedding" else "index outside", text)
            return
