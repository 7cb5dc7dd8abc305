"""Iterators over the rows of a dataset."""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from typing import Any

import numpy as np

from harness.errors import SettingAttributeError, SettingError, StateError
from harness.framework.dataset import config
from harness.framework.dataset.base import Dataset, Names, Row, skipped, step
from harness.framework.dataset.checks import flag, mistyped, names_of
from harness.framework.tensor import Tensor

#: iterators that may be released
_MADE: weakref.WeakSet[RowIterator] = weakref.WeakSet()


def release_all() -> None:
    """Ends every iterator: asked for a row, one of them raises ``SettingAttributeError``."""
    for each in _MADE:
        each.release()


class RowIterator(Iterator[Any]):
    """Goes through one epoch per iteration, from where it stands; see ``Dataset.create_tuple_iterator``.

    Orders are drawn from the seed as it is when the iterator is made.
    """

    def __init__(
        self, dataset: Dataset, columns: Names | None, num_epochs: int, output_numpy: bool, *, as_dict: bool
    ) -> None:
        if isinstance(num_epochs, bool) or not isinstance(num_epochs, int):
            raise mistyped(num_epochs, "num_epochs", "iterator", (int,))
        if num_epochs != -1 and num_epochs < 1:
            refusal = SettingError if num_epochs else StateError
            raise refusal(f"num_epochs must be -1 or at least 1, got {num_epochs}")
        source = dataset if columns is None else dataset.project(names_of(columns, "iterator"))
        self._names = source.columns()
        self._epochs = skipped(source.epochs(config.get_seed()), dataset.get_init_step())
        self._left = num_epochs
        self._output_numpy = flag(output_numpy, "output_numpy", "iterator")
        self._as_dict = as_dict
        self._rows: Iterator[Row] | None = None
        self._released = False
        _MADE.add(self)

    def release(self) -> None:
        """Ends the iterator."""
        self._released = True

    def __iter__(self) -> RowIterator:
        return self

    def __next__(self) -> Any:
        if self._released:
            raise SettingAttributeError("the iterator was released and has no more rows")
        if self._rows is None:
            if self._left == 0:
                raise StateError("the iterator went through all its epochs (num_epochs); create another one")
            self._left -= 1 if self._left > 0 else 0
            self._rows = next(self._epochs)
        row = next(self._rows, None)
        if row is None:
            self._rows = None
            raise StopIteration
        values: list[Any] = [_fitted(value) if self._output_numpy else _tensor(_fitted(value)) for value in row]
        return dict(zip(self._names, values, strict=True)) if self._as_dict else values


@step
class TupleIterator(RowIterator):
    """One whose rows are lists."""


@step
class DictIterator(RowIterator):
    """One whose rows are dicts by column."""


def _fitted(value: Any) -> Any:
    """Texts in an array as wide as the longest of them."""
    texts = isinstance(value, np.ndarray) and value.dtype.kind in "US" and value.size
    return value.astype(f"{value.dtype.kind}{max(1, int(np.char.str_len(value).max()))}") if texts else value


def _tensor(value: Any) -> Any:
    """A tensor; texts and dicts, which no tensor holds, stay unchanged."""
    return Tensor.from_numpy(value) if isinstance(value, np.ndarray) and value.dtype.kind not in "USO" else value
