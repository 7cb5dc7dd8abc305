"""Where rows come from: a user's generator, arrays."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from harness.dataset import config
from harness.dataset.base import Dataset, Row, names_of, refuse_unknown, whole
from harness.errors import SettingError, SettingTypeError, StateError


class GeneratorDataset(Dataset):
    """Rows of a user's source.

    Args:
        source: a function that gives an iterator, an iterable, or something with ``__getitem__`` and ``__len__``. An
            item is a tuple of one value a column, or one value.
        column_names: names of the columns.
        column_types: MindSpore dtypes the values must have.
        num_samples: at most so many rows.
        shuffle: another order each epoch; None: if the source has ``__getitem__``.
        num_shards, shard_id: every ``num_shards``-th row from ``shard_id`` on.
    """

    def __init__(
        self,
        source: Any,
        column_names: str | Sequence[str] | None = None,
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
        refuse_unknown({**more, "schema": schema, "sampler": sampler}, "GeneratorDataset")
        self._indexed = hasattr(source, "__getitem__") and hasattr(source, "__len__")
        if not (self._indexed or callable(source) or isinstance(source, Iterable)):
            raise SettingTypeError(
                f"GeneratorDataset: source must be callable, iterable or have __getitem__ and __len__, got {source!r}"
            )
        if column_names is None:
            raise SettingError("GeneratorDataset: column_names must be given")
        self.source = source
        self._columns = names_of(column_names, "GeneratorDataset")
        self._types = None if column_types is None else list(column_types)
        if self._types is not None and len(self._types) != len(self._columns):
            raise SettingError(f"GeneratorDataset: {len(self._types)} column_types for the columns {self._columns}")
        self._num_samples = None if num_samples is None else whole(num_samples, "num_samples", "GeneratorDataset", 0)
        if shuffle and not self._indexed:
            raise SettingError("GeneratorDataset: shuffle needs a source with __getitem__ and __len__")
        self._shuffle = self._indexed if shuffle is None else bool(shuffle)
        self._shard = _shard(num_shards, shard_id)
        self._seed = config.get_seed()

    def columns(self) -> list[str]:
        return self._columns

    def size(self) -> int:
        total = len(self.source) if self._indexed else sum(1 for _ in self._items())
        return len(self._chosen(range(total)))

    def _chosen(self, order: Sequence[int] | range) -> Sequence[int]:
        shards, own = self._shard
        part = order[own::shards]
        return part[: self._num_samples] if self._num_samples else part

    def _items(self) -> Iterator[Any]:
        return iter(self.source() if callable(self.source) else self.source)

    def rows(self, epoch: int) -> Iterator[Row]:
        if self._indexed:
            order: Sequence[int] = range(len(self.source))
            if self._shuffle:
                order = config.random_state(self._seed, epoch).permutation(len(self.source)).tolist()
            items: Iterator[Any] = (self.source[at] for at in self._chosen(order))
        else:
            shards, own = self._shard
            items = (item for at, item in enumerate(self._items()) if at % shards == own)
        for count, item in enumerate(items):
            if self._num_samples and count >= self._num_samples:
                return
            yield self._row(item)

    def _row(self, item: Any) -> Row:
        values = item if isinstance(item, tuple) else (item,)
        if len(values) != len(self._columns):
            raise StateError(f"GeneratorDataset: the source gave {len(values)} values for the columns {self._columns}")
        row = tuple(np.asarray(value.asnumpy() if hasattr(value, "asnumpy") else value) for value in values)
        for name, array, wanted in zip(self._columns, row, self._types or [], strict=False):
            if array.dtype != wanted.numpy:
                raise StateError(f"GeneratorDataset: column {name!r} must be {wanted}, got {array.dtype}")
        for name, array in zip(self._columns, row, strict=True):
            if array.dtype == object:
                raise StateError(f"GeneratorDataset: column {name!r} holds what no array can: {values!r}")
        return row


def _shard(shards: int | None, own: int | None) -> tuple[int, int]:
    if shards is None and own is None:
        return 1, 0
    if shards is None or own is None:
        raise SettingError("num_shards and shard_id must be given both, or neither")
    count, place = whole(shards, "num_shards", "dataset", 1), whole(own, "shard_id", "dataset", 0)
    if place >= count:
        raise SettingError(f"shard_id must be below num_shards, got {place} of {count}")
    return count, place


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
        column_names: str | Sequence[str] | None = None,
        num_samples: int | None = None,
        num_parallel_workers: int = 1,
        shuffle: bool | None = None,
        sampler: Any = None,
        num_shards: int | None = None,
        shard_id: int | None = None,
    ) -> None:
        if not isinstance(data, (list, tuple, dict, np.ndarray)) or not len(data):
            raise SettingTypeError(
                f"NumpySlicesDataset: data must be an array, list, tuple or dict with something in it, got {data!r}"
            )
        columns = list(data.values()) if isinstance(data, dict) else list(data) if isinstance(data, tuple) else [data]
        if column_names is None:
            column_names = list(data) if isinstance(data, dict) else [f"column_{at}" for at in range(len(columns))]
        super().__init__(
            _Slices(columns), column_names, num_samples=num_samples, shuffle=shuffle, sampler=sampler,
            num_shards=num_shards, shard_id=shard_id,
        )  # fmt: skip
        if len(self._columns) != len(columns):
            raise SettingError(f"NumpySlicesDataset: {len(columns)} columns of data, named {self._columns}")
