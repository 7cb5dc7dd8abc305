"""``Dataset``: rows of arrays, in columns, to iterate over once an epoch.

Source of names, types, orders and refusals: ``mindspore.dataset`` 2.10.0, measured
(``tests/data/dataset/facts.json``). Everything runs in this process, in order.
"""

from __future__ import annotations

import difflib
import itertools
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

import numpy as np

from harness.errors import OutsideError, OutsideValueError, SettingTypeError, StateError, UnsupportedError
from harness.framework.dataset import config
from harness.framework.dataset.checks import names_of, noted, times, whole
from harness.framework.outside import check_words

Made = TypeVar("Made", bound=Callable[..., Any])
#: the classes that methods of ``Dataset`` create, by name; their modules register them, and the package imports all
_STEPS: dict[str, Callable[..., Any]] = {}


def step(made: Made) -> Made:
    """Registers a class or function for a method of ``Dataset``."""
    _STEPS[made.__name__] = made
    return made


Array = np.ndarray[Any, np.dtype[Any]]
Row = tuple[Any, ...]
Names = str | Sequence[str]


class UnsupportedAttributeError(UnsupportedError, AttributeError):
    """A method of MindSpore's datasets that is missing here."""


class Dataset(ABC):
    """Base of all datasets; a subclass gives ``columns``, ``passes`` and ``size``."""

    def __init__(self) -> None:
        self._init_step = 0

    # -- what a subclass defines ---------------------------------------------------------------------------------------
    @abstractmethod
    def columns(self) -> list[str]:
        """Names of the columns."""

    @abstractmethod
    def passes(self, seed: int) -> Iterator[Iterator[Row]]:
        """The rows of one epoch after the other, without end, for an iterator made under ``seed``. Each epoch must be
        used up before the next one begins; ``epochs`` ensures that."""

    @abstractmethod
    def size(self) -> int:
        """Number of rows of an epoch."""

    def epochs(self, seed: int) -> Iterator[Iterator[Row]]:
        """``passes``, but uses up the rest of one before the next begins, because all orders come from one source."""
        for rows in self.passes(seed):
            yield rows
            for _ in rows:
                pass

    # -- what scripts call
    # ----------------------------------------------------------------------------------------------
    def get_dataset_size(self) -> int:
        """Number of rows (batches, once batched) of an epoch."""
        return self.size()

    def get_col_names(self) -> list[str]:
        """Names of the columns."""
        return list(self.columns())

    def get_batch_size(self) -> int:
        """How many rows of the source make one row here."""
        return 1

    def get_repeat_count(self) -> int:
        """How often an epoch goes through the source; -1 for no end."""
        return 1

    def inner(self) -> Sequence[Dataset]:
        """The datasets it is made from; empty for a source."""
        return ()

    def is_shuffled(self) -> bool:
        """Whether rows come in a random order."""
        return any(each.is_shuffled() for each in self.inner())

    def is_sharded(self) -> bool:
        """Whether a source gives only a share of its rows."""
        return any(each.is_sharded() for each in self.inner())

    def output_shapes(self, estimate: bool = False) -> list[list[Any]]:
        """Shape of each column in the first row; with ``estimate`` in all rows of an epoch: None where they differ,
        ``StateError`` if they differ in how many axes they have."""
        shapes: list[list[Any]] = [list(np.shape(value)) for value in self._first()]
        for row in next(self.passes(config.get_seed())) if estimate else ():
            for shape, value in zip(shapes, row, strict=True):
                if len(shape) != np.ndim(value):
                    raise StateError(f"output_shapes: a column has rows of {len(shape)} and of {np.ndim(value)} axes")
                shape[:] = [size if size == at else None for size, at in zip(shape, np.shape(value), strict=True)]
        return shapes

    def output_types(self) -> list[Any]:
        """numpy dtype of each column in the first row."""
        # texts have a dtype of no length there
        return [np.dtype(value.dtype.kind) if value.dtype.kind in "US" else value.dtype for value in self._first()]

    def _first(self) -> Row:
        return next(next(self.passes(config.get_seed())), ())

    def __len__(self) -> int:
        return self.get_dataset_size()

    def __add__(self, other: Dataset) -> Dataset:
        return self.concat(other)

    def reset(self) -> None:  # noqa: B027 - not for subclasses: there is nothing to do
        """Does nothing, because iterators keep their own position."""

    def set_init_step(self, init_step: int) -> None:
        """Lets iterators start at this row, counted over epochs (for a training that goes on from a checkpoint)."""
        self._init_step = whole(init_step, "init_step", "set_init_step", 0)

    def get_init_step(self) -> int:
        """The value given to ``set_init_step``; 0 at first."""
        return self._init_step

    # -- iterators -----------------------------------------------------------------------------------------------------
    def create_tuple_iterator(
        self,
        columns: Names | None = None,
        num_epochs: int = -1,
        output_numpy: bool = False,
        do_copy: bool = False,
    ) -> Iterator[Any]:
        """Iterates over rows as lists, one epoch each time.

        Args:
            columns: which columns, in this order; None for all.
            num_epochs: how many epochs there are; one more raises ``StateError``. -1 for no end.
            output_numpy: arrays instead of tensors.
            do_copy: kept.
        """
        made: Iterator[Any] = _STEPS["TupleIterator"](self, columns, num_epochs, output_numpy, as_dict=False)
        return made

    def create_dict_iterator(
        self, num_epochs: int = -1, output_numpy: bool = False, do_copy: bool = False
    ) -> Iterator[Any]:
        """Iterates over rows as dicts by column; arguments as for ``create_tuple_iterator``."""
        made: Iterator[Any] = _STEPS["DictIterator"](self, None, num_epochs, output_numpy, as_dict=True)
        return made

    def __iter__(self) -> Iterator[Any]:
        return iter(self.create_tuple_iterator(num_epochs=1))

    # -- operations ----------------------------------------------------------------------------------------------------
    def batch(
        self,
        batch_size: int | Callable[..., int],
        drop_remainder: bool = False,
        num_parallel_workers: int | None = None,
        **more: Any,
    ) -> Dataset:
        """Rows stacked ``batch_size`` at a time; the last one may be smaller unless ``drop_remainder``.

        ``batch_size`` may be a function of a ``BatchInfo``; ``per_batch_map`` with ``input_columns`` and
        ``output_columns`` is called with a list of rows for each column, and a ``BatchInfo``.
        """
        made: Dataset = _STEPS["Batch"](self, batch_size, drop_remainder, num_parallel_workers, more)
        return made

    def padded_batch(
        self,
        batch_size: int | Callable[..., int],
        drop_remainder: bool = False,
        num_parallel_workers: int | None = None,
        pad_info: dict[str, Any] | None = None,
    ) -> Dataset:
        """Like ``batch``, of rows padded at their ends: ``pad_info`` gives (shape, value) for columns, None for all
        columns; a None in a shape, or for it, is the largest extent in the batch."""
        made: Dataset = _STEPS["PaddedBatch"](self, batch_size, drop_remainder, num_parallel_workers, pad_info)
        return made

    def repeat(self, count: int | None = None) -> Dataset:
        """The rows ``count`` times over in one epoch; None and -1: without end."""
        made: Dataset = _STEPS["Repeat"](self, -1 if count is None else count)
        return made

    def shuffle(self, buffer_size: int) -> Dataset:
        """Rows in another order each epoch, drawn from a buffer of this many."""
        made: Dataset = _STEPS["Shuffle"](self, buffer_size)
        return made

    def map(
        self,
        operations: Callable[..., Any] | Sequence[Callable[..., Any]],
        input_columns: Names | None = None,
        output_columns: Names | None = None,
        num_parallel_workers: int | None = None,
        **more: Any,
    ) -> Dataset:
        """Columns after functions and transforms, one after the other."""
        made: Dataset = _STEPS["Map"](self, operations, input_columns, output_columns, num_parallel_workers, more)
        return made

    def check_operations(self, operations: Any, *more: Any) -> None:
        """Raises, for a ``map`` within a graph, what MindSpore finds first (measured)."""
        if isinstance(operations, list) and operations:
            raise OutsideError("Dataset.map within a graph takes no list of operations")
        check_words(operations, *more)
        if not (callable(operations) or operations is None or isinstance(operations, (tuple, list))):
            raise OutsideValueError(f"Dataset.map: operations must be functions, got {operations!r}")

    def flat_map(self, func: Callable[..., Dataset]) -> Dataset:
        """The rows of the datasets that ``func`` makes of each row's columns, one dataset after the other.

        Raises:
            SettingTypeError: ``func`` is no function, or gives no dataset.
        """
        if not callable(func):
            raise noted(SettingTypeError("func must be a function."), func, "func", "flat_map")
        made: Dataset | None = None
        for row in self.create_tuple_iterator(num_epochs=1, output_numpy=True):
            found = func(*row)
            if not isinstance(found, Dataset):
                raise SettingTypeError(f"flat_map: func must give a dataset, got {type(found).__name__}")
            made = found if made is None else made + found
        if made is None:
            raise SettingTypeError("flat_map: there is no row to make a dataset of")
        return made

    def filter(
        self,
        predicate: Callable[..., Any],
        input_columns: Names | None = None,
        num_parallel_workers: int | None = None,
    ) -> Dataset:
        """Rows for which the function of some columns (None: all) is true."""
        made: Dataset = _STEPS["Filter"](self, predicate, input_columns, num_parallel_workers)
        return made

    def take(self, count: int = -1) -> Dataset:
        """The first ``count`` rows; -1 for all."""
        made: Dataset = _STEPS["Part"](self, 0, times(count, "take"))
        return made

    def skip(self, count: int) -> Dataset:
        """All but the first ``count`` rows."""
        made: Dataset = _STEPS["Part"](self, whole(count, "count", "skip", 0), -1)
        return made

    def project(self, columns: Names) -> Dataset:
        """Some of the columns, in this order."""
        made: Dataset = _STEPS["Project"](self, columns)
        return made

    def rename(self, input_columns: Names, output_columns: Names) -> Dataset:
        """Other names for columns."""
        made: Dataset = _STEPS["Rename"](self, input_columns, output_columns)
        return made

    def zip(self, datasets: Dataset | tuple[Dataset, ...]) -> Dataset:
        """Rows side by side with those of other datasets, as long as all have some."""
        others = datasets if isinstance(datasets, tuple) else (datasets,)
        made: Dataset = _STEPS["Zip"]((self, *others))
        return made

    def concat(self, datasets: Dataset | Sequence[Dataset]) -> Dataset:
        """Rows, then those of other datasets with the same columns."""
        others = [datasets] if isinstance(datasets, Dataset) else list(datasets)
        made: Dataset = _STEPS["Concat"]([self, *others])
        return made

    def split(self, sizes: Sequence[int] | Sequence[float], randomize: bool = True) -> list[Dataset]:
        """Parts of ``sizes`` rows, or shares; ``randomize`` puts the rows in another order first, once."""
        made: list[Dataset] = _STEPS["split"](self, sizes, randomize)
        return made

    def apply(self, apply_func: Callable[[Dataset], Dataset]) -> Dataset:
        """The function's result for this dataset."""
        made = apply_func(self) if callable(apply_func) else None
        if not isinstance(made, Dataset):
            text = f"apply_func must {'return a dataset' if callable(apply_func) else 'be a function'}."
            raise noted(SettingTypeError(text), apply_func, "apply_func", "apply")
        return made

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        near = difflib.get_close_matches(name, [each for each in dir(Dataset) if not each.startswith("_")], n=3)
        hint = f"; did you mean {', '.join(near)}?" if near else ""
        raise UnsupportedAttributeError(f"mindspore.dataset: {name!r} of a dataset is not supported{hint}")


class Operation(Dataset):
    """A dataset made from another one; what it does not change comes from there."""

    def __init__(self, source: Dataset) -> None:
        super().__init__()
        self.source = source

    def inner(self) -> Sequence[Dataset]:
        return (self.source,)

    def columns(self) -> list[str]:
        return self.source.columns()

    def size(self) -> int:
        return self.source.size()

    def get_batch_size(self) -> int:
        return self.source.get_batch_size()

    def get_repeat_count(self) -> int:
        return self.source.get_repeat_count()


def skipped(epochs: Iterator[Iterator[Row]], rows: int) -> Iterator[Iterator[Row]]:
    """``epochs`` from row ``rows`` on, counted over epochs.

    Raises:
        StateError: an epoch is empty.
    """
    while rows:
        epoch = next(epochs)
        count = sum(1 for _ in itertools.islice(epoch, rows))
        if not count:
            raise StateError(f"set_init_step: {rows} rows are to be skipped, but the dataset is empty")
        rows -= count
        first = next(epoch, None)
        if first is not None:
            yield itertools.chain((first,), epoch)
    yield from epochs


__all__ = ["Array", "Dataset", "Names", "Operation", "Row", "UnsupportedAttributeError", "names_of", "skipped", "whole"]
