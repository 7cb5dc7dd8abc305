"""Columns after functions and transforms."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from harness.errors import HarnessError, SettingError, StateError
from harness.framework.dataset import config
from harness.framework.dataset.base import Dataset, Names, Operation, Row, names_of, step
from harness.framework.dataset.checks import refuse_unknown, workers
from harness.framework.dataset.failures import asked
from harness.framework.dataset.placing import places
from harness.framework.dataset.transforms.base import PerWorker, Transform, flattened, kernel

RowFunction = Callable[..., Any]


@step
class Map(Operation):
    """See ``Dataset.map``.

    As in MindSpore, rows go to ``num_parallel_workers`` workers in turn, each with random transforms of its own, seeded
    by its number; the end of an epoch takes a turn too.
    """

    def __init__(
        self,
        source: Dataset,
        operations: Callable[..., Any] | Sequence[Callable[..., Any]],
        inputs: Names | None,
        outputs: Names | None,
        num_parallel_workers: int | None,
        more: dict[str, Any],
    ) -> None:
        super().__init__(source)
        refuse_unknown(more, "map")
        given: list[Any] = list(operations) if isinstance(operations, (list, tuple)) else [operations]
        if not given or given == [None]:
            raise StateError("map: operations must be given")
        if not all(map(callable, given)):
            raise SettingError(f"map: operations must be callable, got {operations!r}")
        self.operations: list[Callable[..., Any]] = flattened(given)
        self.inputs = source.columns()[:1] if inputs is None else names_of(inputs, "map", "input_columns")
        self.outputs = self.inputs if outputs is None else names_of(outputs, "map", "output_columns")
        self._workers = workers(num_parallel_workers, "map")

    def columns(self) -> list[str]:
        names = self.source.columns()
        missing = [name for name in self.inputs if name not in names]
        if missing:
            raise StateError(f"map: there is no column {missing[0]!r}; there are {names}")
        return names_of(places(names, self.inputs, self.outputs), "map")

    def passes(self, seed: int) -> Iterator[Iterator[Row]]:
        count = self._workers or config.get_num_parallel_workers()
        steps = PerWorker([[kernel(each, seed, at) for each in self.operations] for at in range(count)])
        for rows in self.source.epochs(seed):
            yield self._made(rows, steps)
            steps.turn()

    def _made(self, rows: Iterator[Row], steps: PerWorker) -> Iterator[Row]:
        before, after = self.source.columns(), self.columns()
        for row in rows:
            values: dict[str, Any] = dict(zip(before, row, strict=True))
            made = self._result([values[name] for name in self.inputs], steps.turn())
            values.update(zip(self.outputs, made, strict=True))
            yield tuple(values[name] for name in after)

    def _result(self, values: list[Any], steps: Sequence[RowFunction]) -> list[Any]:
        for function, operation in zip(steps, self.operations, strict=True):
            name = operation.name if isinstance(operation, Transform) else "PyFunc"
            try:
                made = asked(function, *values, operation=name)
            except HarnessError as error:
                if isinstance(error, RuntimeError) and name == "PyFunc":
                    raise
                # As all that fails in a pipeline of MindSpore's.
                raise StateError(f"map operation: [{name}] failed. {error}") from error
            values = list(made) if isinstance(made, tuple) else [made]
        if len(values) != len(self.outputs):
            raise StateError(f"map: {len(values)} values were made for the columns {self.outputs}")
        return [_array(value) for value in values]


def _array(value: Any) -> Any:
    """What a row holds: an array, or a dict."""
    if isinstance(value, dict):
        return value
    array = np.asarray(value.asnumpy() if hasattr(value, "asnumpy") else value)
    if array.dtype == object:
        raise StateError(f"map: a function gave what no array can hold: {value!r}")
    return array


__all__ = ["Map", "Transform"]
