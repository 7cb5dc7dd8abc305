"""``Dataset``: rows of arrays, in columns, that can be gone through once an epoch.

Source of names, types and refusals: ``mindspore.dataset`` 2.10.0, measured. Everything runs in this process, in order.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from harness.errors import SettingError, SettingTypeError, StateError, UnsupportedError
from harness.tensor import Tensor

Array = np.ndarray[Any, np.dtype[Any]]
Row = tuple[Array, ...]

#: arguments that change how fast the real pipeline runs, not what it gives
SPEED = frozenset(
    ("num_parallel_workers", "python_multiprocessing", "max_rowsize", "cache", "offload", "callbacks", "batch_format")
)
LARGEST = 2**31 - 1


class Dataset:
    """Base of all datasets; a subclass gives ``columns``, ``rows`` and ``size``."""

    def __init__(self) -> None:
        self._init_step = 0

    # -- what a subclass defines ---------------------------------------------------------------------------------------
    def columns(self) -> list[str]:
        """Names of the columns."""
        raise NotImplementedError

    def rows(self, epoch: int) -> Iterator[Row]:
        """The rows of an epoch (counted from 0), each a tuple of one array a column."""
        raise NotImplementedError

    def size(self) -> int:
        """Number of rows of an epoch."""
        raise NotImplementedError

    # -- what scripts ask ----------------------------------------------------------------------------------------------
    def get_dataset_size(self) -> int:
        """Number of rows (batches, once batched) of an epoch."""
        return self.size()

    def get_col_names(self) -> list[str]:
        """Names of the columns."""
        return self.columns()

    def get_batch_size(self) -> int:
        """Rows of the source in one row here."""
        return 1

    def get_repeat_count(self) -> int:
        """How often the source is gone through in an epoch."""
        return 1

    def output_shapes(self, estimate: bool = False) -> list[list[int]]:
        """Shape of each column in the first row."""
        return [list(array.shape) for array in self._first()]

    def output_types(self) -> list[Any]:
        """numpy dtype of each column in the first row."""
        return [array.dtype for array in self._first()]

    def _first(self) -> Row:
        return next(self.rows(0), ())

    def __len__(self) -> int:
        return self.get_dataset_size()

    def reset(self) -> None:
        """Nothing to do: iterators know where they stand."""

    def set_init_step(self, init_step: int) -> None:
        """Lets iterators start at this row, counted over epochs (for a training that goes on from a checkpoint)."""
        self._init_step = whole(init_step, "init_step", "set_init_step", 0)

    # -- iterators -----------------------------------------------------------------------------------------------------
    def create_tuple_iterator(
        self,
        columns: Sequence[str] | None = None,
        num_epochs: int = -1,
        output_numpy: bool = False,
        do_copy: bool = False,
    ) -> RowIterator:
        """Goes through rows as lists, one epoch each time it is iterated.

        Args:
            columns: which columns, in this order; None for all.
            num_epochs: how many epochs there are; one more raises ``StateError``. -1 for no end.
            output_numpy: arrays instead of tensors.
            do_copy: kept.
        """
        return RowIterator(self, columns, num_epochs, output_numpy, as_dict=False)

    def create_dict_iterator(
        self, num_epochs: int = -1, output_numpy: bool = False, do_copy: bool = False
    ) -> RowIterator:
        """Goes through rows as dicts by column; arguments as for ``create_tuple_iterator``."""
        return RowIterator(self, None, num_epochs, output_numpy, as_dict=True)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.create_tuple_iterator(num_epochs=1))

    # -- operations ----------------------------------------------------------------------------------------------------
    def batch(self, batch_size: int, drop_remainder: bool = False, **more: Any) -> Dataset:
        """Rows stacked ``batch_size`` at a time; the last one may be smaller unless ``drop_remainder``."""
        from harness.dataset.operations import Batch

        return Batch(self, batch_size, drop_remainder, more)

    def repeat(self, count: int | None = None) -> Dataset:
        """The rows ``count`` times over in one epoch; -1 and None: once, as the size MindSpore gives says."""
        from harness.dataset.operations import Repeat

        return Repeat(self, -1 if count is None else count)

    def shuffle(self, buffer_size: int) -> Dataset:
        """Rows in another order each epoch, drawn from a buffer of this many."""
        from harness.dataset.operations import Shuffle

        return Shuffle(self, buffer_size)

    def map(
        self,
        operations: Callable[..., Any] | Sequence[Callable[..., Any]],
        input_columns: str | Sequence[str] | None = None,
        output_columns: str | Sequence[str] | None = None,
        **more: Any,
    ) -> Dataset:
        """Columns put through functions, one after the other."""
        from harness.dataset.operations import Map

        return Map(self, operations, input_columns, output_columns, more)

    def take(self, count: int = -1) -> Dataset:
        """The first ``count`` rows; -1 for all."""
        from harness.dataset.operations import Part

        return Part(self, 0, whole(count, "count", "take", -1, forbidden=0))

    def skip(self, count: int) -> Dataset:
        """All but the first ``count`` rows."""
        from harness.dataset.operations import Part

        return Part(self, whole(count, "count", "skip", 0), -1)

    def project(self, columns: str | Sequence[str]) -> Dataset:
        """Some of the columns, in this order."""
        from harness.dataset.operations import Project

        return Project(self, columns)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        raise UnsupportedAttributeError(f"mindspore.dataset: {name!r} of a dataset is not supported")


class UnsupportedAttributeError(UnsupportedError, AttributeError):
    """A method of MindSpore's datasets that is not here."""


