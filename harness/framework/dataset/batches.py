"""Batches of rows."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from harness.errors import SettingError, SettingTypeError, StateError
from harness.framework.dataset.base import Dataset, Operation, Row, names_of, step
from harness.framework.dataset.checks import flag, known, noted, refuse_unknown, whole, workers
from harness.framework.dataset.failures import asked
from harness.framework.dataset.placing import places


class BatchInfo:
    """The position of a batch, for functions of a batch."""

    def __init__(self, epoch: int, batch: int) -> None:
        self._epoch = epoch
        self._batch = batch

    def get_epoch_num(self) -> int:
        """Number of the epoch, from 0."""
        return self._epoch

    def get_batch_num(self) -> int:
        """Number of the batch in its epoch, from 0."""
        return self._batch


@step
class Batch(Operation):
    """See ``Dataset.batch``."""

    owner = "batch"

    def __init__(
        self,
        source: Dataset,
        batch_size: int | Callable[..., int],
        drop_remainder: bool,
        num_parallel_workers: int | None,
        more: dict[str, Any],
    ) -> None:
        super().__init__(source)
        self._function: Callable[..., Any] | None = more.pop("per_batch_map", None)
        inputs, outputs = more.pop("input_columns", None), more.pop("output_columns", None)
        refuse_unknown(more, self.owner)
        if not callable(batch_size) and (isinstance(batch_size, bool) or not isinstance(batch_size, int)):
            text = "batch_size should either be an int or a callable."
            raise noted(SettingTypeError(text), batch_size, "batch_size", self.owner)
        self.batch_size = batch_size if callable(batch_size) else whole(batch_size, "batch_size", self.owner, 1)
        self.drop_remainder = flag(drop_remainder, "drop_remainder", self.owner)
        workers(num_parallel_workers, self.owner)
        if self._function is not None and not callable(self._function):
            raise SettingTypeError(f"batch: per_batch_map must be callable, got {self._function!r}")
        self._inputs = list(source.columns()) if inputs is None else names_of(inputs, self.owner)
        self._outputs = self._inputs if outputs is None else names_of(outputs, self.owner)
        if self._function is not None:
            known(self._inputs, source.columns(), self.owner)
        elif inputs is not None:
            raise SettingError("batch: input_columns are those of per_batch_map, which is not given")

    def columns(self) -> list[str]:
        names = self.source.columns()
        return names if self._function is None else places(names, self._inputs, self._outputs)

    def size(self) -> int:
        if callable(self.batch_size):
            return sum(1 for _ in self._parts(iter([()] * self.source.size()), 0))
        full, rest = divmod(self.source.size(), self.batch_size)
        return full + (1 if rest and not self.drop_remainder else 0)

    def get_batch_size(self) -> int:
        return -1 if callable(self.batch_size) else self.batch_size

    def passes(self, seed: int) -> Iterator[Iterator[Row]]:
        for epoch, rows in enumerate(self.source.epochs(seed)):
            yield self._batches(rows, epoch)

    def _parts(self, rows: Iterator[Row], epoch: int) -> Iterator[tuple[BatchInfo, list[Row]]]:
        """Rows of one batch after the other."""
        for number in itertools.count():
            info = BatchInfo(epoch, number)
            count = self.batch_size
            if callable(count):
                count = whole(count(info), "what batch_size gave", self.owner, 1)
            part = list(itertools.islice(rows, count))
            if not part or (len(part) < count and self.drop_remainder):
                return
            yield info, part

    def _batches(self, rows: Iterator[Row], epoch: int) -> Iterator[Row]:
        names = self.source.columns()
        for info, part in self._parts(rows, epoch):
            columns = dict(zip(names, zip(*part, strict=True), strict=True))
            if self._function is not None:
                columns |= self._mapped([list(columns[name]) for name in self._inputs], info)
                yield tuple(self._stacked(name, columns[name]) for name in self.columns())
            else:
                yield tuple(self._stacked(name, columns[name]) for name in names)

    def _mapped(self, given: list[Any], info: BatchInfo) -> dict[str, Any]:
        assert self._function is not None
        made = asked(self._function, *given, info)
        made = made if isinstance(made, tuple) else (made,)
        if len(made) != len(self._outputs):
            raise StateError(f"batch: per_batch_map gave {len(made)} columns for {self._outputs}")
        return dict(zip(self._outputs, made, strict=True))

    def _stacked(self, name: str, column: Sequence[Any]) -> Any:
        if any(isinstance(value, dict) for value in column):
            raise StateError(f"batch: column {name!r} holds dicts, which cannot be stacked")
        arrays = [np.asarray(value) for value in column]
        shapes = {array.shape for array in arrays}
        if len(shapes) > 1:
            raise StateError(f"batch: rows of column {name!r} have different shapes: {sorted(shapes)}")
        if len({array.dtype for array in arrays if array.dtype.kind not in "US"}) > 1:
            kinds = sorted({str(array.dtype) for array in arrays})
            raise StateError(f"batch: rows of column {name!r} have different dtypes: {kinds}")
        return np.stack(arrays)


@step
class PaddedBatch(Batch):
    """See ``Dataset.padded_batch``."""

    owner = "padded_batch"

    def __init__(
        self,
        source: Dataset,
        batch_size: int | Callable[..., int],
        drop_remainder: bool,
        num_parallel_workers: int | None,
        pad_info: dict[str, Any] | None,
    ) -> None:
        super().__init__(source, batch_size, drop_remainder, num_parallel_workers, {})
        if pad_info is not None and not isinstance(pad_info, dict):
            raise SettingTypeError(f"padded_batch: pad_info must be a dict, got {type(pad_info).__name__}")
        self._pads = pad_info or dict.fromkeys(source.columns(), (None, 0))  # none named: all of them
        for name, pad in self._pads.items():
            if not isinstance(pad, tuple) or len(pad) != 2:
                raise SettingTypeError(f"padded_batch: pad_info[{name!r}] must be (shape, value), got {pad!r}")

    def _stacked(self, name: str, column: Sequence[Any]) -> Any:
        if name not in self._pads:
            return super()._stacked(name, column)
        shape, value = self._pads[name]
        arrays = [np.asarray(each) for each in column]
        ranks = {array.ndim for array in arrays}
        if len(ranks) > 1 or (shape is not None and len(shape) not in ranks):
            raise StateError(f"padded_batch: rows of column {name!r} have {sorted(ranks)} dimensions, shape is {shape}")
        extents = [max(sizes) for sizes in zip(*(array.shape for array in arrays), strict=True)]
        target = [found if wanted in (None, -1) else wanted for found, wanted in zip(extents, shape or extents)]  # noqa: B905
        return super()._stacked(name, [_padded(array, target, value) for array in arrays])


def _padded(array: Any, shape: Sequence[int], value: Any) -> Any:
    """``array`` in a larger one of ``shape`` filled with ``value``; cut along axes where it is larger."""
    filling = "" if array.dtype.kind in "US" and not value else 0 if value is None else value
    width = max(array.dtype, np.array(filling).dtype) if array.dtype.kind in "US" else array.dtype
    made = np.full(shape, filling, width)
    kept = tuple(slice(0, min(own, wanted)) for own, wanted in zip(array.shape, shape, strict=True))
    made[kept] = array[kept]
    return made
