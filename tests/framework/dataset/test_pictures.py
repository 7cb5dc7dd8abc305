"""Pictures in directories, decoding, colours."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from harness.errors import SettingError, StateError
from harness.framework import dataset as ds
from harness.framework.dataset import config, vision

Image = pytest.importorskip("PIL.Image")
PICTURE = np.random.RandomState(0).randint(0, 256, (12, 15, 3)).astype(np.uint8)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two classes of two pictures, and a file that is none."""
    for name in ("dog", "cat"):
        (tmp_path / name).mkdir()
        for number in range(2):
            Image.fromarray(PICTURE[number:]).save(tmp_path / name / f"{number}.png")
    (tmp_path / "cat" / "notes.txt").write_text("no picture")
    return tmp_path


def test_classes_are_numbered_by_name(folder: Path) -> None:
    dataset = ds.ImageFolderDataset(str(folder), shuffle=False, decode=True)
    rows = list(dataset.create_tuple_iterator(num_epochs=1, output_numpy=True))
    assert [int(label) for _, label in rows] == [0, 0, 1, 1]
    assert rows[0][1].dtype == np.int32
    np.testing.assert_array_equal(rows[0][0], PICTURE)
    assert rows[1][0].shape == (11, 15, 3)


def test_bytes_are_decoded_by_a_transform(folder: Path) -> None:
    dataset = ds.ImageFolderDataset(str(folder), shuffle=False, class_indexing={"dog": 5}, extensions=[".png"])
    raw = next(iter(dataset.create_tuple_iterator(num_epochs=1, output_numpy=True)))
    assert (raw[0].ndim, raw[0].dtype, int(raw[1])) == (1, np.uint8, 5)
    np.testing.assert_array_equal(vision.Decode()(raw[0]), PICTURE)
    mapped = dataset.map(vision.Decode(), "image")
    assert next(row[0].shape for row in mapped.create_tuple_iterator(num_epochs=1, output_numpy=True)) == (12, 15, 3)


def test_a_crop_of_bytes_is_the_crop_of_the_picture(folder: Path) -> None:
    data = np.frombuffer((folder / "cat" / "0.png").read_bytes(), np.uint8)
    before = config.get_seed()
    try:
        config.set_seed(5)
        whole = vision.RandomCropDecodeResize((6, 5))(data)
        np.testing.assert_array_equal(whole, vision.RandomResizedCrop((6, 5))(PICTURE))
    finally:
        config.set_seed(before)


def test_what_is_no_picture_is_told(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(StateError, match="cannot be decoded"):
        vision.Decode()(np.frombuffer(b"no picture at all", np.uint8))
    with pytest.raises(StateError, match="bytes of a picture"):
        vision.Decode()(PICTURE)
    with pytest.raises(SettingError, match="not a directory"):
        ds.ImageFolderDataset(str(folder / "nowhere"))
    with pytest.raises(StateError, match="no files"):
        ds.ImageFolderDataset(str(folder), extensions=[".jpg"])


def test_colours_within_their_bounds() -> None:
    same = vision.RandomColorAdjust()(PICTURE)
    np.testing.assert_array_equal(same, PICTURE)
    darker = vision.RandomColorAdjust(brightness=(0.5, 0.5))(PICTURE)
    np.testing.assert_array_equal(darker, np.rint(PICTURE * 0.5).astype(np.uint8))
    grey = vision.RandomColorAdjust(saturation=(0, 0))(PICTURE)
    assert np.ptp(grey, axis=-1).max() == 0
    turned = vision.RandomColorAdjust(hue=(1 / 3, 1 / 3))(np.array([[[250, 10, 10]]], np.uint8))
    assert turned.tolist() == [[[10, 250, 10]]]
    with pytest.raises(SettingError, match="hue"):
        vision.RandomColorAdjust(hue=(0, 0.7))
    with pytest.raises(SettingError, match="brightness"):
        vision.RandomColorAdjust(brightness=(2, 1))
