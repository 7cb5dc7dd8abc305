"""Sources of rows: a user's generator, arrays."""

from __future__ import annotations

import itertools
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from types import GeneratorType
from typing import Any

import numpy as np

from harness.errors import SettingError, SettingTypeError, StateError
from harness.framework.dataset import config, samplers
from harness.framework.dataset.base import Dataset, Names, Row, names_of
from harness.framework.dataset.checks import mistyped, noted, refuse_unknown, samples, workers
from harness.framework.dataset.failures import asked, drawn


class Source(Dataset):
    """Rows with numbers, in the order of a sampler."""

    #: whether rows have numbers
    indexed = True
    sampler: samplers.BuiltinSampler

    @abstractmethod
    def total(self) -> int:
        """Number of rows there are."""

    @abstractmethod
    def row(self, at: int) -> Row:
        """Row ``at``."""

    def size(self) -> int:
        return self.sampler.count(self.total())

    def passes(self, seed: int) -> Iterator[Iterator[Row]]:
        for order in self.sampler.orders(self.total(), seed):
            yield map(self.row, order)

    def is_shuffled(self) -> bool:
        return self.indexed and self.sampler.is_shuffled()

    def is_sharded(self) -> bool:
        return self.indexed and self.sampler.is_sharded()

    def add_sampler(self, new_sampler: samplers.BuiltinSampler) -> None:
        """Lets ``new_sampler`` choose among the rows this source has."""
        new_sampler.add_child(self.sampler)
        self.sampler = new_sampler

    def use_sampler(self, new_sampler: samplers.BuiltinSampler) -> None:
        """Lets ``new_sampler`` choose the rows, alone."""
        if not isinstance(new_sampler, samplers.BuiltinSampler):
            raise SettingTypeError(f"use_sampler: a sampler is needed, got {new_sampler!r}")
        self.sampler = new_sampler

    def part(self, start: int, count: int, total: int, randomize: bool) -> Source:
        """``count`` rows from ``start`` on; ``randomize``: of the rows in another order, the same for all parts."""
        made = object.__new__(type(self))
        made.__dict__.update(self.__dict__)
        if randomize:
            order = samplers.RandomSampler()
            order.reshuffle_each_epoch = False
            made.add_sampler(order)
        made.add_sampler(samplers.SequentialSampler(start, count))
        return made


class GeneratorDataset(Source):
    """Rows of a user's source.

    Args:
        source: a function that gives an iterator, an iterable, or something with ``__getitem__`` and ``__len__``. An
            item is several values, one a column, or one value.
        column_names: names of the columns.
        column_types: MindSpore dtypes the values must have.
        num_samples: at most so many rows; of a shuffled source, so many drawn rows.
        num_parallel_workers: kept; rows come in the same order.
        shuffle: another order each epoch; None: if the source has ``__getitem__``.
        sampler: which rows, in which order: a sampler or numbers of rows.
        num_shards, shard_id: every ``num_shards``-th row from ``shard_id`` on.
    """

    def __init__(
        self,
        source: Any,
        column_names: Names | None = None,
        column_types: Sequence[Any] | None = None,
        schema: Any = None,
        num_samples: int | None = None,
        num_parallel_workers: int = 1,
        shuffle: bool | None = None,
        sampler: Any = None,
        num_shards: int | None = None,
        shard_id: int | None = None,
        **more: Any,
    ) -> None:
        super().__init__()
        owner = type(self).__name__
        refuse_unknown({**more, "schema": schema}, owner)
        workers(num_parallel_workers, owner)
        self.indexed = hasattr(source, "__getitem__") and hasattr(source, "__len__")
        if not (self.indexed or callable(source) or isinstance(source, Iterable)):
            text = "Input `source` function of GeneratorDataset should be callable, iterable or random accessible"
            raise noted(SettingTypeError(text), source, "source", owner)
        if column_names is None:
            raise noted(SettingError("Neither columns_names nor schema are provided."), None, "column_names", owner)
        self.source: Any = _Kept(source) if isinstance(source, GeneratorType) else source
        self._columns = names_of(column_names, owner)
        self._types = None if column_types is None else list(column_types)
        if self._types is not None and len(self._types) != len(self._columns):
            raise SettingError(f"{owner}: {len(self._types)} column_types for the columns {self._columns}")
        self._num_samples = samples(num_samples, owner)
        self._counted: int | None = None
        if self.indexed:
            self.sampler = samplers.chosen(sampler, shuffle, num_samples, num_shards, shard_id)
        else:
            given = [name for name, value in (("sampler", sampler), ("num_shards", num_shards)) if value is not None]
            given += ["shuffle"] if shuffle else []
            if given:
                raise SettingError(f"{owner}: {given[0]} needs a source with __getitem__ and __len__")

    def columns(self) -> list[str]:
        return self._columns

    def total(self) -> int:
        return len(self.source)

    def row(self, at: int) -> Row:
        return self._row(asked(self.source.__getitem__, at))

    def size(self) -> int:
        """Number of rows; a source that can only be counted is counted once, as in MindSpore."""
        if self.indexed:
            return super().size()
        if self._counted is None:
            self._counted = sum(1 for _ in self._items())
        return self._counted

    def __getitem__(self, index: int) -> Any:
        """The source's item that is row ``index`` of the first epoch."""
        if not self.indexed:
            raise StateError("GeneratorDataset: the source cannot be asked for a row by number")
        order = next(self.sampler.orders(self.total(), config.get_seed()))
        if isinstance(index, bool) or not isinstance(index, (int, np.integer)):
            raise SettingTypeError(f"GeneratorDataset: a row's number must be an int, got {index!r}")
        if not -len(order) <= index < len(order):
            raise StateError(f"GeneratorDataset: there is no row {index}, there are {len(order)}")
        return self.source[order[int(index)]]

    def _items(self) -> Iterator[Any]:
        items = drawn(lambda: iter(self.source if isinstance(self.source, Iterable) else self.source()))
        return itertools.islice(items, self._num_samples or None)

    def passes(self, seed: int) -> Iterator[Iterator[Row]]:
        if self.indexed:
            yield from super().passes(seed)
        while True:
            yield map(self._row, self._items())

    def _row(self, item: Any) -> Row:
        values = item if isinstance(item, (tuple, list)) else (item,)
        if len(values) != len(self._columns):
            raise StateError(f"GeneratorDataset: the source gave {len(values)} values for the columns {self._columns}")
        row = tuple(self._value(name, value) for name, value in zip(self._columns, values, strict=True))
        for name, array, wanted in zip(self._columns, row, self._types or [], strict=False):
            if array.dtype != wanted.numpy:
                raise StateError(f"GeneratorDataset: column {name!r} must be {wanted}, got {array.dtype}")
        return row

    def _value(self, name: str, value: Any) -> Any:
        if isinstance(value, dict):
            return value
        array = np.asarray(value.asnumpy() if hasattr(value, "asnumpy") else value)
        if array.dtype == object:
            raise StateError(f"GeneratorDataset: column {name!r} holds what no array can: {value!r}")
        return array


