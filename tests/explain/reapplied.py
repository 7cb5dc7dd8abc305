"""Applies what a cause states to a golden's tensor, from its JSON alone; it shares no code with explain.

Beside it, edits of arrays drawn at random: every kind that a pattern knows, alone and several at once, with NaN,
infinities and signs of zero in between.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import ml_dtypes
import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]
Random = np.random.Generator
Edit = Callable[[Random, Array], Array]

DTYPES: tuple[Any, ...] = (
    np.float32, np.float64, np.float16, ml_dtypes.bfloat16, np.int32, np.int64, np.uint8, np.int8, np.bool_,
)  # fmt: skip
SHAPES: tuple[tuple[int, ...], ...] = ((4,), (24,), (5, 7), (4, 6, 3), (2, 3, 4, 5), (1,), (0,), (3, 0), ())


# -- checked -----------------------------------------------------------------------------------------------------------
def given(check: Mapping[str, Any], golden: Array, inputs: Mapping[str, Array]) -> Array:
    """The tensor that results if what a check names is done to the golden."""
    how, told = check["transformation"], check["arguments"]
    wide = golden.astype(np.float64)
    whole = golden.dtype.kind in "iu"
    done: dict[str, Callable[[], Any]] = {
        "fill": lambda: np.full(golden.shape, _value(told["value"], golden.dtype)),
        "put": lambda: _put(golden, told),
        "take input": lambda: inputs[told["input"]].reshape(golden.shape),
        "negate": lambda: -golden if told["zeros"] else np.where(golden == 0, golden, -golden),
        "multiply": lambda: golden * golden.dtype.type(told["times"]) if whole else wide * told["times"],
        "add": lambda: golden + np.array(told["plus"]).astype(golden.dtype) if whole else wide + told["plus"],
        "add input": lambda: wide + told["times"] * inputs[told["input"]].astype(np.float64),
        "zero slices": lambda: _zeroed(golden, told),
        "flush": lambda: np.where(
            (abs(wide) <= told["limit"]) & ((wide != 0) | told["zeros"]),
            np.copysign(0.0, wide) if told["signed"] else 0.0,
            wide,
        ),
        "signed zeros": lambda: np.copysign(0.0, wide),
        "clip": lambda: _clipped(wide, _end(told["low"], -np.inf), _end(told["high"], np.inf)),
        "overflow": lambda: np.where(abs(wide) >= told["limit"], np.copysign(np.inf, wide), wide),
        "transpose": lambda: np.transpose(golden, told["axes"]).reshape(golden.shape),
        "flip": lambda: golden[(slice(None),) * told["axis"] + (slice(None, None, -1),)],
        "roll": lambda: _rolled(golden, told["axis"], told["by"]),
        "rearrange": lambda: (
            golden.ravel()[told["order"]].reshape(golden.shape)
            if told["axis"] is None
            else golden[(slice(None),) * told["axis"] + (told["order"],)]
        ),
        "round": lambda: golden.astype(getattr(ml_dtypes, told["dtype"], told["dtype"])),
        "grid": lambda: np.rint((wide - told["low"]) / told["step"]) * told["step"] + (told["low"] or -0.0),
    }
    with np.errstate(all="ignore"):
        return np.asarray(done[how]()).astype(golden.dtype)


def _end(value: float | None, otherwise: float) -> float:
    return otherwise if value is None else value


def _clipped(wide: Array, low: float, high: float) -> Array:
    return np.where(wide > high, high, np.where(wide < low, low, wide))


def _value(told: Any, dtype: np.dtype[Any]) -> Array:
    if isinstance(told, list):
        return np.array([_value(each, dtype) for each in told], dtype)
    if isinstance(told, str) and told.startswith("bits "):
        return np.frombuffer(bytes.fromhex(told[5:])[::-1], dtype)[0]
    return np.asarray(float(told) if isinstance(told, str) else told).astype(dtype)


def _put(golden: Array, told: Mapping[str, Any]) -> Array:
    made = golden.copy()
    raw = made.reshape(-1).view(f"u{made.itemsize}")
    values = np.broadcast_to(_value(told["value"], golden.dtype), len(told["at"]))
    for at, value in zip(told["at"], values, strict=True):
        raw[int(np.ravel_multi_index(at, golden.shape)) if at else 0] = np.asarray(value).view(raw.dtype)
    return made


def _zeroed(golden: Array, told: Mapping[str, Any]) -> Array:
    made = np.moveaxis(golden.copy(), told["axis"], 0)
    for index in told["index"]:
        made[index] = made[index] * 0 if told["signed"] else 0
    return np.moveaxis(made, 0, told["axis"])


def _rolled(golden: Array, axis: int, by: int) -> Array:
    length = golden.shape[axis]
    return golden[(slice(None),) * axis + ([(at - by) % length for at in range(length)],)]


# -- drawn -------------------------------------------------------------------------------------------------------------
def tensor(random: Random, shape: tuple[int, ...], dtype: Any, odd: bool) -> Array:
    """Drawn numbers; with ``odd``, some are NaN, infinite, 0, -0 or repeated."""
    kind = np.dtype(dtype)
    if kind.kind == "b":
        return random.random(shape) < 0.5
    if kind.kind in "iu":
        info = np.iinfo(kind)
        wide = random.random() < 0.3
        ends = (int(info.min), int(info.max)) if wide else (max(-9, int(info.min)), 9)
        return np.asarray(random.integers(*ends, shape, dtype=kind, endpoint=True))
    values = np.asarray(random.normal(size=shape) * random.choice([1e-3, 1, 40.0])).astype(dtype)
    if odd and values.size:
        flat = values.reshape(-1)
        for special in (np.nan, -np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0):
            if random.random() < 0.4:
                flat[random.integers(flat.size, size=int(random.integers(1, 4)))] = special
    return values


def _axis(random: Random, e: Array) -> int:
    return int(random.integers(e.ndim))


def _some(random: Random, e: Array, value: Any) -> Array:
    made = e.copy().reshape(-1)
    made[random.integers(made.size, size=int(random.integers(1, 3)))] = value
    return made.reshape(e.shape)


def _permuted(random: Random, e: Array) -> Array:
    return np.take(e, random.permutation(e.shape[0]), 0)


def _zero_channel(random: Random, e: Array) -> Array:
    made = e.copy()
    axis = _axis(random, e)
    made[(slice(None),) * axis + (int(random.integers(e.shape[axis])),)] = 0
    return made


#: edits by name; those of ``FLOATS`` only for floats
EDITS: dict[str, Edit] = {
    "zeros": lambda _, e: np.zeros_like(e),
    "other sign": lambda _, e: -e,
    "flip": lambda random, e: np.flip(e, _axis(random, e)),
    "roll": lambda random, e: np.roll(e, int(random.integers(1, 3)), _axis(random, e)),
    "transpose": lambda _, e: e.T.reshape(e.shape),
    "rows": _permuted,
    "elements": lambda random, e: random.permutation(e.reshape(-1)).reshape(e.shape),
    "channel": _zero_channel,
    "times 2": lambda _, e: e * 2,
    "plus 1": lambda _, e: e + np.ones((), e.dtype),
    "one element": lambda random, e: _some(random, e, e.reshape(-1)[0] + np.ones((), e.dtype)),
    "filled": lambda random, e: np.full_like(e, e.reshape(-1)[0]),
}
FLOATS: dict[str, Edit] = {
    "NaN": lambda random, e: _some(random, e, np.nan),
    "-NaN": lambda random, e: _some(random, e, -np.nan),
    "infinity": lambda random, e: _some(random, e, random.choice([np.inf, -np.inf])),
    "-0": lambda random, e: _some(random, e, -0.0),
    "0": lambda random, e: _some(random, e, 0.0),
    "times 0": lambda _, e: e * np.zeros((), e.dtype),
    "all -0": lambda _, e: np.full_like(e, -0.0),
    "times any": lambda random, e: e * np.asarray(random.choice([0.1, 1 / 3, 1.7, 24.0, -0.5])).astype(e.dtype),
    "plus any": lambda random, e: e + np.asarray(random.choice([0.1, -2.5, 1e-3])).astype(e.dtype),
    "clipped": lambda _, e: np.clip(e, -np.abs(e).max() / 2, np.abs(e).max() / 2).astype(e.dtype),
    "flushed": lambda _, e: np.where(np.abs(e) < np.sort(np.abs(e), axis=None)[e.size // 3], np.zeros((), e.dtype), e),
    "float16": lambda _, e: e.astype(np.float16).astype(e.dtype),
    "bfloat16": lambda _, e: e.astype(ml_dtypes.bfloat16).astype(e.dtype),
    "grid": lambda _, e: (np.rint(e / (np.abs(e).max() / 127)) * (np.abs(e).max() / 127)).astype(e.dtype),
    "ulp": lambda random, e: (e * np.asarray(1 + random.integers(-1, 2, e.shape) * 2.0**-23)).astype(e.dtype),
}  # fmt: skip


def edited(random: Random, e: Array, count: int) -> tuple[list[str], Array]:
    """Names of edits, and the tensor after them; one that cannot be made leaves it as it is."""
    known = EDITS | (FLOATS if e.dtype.kind in "fV" else {})
    names, made = [], e
    with np.errstate(all="ignore"):
        for name in random.choice(list(known), count):
            if e.size and e.ndim and not (e.dtype.kind == "b" and name == "other sign"):
                made = np.ascontiguousarray(np.asarray(known[str(name)](random, made)).astype(e.dtype))
                names.append(str(name))
    return names, made
