"""Checks what an explanation says of inputs, elements and counts against both runs; it shares nothing with explain."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from tests.explain.computed_again import Array, At, Watched

_SLOTS = re.compile(
    r"(?:(its inputs?)|inputs? (\d+(?:, \d+)*)(?: and \d+ more)?|((?:input\.\d+(?: \([^)]*\))?(?:, )?)+)) "
    r"(agrees?|differs?|was not compared|were not compared)(?=, |$)"
)
#: whether two tensors agree
Agree = Callable[[Array, Array], bool]


def bitwise(one: Array, other: Array) -> bool:
    """Under equal bits."""
    return one.shape == other.shape and one.tobytes() == other.tobytes()


def _statements(text: str, every: list[int]) -> Iterator[tuple[int, str]]:
    for all_of, numbers, names, verb in _SLOTS.findall(text):
        slots = every if all_of else map(int, re.findall(r"\d+", numbers) or re.findall(r"input\.(\d+)", names))
        yield from ((slot, re.sub(r"^(was|were) |s$", "", verb)) for slot in slots)


def false_of_inputs(told: Mapping[str, Any], golden: Watched, run: Watched, agree: Agree = bitwise) -> Iterator[str]:
    """What does not hold of the inputs, in words. An input that its operator updates is recorded afterwards: it may be
    left out of a comparison."""
    found = _places(told, golden, run)
    if found is None:
        return
    at, there = found
    sides = golden.taken[at], run.taken[there]
    updated = {*(golden.operators[at[1]].mutates or ()), *(run.operators[there[1]].mutates or ())}
    for slot, verb in _statements(told["origin"]["inputs"], sorted(sides[0].keys() - updated)):
        both = slot in sides[0] and slot in sides[1]
        same = both and agree(sides[0][slot], sides[1][slot])
        if verb == "agree" and not same:
            yield f"input.{slot} agrees"
        if verb == "differ" and both and bitwise(sides[0][slot], sides[1][slot]) and slot not in updated:
            yield f"input.{slot} differs"
        if verb == "not compared" and both and slot not in updated:
            yield f"input.{slot} was not compared"


def _places(told: Mapping[str, Any], golden: Watched, run: Watched) -> tuple[At, At] | None:
    origin = told["origin"]
    if origin is None:
        return None
    at: At = (origin["slot"][2], origin["operator"])
    there: At = (at[0], origin["found_as"] or at[1])
    return (at, there) if at in golden.taken and there in run.taken else None


def false_of_elements(told: Mapping[str, Any], golden: Watched, run: Watched) -> Iterator[str]:
    """What does not hold of the element that is shown, and of how many differ, under equal bits."""
    found = _places(told, golden, run)
    if found is None:
        return
    origin = told["origin"]
    io, slot = origin["slot"][5:7]
    one, other = (
        side.outputs[where].get(slot) if io == "output" else side.after[where].get(slot, side.taken[where].get(slot))
        for side, where in zip((golden, run), found, strict=True)
    )
    if one is None or other is None or one.shape != other.shape or one.dtype != other.dtype:
        return
    if origin["count"] not in (0, one.size):
        yield f"{origin['count']} elements"
    raw = [np.ascontiguousarray(each).reshape(-1).view(f"V{each.itemsize}") for each in (one, other)]
    bits = sum(a.tobytes() != b.tobytes() for a, b in zip(*raw, strict=True))
    if origin["differing"] not in (0, bits):
        yield f"{origin['differing']} elements differ, not {bits}"
    element = origin["element"]
    for name, side in (("expected", one), ("found", other)) if element is not None else ():
        value, text = side[tuple(element["index"])], element[name]
        said = np.asarray(text == "True" if text in ("True", "False") else float(text)).astype(side.dtype)
        if said != value and not (said != said and value != value):
            yield f"{name} {text}, which is {value!r}"
