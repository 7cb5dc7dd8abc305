"""CIFAR and MNIST files: what is read, and what is refused."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.framework.dataset import Cifar10Dataset, Cifar100Dataset, MnistDataset

RANDOM = np.random.RandomState(3)
IMAGES = RANDOM.randint(0, 256, (5, 32, 32, 3), np.uint8)
DIGITS = RANDOM.randint(0, 256, (4, 28, 28), np.uint8)


def cifar(path: Path, images: Any, *labels: list[int]) -> None:
    planes = images.transpose(0, 3, 1, 2).reshape(len(images), -1)
    path.write_bytes(np.concatenate([np.array(labels, np.uint8).T, planes], 1).tobytes())


def idx(path: Path, array: Any) -> None:
    path.write_bytes(struct.pack(f">BBBB{array.ndim}I", 0, 0, 8, array.ndim, *array.shape) + array.tobytes())


def rows(dataset: Any) -> list[Any]:
    return list(dataset.create_tuple_iterator(num_epochs=1, output_numpy=True))


def test_cifar_10(tmp_path: Path) -> None:
    cifar(tmp_path / "data_batch_2.bin", IMAGES[2:3], [7])
    cifar(tmp_path / "data_batch_1.bin", IMAGES[:2], [3, 9])
    cifar(tmp_path / "test_batch.bin", IMAGES[3:], [1, 0])
    for usage, first, last in (("train", 0, 3), ("test", 3, 5), ("all", 0, 5), (None, 0, 5)):
        found = rows(Cifar10Dataset(tmp_path, usage, shuffle=False))
        assert [int(row[1]) for row in found] == [3, 9, 7, 1, 0][first:last]
        assert np.array_equal([row[0] for row in found], IMAGES[first:last])
    assert (found[0][0].dtype, found[0][1].dtype) == (np.uint8, np.uint32)
    made = Cifar10Dataset(str(tmp_path), num_shards=2, shard_id=1, shuffle=False)
    assert (made.get_col_names(), made.get_dataset_size()) == (["image", "label"], 3)
    assert [int(row[1]) for row in rows(made)] == [9, 1, 3]


def test_cifar_100(tmp_path: Path) -> None:
    cifar(tmp_path / "train.bin", IMAGES, [1, 2, 3, 4, 5], [99, 98, 97, 96, 95])
    made = Cifar100Dataset(tmp_path, "train", shuffle=False)
    assert made.get_col_names() == ["image", "coarse_label", "fine_label"]
    assert [(int(row[1]), int(row[2])) for row in rows(made)] == [(1, 99), (2, 98), (3, 97), (4, 96), (5, 95)]


def test_mnist(tmp_path: Path) -> None:
    for kind, first, last in (("train", 0, 3), ("t10k", 3, 4)):
        idx(tmp_path / f"{kind}-images-idx3-ubyte", DIGITS[first:last])
        idx(tmp_path / f"{kind}-labels-idx1-ubyte", np.arange(first, last, dtype=np.uint8))
    found = rows(MnistDataset(tmp_path, "train", shuffle=False))
    assert [(row[0].shape, int(row[1]), row[1].dtype) for row in found] == [
        ((28, 28, 1), at, np.uint32) for at in range(3)
    ]
    assert np.array_equal([row[0][..., 0] for row in found], DIGITS[:3])
    assert MnistDataset(tmp_path, "all").get_dataset_size() == 4


@given(st.binary(max_size=40), st.sampled_from(["train-images-idx3-ubyte", "train-labels-idx1-ubyte"]))
def test_damaged_idx_files_are_named(tmp_path_factory: pytest.TempPathFactory, data: bytes, name: str) -> None:
    directory = tmp_path_factory.mktemp("mnist")
    idx(directory / "train-images-idx3-ubyte", DIGITS)
    idx(directory / "train-labels-idx1-ubyte", np.arange(4, dtype=np.uint8))
    (directory / name).write_bytes(data)
    with pytest.raises(RuntimeError, match=r"idx|images and"):
        rows(MnistDataset(directory))


def test_what_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="is not a directory"):
        Cifar10Dataset(tmp_path / "away")
    with pytest.raises(ValueError, match="usage"):
        MnistDataset(tmp_path, "valid")
    with pytest.raises(TypeError, match="dataset_dir is 3"):
        MnistDataset(3)  # type: ignore[arg-type]
    with pytest.raises(RuntimeError, match="is no"):
        rows(Cifar10Dataset(tmp_path))
    with pytest.raises(RuntimeError, match="train-images"):
        rows(MnistDataset(tmp_path))
    for data in (b"", b"x" * 3072):
        (tmp_path / "test_batch.bin").write_bytes(data)
        with pytest.raises(RuntimeError, match="multiple of 3073"):
            rows(Cifar10Dataset(tmp_path))
