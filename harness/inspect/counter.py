"""Counter-runs: a step computed again with weights of another scale, or after a smaller update. What then goes away was
the cause; a reason that no counter-run confirms is not called proven.

Operators are replayed one by one, as explanations do; where one cannot be replayed there is no counter-run.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from harness.explain import replay
from harness.inspect.chains import Chain, Link
from harness.inspect.roles import UPDATE
from harness.inspect.run import Op, Run
from harness.inspect.training import Training, Weight

Array = np.ndarray[Any, np.dtype[Any]]
#: more elements than this in a step are not computed again
_MOST = 1 << 22


class Counter:
    """A step computed again with other parameters.

    Args:
        run: the run.
        rank, iteration: the step.
        parameters: other values by name; dtype and shape as they were.

    Attributes:
        made: results that differ, by the execution's ``at`` and the slot.
        complete: whether everything that depends on the parameters was computed.
    """

    def __init__(self, run: Run, rank: int, iteration: int, parameters: Mapping[str, Array]) -> None:
        self.made: dict[tuple[int, int], Array] = {}
        self.complete = True
        self._run, self._parameters = run, parameters
        ops = [op for op in run.ops if (op.where.rank, op.where.iteration) == (rank, iteration) and op.phase != UPDATE]
        size = sum(math.prod(slot.record.shape) for op in ops for slot in op.outputs.values())
        if size > _MOST:
            self.complete = False
            return
        with np.errstate(all="ignore"):
            for op in ops:
                self._take(op)

    def _take(self, op: Op) -> None:
        changed: dict[int, Any] = {}
        for at, made in op.makers.items():
            if made.parameter in self._parameters:
                changed[at] = self._parameters[made.parameter]
            elif made.by is not None and (made.by.at, made.slot) in self.made:
                changed[at] = self.made[made.by.at, made.slot]
        if not changed:
            return
        given = replay.setting(self._run.evidence, op.where)
        found = replay.computed(given.changed(values=changed)) if given is not None else None
        if found is None:
            self.complete = False
            return
        for at, array in enumerate(found):
            self.made[op.at, at] = array

    def size(self, op: Op) -> float:
        """Root mean square of an execution's first result; NaN if it is unknown."""
        array = self.made.get((op.at, 0))
        if array is None:
            slot = op.outputs.get(0)
            return slot.numbers.rms if slot is not None and slot.numbers is not None else math.nan
        with np.errstate(all="ignore"):
            return float(np.sqrt(np.mean(np.square(array.astype(np.float64)))))


def with_gain(weight: Weight, gain: float) -> Array | None:
    """The first values of a weight, scaled to a gain; None if they are unknown or zero."""
    first = weight.first
    array = first.load() if first is not None else None
    numbers = first.numbers if first is not None else None
    if array is None or numbers is None or not numbers.rms > 0:
        return None
    return np.asarray(array * (gain / (numbers.rms * math.sqrt(weight.fan_in))), dtype=array.dtype)


def layer_with_gain(run: Run, weight: Weight, gain: float = 1.0) -> tuple[float, float] | None:
    """By what a layer multiplies sizes as it is, and with another gain of its weight; None if that is unknown."""
    op = weight.op
    scaled = with_gain(weight, gain)
    at = next((at for each, at in weight.readers if each is op), None)
    given = replay.setting(run.evidence, op.where) if scaled is not None else None
    if given is None or scaled is None or at is None or op.makers[at].parameter != weight.name:
        return None
    with np.errstate(all="ignore"):
        found = replay.computed(given.changed(values={at: scaled}))
    sizes = [s.numbers.rms for i, s in op.inputs.items() if i != at and s.is_floating and s.numbers is not None]
    out = op.outputs.get(0)
    if not found or not sizes or not sizes[0] > 0 or out is None or out.numbers is None:
        return None
    again = float(np.sqrt(np.mean(np.square(found[0].astype(np.float64)))))
    return out.numbers.rms / sizes[0], again / sizes[0]


def chain_with_gain(run: Run, chain: Chain, gain: float = 1.0) -> Counter | None:
    """A chain's step with all its weights at one gain; None if it cannot be computed whole."""
    weights = {link.weight.name: link.weight for link in chain.links}
    scaled = {name: with_gain(weight, gain) for name, weight in weights.items()}
    known = {name: array for name, array in scaled.items() if array is not None}
    if len(known) < len(scaled) or chain.iteration != run.iterations[chain.rank][0]:
        return None
    found = Counter(run, chain.rank, chain.iteration, known)
    return found if found.complete and found.made else None


def gradient_norm(counter: Counter, link: Link) -> float:
    """Norm of the gradient at a link's output in a counter-run; NaN if nothing computed it."""
    if link.slot is None:
        return math.nan
    made = next(
        (
            op.makers[at]
            for op in counter._run.ops
            for at, slot in op.inputs.items()
            if slot is link.slot and at in op.makers and op.makers[at].by is not None
        ),
        None,
    )
    array = counter.made.get((made.by.at, made.slot)) if made is not None and made.by is not None else None
    return float(np.linalg.norm(array.astype(np.float64))) if array is not None else math.nan


def smaller_update(run: Run, training: Training, rank: int, part: float) -> tuple[float, float, float] | None:
    """The loss of the second step before the first update, after it, and after ``part`` of it; None if it is unknown.

    Args:
        part: by which the changes of all parameters are multiplied: as another rate does, or a clip.
    """
    series = training.losses.get(rank, [])
    steps = run.iterations.get(rank, [])
    if len(steps) < 2 or len(series) < 2 or (series[0][0], series[1][0]) != (steps[0], steps[1]):
        return None
    _, loss, op = series[1]
    before, after = {}, {}
    for weight in training.weights.values():
        new, old = weight.after.get(steps[0]), weight.first
        arrays = (old.load(), new.load()) if old is not None and new is not None else (None, None)
        if arrays[0] is None or arrays[1] is None or weight.rank != rank:
            return None
        before[weight.name] = arrays[0]
        after[weight.name] = (arrays[0] + part * (arrays[1] - arrays[0])).astype(arrays[0].dtype)
    found = []
    for parameters in (before, after):
        counter = Counter(run, rank, steps[1], parameters)
        array = counter.made.get((op.at, 0))
        if array is None or array.size != 1:
            return None
        found.append(float(array.reshape(-1)[0]))
    return found[0], loss, found[1]


__all__ = ["Counter", "chain_with_gain", "gradient_norm", "layer_with_gain", "smaller_update", "with_gain"]
