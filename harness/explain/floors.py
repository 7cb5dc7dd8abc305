"""The noise floor of an operator's output: how far rounding alone may move each element.

For sums of products it is the bound of their terms (see ``compare.noise``). For other operators it is eight times the
change that the harness sees when it moves the inputs by a unit in the last place; operators that only move values have
none. If inputs were computed, their possible error is passed on: the operator is computed on inputs moved by it as
well.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any

import numpy as np

from harness.compare.measure import measure
from harness.compare.noise import noise_floor, terms
from harness.compare.tolerances import DEFAULTS
from harness.explain.replay import Setting, computed_with_state

Array = np.ndarray[Any, np.dtype[Any]]
Made = tuple[tuple[Array, ...], dict[int, Array]]

#: Operators whose outputs are sums of products of their inputs: applied to magnitudes, they give the size of the
#: summands.
SUMS = frozenset({
    "Add", "AddN", "BatchMatMul", "BiasAdd", "BiasAddGrad", "Conv2D", "Conv2DBackpropFilter", "Conv2DBackpropInput",
    "Dense", "MatMul", "Mul", "ReduceMean", "ReduceSum", "Sub", "UnsortedSegmentSum",
})  # fmt: skip
#: Operators that take the logarithm of a sum of at least 1: its rounding is an absolute error of the result. Moved
#: inputs do not show it where the harness computes in a wider type.
LOGARITHMS = frozenset({
    "BCEWithLogitsLoss", "CrossEntropyLoss", "LogSoftmax", "Softplus", "SoftplusExt", "SoftmaxCrossEntropyWithLogits",
    "SparseSoftmaxCrossEntropyWithLogits",
})  # fmt: skip
_ROUNDINGS = 4
_DRAWS = 4
#: The largest error, in multiples of the spread of the draws.
_SPREADS = 8.0
#: Each element may be off by the error that this share of all elements do not exceed: draws may leave one unmoved by
#: chance, and a huge element says nothing about the others.
_SHARE = 0.75


class Floor:
    """The floor of one execution.

    Args:
        given: the operator and its inputs.
        made: its results, and the updated inputs.
        errors: possible errors of the inputs by slot: an array of the input's shape, or None.
    """

    def __init__(self, given: Setting, made: Made, errors: Mapping[int, Callable[[], Array | None]]) -> None:
        self._given, self._made, self._says = given, made, errors

    def of(self, at: int, dtype: str, state: bool = False) -> Array:
        """The possible error of each element, float64.

        Args:
            at: number of an output; with ``state``, of an input that is updated in place.
            dtype: name of its dtype.
        """
        made = self._made[1][at] if state else self._made[0][at]
        own = self._own(made, at, dtype, state)
        return own + self._spread(wide(made), at, state, self._passed_on) if self._errors else own

    def _own(self, made: Array, at: int, dtype: str, state: bool) -> Array:
        """The operator's own rounding; none if it only moves values."""
        wanted = wide(made)
        if self._moves_only(made):
            return np.zeros(wanted.shape)
        if not state and self._sizes is not None:
            summands = terms([v.size for v in self._floating.values() if v.size > 1], wanted.size)
            bound: Array = 2 * noise_floor(dtype, summands) * np.abs(wide(self._sizes[0][at]))
            return bound
        own = _SPREADS * self._spread(wanted, at, state, self._moved)
        return own + _ROUNDINGS * _unit(made) if self._given.statement.op in LOGARITHMS else own

    def _spread(self, wanted: Array, at: int, state: bool, draws: list[Made]) -> Array:
        """The largest distance of the draws from the computed result."""
        spread = np.zeros(wanted.shape)
        with np.errstate(all="ignore"):
            for results, states in draws:
                side = states.get(at) if state else results[at]
                if side is not None and side.shape == wanted.shape:
                    spread = np.maximum(spread, np.nan_to_num(np.abs(wide(side) - wanted), posinf=0.0))
        usual = float(np.quantile(spread, _SHARE, method="lower")) if spread.size else 0.0
        return np.maximum(spread, usual)

    def _moves_only(self, made: Array) -> bool:
        given = [np.abs(v.reshape(-1)) for v in self._floating.values() if v.dtype == made.dtype]
        known = np.concatenate([*given, np.zeros(1, made.dtype)]) if given else made
        return bool(given) and bool(np.isin(np.abs(made.reshape(-1)), known).all())

    @cached_property
    def _errors(self) -> dict[int, Array]:
        said = {at: error() for at, error in self._says.items()}
        return {at: error for at, error in said.items() if error is not None}

    @cached_property
    def _floating(self) -> dict[int, Array]:
        return {i: v for i, v in self._given.values.items() if isinstance(v, np.ndarray) and v.dtype.kind in "fV"}

    @cached_property
    def _sizes(self) -> Made | None:
        if self._given.statement.op not in SUMS:
            return None
        return computed_with_state(self._given.changed({i: np.abs(v) for i, v in self._floating.items()}))

    @cached_property
    def _moved(self) -> list[Made]:
        """Results on inputs moved by a unit in the last place."""
        units = {at: np.abs(wide(v)) * _unit(v) for at, v in self._floating.items()}
        return self._drawn(units, numbers=True)

    @cached_property
    def _passed_on(self) -> list[Made]:
        """Results on inputs moved by their possible errors."""
        return self._drawn({at: e for at, e in self._errors.items() if at in self._floating}, numbers=False)

    def _drawn(self, steps: Mapping[int, Array], numbers: bool) -> list[Made]:
        random = np.random.default_rng(0)
        made = []
        for _ in range(_DRAWS):
            values: dict[int, Any] = {at: _moved(self._floating[at], step, random) for at, step in steps.items()}
            for at, each in self._given.values.items() if numbers else ():
                if isinstance(each, float):  # as 1 - 0.999 magnifies the rounding of 0.999 in float32
                    values[at] = each * (1 + 2.0**-23 * (1 if random.integers(0, 2) else -1))
            made.append(computed_with_state(self._given.changed(values)))
        return [each for each in made if each is not None]


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


def _unit(array: Array) -> float:
    return 2.0**-8 if array.dtype.kind == "V" else float(np.finfo(array.dtype).eps)


def _moved(array: Array, step: Array, random: np.random.Generator) -> Array:
    """Each element moved up or down by its step."""
    sign = random.integers(0, 2, array.shape) * 2 - 1
    with np.errstate(all="ignore"):
        moved: Array = (wide(array) + np.broadcast_to(step, array.shape) * sign).astype(array.dtype)
    return np.where(np.isfinite(wide(moved)), moved, array).astype(array.dtype)
