"""How far rounding may move each element of an operator's results: another order of its sums, other kernels.

Nobody knows the error of a composite operator. A stable algorithm gives the exact result of inputs that are moved a
little: so the inputs are moved by their last bits, at random, in a wide dtype, and the results are seen to spread. The
more terms a sum has, the more it moves; see ``compare.noise``. An operator that has no kernel of a wide dtype is moved
by whole units in its own.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from harness.compare.noise import terms
from harness.recording.replayer import Call, Replayed, Replayer
from harness.replaying.drawing import drawn as drawn_in_units
from harness.replaying.drawing import in_units, usual
from harness.replaying.drawing import spread as spread_of

Array = np.ndarray[Any, np.dtype[Any]]

_DRAWS = 4
#: roundings beside those of a sum: of operands, of a scale, of the result
_OTHERS = 8


def noise(replayer: Replayer, call: Call) -> tuple[Array, ...] | None:
    """See ``Replayer.noise``."""
    own = replayer.replay(call)
    if own is None:
        return None
    floats = {slot: each for slot, each in call.before.items() if isinstance(each, np.ndarray) and _unit(each)}
    sizes = [each.size for each in floats.values() if each.size > 1]
    if not any(map(_unit, own.outputs)):
        return tuple(np.zeros(each.shape) for each in own.outputs)
    wide = {slot: each.astype(np.complex128 if each.dtype.kind == "c" else np.float64)
            for slot, each in floats.items()}  # fmt: skip
    random = np.random.default_rng(0)
    base = replayer.widen(call.changed(wide))
    drawn = [replayer.widen(call.changed(_moved(wide, floats, random))) for _ in range(_DRAWS)] if floats else []
    if base is None or len(base.outputs) != len(own.outputs) or any(each is None for each in drawn):
        return _in_own_dtype(replayer, call, own, sizes)
    found = []
    for at, result in enumerate(own.outputs):
        if not _unit(result):
            found.append(np.zeros(result.shape))
            continue
        spread = np.zeros(result.shape)
        with np.errstate(all="ignore"):
            for each in drawn:
                if each is not None and each.outputs[at].shape == spread.shape:
                    spread = np.maximum(spread, np.nan_to_num(np.abs(each.outputs[at] - base.outputs[at]), posinf=0.0))
            factor = _OTHERS + math.sqrt(terms(sizes, max(result.size, 1)))
            size = np.nan_to_num(np.abs(result.astype(base.outputs[at].dtype)), posinf=0.0)
            found.append(factor * np.maximum(spread, usual(spread)) + _OTHERS * _unit(result) * size)
    return tuple(found)


def _in_own_dtype(replayer: Replayer, call: Call, own: Replayed, sizes: list[int]) -> tuple[Array, ...] | None:
    draws = drawn_in_units(replayer, call, in_units(call), numbers=False)
    if not draws or any(len(each.outputs) != len(own.outputs) for each in draws):
        return None
    found = []
    for at, result in enumerate(own.outputs):
        spread = spread_of(result, (each.outputs[at] for each in draws)) if _unit(result) else np.zeros(result.shape)
        found.append((_OTHERS + math.sqrt(terms(sizes, max(result.size, 1)))) * spread)
    return tuple(found)


def _moved(wide: dict[int, Array], floats: dict[int, Array], random: np.random.Generator) -> dict[int, Array]:
    """Each element moved up or down by half a unit in its last place."""
    return {
        slot: each * (1 + (random.integers(0, 2, each.shape) * 2 - 1) * _unit(floats[slot]) / 2)
        for slot, each in wide.items()
    }


def _unit(array: Array) -> float:
    """A unit in the last place, relative; 0 for whole numbers and bools."""
    if array.dtype.kind == "V" or array.dtype.isbuiltin != 1:
        return {"bfloat16": 2.0**-7}.get(array.dtype.name, 2.0**-2)
    return float(np.finfo(array.dtype).eps) if array.dtype.kind in "fc" else 0.0
