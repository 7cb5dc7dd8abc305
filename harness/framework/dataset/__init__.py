"""Datasets, as the part of ``mindspore.dataset`` that a training on one machine needs."""

from harness.framework import kinds as _kinds
from harness.framework.dataset import config, iterators, mapping, splitting, text, transforms, vision  # noqa: F401
from harness.framework.dataset.base import Dataset
from harness.framework.dataset.batches import BatchInfo
from harness.framework.dataset.folders import ImageFolderDataset
from harness.framework.dataset.images import Cifar10Dataset, Cifar100Dataset, FashionMnistDataset, MnistDataset
from harness.framework.dataset.lines import CSVDataset, TextFileDataset
from harness.framework.dataset.operations import zip_datasets as zip
from harness.framework.dataset.records import MindDataset
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
from harness.framework.dataset.schema import Schema
from harness.framework.dataset.sources import GeneratorDataset, NumpySlicesDataset
from harness.framework.dataset.tfrecord import TFRecordDataset
from harness.framework.names import fallback as _fallback
from harness.framework.outside import check_words as _check_words
from harness.framework.outside import keep_outside as _keep_outside
from harness.framework.outside import make_in_python as _make_in_python
from harness.framework.tensor import brought as _brought

__all__ = [
    "BatchInfo",
    "CSVDataset",
    "Cifar10Dataset",
    "Cifar100Dataset",
    "Dataset",
    "DistributedSampler",
    "FashionMnistDataset",
    "GeneratorDataset",
    "ImageFolderDataset",
    "IterSampler",
    "MindDataset",
    "MnistDataset",
    "NumpySlicesDataset",
    "RandomSampler",
    "Sampler",
    "Schema",
    "SequentialSampler",
    "Shuffle",
    "SubsetRandomSampler",
    "SubsetSampler",
    "TFRecordDataset",
    "TextFileDataset",
    "WeightedRandomSampler",
    "config",
    "text",
    "transforms",
    "vision",
    "zip",
]  # fmt: skip

_members = {_name: globals()[_name] for _name in __all__}
_kinds.guard_all("ds", _members)
_members["zip"] = _brought("ds.zip", _members["zip"])
_make_in_python(_members.values())
globals().update(_members)
_kinds.guard_methods(Dataset, "Dataset")
_keep_outside(
    Dataset,
    (
        "batch", "create_dict_iterator", "create_tuple_iterator", "filter", "get_batch_size", "get_col_names",
        "get_dataset_size", "get_repeat_count", "padded_batch", "project", "rename", "repeat", "shuffle", "skip",
        "take",
    ),
    AttributeError,
    first=_check_words,
)  # fmt: skip
_keep_outside(Dataset, ("map",), AttributeError, first=Dataset.check_operations)
_keep_outside(Dataset, ("output_shapes", "output_types", "split"))
__getattr__ = _fallback(__name__)
