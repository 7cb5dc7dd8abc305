"""``MindDataset``: rows of MindRecord files."""

from __future__ import annotations

import os
from typing import Any

from harness.errors import SettingError, SettingTypeError
from harness.framework.dataset import samplers
from harness.framework.dataset.base import Row
from harness.framework.dataset.checks import refuse_unknown, samples, workers
from harness.framework.dataset.sources import Source
from harness.framework.mindrecord.reading import read


class MindDataset(Source):
    """Rows of MindRecord files.

    Args:
        dataset_files: a file (one of several brings the others), or a list of files.
        columns_list: columns wanted, in this order; None for all, by name.
        shuffle: another order each epoch; None for yes. The orders are this project's (docs/differences.md).

    The other arguments are those of ``GeneratorDataset``; ``padded_sample`` and ``cache`` are not supported.
    """

    def __init__(
        self,
        dataset_files: Any,
        columns_list: Any = None,
        num_parallel_workers: int | None = None,
        shuffle: Any = None,
        num_shards: int | None = None,
        shard_id: int | None = None,
        sampler: Any = None,
        padded_sample: Any = None,
        num_padded: Any = None,
        num_samples: int | None = None,
        cache: Any = None,
    ) -> None:
        super().__init__()
        refuse_unknown({"padded_sample": padded_sample, "num_padded": num_padded, "cache": cache}, "MindDataset")
        workers(num_parallel_workers, "MindDataset")
        files = [dataset_files] if isinstance(dataset_files, (str, os.PathLike)) else dataset_files
        if not isinstance(files, list) or not files or not all(isinstance(f, (str, os.PathLike)) for f in files):
            raise SettingTypeError(
                f"MindDataset: dataset_files must be a path or a list of them, got {dataset_files!r}"
            )
        if num_samples is not None:
            samples(num_samples, "MindDataset")
        for file in files:
            if not os.path.isfile(file):
                raise SettingError(f"The file {os.fspath(file)} does not exist or permission denied!")
        self.records = read([os.fspath(file) for file in files])
        wanted = list(self.records.fields) if columns_list is None else list(columns_list)
        if unknown := [name for name in wanted if name not in self.records.fields]:
            raise SettingError(f"MindDataset: there are no columns {unknown}; there are {list(self.records.fields)}")
        self.wanted = wanted
        every = shuffle if shuffle is None or isinstance(shuffle, bool) else True
        self.sampler = samplers.chosen(sampler, every, num_samples, num_shards, shard_id)

    def columns(self) -> list[str]:
        return list(self.wanted)

    def total(self) -> int:
        return len(self.records.places)

    def row(self, at: int) -> Row:
        values = self.records.row(at)
        return tuple(values[name] for name in self.wanted)
