"""Operations on rows: repetition, order, parts, other columns, several datasets."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from harness.errors import SettingError, SettingTypeError, StateError
from harness.framework.dataset import config
from harness.framework.dataset.base import Dataset, Names, Operation, Row, names_of, step
from harness.framework.dataset.checks import known, mistyped, noted, times, whole, workers
from harness.framework.dataset.failures import asked
from harness.framework.dataset.random import Mersenne64


@step
class Repeat(Operation):
    """See ``Dataset.repeat``."""

    def __init__(self, source: Dataset, count: int) -> None:
        super().__init__(source)
        self.count = times(count, "repeat")

    def size(self) -> int:
        return self.source.size() * max(1, self.count)

    def get_repeat_count(self) -> int:
        return self.count

    def passes(self, seed: int) -> Iterator[Iterator[Row]]:
        epochs = self.source.epochs(seed)
        while True:
            yield itertools.chain.from_iterable(itertools.islice(epochs, None if self.count == -1 else self.count))


@step
class Shuffle(Operation):
    """See ``Dataset.shuffle``. Places in the buffer are drawn from one 64-bit Mersenne Twister over all epochs;
    ``again``: each epoch starts again from the same seed."""

    def __init__(self, source: Dataset, buffer_size: int, *, again: bool = False) -> None:
        super().__init__(source)
        self.buffer_size = whole(buffer_size, "buffer_size", "shuffle", 2)
        self._again = again

    def is_shuffled(self) -> bool:
        return True

    def passes(self, seed: int) -> Iterator[Iterator[Row]]:
        random = Mersenne64(seed)
        for rows in self.source.epochs(seed):
            yield self._drawn(rows, Mersenne64(seed) if self._again else random)

    def _drawn(self, rows: Iterator[Row], random: Mersenne64) -> Iterator[Row]:
        buffer = list(itertools.islice(rows, self.buffer_size))
        while buffer:
            at = random() % len(buffer)
            yield buffer[at]
            buffer[at] = buffer[-1]
            buffer.pop()
            buffer.extend(itertools.islice(rows, 1))


@step
class Part(Operation):
    """Rows from ``start`` on, ``count`` of them (-1: all)."""

    def __init__(self, source: Dataset, start: int, count: int) -> None:
        super().__init__(source)
        self.start = start
        self.end = None if count == -1 else start + count

    def size(self) -> int:
        return len(range(self.source.size())[self.start : self.end])

    def passes(self, seed: int) -> Iterator[Iterator[Row]]:
        for rows in self.source.epochs(seed):
            yield itertools.islice(rows, self.start, self.end)


@step
class Filter(Operation):
    """See ``Dataset.filter``."""

    def __init__(
        self, source: Dataset, predicate: Callable[..., Any], inputs: Names | None, num_parallel_workers: int | None
    ) -> None:
        super().__init__(source)
        if not callable(predicate):
            text = "Predicate should be a Python function or a callable Python object."
            raise noted(SettingTypeError(text), predicate, "predicate", "filter")
        workers(num_parallel_workers, "filter")
        self._predicate = predicate
        chosen = source.columns() if inputs is None else names_of(inputs, "filter", "input_columns")
        known(chosen, source.columns(), "filter")
        self._places = [source.columns().index(name) for name in chosen]

    def size(self) -> int:
        return sum(1 for _ in next(self.passes(config.get_seed())))

    def passes(self, seed: int) -> Iterator[Iterator[Row]]:
        for rows in self.source.epochs(seed):
            yield (row for row in rows if asked(self._predicate, *(row[at] for at in self._places)))


@step
class Project(Operation):
    """See ``Dataset.project``."""

    def __init__(self, source: Dataset, columns: Names) -> None:
        super().__init__(source)
        self.chosen = names_of(columns, "project", "columns")
        names = source.columns()
        known(self.chosen, names, "project")
        self._places = [names.index(name) for name in self.chosen]

    def columns(self) -> list[str]:
        return self.chosen

    def passes(self, seed: int) -> Iterator[Iterator[Row]]:
        for rows in self.source.epochs(seed):
            yield (tuple(row[at] for at in self._places) for row in rows)


@step
class Rename(Operation):
    """See ``Dataset.rename``."""

    def __init__(self, source: Dataset, inputs: Names, outputs: Names) -> None:
        super().__init__(source)
        old, new = names_of(inputs, "rename", "input_columns"), names_of(outputs, "rename", "output_columns")
        if len(old) != len(new):
            text = "Number of column in input_columns and output_columns is not equal."
            raise noted(SettingError(text), outputs, "output_columns", "rename")
        known(old, source.columns(), "rename")
        renamed = dict(zip(old, new, strict=True))
        self._names = _distinct([renamed.get(name, name) for name in source.columns()], "rename")

    def columns(self) -> list[str]:
        return self._names

    def passes(self, seed: int) -> Iterator[Iterator[Row]]:
        return self.source.epochs(seed)


def _distinct(names: list[str], owner: str) -> list[str]:
    """``names``; ``StateError`` if one stands twice."""
    if len(set(names)) != len(names):
        raise StateError(f"{owner}: a column would be there twice: {names}")
    return names


def _datasets(given: Any, owner: str) -> tuple[Dataset, ...]:
    if not isinstance(given, (list, tuple)) or not given or not all(isinstance(each, Dataset) for each in given):
        raise SettingTypeError(f"{owner}: datasets are needed, got {given!r}")
    return tuple(given)


@step
class Zip(Dataset):
    """See ``Dataset.zip``."""

    def __init__(self, sources: Sequence[Dataset]) -> None:
        super().__init__()
        self.sources = _datasets(sources, "zip")
        if len(self.sources) < 2:
            raise SettingError("Can't zip empty or just one dataset!")
        self._names = _distinct([name for each in self.sources for name in each.columns()], "zip")

    def inner(self) -> Sequence[Dataset]:
        return self.sources

    def columns(self) -> list[str]:
        return self._names

    def size(self) -> int:
        return min(each.size() for each in self.sources)

    def passes(self, seed: int) -> Iterator[Iterator[Row]]:
        for each in zip(*(source.epochs(seed) for source in self.sources), strict=True):
            # The shortest ends the epoch.
            yield (tuple(itertools.chain.from_iterable(rows)) for rows in zip(*each, strict=False))


@step
class Concat(Dataset):
    """See ``Dataset.concat``."""

    def __init__(self, sources: Sequence[Dataset]) -> None:
        super().__init__()
        self.sources = _datasets(sources, "concat")
        first = self.sources[0].columns()
        for each in self.sources[1:]:
            if each.columns() != first:
                raise StateError(f"concat: the datasets have different columns: {first}, {each.columns()}")

    def inner(self) -> Sequence[Dataset]:
        return self.sources

    def columns(self) -> list[str]:
        return self.sources[0].columns()

    def size(self) -> int:
        return sum(each.size() for each in self.sources)

    def get_batch_size(self) -> int:
        return self.sources[0].get_batch_size()

    def passes(self, seed: int) -> Iterator[Iterator[Row]]:
        for each in zip(*(source.epochs(seed) for source in self.sources), strict=True):
            yield itertools.chain.from_iterable(each)


def zip_datasets(datasets: tuple[Dataset, ...]) -> Dataset:
    """``mindspore.dataset.zip``: rows of several datasets side by side."""
    if not isinstance(datasets, tuple):
        raise mistyped(datasets, "datasets", "zip", (tuple,))
    if not datasets:
        raise SettingError("Can't zip empty or just one dataset!")
    return Zip(datasets)
