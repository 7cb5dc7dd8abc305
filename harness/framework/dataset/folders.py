"""``ImageFolderDataset``: pictures in a directory for each class."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np

from harness.errors import StateError
from harness.framework.dataset import samplers
from harness.framework.dataset.base import Row
from harness.framework.dataset.checks import directory, flag, mistyped, refuse_unknown, samples, workers
from harness.framework.dataset.pictures import decoded
from harness.framework.dataset.sources import Source

_ENDINGS = (".jpg", ".jpeg", ".png", ".bmp", ".tif", ".tiff", ".gif")


class ImageFolderDataset(Source):
    """``image`` uint8 (a file's bytes, or the picture with ``decode``) and ``label`` int32, its directory's number.

    Args:
        dataset_dir: directory of one directory a class.
        extensions: endings of the files wanted (``[".jpg"]``); None for those of pictures.
        class_indexing: number of each directory; None for 0, 1, ... by name.
        decode: whether pictures are decoded (height, width, 3).

    The other arguments are those of ``GeneratorDataset``; ``cache`` and ``decrypt`` are not supported.
    """

    def __init__(
        self,
        dataset_dir: Any,
        num_samples: int | None = None,
        num_parallel_workers: int | None = None,
        shuffle: bool | None = None,
        sampler: Any = None,
        extensions: Any = None,
        class_indexing: Any = None,
        decode: bool = False,
        num_shards: int | None = None,
        shard_id: int | None = None,
        cache: Any = None,
        decrypt: Any = None,
    ) -> None:
        super().__init__()
        owner = "ImageFolderDataset"
        refuse_unknown({"cache": cache, "decrypt": decrypt}, owner)
        workers(num_parallel_workers, owner)
        directory(dataset_dir, owner)
        samples(num_samples, owner)
        for name, value, kind in (("extensions", extensions, list), ("class_indexing", class_indexing, dict)):
            if value is not None and not isinstance(value, kind):
                raise mistyped(value, name, owner, (kind,))
        self.decode = flag(decode, "decode", owner)
        endings = tuple(extensions) if extensions is not None else _ENDINGS
        classes = sorted(path for path in Path(dataset_dir).iterdir() if path.is_dir())
        if class_indexing is not None:
            classes = [path for path in classes if path.name in class_indexing]
        numbers = class_indexing or {path.name: at for at, path in enumerate(classes)}
        self.files = [
            (file, numbers[path.name])
            for path in classes
            for file in sorted(p for p in path.iterdir() if p.is_file() and p.suffix.lower() in endings)
        ]
        if not self.files:
            raise StateError(f"{owner}: there are no files {endings} in directories of {os.fspath(dataset_dir)!r}")
        self.sampler = samplers.chosen(sampler, shuffle, num_samples, num_shards, shard_id)

    def columns(self) -> list[str]:
        return ["image", "label"]

    def total(self) -> int:
        return len(self.files)

    def row(self, at: int) -> Row:
        path, label = self.files[at]
        try:
            data = path.read_bytes()
        except OSError as error:
            raise StateError(f"ImageFolderDataset: cannot read {str(path)!r}: {error.strerror}") from error
        image = decoded(data, str(path)) if self.decode else np.frombuffer(data, np.uint8).copy()
        return image, np.array(label, np.int32)
