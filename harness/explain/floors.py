"""The noise floor of an operator's output: how far rounding alone may move each element.

The replayer of the operator's engine says it. Of inputs that it updated, or where it says nothing, it is eight times
the change that is seen when the inputs are moved by a unit in the last place; operators that only move values have
none. If inputs were computed, their possible error is passed on: the operator is computed on inputs moved by it, too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any

import numpy as np

from harness.compare.measure import measure
from harness.compare.tolerances import DEFAULTS
from harness.explain.replay import Setting
from harness.recording.replayer import Call, Replayed
from harness.replaying.drawing import drawn, floating, in_units, moves_only, spread

Array = np.ndarray[Any, np.dtype[Any]]
Made = tuple[tuple[Array, ...], dict[int, Array]]

#: The largest error, in multiples of the spread of the draws.
_SPREADS = 8.0


class Floor:
    """The floor of one execution.

    Args:
        given: the operator and its inputs.
        made: its results, and the updated inputs.
        errors: possible errors of the inputs by slot: an array of the input's shape, or None.
    """

    def __init__(self, given: Setting, made: Made, errors: Mapping[int, Callable[[], Array | None]]) -> None:
        self._given, self._made, self._says = given, made, errors

    def of(self, at: int, state: bool = False) -> Array:
        """The possible error of each element, float64.

        Args:
            at: number of an output.
            state: whether it is the number of an input that is updated in place.
        """
        made = self._made[1][at] if state else self._made[0][at]
        own = self._own(made, at, state)
        return own + self._spread(made, at, state, self._passed_on) if self._errors else own

    def _own(self, made: Array, at: int, state: bool) -> Array:
        """The operator's own rounding."""
        if not state and self._said is not None and at < len(self._said) and self._said[at].shape == made.shape:
            return self._said[at]
        if moves_only(self._call, made):
            return np.zeros(made.shape)
        return _SPREADS * self._spread(made, at, state, self._moved)

    @staticmethod
    def _spread(made: Array, at: int, state: bool, draws: list[Replayed]) -> Array:
        """The largest distance of the draws from the computed result."""
        return spread(made, (each.mutated.get(at) if state else each.outputs[at] for each in draws))

    @cached_property
    def _call(self) -> Call:
        return self._given.call()

    @cached_property
    def _said(self) -> tuple[Array, ...] | None:
        """What the replayer says of the outputs."""
        return self._given.replayer.noise(self._call) if self._given.replayer is not None else None

    @cached_property
    def _errors(self) -> dict[int, Array]:
        said = {at: error() for at, error in self._says.items()}
        return {at: error for at, error in said.items() if error is not None}

    @cached_property
    def _moved(self) -> list[Replayed]:
        """Results on inputs moved by a unit in the last place."""
        return self._drawn(in_units(self._call), numbers=True)

    @cached_property
    def _passed_on(self) -> list[Replayed]:
        """Results on inputs moved by their possible errors."""
        floats = floating(self._call)
        return self._drawn({at: e for at, e in self._errors.items() if at in floats}, numbers=False)

    def _drawn(self, steps: Mapping[int, Array], numbers: bool) -> list[Replayed]:
        replayer = self._given.replayer
        return [] if replayer is None else drawn(replayer, self._call, steps, numbers)


def wide(array: Array) -> Array:
    """Converts to float64."""
    return array.astype(np.float64)


def agree(wanted: Array, found: Array, dtype: str, floor: Array | None = None) -> bool:
    """Whether two arrays differ only by rounding: within the table by dtype, or each element within that plus its
    floor."""
    if found.shape != wanted.shape or found.dtype != wanted.dtype or dtype not in DEFAULTS:
        return found.dtype == wanted.dtype and found.tobytes() == wanted.tobytes()
    if measure(wanted, found, dtype, DEFAULTS[dtype]).is_within:
        return True
    if floor is None or dtype.startswith("Complex"):
        return False
    one, other = wide(wanted), wide(found)
    finite = np.isfinite(one)
    if not np.array_equal(one[~finite], other[~finite], equal_nan=True) or not np.isfinite(other[finite]).all():
        return False
    allowed = floor + DEFAULTS[dtype].rtol * np.abs(one)
    return bool((np.abs(other - one)[finite] <= np.broadcast_to(allowed, one.shape)[finite]).all())
