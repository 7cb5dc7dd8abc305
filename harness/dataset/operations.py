"""What is done to rows: batches, repetitions, orders, maps, parts."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from harness.dataset import config
from harness.dataset.base import Dataset, Row, names_of, refuse_unknown, whole
from harness.errors import SettingError, SettingTypeError, StateError


class _Operation(Dataset):
    """A dataset made from another one; asks it for what it does not change."""

    def __init__(self, source: Dataset) -> None:
        super().__init__()
        self.source = source

    def columns(self) -> list[str]:
        return self.source.columns()

    def size(self) -> int:
        return self.source.size()

    def get_batch_size(self) -> int:
        return self.source.get_batch_size()

    def get_repeat_count(self) -> int:
        return self.source.get_repeat_count()


class Batch(_Operation):
    """See ``Dataset.batch``."""

    def __init__(self, source: Dataset, batch_size: int, drop_remainder: bool, more: dict[str, Any]) -> None:
        super().__init__(source)
        refuse_unknown(more, "batch")
        self.batch_size = whole(batch_size, "batch_size", "batch", 1)
        if not isinstance(drop_remainder, bool):
            raise SettingTypeError(f"batch: drop_remainder must be a bool, got {type(drop_remainder).__name__}")
        self.drop_remainder = drop_remainder

    def size(self) -> int:
        full, rest = divmod(self.source.size(), self.batch_size)
        return full + (1 if rest and not self.drop_remainder else 0)

    def get_batch_size(self) -> int:
        return self.batch_size

    def rows(self, epoch: int) -> Iterator[Row]:
        source = self.source.rows(epoch)
        while part := list(itertools.islice(source, self.batch_size)):
            if len(part) < self.batch_size and self.drop_remainder:
                return
            columns = [[row[at] for row in part] for at in range(len(part[0]))]
            yield tuple(map(self._stacked, self.columns(), columns))

    def _stacked(self, name: str, column: Sequence[Any]) -> Any:
        shapes = {array.shape for array in column}
        if len(shapes) > 1:
            raise StateError(f"batch: rows of column {name!r} have different shapes: {sorted(shapes)}")
        return np.stack(column)


class Repeat(_Operation):
    """See ``Dataset.repeat``."""

    def __init__(self, source: Dataset, count: int) -> None:
        super().__init__(source)
        self.count = max(1, whole(count, "count", "repeat", -1, forbidden=0))

    def size(self) -> int:
        return self.source.size() * self.count

    def get_repeat_count(self) -> int:
        return self.count * self.source.get_repeat_count()

    def rows(self, epoch: int) -> Iterator[Row]:
        for at in range(self.count):
            yield from self.source.rows(epoch * self.count + at)


class Shuffle(_Operation):
    """See ``Dataset.shuffle``."""

    def __init__(self, source: Dataset, buffer_size: int) -> None:
        super().__init__(source)
        self.buffer_size = whole(buffer_size, "buffer_size", "shuffle", 2)
        self._seed = config.get_seed()

    def rows(self, epoch: int) -> Iterator[Row]:
        random = config.random_state(self._seed, epoch)
        source = self.source.rows(epoch)
        buffer = list(itertools.islice(source, self.buffer_size))
        for row in source:
            at = random.randint(len(buffer))
            yield buffer[at]
            buffer[at] = row
        for index in random.permutation(len(buffer)):
            yield buffer[index]


class Map(_Operation):
    """See ``Dataset.map``."""

    def __init__(
        self,
        source: Dataset,
        operations: Callable[..., Any] | Sequence[Callable[..., Any]],
        inputs: str | Sequence[str] | None,
        outputs: str | Sequence[str] | None,
        more: dict[str, Any],
    ) -> None:
        super().__init__(source)
        refuse_unknown(more, "map")
        given: list[Any] = list(operations) if isinstance(operations, (list, tuple)) else [operations]
        if not given or not all(map(callable, given)):
            raise SettingTypeError(f"map: operations must be callable, got {operations!r}")
        self.operations: list[Callable[..., Any]] = given
        self.inputs = source.columns()[:1] if inputs is None else names_of(inputs, "map")
        self.outputs = self.inputs if outputs is None else names_of(outputs, "map")

    def columns(self) -> list[str]:
        names = self.source.columns()
        missing = [name for name in self.inputs if name not in names]
        if missing:
            raise StateError(f"map: there is no column {missing[0]!r}; there are {names}")
        at = names.index(self.inputs[0])
        kept = [name for name in names if name not in self.inputs]
        place = sum(name not in self.inputs for name in names[:at])
        return [*kept[:place], *self.outputs, *kept[place:]]

    def rows(self, epoch: int) -> Iterator[Row]:
        before, after = self.source.columns(), self.columns()
        for row in self.source.rows(epoch):
            values: dict[str, Any] = dict(zip(before, row, strict=True))
            values.update(zip(self.outputs, self._result([values[name] for name in self.inputs]), strict=True))
            yield tuple(values[name] for name in after)

    def _result(self, values: list[Any]) -> list[Any]:
        for operation in self.operations:
            made = operation(*values)
            values = list(made) if isinstance(made, tuple) else [made]
        if len(values) != len(self.outputs):
            raise StateError(f"map: {len(values)} values were made for the columns {self.outputs}")
        return [np.asarray(value) for value in values]


class Part(_Operation):
    """Rows from ``start`` on, ``count`` of them (-1: all)."""

    def __init__(self, source: Dataset, start: int, count: int) -> None:
        super().__init__(source)
        self.start = start
        self.end = None if count == -1 else start + count

    def size(self) -> int:
        return len(range(self.source.size())[self.start : self.end])

    def rows(self, epoch: int) -> Iterator[Row]:
        return itertools.islice(self.source.rows(epoch), self.start, self.end)


class Project(_Operation):
    """See ``Dataset.project``."""

    def __init__(self, source: Dataset, columns: str | Sequence[str]) -> None:
        super().__init__(source)
        self.chosen = names_of(columns, "project")
        names = source.columns()
        missing = [name for name in self.chosen if name not in names]
        if missing:
            raise SettingError(f"project: there is no column {missing[0]!r}; there are {names}")
        self._places = [names.index(name) for name in self.chosen]

    def columns(self) -> list[str]:
        return self.chosen

    def rows(self, epoch: int) -> Iterator[Row]:
        for row in self.source.rows(epoch):
            yield tuple(row[at] for at in self._places)
