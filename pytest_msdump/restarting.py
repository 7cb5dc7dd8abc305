"""``msdump.restart``: a training that is restarted from its checkpoint at step k must go on as the one without.

Imports ``harness``; imported when needed.
"""

from __future__ import annotations

import copy
import random
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from harness import numpy_state
from harness.capture.given import leaves
from harness.errors import SettingTypeError
from harness.words import counted

Step = Callable[..., Any]
_LISTED = 3


class Run(NamedTuple):
    """What a training gave.

    Attributes:
        values: what each step returned, by its number; then the state at the end, as ``"end"``.
        state: the state of each part when the checkpoint was taken, or right after it was loaded, as leaves.
        kept: what loads that state again.
        dice: the state of the generators of random numbers at that place.
    """

    values: dict[Any, list[tuple[str, Any]]]
    state: list[tuple[str, Any]]
    kept: list[Any]
    dice: Any


def compared(build: Callable[[], tuple[Step, Sequence[Any]]], batches: Sequence[Any], at: int) -> tuple[Run, str]:
    """The run without a restart, and what breaks the restart; empty if nothing does.

    Args:
        build: makes a new training: a function for one step, called with a batch, and the parts whose state a
            checkpoint holds (objects with ``state_dict`` and ``load_state_dict``, or cells).
        batches: one for each step.
        at: steps before the checkpoint.

    Raises:
        SettingTypeError: ``build`` gives something else, or a part has no state.
    """
    start = _dice()
    whole = _run(build, batches, at)
    _throw(start)
    again = _run(build, batches, at, whole.kept)
    lost = _apart(whole.state, again.state)
    if lost:
        return whole, f"the checkpoint does not hold {_listed(lost)}: after loading, that is not what was saved"
    first = _first(whole, again)
    if first is None:
        return whole, ""
    step, names = first
    where = "the state at the end" if step == "end" else f"step {step}"
    told = f"{where} differs in {_listed(names)}; the state that was loaded is the one that was saved"
    _throw(start)
    with_dice = _run(build, batches, at, whole.kept, whole.dice)
    if _first(whole, with_dice) is None:
        return whole, f"{told}, but not that of the generators of random numbers: with it, the restart is equal"
    return whole, f"{told}: something outside the checkpoint counts (a schedule, the order of data, a counter)"


def _run(build: Callable[[], Any], batches: Sequence[Any], at: int, kept: Any = None, dice: Any = None) -> Run:
    """Trains whole, or from what ``kept`` holds on."""
    step, parts = _made(build())
    values: dict[Any, list[tuple[str, Any]]] = {}
    state: list[tuple[str, Any]] = []
    saved: list[Any] = []
    for number, batch in enumerate(batches):
        if number == at:
            if kept is not None:
                for part, content in zip(parts, kept, strict=True):
                    _load(part, content)
            state, saved = _states(parts), [_saved(part) for part in parts]
            _throw(dice)
            dice = _dice()
        if number >= at or kept is None:
            result = step(*batch) if isinstance(batch, tuple) else step(batch)
            if number >= at:
                values[number] = _leaves("value", result)
    values["end"] = _states(parts)
    return Run(values, state, saved, dice)


def _made(given: Any) -> tuple[Step, Sequence[Any]]:
    if not isinstance(given, tuple) or len(given) != 2 or not callable(given[0]):
        raise SettingTypeError(
            "msdump.restart: build() gives a function for one step and a list of the parts whose state a checkpoint "
            f"holds, (step, [model, optimizer]); given was {type(given).__name__}"
        )
    step, parts = given
    listed = list(parts) if isinstance(parts, (list, tuple)) else [parts]
    for part in listed:
        if not (hasattr(part, "load_state_dict") or hasattr(part, "parameters_dict")):
            raise SettingTypeError(
                f"msdump.restart: a part has state_dict and load_state_dict, or is a cell; {type(part).__name__} is "
                "neither"
            )
    return step, listed


def _saved(part: Any) -> Any:
    """The state of a part, which later steps do not change."""
    if hasattr(part, "load_state_dict"):
        return copy.deepcopy(part.state_dict())
    return {name: np.array(each.asnumpy()) for name, each in part.parameters_dict().items()}


def _load(part: Any, content: Any) -> None:
    if hasattr(part, "load_state_dict"):
        part.load_state_dict(copy.deepcopy(content))
        return
    for name, parameter in part.parameters_dict().items():
        if name in content:
            tensor = next(each for each in type(parameter).__mro__ if each.__name__ == "Tensor")
            parameter.set_data(tensor(content[name]))


def _states(parts: Sequence[Any]) -> list[tuple[str, Any]]:
    return [
        each
        for at, part in enumerate(parts)
        for each in _leaves(f"{type(part).__name__}[{at}]" if len(parts) > 1 else type(part).__name__, _saved(part))
    ]


def _leaves(name: str, value: Any) -> list[tuple[str, Any]]:
    return [(leaf.name, copy.deepcopy(leaf.content)) for leaf in leaves(name, value)]


def _first(one: Run, other: Run) -> tuple[Any, list[str]] | None:
    """The first step whose values differ, and their names."""
    for step, values in one.values.items():
        if names := _apart(values, other.values[step]):
            return step, names
    return None


def _apart(one: Sequence[tuple[str, Any]], other: Sequence[tuple[str, Any]]) -> list[str]:
    """Names of what differs in a bit, or is on one side alone."""
    left, right = dict(one), dict(other)
    return [name for name in {**left, **right} if not _same(left.get(name), right.get(name))]


def _same(one: Any, other: Any) -> bool:
    if one is None or other is None or isinstance(one, str) or isinstance(other, str):
        return type(one) is type(other) and bool(one == other)
    a, b = np.asarray(one), np.asarray(other)
    return (a.dtype, a.shape) == (b.dtype, b.shape) and a.tobytes() == b.tobytes()


def _listed(names: Sequence[str]) -> str:
    more = f" and {counted(len(names) - _LISTED, 'other')}" if len(names) > _LISTED else ""
    return ", ".join(names[:_LISTED]) + more


def _dice() -> Any:
    torch = sys.modules.get("torch")
    of_torch = torch.get_rng_state() if hasattr(torch, "get_rng_state") else None  # type: ignore[union-attr]
    return random.getstate(), numpy_state.taken(), of_torch


def _throw(state: Any) -> None:
    """Puts the generators into a state that ``_dice`` gave; nothing for None."""
    if state is None:
        return
    random.setstate(state[0])
    numpy_state.restore(state[1])
    if state[2] is not None:
        sys.modules["torch"].set_rng_state(state[2])


@contextmanager
def untouched() -> Iterator[None]:
    """The generators are as before afterwards."""
    before = _dice()
    try:
        yield
    finally:
        _throw(before)
