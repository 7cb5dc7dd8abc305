"""Results on inputs that are moved a little, at random: how far they spread shows how far rounding may move them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from harness.recording.replayer import Call, Replayed, Replayer

Array = np.ndarray[Any, np.dtype[Any]]

_DRAWS = 4
#: Each element may be off by the error that this share of all elements do not exceed: draws may leave one unmoved by
#: chance, and a huge element says nothing about the others.
_SHARE = 0.75


def floating(call: Call) -> dict[int, Array]:
    """The inputs of real floats (bfloat16 too), by slot."""
    return {at: v for at, v in call.before.items() if isinstance(v, np.ndarray) and v.dtype.kind in "fV"}


def in_units(call: Call) -> dict[int, Array]:
    """A unit in the last place of each element of these inputs, by slot; float64."""
    return {at: np.abs(each.astype(np.float64)) * unit(each) for at, each in floating(call).items()}


def drawn(replayer: Replayer, call: Call, steps: Mapping[int, Array], numbers: bool) -> list[Replayed]:
    """The results on moved inputs, as far as there are any.

    Args:
        replayer: what computes them.
        call: the call.
        steps: how far each element of an input is moved, up or down, by slot.
        numbers: whether inputs that are numbers of Python are moved by a unit in float32's last place: 1 - 0.999
            magnifies the rounding of 0.999.
    """
    random = np.random.default_rng(0)
    made = []
    for _ in range(_DRAWS):
        values: dict[int, Any] = {at: _moved(call.before[at], step, random) for at, step in steps.items()}
        for at, each in call.before.items() if numbers else ():
            if isinstance(each, float):
                values[at] = each * (1 + 2.0**-23 * (1 if random.integers(0, 2) else -1))
        made.append(replayer.replay(call.changed(values)))
    return [each for each in made if each is not None]


def spread(wanted: Array, sides: Iterable[Array | None]) -> Array:
    """The largest distance of drawn results from a result, per element: float64, in its shape."""
    here = wanted.astype(np.float64)
    found = np.zeros(here.shape)
    with np.errstate(all="ignore"):
        for side in sides:
            if side is not None and side.shape == here.shape:
                apart = np.abs(side.astype(np.float64) - here)
                found = np.maximum(found, np.nan_to_num(apart, posinf=0.0))
    return np.maximum(found, usual(found))


def usual(found: Array) -> float:
    """What most elements do not exceed."""
    return float(np.quantile(found, _SHARE, method="lower")) if found.size else 0.0


def moves_only(call: Call, made: Array) -> bool:
    """Whether each element of a result is, but for its sign, one of an input of its dtype, or zero."""
    given = [np.abs(v.reshape(-1)) for v in floating(call).values() if v.dtype == made.dtype]
    known = np.concatenate([*given, np.zeros(1, made.dtype)]) if given else made
    return bool(given) and bool(np.isin(np.abs(made.reshape(-1)), known).all())


def unit(array: Array) -> float:
    """A unit in the last place, relative."""
    return 2.0**-8 if array.dtype.kind == "V" else float(np.finfo(array.dtype).eps)


def _moved(array: Array, step: Array, random: np.random.Generator) -> Array:
    """Each element moved up or down by its step."""
    sign = random.integers(0, 2, array.shape) * 2 - 1
    with np.errstate(all="ignore"):
        moved: Array = (array.astype(np.float64) + np.broadcast_to(step, array.shape) * sign).astype(array.dtype)
    return np.where(np.isfinite(moved.astype(np.float64)), moved, array).astype(array.dtype)
