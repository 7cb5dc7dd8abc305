"""The base of transforms: ``map`` can run one in each worker, and a user can call it on an array.

Source: MindSpore 2.10.0, measured (``tests/data/dataset/facts.json``).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, Self

import numpy as np

from harness.errors import SettingTypeError, StateError
from harness.framework.dataset import config
from harness.framework.dataset.random import Mersenne32
from harness.framework.dataset.transforms import arguments
from harness.framework.seed import DATASET_SEED

RowFunction = Callable[..., Any]


class Transform(ABC):
    """Base of all transforms. Calling one runs it on arrays, drawing numbers from the seed of datasets again at each
    call where one was set, as in MindSpore, else from one call to the next."""

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:
        arguments.check(cls, args, kwargs)
        return super().__new__(cls)

    @abstractmethod
    def build(self, seed: int, worker: int = 0) -> RowFunction:
        """The function that runs it in a worker: arrays in, an array or a tuple of arrays out. Random numbers are drawn
        from ``seed`` with the worker's number added."""

    def __call__(self, *inputs: Any) -> Any:
        arrays = [self._input(each) for each in inputs]
        seed = config.get_seed()
        if seed == DATASET_SEED:
            if "_going" not in self.__dict__:
                self._going = self.build(seed)
            return self._going(*arrays)
        return self.build(seed)(*arrays)

    def refuse_other_than_pictures(self, *inputs: Any) -> None:
        """``SettingTypeError`` unless all are arrays or PIL's images."""
        for each in inputs:
            if not isinstance(each, np.ndarray) and not hasattr(each, "getbands"):
                raise SettingTypeError(f"{self.name}: an array or an image is needed, got {type(each).__name__}")

    def _input(self, value: Any) -> Any:
        array = np.asarray(value)
        if array.dtype == object:
            raise SettingTypeError(f"{self.name}: an array is needed, got {type(value).__name__}")
        return array

    @property
    def name(self) -> str:
        """Its name in messages."""
        return type(self).__name__


class Fixed(Transform):
    """A transform of one array, without chance."""

    @abstractmethod
    def compute(self, array: Any) -> Any:
        """The result for one array."""

    def build(self, seed: int, worker: int = 0) -> RowFunction:
        return self._one

    def _one(self, *arrays: Any) -> Any:
        if len(arrays) != 1:
            raise StateError(f"{self.name}: one column is needed, got {len(arrays)}")
        return self.compute(arrays[0])


class Drawn(Transform):
    """A transform of one array that draws numbers; each worker has its own generator."""

    @abstractmethod
    def draw(self, random: Mersenne32, array: Any) -> Any:
        """The result for one array."""

    def build(self, seed: int, worker: int = 0) -> RowFunction:
        random = generator(seed, worker)

        def step(*arrays: Any) -> Any:
            if len(arrays) != 1:
                raise StateError(f"{self.name}: one column is needed, got {len(arrays)}")
            return self.draw(random, arrays[0])

        return step


class PerWorker:
    """The steps of each worker, taken in turn."""

    def __init__(self, steps: Sequence[Sequence[RowFunction]]) -> None:
        self._steps = steps
        self._next = 0

    def turn(self) -> Sequence[RowFunction]:
        """The steps of the worker whose turn it is."""
        steps = self._steps[self._next]
        self._next = (self._next + 1) % len(self._steps)
        return steps


def generator(seed: int, worker: int) -> Mersenne32:
    """The random generator of a worker's transform."""
    return Mersenne32((seed + worker) % 2**32)


def kernel(operation: Callable[..., Any], seed: int, worker: int = 0) -> RowFunction:
    """Makes the function that runs ``operation``, a transform or any function."""
    return operation.build(seed, worker) if isinstance(operation, Transform) else operation


def chained(steps: Sequence[RowFunction]) -> RowFunction:
    """One step after the other."""

    def run(*values: Any) -> Any:
        given = values
        for step in steps:
            made = step(*given)
            given = made if isinstance(made, tuple) else (made,)
        return given[0] if len(given) == 1 else given

    return run


def flattened(operations: Sequence[Callable[..., Any]]) -> list[Callable[..., Any]]:
    """Operations, with those inside a ``Compose`` in its place."""
    made: list[Callable[..., Any]] = []
    for operation in operations:
        inner = getattr(operation, "transforms", None)
        composed = isinstance(operation, Transform) and operation.name == "Compose"
        made.extend(flattened(inner) if composed and inner is not None else [operation])
    return made
