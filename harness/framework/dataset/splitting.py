"""Parts of a dataset."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from harness.errors import SettingError, StateError
from harness.framework.dataset.base import Dataset, step
from harness.framework.dataset.checks import flag, mistyped, noted
from harness.framework.dataset.operations import Part, Shuffle
from harness.framework.dataset.samplers import BuiltinSampler
from harness.framework.dataset.sources import Source


@step
def split(dataset: Dataset, sizes: Sequence[Any], randomize: bool) -> list[Dataset]:
    """See ``Dataset.split``.

    Raises:
        SettingTypeError, SettingError: ``sizes`` are not all ints or all floats, or not above 0.
        StateError: sizes do not add up to the dataset's, shares not to 1, or a part would be empty.
    """
    flag(randomize, "randomize", "split")
    if _sharded(dataset):
        raise StateError("split: a dataset must not be sharded before it is split")
    total = dataset.get_dataset_size()
    counts = _counts(list(sizes) if isinstance(sizes, (list, tuple)) else sizes, total)
    parts: list[Dataset] = []
    start = 0
    for count in counts:
        if isinstance(dataset, Source) and dataset.indexed:
            parts.append(dataset.part(start, count, total, randomize))
        else:
            source = Shuffle(dataset, max(2, total), again=True) if randomize else dataset
            parts.append(Part(source, start, count))
        start += count
    return parts


def _sharded(dataset: Dataset) -> bool:
    sampler = getattr(dataset, "sampler", None)
    own = isinstance(sampler, BuiltinSampler) and sampler.is_sharded()
    return own or any(map(_sharded, dataset.inner()))


def _counts(sizes: Any, total: int) -> list[int]:
    if not isinstance(sizes, list):
        raise mistyped(sizes, "sizes", "split", (list,))
    if not sizes:
        raise SettingError("sizes cannot be empty.")
    if all(isinstance(size, int) and not isinstance(size, bool) for size in sizes):
        if min(sizes) <= 0:
            text = "sizes is a list of int, but there should be no negative or zero numbers."
            raise noted(SettingError(text), sizes, "sizes", "split")
        if sum(sizes) != total:
            raise StateError(f"split: sizes add up to {sum(sizes)}, the dataset has {total} rows")
        return sizes
    if not all(isinstance(size, float) for size in sizes):
        raise noted(SettingError("sizes should be list of int or list of float."), sizes, "sizes", "split")
    if not all(0 < size <= 1 for size in sizes):
        text = "sizes is a list of float, but there should be no numbers outside the range (0, 1]."
        raise noted(SettingError(text), sizes, "sizes", "split")
    if abs(sum(sizes) - 1) > 1e-9:
        text = "sizes is a list of float, but the percentages do not sum up to 1."
        raise noted(SettingError(text), sizes, "sizes", "split")
    counts = [round(size * total) for size in sizes]
    rest = total - sum(counts)
    # What rounding left over goes to the first part that stays above 0.
    for at, count in enumerate(counts):
        if count + rest > 0:
            counts[at] += rest
            break
    if min(counts) <= 0:
        raise StateError(f"split: of {total} rows shares {sizes} leave a part empty")
    return counts
