"""Archives whose numbers have 64 bits, as those of great files have; and tensors that are described in another way."""

from __future__ import annotations

import struct
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from harness.capture.torch_files import StoredTensor, items
from tests.capture.torch_files.build import HOOKS, Writer, archive, name, number, numbers, one

ARRAY = np.arange(6, dtype=np.float32).reshape(2, 3)


@pytest.fixture
def long(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> bytes:
    """A small file in which every number that may have 64 bits has them."""
    monkeypatch.setattr(zipfile, "ZIP64_LIMIT", 3)
    monkeypatch.setattr(zipfile, "ZIP_FILECOUNT_LIMIT", 1)
    whole = one(tmp_path / "long.pt", ARRAY, "Float32").read_bytes()
    return whole[:-14] + b"\xff" * 12 + whole[-2:]  # what is at the end says that the numbers stand elsewhere


def read(path: Path, data: bytes) -> Any:
    path.write_bytes(data)
    (item,) = items(str(path))
    assert isinstance(item.value, StoredTensor)
    return item.value()


def test_numbers_of_64_bits(long: bytes, tmp_path: Path) -> None:
    assert long.count(b"PK\6\6") == long.count(b"PK\6\7") == 1
    np.testing.assert_array_equal(read(tmp_path / "a.pt", long), ARRAY)


@pytest.mark.parametrize("at", [0, 4, 8])
def test_one_number_that_stands_elsewhere_is_enough(at: int, long: bytes, tmp_path: Path) -> None:
    """At the end stand how many members there are (twice), the length of their list, and where it is."""
    count, length, start = struct.unpack_from("<QQQ", long, long.index(b"PK\6\6") + 32)
    end = bytearray(struct.pack("<2H2L", count, count, length, start))
    end[at : at + 4] = b"\xff" * 4
    np.testing.assert_array_equal(read(tmp_path / "a.pt", long[:-14] + bytes(end) + long[-2:]), ARRAY)


@pytest.mark.parametrize(
    ("mark", "at", "new"),
    [
        (b"PK\6\7", 0, b"PK\6\0"), (b"PK\6\7", 8, struct.pack("<Q", 2**40)), (b"PK\6\7", 8, struct.pack("<Q", 0)),
        (b"PK\6\6", 0, b"PK\6\0"), (b"PK\6\6", 32, struct.pack("<Q", 2**40)), (b"PK\6\6", 40, struct.pack("<Q", 2**50)),
        (b"PK\6\6", 48, struct.pack("<Q", 2**50)),
    ],
)  # fmt: skip
def test_damaged_numbers_of_64_bits(mark: bytes, at: int, new: bytes, long: bytes, tmp_path: Path) -> None:
    start = long.index(mark) + at
    with pytest.raises(ValueError, match=r"damaged|cannot be|cut|outside"):
        read(tmp_path / "a.pt", long[:start] + new + long[start + len(new) :])


def test_a_list_of_long_numbers_that_is_cut(long: bytes, tmp_path: Path) -> None:
    """The end says that there are numbers of 64 bits, and nothing lies before it."""
    with pytest.raises(ValueError, match="damaged"):
        read(tmp_path / "a.pt", long[-22:])
    central = long.index(b"PK\1\2")
    extra = long.index(struct.pack("<H", 1), central + 46)
    for length in (0, 8, 0xFFF0):  # fewer numbers than are needed, and more than there are bytes
        changed = long[: extra + 2] + struct.pack("<H", length) + long[extra + 4 :]
        with pytest.raises(ValueError, match="damaged"):
            read(tmp_path / "a.pt", changed)


def test_members_that_lie_outside(tmp_path: Path) -> None:
    whole = one(tmp_path / "a.pt", ARRAY, "Float32").read_bytes()
    place = whole.index(b"PK\1\2")
    for at, new in (
        (42, struct.pack("<I", len(whole) - 3)),
        (42, struct.pack("<I", 7)),
        (20, struct.pack("<2I", *[2**31] * 2)),
    ):
        with pytest.raises(ValueError, match="outside of the file"):
            read(tmp_path / "a.pt", whole[: place + at] + new + whole[place + at + len(new) :])
    with pytest.raises(ValueError, match="list of members is damaged"):
        read(tmp_path / "a.pt", whole[:place] + b"PK\1\3" + whole[place + 4 :])
    end = whole.rindex(b"PK\5\6")
    more = struct.unpack_from("<H", whole, end + 10)[0] + 1
    with pytest.raises(ValueError, match="cut"):
        read(tmp_path / "a.pt", whole[: end + 8] + struct.pack("<2H", more, more) + whole[end + 12 :])


STORAGE = b"(" + number("storage") + name("torch", "FloatStorage") + number("0") + number("cpu") + number(6) + b"tQ"
TENSOR = number(0) + numbers((6,)) + numbers((1,)) + b"\x89" + HOOKS
V2, V3 = (name("torch._utils", f"_rebuild_tensor_v{each}") for each in (2, 3))
TYPED = name("torch._tensor", "_rebuild_from_type_v2")

UNTYPED = STORAGE.replace(name("torch", "FloatStorage"), name("torch.storage", "UntypedStorage"))


def v2(storage: bytes) -> bytes:
    """A tensor with this storage."""
    return V2 + b"(" + storage + TENSOR + b"tR"


ODD = {
    "no storage": (V2 + b"(" + number(1) + TENSOR + b"tR", "without a storage"),
    "too few": (V2 + b"(" + STORAGE + number(0) + numbers((6,)) + b"tR", "without a storage"),
    "no key": (V2 + b"(" + STORAGE.replace(number("0"), number(0)) + TENSOR + b"tR", "unknown way"),
    "no type": (V2 + b"(" + STORAGE.replace(name("torch", "FloatStorage"), number(1)) + TENSOR + b"tR", "unknown way"),
    "too few of it": (V2 + b"((" + number("storage") + b"tQ" + TENSOR + b"tR", "unknown way"),
    "no storage's word": (v2(STORAGE.replace(number("storage"), number("module"))), "unknown way"),
    "a storage that is not there": (v2(STORAGE.replace(number("0"), number("7"))), "is not in the file"),
    "another storage": (v2(STORAGE.replace(b"FloatStorage", b"OtherStorage")), "which is not read"),
    "another dtype": (V3 + b"(" + UNTYPED + TENSOR + name("torch", "qint7") + b"tR", "qint7"),
    "marks": (V2 + b"(" + STORAGE + TENSOR + b"}" + number("odd") + number(True) + b"s" + b"tR", "marks odd"),
    "a storage": (STORAGE, "not a tensor"),
    "a typed one of no function": (TYPED + b"(" + number(1) + number(2) + b"(" + b"t" + b"}" + b"tR", "unknown way"),
    "half a storage": (b"NQ", "without a description"),
    "items of no list": (b"Na" + b"N", "damaged|more"),
    "a name of numbers": (number(1) + number(2) + b"\x93", "no text"),
    "a key that is a list": (b"}" + b"]" + number(1) + b"s", "no texts"),
    "items of no dictionary": (b"](" + number(1) + number(2) + b"u", "no dictionary"),
    "cut": (b"X\xff\xff\0\0", "cut"),
}  # fmt: skip


@pytest.mark.parametrize("what", ODD)
def test_what_no_tensor_is_described_by(what: str, tmp_path: Path) -> None:
    program, why = ODD[what]
    with pytest.raises(ValueError, match=why):
        read(tmp_path / "a.pt", archive("archive", b"\x80\x02" + program + b".", [bytes(24)]))


def test_other_ways_to_describe_a_tensor(tmp_path: Path) -> None:
    writer = Writer()
    made = writer.tensor(ARRAY, "Float32")
    size = name("torch", "Size") + b"(" + numbers((2, 3)) + b"tR"
    by_size = made.replace(numbers((2, 3)), size, 1)
    np.testing.assert_array_equal(read(tmp_path / "a.pt", writer.bytes(by_size)), ARRAY)
    inner = made[len(V2) : -1]  # the tuple of its arguments
    typed = TYPED + b"(" + V2 + name("torch", "Tensor") + inner + b"}" + b"tR"
    np.testing.assert_array_equal(read(tmp_path / "a.pt", writer.bytes(typed)), ARRAY)
