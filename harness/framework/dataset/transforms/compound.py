"""Transforms of transforms."""

from __future__ import annotations

import random as _random
from collections.abc import Callable, Sequence
from typing import Any

from harness.errors import SettingError, SettingTypeError
from harness.framework.dataset.checks import mistyped, outside
from harness.framework.dataset.transforms.base import RowFunction, Transform, chained, flattened, generator, kernel


def transforms_of(transforms: Any, owner: str) -> list[Callable[..., Any]]:
    """``transforms`` if it is a list of them; ``SettingTypeError`` / ``SettingError`` (empty) otherwise."""
    if not isinstance(transforms, (list, tuple)):
        raise SettingTypeError(f"{owner}: transforms must be a list, got {type(transforms).__name__}")
    if not transforms:
        raise SettingError(f"{owner}: transforms must not be empty")
    for each in transforms:
        if not callable(each):
            raise SettingTypeError(f"{owner}: transforms must be callable, got {each!r}")
    return list(transforms)


class _Compound(Transform):
    def __init__(self, transforms: Sequence[Callable[..., Any]]) -> None:
        self.transforms = transforms_of(transforms, self.name)

    def steps(self, seed: int) -> list[RowFunction]:
        """Makes the functions that run each of the transforms; they draw from ``seed`` in each worker (measured)."""
        return [kernel(each, seed, worker=0) for each in self.transforms]

    def _input(self, value: Any) -> Any:
        # The first may be a function of anything.
        return super()._input(value) if isinstance(self.transforms[0], Transform) else value


class Compose(_Compound):
    """One transform after the other."""

    def __init__(self, transforms: Sequence[Callable[..., Any]]) -> None:
        if isinstance(transforms, tuple) and not transforms:
            raise SettingTypeError(f"{self.name}: a list of transforms is needed, got ()")
        super().__init__(transforms)
        self.transforms = flattened(self.transforms)

    def build(self, seed: int, worker: int = 0) -> RowFunction:
        return chained(self.steps(seed))


class RandomApply(_Compound):
    """All transforms, with probability ``prob``, or none."""

    def __init__(self, transforms: Sequence[Callable[..., Any]], prob: float = 0.5) -> None:
        super().__init__(transforms)
        self.prob = probability(prob, "prob", self.name)

    def build(self, seed: int, worker: int = 0) -> RowFunction:
        random, run = generator(seed, worker), chained(self.steps(seed))
        return lambda *values: run(*values) if random.real() <= self.prob else _same(values)


class RandomChoice(_Compound):
    """One of the transforms."""

    def build(self, seed: int, worker: int = 0) -> RowFunction:
        random, steps = generator(seed, worker), self.steps(seed)
        return lambda *values: steps[random.below(len(steps))](*values)


class RandomOrder(_Compound):
    """All transforms, in an order drawn from Python's global generator, as in MindSpore."""

    def build(self, seed: int, worker: int = 0) -> RowFunction:
        steps = self.steps(seed)

        def run(*values: Any) -> Any:
            order = list(steps)
            _random.shuffle(order)
            return chained(order)(*values)

        return run


def _same(values: tuple[Any, ...]) -> Any:
    return values[0] if len(values) == 1 else values


def probability(value: Any, name: str, owner: str) -> float:
    """``value`` if it is a number in [0, 1]; ``SettingTypeError`` / ``SettingError`` otherwise."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise mistyped(value, name, owner, (float, int))
    if not 0 <= value <= 1:
        raise outside(value, name, owner, 0.0, 1.0)
    return float(value)


def not_random(function: Callable[..., Any]) -> Callable[..., Any]:
    """``function``, marked (``random``) as one whose results depend on its arguments alone."""
    function.random = False  # type: ignore[attr-defined]
    return function
