"""The rows of any dataset, epoch by epoch."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from harness.errors import MissingMethodError, SettingTypeError, StateError
from harness.framework.dataset import Dataset
from harness.framework.tensor import Tensor


def size_of(dataset: Any) -> int:
    """Steps of an epoch; ``MissingMethodError`` unless ``dataset`` has the methods of a dataset."""
    if not callable(getattr(dataset, "get_dataset_size", None)) or _opener(dataset) is None:
        raise MissingMethodError(
            "a dataset must have get_dataset_size and create_tuple_iterator or create_dict_iterator, "
            f"got {type(dataset).__name__}"
        )
    return int(dataset.get_dataset_size())


def _opener(dataset: Any) -> Callable[..., Any] | None:
    for name in ("create_tuple_iterator", "create_dict_iterator"):
        found = getattr(dataset, name, None)
        if callable(found):
            return found  # type: ignore[no-any-return]
    return None


class Rows:
    """Iterates over one epoch at a time; a row is a list of tensors.

    Args:
        dataset: one of ours, or anything with ``create_tuple_iterator`` or ``create_dict_iterator``.
        epochs: how many there will be.
    """

    def __init__(self, dataset: Any, epochs: int) -> None:
        self._dataset = dataset
        # Our datasets continue from epoch to epoch, as MindSpore's do; others give a new iterator each time.
        self._going = dataset.create_tuple_iterator(num_epochs=epochs) if isinstance(dataset, Dataset) else None

    def __iter__(self) -> Iterator[list[Any]]:
        if self._going is not None:
            return iter(self._going)
        opener = _opener(self._dataset)
        if opener is None:
            raise SettingTypeError(f"a dataset must have create_tuple_iterator, got {type(self._dataset).__name__}")
        return map(_row, opener(num_epochs=1))


def _row(given: Any) -> list[Any]:
    values = list(given.values()) if isinstance(given, dict) else given
    if isinstance(values, (Tensor, np.ndarray)):
        values = [values]
    if not isinstance(values, (list, tuple)):
        raise StateError(f"a row of a dataset must be a list, tuple or dict of tensors, got {type(given).__name__}")
    return [Tensor(value) if isinstance(value, np.ndarray) else value for value in values]
