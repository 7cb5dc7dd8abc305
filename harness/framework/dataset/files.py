"""Rows of files that are read one after the other: which files, which rows, in which order.

Source: orders, shards and refusals of MindSpore 2.10.0, measured (``tests/interop/tfrecord_facts.py``,
``lines_facts.py``).
"""

from __future__ import annotations

import glob
import itertools
import os
from abc import abstractmethod
from collections.abc import Iterator
from typing import Any

from harness.errors import SettingError, SettingTypeError, StateError
from harness.framework.dataset import config, samplers
from harness.framework.dataset.base import Dataset, Row
from harness.framework.dataset.checks import noted, refuse_unknown, samples, workers
from harness.framework.dataset.operations import Shuffle
from harness.framework.dataset.random import Mersenne32, shuffle

#: rows among which a global order is drawn, at most; and for each row an average file has
_BUFFER, _FOR_EACH = 10000, 4


class FilesDataset(Dataset):
    """Base of sources whose rows have no numbers; a subclass tells the columns, and counts and reads a file's rows.

    Args:
        dataset_files: a file or pattern, or a list of them.
        num_samples: at most so many rows, of a shard if there are any; None or 0 for all.
        num_parallel_workers: so many files are read in turn, row by row.
        order: True, None or ``Shuffle.GLOBAL``: files and rows in another order each epoch; ``Shuffle.FILES``: files.
        num_shards, shard_id: which share of the rows; of the files where ``equal`` is False.

    Raises:
        SettingError, SettingTypeError: an argument is none of these, or there is no such file.
    """

    #: whether shards are of equally many rows, whatever their files
    equal = True

    def __init__(
        self,
        dataset_files: Any,
        num_samples: int | None,
        num_parallel_workers: int | None,
        order: Any,
        num_shards: int | None,
        shard_id: int | None,
        cache: Any,
    ) -> None:
        super().__init__()
        self.owner = type(self).__name__
        refuse_unknown({"cache": cache}, self.owner)
        self.files = self._found(dataset_files)
        if not (order is None or isinstance(order, (bool, samplers.Shuffle))):
            text = "shuffle must be of boolean or enum of 'Shuffle' values like 'Shuffle.GLOBAL' or 'Shuffle.FILES'."
            raise noted(SettingTypeError(text), order, "shuffle", self.owner)
        self.order = samplers.Shuffle.GLOBAL if order is None or order is True else order
        if (num_shards is None) != (shard_id is None):
            raise StateError(samplers.half_sharded(num_shards))
        if num_shards is not None:
            num_shards, shard_id = samplers.sharding(num_shards, shard_id)
        self.num_shards, self.shard_id = num_shards or 1, shard_id or 0
        self.num_samples = samples(num_samples, self.owner) or 0
        self.workers = workers(num_parallel_workers, self.owner)
        self._counted: list[int] | None = None

    # -- what a subclass defines ---------------------------------------------------------------------------------------
    @abstractmethod
    def _chosen(self) -> list[Any]:
        """What ``_read`` needs of each column; where it is empty an epoch has no rows."""

    @abstractmethod
    def _count(self, path: str) -> int:
        """Rows of a file."""

    @abstractmethod
    def _read(self, path: str, start: int, end: int | None, chosen: list[Any]) -> Iterator[Row]:
        """Rows ``start`` to ``end`` (None for all) of a file."""

    def _check_shards(self) -> None:
        """``StateError`` where shards cannot be made."""

    def is_shuffled(self) -> bool:
        return self.order in (samplers.Shuffle.GLOBAL, samplers.Shuffle.FILES)

    def is_sharded(self) -> bool:
        return self.num_shards > 1

    # -- which rows ----------------------------------------------------------------------------------------------------
    def _counts(self) -> list[int]:
        """Rows of each file, counted once."""
        if self._counted is None:
            self._counted = [self._count(path) for path in self.files]
        return self._counted

    def size(self) -> int:
        self._check_shards()
        counts = self._counts()
        if self.equal:
            count = -(-sum(counts) // self.num_shards)
        else:
            count = sum(counts[self.shard_id :: self.num_shards])
        return min(count, self.num_samples) if self.num_samples else count

    def passes(self, seed: int) -> Iterator[Iterator[Row]]:
        self._check_shards()
        if self.order != samplers.Shuffle.GLOBAL:
            yield from self._unshuffled(seed)
            return
        rows = -(-sum(self._counts()) // self.num_shards)
        buffer = max(2, min(_BUFFER, rows // len(self.files) * _FOR_EACH))
        yield from Shuffle(_Unshuffled(self), buffer).passes(seed)

    def _unshuffled(self, seed: int) -> Iterator[Iterator[Row]]:
        """Rows of one epoch after the other; only files are in a drawn order."""
        chosen = self._chosen()
        keys = list(range(len(self.files)))
        for epoch in itertools.count(1):
            if self.is_shuffled():
                shuffle(keys, Mersenne32(seed if self.num_shards == 1 else epoch))
            rows = _in_turn([self._rows(share, chosen) for share in self._shares(keys)])
            yield itertools.islice(rows, (self.num_samples or None) if chosen else 0)

    def _shares(self, keys: list[int]) -> list[list[tuple[int, int, int | None]]]:
        """What each worker reads: a file's number, and which of its rows."""
        if self.equal and self.num_shards > 1:
            pieces = self._equal_pieces(keys)
        else:
            pieces = [(key, 0, None) for key in keys[self.shard_id :: self.num_shards]]
        count = min(self.workers or config.get_num_parallel_workers(), len(self.files))
        return [pieces[at::count] for at in range(count)]

    def _equal_pieces(self, keys: list[int]) -> list[tuple[int, int, int | None]]:
        """The files that hold this shard's rows, from the start again at the end."""
        counts = self._counts()
        share = -(-sum(counts) // self.num_shards)
        low, high = share * self.shard_id, share * (self.shard_id + 1)
        pieces: list[tuple[int, int, int | None]] = []
        before = 0
        for key in itertools.cycle(keys):
            start, end = max(0, low - before), min(counts[key], high - before)
            if start < end:
                pieces.append((key, start, end))
            before += counts[key]
            if before >= high:
                return pieces
        return pieces

    def _rows(self, share: list[tuple[int, int, int | None]], chosen: list[Any]) -> Iterator[Row]:
        for key, start, end in share:
            yield from self._read(self.files[key], start, end, chosen)

    def _found(self, given: Any) -> list[str]:
        """The files of paths and patterns, sorted."""
        patterns = [given] if isinstance(given, str) else given
        if not isinstance(patterns, list) or not all(isinstance(each, str) for each in patterns):
            raise SettingTypeError(f"{self.owner}: dataset_files must be a path or a list of them, got {given!r}")
        if not patterns:
            text = "Input dataset_files can not be empty, but got '[]'."
            raise noted(SettingError(text), given, "dataset_files", self.owner)
        files: list[str] = []
        for pattern in patterns:
            matches = [path for path in glob.glob(pattern, recursive=True) if os.path.isfile(path)]
            if not matches:
                text = f"The following patterns did not match any files: {[pattern]}."
                raise noted(SettingError(text), given, "dataset_files", self.owner)
            files += matches
        return sorted(files)


class _Unshuffled(Dataset):
    """The rows of a source before a global order is drawn among them."""

    def __init__(self, source: FilesDataset) -> None:
        super().__init__()
        self.source = source

    def columns(self) -> list[str]:
        return self.source.columns()

    def size(self) -> int:
        return self.source.size()

    def passes(self, seed: int) -> Iterator[Iterator[Row]]:
        return self.source._unshuffled(seed)


def _in_turn(sources: list[Iterator[Row]]) -> Iterator[Row]:
    """A row of each, as long as any has one."""
    left = list(sources)
    while left:
        for source in list(left):
            row = next(source, None)
            if row is None:
                left.remove(source)
            else:
                yield row