class RowIterator:
    """Goes through one epoch of a dataset each time it is iterated; see ``Dataset.create_tuple_iterator``."""

    def __init__(
        self, dataset: Dataset, columns: Sequence[str] | None, num_epochs: int, output_numpy: bool, *, as_dict: bool
    ) -> None:
        if isinstance(num_epochs, bool) or not isinstance(num_epochs, int):
            raise SettingTypeError(f"num_epochs must be an int, got {type(num_epochs).__name__}")
        if num_epochs != -1 and num_epochs < 1:
            raise StateError(f"num_epochs must be -1 or at least 1, got {num_epochs}")
        self._source = dataset if columns is None else dataset.project(columns)
        size = dataset.get_dataset_size() if dataset._init_step else 0
        self._epoch, self._skip = divmod(dataset._init_step, size) if size else (0, 0)
        self._left = num_epochs
        self._output_numpy = output_numpy
        self._as_dict = as_dict
        self._running: Iterator[Any] | None = None

    def __iter__(self) -> Iterator[Any]:
        if self._left == 0:
            raise StateError("the iterator went through all its epochs (num_epochs); create another one")
        self._left -= 1 if self._left > 0 else 0
        epoch, self._epoch = self._epoch, self._epoch + 1
        skip, self._skip = self._skip, 0
        names = self._source.columns()
        return (self._shown(row, names) for row in itertools.islice(self._source.rows(epoch), skip, None))

    def __next__(self) -> Any:
        if self._running is None:
            self._running = iter(self)
        try:
            return next(self._running)
        except StopIteration:
            self._running = None
            raise

    def _shown(self, row: Row, names: list[str]) -> Any:
        values: list[Any] = list(row) if self._output_numpy else [Tensor(array) for array in row]
        return dict(zip(names, values, strict=True)) if self._as_dict else values


def whole(value: Any, name: str, owner: str, low: int, forbidden: int | None = None) -> int:
    """``value`` if it is an int of at least ``low`` that fits 32 bits.

    Raises:
        SettingTypeError: it is no int.
        SettingError: it is out of bounds, or ``forbidden``.
    """
    if isinstance(value, bool) or not isinstance(value, int):
        raise SettingTypeError(f"{owner}: {name} must be an int, got {type(value).__name__} {value!r}")
    if not low <= value <= LARGEST or value == forbidden:
        but = f" but {forbidden}" if forbidden is not None else ""
        raise SettingError(f"{owner}: {name} must be in [{low}, {LARGEST}]{but}, got {value}")
    return value


def names_of(columns: str | Sequence[str], owner: str) -> list[str]:
    """Column names as a list; ``SettingTypeError`` unless a str or several, ``SettingError`` if one stands twice."""
    given = [columns] if isinstance(columns, str) else list(columns)
    if not given or not all(isinstance(name, str) for name in given):
        raise SettingTypeError(f"{owner}: columns must be names, got {columns!r}")
    if len(set(given)) != len(given):
        raise SettingError(f"{owner}: a column is named twice in {given}")
    return given


def refuse_unknown(more: dict[str, Any], owner: str) -> None:
    """``UnsupportedError`` for arguments that are not only about speed and are not None."""
    other = sorted(name for name, value in more.items() if name not in SPEED and value is not None)
    if other:
        raise UnsupportedError(f"{owner}: {', '.join(other)} is not supported")
