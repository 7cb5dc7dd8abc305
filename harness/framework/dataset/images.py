"""CIFAR and MNIST files as they are published: bytes without a library."""

from __future__ import annotations

import os
import struct
from abc import abstractmethod
from pathlib import Path
from typing import Any

import numpy as np

from harness.errors import StateError
from harness.framework.dataset import samplers
from harness.framework.dataset.base import Array, Row
from harness.framework.dataset.checks import directory, one_of, refuse_unknown, samples, workers
from harness.framework.dataset.sources import Source


class _Files(Source):
    """Images with labels, read from the files of a directory when the rows are first asked for.

    Args:
        dataset_dir: the directory.
        usage: ``"train"``, ``"test"`` or ``"all"``; None for all.

    The other arguments are those of ``GeneratorDataset``.

    Raises:
        SettingError, SettingTypeError: the directory is not there; another ``usage``.
        StateError: no file, or one that is not what its name says (when rows are asked for).
    """

    def __init__(
        self,
        dataset_dir: str | os.PathLike[str],
        usage: str | None = None,
        num_samples: int | None = None,
        num_parallel_workers: int | None = None,
        shuffle: bool | None = None,
        sampler: Any = None,
        num_shards: int | None = None,
        shard_id: int | None = None,
        cache: Any = None,
    ) -> None:
        super().__init__()
        owner = type(self).__name__
        refuse_unknown({"cache": cache}, owner)
        workers(num_parallel_workers, owner)
        directory(dataset_dir, owner)
        if usage is not None:
            one_of(usage, ("train", "test", "all"), "usage", owner)
        samples(num_samples, owner)
        self.directory = Path(dataset_dir)
        self.usage = usage or "all"
        self.sampler = samplers.chosen(sampler, shuffle, num_samples, num_shards, shard_id)
        self._loaded: tuple[Array, ...] | None = None

    @abstractmethod
    def load(self) -> tuple[Array, ...]:
        """Each column: arrays whose first dimension is the row."""

    def _all(self) -> tuple[Array, ...]:
        if self._loaded is None:
            self._loaded = self.load()
        return self._loaded

    def columns(self) -> list[str]:
        return ["image", "label"]

    def total(self) -> int:
        return len(self._all()[0])

    def row(self, at: int) -> Row:
        return tuple(np.array(column[at]) for column in self._all())

    def _bytes(self, path: Path) -> bytes:
        try:
            return path.read_bytes()
        except OSError as error:
            raise StateError(f"{type(self).__name__}: cannot read {str(path)!r}: {error.strerror}") from error


class Cifar10Dataset(_Files):
    """CIFAR-10, binary version: ``image`` uint8 (32, 32, 3), ``label`` uint32 of 10."""

    _labels: tuple[str, ...] = ("label",)
    _train, _test = "data_batch_", "test_batch"

    def columns(self) -> list[str]:
        return ["image", *self._labels]

    def load(self) -> tuple[Array, ...]:
        names = sorted(path for path in self.directory.iterdir() if path.suffix == ".bin" and path.is_file())
        wanted = [path for path in names if self._wanted(path.name)]
        if not wanted:
            raise StateError(f"{type(self).__name__}: there is no .bin file for {self.usage!r} in {self.directory}")
        size = len(self._labels) + 3072
        parts = []
        for path in wanted:
            data = np.frombuffer(self._bytes(path), np.uint8)
            if not len(data) or len(data) % size:
                raise StateError(f"{type(self).__name__}: {str(path)!r} has {len(data)} bytes, no multiple of {size}")
            parts.append(data.reshape(-1, size))
        rows = np.concatenate(parts)
        count = len(self._labels)
        images = rows[:, count:].reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1)
        return images, *(rows[:, at].astype(np.uint32) for at in range(count))

    def _wanted(self, name: str) -> bool:
        train, test = name.startswith(self._train), name.startswith(self._test)
        return {"train": train, "test": test, "all": train or test}[self.usage]


class Cifar100Dataset(Cifar10Dataset):
    """CIFAR-100, binary version: ``image`` uint8 (32, 32, 3), ``coarse_label`` of 20, ``fine_label`` of 100."""

    _labels = ("coarse_label", "fine_label")
    _train, _test = "train", "test"


class MnistDataset(_Files):
    """MNIST in idx files: ``image`` uint8 (28, 28, 1), ``label`` uint32."""

    def load(self) -> tuple[Array, ...]:
        kinds = {"train": ["train"], "test": ["t10k"], "all": ["t10k", "train"]}[self.usage]
        found = [kind for kind in kinds if (self.directory / f"{kind}-images-idx3-ubyte").is_file()]
        if not found:
            files = " or ".join(f"{kind}-images-idx3-ubyte" for kind in kinds)
            raise StateError(f"{type(self).__name__}: there is no {files} in {self.directory}")
        images, labels = zip(*(self._pair(kind) for kind in found), strict=True)
        return np.concatenate(images), np.concatenate(labels).astype(np.uint32)

    def _pair(self, kind: str) -> tuple[Array, Array]:
        images = self._idx(self.directory / f"{kind}-images-idx3-ubyte", 3)
        labels = self._idx(self.directory / f"{kind}-labels-idx1-ubyte", 1)
        if len(images) != len(labels):
            raise StateError(f"{type(self).__name__}: {len(images)} images and {len(labels)} labels of {kind!r}")
        return images[..., None], labels

    def _idx(self, path: Path, dimensions: int) -> Array:
        """An idx file of bytes: a magic number, sizes, values."""
        data = self._bytes(path)
        head = 4 + 4 * dimensions
        if len(data) < head or data[:4] != bytes((0, 0, 8, dimensions)):
            raise StateError(
                f"{type(self).__name__}: {str(path)!r} is not an idx file of bytes in {dimensions} dimensions"
            )
        shape = struct.unpack(f">{dimensions}I", data[4:head])
        if dimensions == 3 and shape[1:] != (28, 28):
            raise StateError(f"{type(self).__name__}: images of {str(path)!r} are {shape[1:]}, not (28, 28)")
        if len(data) - head != np.prod(shape, dtype=object):
            raise StateError(f"{type(self).__name__}: {str(path)!r} has {len(data) - head} values for shape {shape}")
        return np.frombuffer(data, np.uint8, offset=head).reshape(shape)


class FashionMnistDataset(MnistDataset):
    """Fashion-MNIST, in the files and columns of MNIST."""