class _Kept:
    """The rows of a generator, kept for the next epochs because it runs only once."""

    def __init__(self, items: Iterator[Any]) -> None:
        self._items = items
        self._given: list[Any] = []

    def __iter__(self) -> Iterator[Any]:
        for at in itertools.count():
            if at == len(self._given):
                self._given.extend(itertools.islice(self._items, 1))
            if at == len(self._given):
                return
            yield self._given[at]


class _Slices:
    """Rows of columns: what ``NumpySlicesDataset`` gives to ``GeneratorDataset``."""

    def __init__(self, columns: Sequence[Any]) -> None:
        lengths = {len(column) for column in columns}
        if len(lengths) != 1:
            raise SettingError(f"NumpySlicesDataset: columns must be of one length, got {sorted(lengths)}")
        self._columns = columns
        self._length = lengths.pop()

    def __len__(self) -> int:
        return self._length

    def __getitem__(self, at: int) -> tuple[Any, ...]:
        return tuple(column[at] for column in self._columns)


class NumpySlicesDataset(GeneratorDataset):
    """Rows of arrays.

    Args:
        data: an array or list (one column), a tuple of columns, or a dict of columns by name.
        column_names: names; None for the dict's keys, or ``column_0``, ``column_1``, ...
        shuffle: None for True.

    The other arguments are those of ``GeneratorDataset``.
    """

    def __init__(
        self,
        data: Any,
        column_names: Names | None = None,
        num_samples: int | None = None,
        num_parallel_workers: int = 1,
        shuffle: bool | None = None,
        sampler: Any = None,
        num_shards: int | None = None,
        shard_id: int | None = None,
    ) -> None:
        if not isinstance(data, (list, tuple, dict, np.ndarray)):
            raise mistyped(data, "data", "NumpySlicesDataset", (list, tuple, dict, np.ndarray))
        if not len(data):
            raise noted(SettingError("Argument data cannot be empty"), data, "data", "NumpySlicesDataset")
        columns = list(data.values()) if isinstance(data, dict) else list(data) if isinstance(data, tuple) else [data]
        if column_names is None:
            column_names = list(data) if isinstance(data, dict) else [f"column_{at}" for at in range(len(columns))]
        super().__init__(
            _Slices(columns), column_names, num_samples=num_samples, num_parallel_workers=num_parallel_workers,
            shuffle=shuffle, sampler=sampler, num_shards=num_shards, shard_id=shard_id,
        )  # fmt: skip
        if len(self._columns) != len(columns):
            raise SettingError(f"NumpySlicesDataset: {len(columns)} columns of data, named {self._columns}")
