"""``Metric``, the base of all metrics, and helpers for several of them.

Source of the rules: MindSpore 2.10.0, measured (``tests/data/train/metrics_cases.json``).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection
from functools import wraps
from typing import Any, TypeVar

import numpy as np

from harness.errors import IndexRangeError, SettingError, SettingTypeError, StateError
from harness.framework.tensor import Tensor

F = TypeVar("F", bound=Callable[..., Any])
Array = np.ndarray[Any, np.dtype[Any]]


def rearrange_inputs(func: F) -> F:
    """Lets ``set_indexes`` choose and order the arguments of an ``update``."""

    @wraps(func)
    def chosen(self: Any, *inputs: Any) -> Any:
        indexes = self.indexes
        return func(self, *([inputs[at] for at in indexes] if indexes else inputs))

    return chosen  # type: ignore[return-value]


class Metric(ABC):
    """Base of every metric, including your own: define ``clear``, ``update`` and ``eval``.

    A call clears the metric, applies one update and returns the value.
    """

    def __init__(self) -> None:
        self._indexes: list[int] | None = None

    @property
    def indexes(self) -> list[int] | None:
        """The choice of ``set_indexes``; None for all inputs in their order."""
        return getattr(self, "_indexes", None)

    def set_indexes(self, indexes: list[int]) -> Metric:
        """Chooses which of a network's outputs ``update`` gets, in this order; returns self."""
        if not isinstance(indexes, list) or not all(isinstance(at, int) for at in indexes):
            raise SettingError(f"set_indexes: indexes must be a list of ints, got {indexes!r}")
        self._indexes = indexes
        return self

    def __call__(self, *inputs: Any) -> Any:
        self.clear()
        self.update(*inputs)
        return self.eval()

    @abstractmethod
    def clear(self) -> None:
        """Forgets every update."""

    @abstractmethod
    def update(self, *inputs: Any) -> None:
        """Adds the outputs of one step."""

    @abstractmethod
    def eval(self) -> Any:
        """The value over all updates since ``clear``."""

    def _convert_data(self, data: Any) -> Array:
        """``data`` (tensor, list or array) as an array; ``SettingTypeError`` for anything else."""
        if isinstance(data, Tensor):
            return data.asnumpy()
        if isinstance(data, list):
            return np.array(data)
        if isinstance(data, np.ndarray):
            return data
        raise SettingTypeError(
            f"Metric: an input must be a Tensor, list or ndarray, got {type(data).__name__} {data!r}"
        )

    @property
    def _name(self) -> str:
        return type(self).__name__

    def _require(self, inputs: Collection[Any], count: int, what: str, name: str = "") -> None:
        """``SettingError`` unless ``count`` inputs were given."""
        if len(inputs) != count:
            raise SettingError(f"{name or self._name}.update: inputs must be {count} ({what}), got {len(inputs)}")

    def _pair(self, inputs: tuple[Any, ...], name: str = "") -> tuple[Array, Array]:
        """Prediction and label of an update."""
        self._require(inputs, 2, "prediction, label", name)
        return self._convert_data(inputs[0]), self._convert_data(inputs[1])

    def _nothing(self) -> StateError:
        """The error of ``eval`` if nothing was accumulated."""
        return StateError(f"{self._name}.eval: there are no samples; call update first, with inputs that are not empty")


def typed(value: Any, types: tuple[type, ...], name: str, owner: str) -> Any:
    """``value`` if it is of one of ``types``; a bool is not an int."""
    if not isinstance(value, types) or (isinstance(value, bool) and bool not in types):
        accepted = " or ".join(each.__name__ for each in types)
        raise SettingTypeError(f"{owner}: {name} must be {accepted}, got {type(value).__name__} {value!r}")
    return value


def is_one_hot(label: Array) -> bool:
    """Whether axis 1 holds one 1 beside zeros everywhere."""
    return bool(label.ndim > 1 and ((label == 0) | (label == 1)).all() and (label.sum(axis=1) == 1).all())


def without_one_hot(prediction: Array, label: Array) -> Array:
    """``label`` as class indices, also if it is one-hot (same ndim as ``prediction``)."""
    return label.argmax(axis=1) if prediction.ndim == label.ndim and is_one_hot(label) else label


def one_hot(indices: Array, classes: int, owner: str) -> Array:
    """Rows of ones and zeros, float64 of shape (number of indices, classes); negative indices count from the end.

    Raises:
        IndexRangeError: the indices are not integers, or below ``-classes``.
        SettingError: an index is not below ``classes``.
    """
    flat = indices.reshape(-1)
    if flat.max() + 1 > classes:
        raise SettingError(f"{owner}: the prediction has {classes} classes, but there is a label {flat.max()}")
    if flat.dtype.kind not in "iu":
        raise IndexRangeError(f"{owner}: labels must be integers, got {flat.dtype}")
    if flat.min() < -classes:
        raise IndexRangeError(f"{owner}: the prediction has {classes} classes, but there is a label {flat.min()}")
    return np.asarray(np.eye(classes)[flat])
