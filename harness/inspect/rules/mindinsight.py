"""The conditions of MindInsight 2.3.1's debugger, with its defaults: opt-in (``--rules mindinsight``).

A threshold without default is NaN: that part of a condition is not asked until it is set. Each hit is an error.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Mapping

import numpy as np

from harness.capture.overflow_flags import Flag
from harness.inspect.rule import RULES, Context, Parameter, Rule
from harness.inspect.run import Array, Slot
from harness.inspect.training import Training, training_of

_UNSET = math.nan
_LARGE = {"abs_mean_gt": _UNSET, "max_gt": _UNSET, "min_gt": _UNSET, "mean_gt": _UNSET}
_SMALL = {"abs_mean_lt": _UNSET, "max_lt": _UNSET, "min_lt": _UNSET, "mean_lt": _UNSET}
_RANGE = {
    "range_start_inclusive": _UNSET, "range_end_inclusive": _UNSET, "range_percentage_lt": _UNSET,
    "range_percentage_gt": _UNSET, "max_min_lt": _UNSET, "max_min_gt": _UNSET,
}  # fmt: skip
_MEANING = {
    "gt": "hit above it", "lt": "hit below it", "ge": "hit from it on", "rtol": "relative tolerance",
    "atol": "absolute tolerance", "epsilon": "added to the size of the value before", "inclusive": "bound of the range",
}  # fmt: skip
_ACTIVATIONS = frozenset({"relu", "sigmoid", "tanh"})

Settings = Mapping[str, float]


def extremes(array: Array, s: Settings) -> bool:
    """Too large, too small, initialisation: whether any threshold that is set is passed."""
    with np.errstate(all="ignore"):
        return _extremes(array.astype(np.float64), s)


def _extremes(wide: Array, s: Settings) -> bool:
    found = {
        "abs_mean": float(np.abs(wide).mean()), "max": float(wide.max()), "min": float(wide.min()),
        "mean": float(wide.mean()), "zero_percentage": 100.0 * float((wide == 0).mean()),
    }  # fmt: skip
    for name, limit in s.items():
        value, how = found.get(name[:-3], math.nan), name[-2:]
        if not math.isnan(limit) and (
            (how == "gt" and value > limit) or (how == "lt" and value < limit) or (how == "ge" and value >= limit)
        ):
            return True
    return False


def overflow(array: Array, s: Settings) -> bool:
    """NaN or infinity."""
    return not bool(np.isfinite(array.astype(np.float64)).all())


def in_range(array: Array, s: Settings) -> bool:
    """The share of elements in a range, and the distance of the extremes."""
    wide = array.astype(np.float64)
    start, end = s["range_start_inclusive"], s["range_end_inclusive"]
    share = 100.0 * float(((wide >= start) & (wide <= end)).mean())
    with np.errstate(all="ignore"):
        width = float(wide.max() - wide.min())
    ranged = not (math.isnan(start) or math.isnan(end))
    return (
        (ranged and share < s["range_percentage_lt"])
        or (ranged and share > s["range_percentage_gt"])
        or width < s["max_min_lt"]
        or width > s["max_min_gt"]
    )


def not_changed(before: Array, after: Array, s: Settings) -> bool:
    """Whether every element stays within the tolerances."""
    return bool(np.allclose(after.astype(np.float64), before.astype(np.float64), rtol=s["rtol"], atol=s["atol"]))


def changed(before: Array, after: Array, s: Settings) -> bool:
    """Whether the mean absolute update, relative to the mean absolute value before, passes the threshold."""
    old = before.astype(np.float64)
    with np.errstate(all="ignore"):
        ratio = float(np.abs(after.astype(np.float64) - old).mean()) / (float(np.abs(old).mean()) + s["epsilon"])
    return ratio > s.get("abs_mean_update_ratio_gt", math.inf) or ratio < s.get("abs_mean_update_ratio_lt", -math.inf)


def _targets(context: Context, kind: str) -> Iterable[tuple[str, str, list[tuple[int, Slot]]]]:
    """Name, layer and slots by step of everything a condition looks at."""
    training: Training = context.once("training", training_of)
    if kind in ("weight", "gradient"):
        for weight in training.weights.values():
            states = [(step or 0, slot) for step, slot in weight.states()] if kind == "weight" else []
            yield weight.name, weight.op.layer, states or sorted(weight.gradients.items() if kind == "gradient" else [])
        return
    found: dict[tuple[str, str], list[tuple[int, Slot]]] = {}
    for op in context.run.ops:
        if kind == "activation" and (op.family not in _ACTIVATIONS or op.phase != "forward"):
            continue
        for at, slot in op.outputs.items():
            found.setdefault((f"{op.name}:{at}", op.layer), []).append((op.where.iteration, slot))
    for (name, layer), slots in found.items():
        yield name.rpartition(":")[0], layer, slots


def _single(target: str, test: Callable[[Array, Settings], bool], first: bool = False) -> Callable[[Context], None]:
    def ask(context: Context) -> None:
        for name, layer, slots in _targets(context, target):
            for step, slot in slots[:1] if first else slots:
                array = slot.load() if slot.is_floating else None
                if array is not None and array.size and test(array, context.settings):
                    _hit(context, name, layer, step, slot)
                    break

    return ask


def _pairs(target: str, test: Callable[[Array, Array, Settings], bool]) -> Callable[[Context], None]:
    def ask(context: Context) -> None:
        for name, layer, slots in _targets(context, target):
            for (_, old), (step, new) in itertools.pairwise(slots):
                before, after = (old.load(), new.load()) if new.is_floating else (None, None)
                if before is None or after is None or not after.size or before.shape != after.shape:
                    continue
                if test(before, after, context.settings):
                    _hit(context, name, layer, step, new)
                    break

    return ask


def _hit(context: Context, name: str, layer: str, step: int, slot: Slot) -> None:
    kind = context.rule.name.removeprefix("mindinsight-").replace("-", " ")
    text = f"{name} meets MindInsight's condition {kind.replace(' ', '_')}"
    source = slot.record.source or ""
    context.add(kind, text, operator=name, layer=layer, iteration=step, rank=slot.key.rank, source=source)


def operator_overflow(context: Context) -> None:
    """Kernels that the device flagged, whatever their results are."""
    flags = set(context.run.flags())
    if not flags:
        context.cannot_tell("no file holds a device's flags; an overflow dump (op_debug_mode 3) does")
        return
    seen: set[Flag] = set()
    for op in context.run.ops:
        where = op.where
        for slot in (*op.inputs.values(), *op.results):
            extra = slot.record.extra
            flag = Flag(where.rank, where.graph, where.iteration, extra.task or 0, extra.stream or 0)
            if flag in flags and flag not in seen:
                seen.add(flag)
                _hit(context, op.name, op.layer, where.iteration, slot)
    if len(seen) < len(flags):
        context.cannot_tell(f"{len(flags) - len(seen)} kernels were flagged, and nothing of them was dumped")


def _register(name: str, ask: Callable[[Context], None], meaning: str, parameters: Settings) -> None:
    known = {each: Parameter(value, _MEANING[each.rpartition("_")[2]]) for each, value in parameters.items()}
    RULES.register(f"mindinsight-{name}", Rule(f"mindinsight-{name}", meaning, ask, known, "mindinsight", 70))


_STAYS = {"rtol": 1e-5, "atol": 1e-8}
_GROWS = {"abs_mean_update_ratio_gt": 0.1, "epsilon": 1e-9}
_SHRINKS = {"abs_mean_update_ratio_lt": 1e-4, "epsilon": 1e-9}
_INITIAL = {"zero_percentage_ge": 100.0, "max_gt": _UNSET, "min_lt": _UNSET}
_register("weight-initialization", _single("weight", extremes, True), "first values of weights", _INITIAL)
_register("weight-overflow", _single("weight", overflow), "NaN or infinity in a weight", {})
_register("weight-too-large", _single("weight", extremes), "weights above thresholds", _LARGE)
_register("weight-too-small", _single("weight", extremes), "weights below thresholds", _SMALL)
_register("weight-not-changed", _pairs("weight", not_changed), "weights that stay", _STAYS)
_register("weight-change-too-large", _pairs("weight", changed), "mean update ratio above a threshold", _GROWS)
_register("weight-change-too-small", _pairs("weight", changed), "mean update ratio below a threshold", _SHRINKS)
_register("gradient-vanishing", _single("gradient", extremes), "gradients below thresholds", _SMALL)
_register("gradient-too-large", _single("gradient", extremes), "gradients above thresholds", _LARGE)
_register("gradient-exploding", _single("gradient", overflow), "NaN or infinity in a gradient", {})
_register("operator-overflow", operator_overflow, "kernels that the device flagged", {})
_register("tensor-overflow", _single("tensor", overflow), "NaN or infinity in a result", {})
_register("tensor-too-large", _single("tensor", extremes), "results above thresholds", _LARGE)
_register("tensor-too-small", _single("tensor", extremes), "results below thresholds", _SMALL)
_register("tensor-all-zero", _single("tensor", extremes), "results of zeros", {"zero_percentage_ge": 100.0})
_register("tensor-range", _single("tensor", in_range), "share of a result's elements in a range", _RANGE)
_register("activation-range", _single("activation", in_range), "share of an activation's elements in a range", _RANGE)
