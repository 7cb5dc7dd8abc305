"""Datasets, as the part of ``mindspore.dataset`` that a training on one machine needs."""

from typing import Any as _Any

from harness.errors import unsupported_name as _unsupported_name
from harness.framework.dataset import config, iterators, mapping, splitting, transforms, vision  # noqa: F401
from harness.framework.dataset.base import Dataset
from harness.framework.dataset.batches import BatchInfo
from harness.framework.dataset.images import Cifar10Dataset, Cifar100Dataset, FashionMnistDataset, MnistDataset
from harness.framework.dataset.operations import zip_datasets as zip
from harness.framework.dataset.samplers import (
    DistributedSampler,
    IterSampler,
    RandomSampler,
    Sampler,
    SequentialSampler,
    Shuffle,
    SubsetRandomSampler,
    SubsetSampler,
    WeightedRandomSampler,
)
from harness.framework.dataset.sources import GeneratorDataset, NumpySlicesDataset

__all__ = [
    "BatchInfo", "Cifar10Dataset", "Cifar100Dataset", "Dataset", "DistributedSampler", "FashionMnistDataset",
    "GeneratorDataset", "IterSampler", "MnistDataset", "NumpySlicesDataset", "RandomSampler", "Sampler",
    "SequentialSampler", "Shuffle", "SubsetRandomSampler", "SubsetSampler", "WeightedRandomSampler", "config",
    "transforms", "vision", "zip",
]  # fmt: skip


def __getattr__(name: str) -> _Any:
    if name.startswith("__"):
        raise AttributeError(name)
    raise _unsupported_name("dataset", name, __all__)
