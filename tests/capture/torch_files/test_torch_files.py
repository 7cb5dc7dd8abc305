"""Files of ``torch.save``: tensors bit for bit, and nothing of a hostile file is run, imported or allocated."""

from __future__ import annotations

import os
import pickle
import struct
import tracemalloc
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from harness import dtypes
from harness.capture.torch_files import StoredTensor, items
from tests.capture.torch_files.build import HOOKS, STORAGES, Writer, archive, name, number, numbers, one

KINDS = [*STORAGES, "UInt16", "UInt32", "Float8_e4m3fn"]


def random_array(data: st.DataObject, dtype: str) -> np.ndarray[Any, Any]:
    shape = data.draw(arrays.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=4))
    kind = dtypes.by_name(dtype).numpy
    raw = data.draw(
        st.binary(min_size=int(np.prod(shape)) * kind.itemsize, max_size=int(np.prod(shape)) * kind.itemsize)
    )
    found = np.frombuffer(raw, np.uint8).copy()
    return (found & 1).astype(np.bool_).reshape(shape) if dtype == "Bool" else found.view(kind).reshape(shape)


def loaded(path: Path) -> dict[str, Any]:
    return {
        item.name: item.value() if isinstance(item.value, StoredTensor) else item.value for item in items(str(path))
    }


@given(st.data(), st.sampled_from(KINDS), st.booleans(), st.integers(0, 3))
def test_every_tensor_is_read_bit_for_bit(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject, dtype: str, parameter: bool, start: int
) -> None:
    array = random_array(data, dtype)
    path = one(tmp_path_factory.mktemp("t") / "a.pt", array, dtype, parameter=parameter, start=start)
    (item,) = items(str(path))
    assert isinstance(item.value, StoredTensor)
    assert (item.name, item.value.dtype.name, item.value.shape) == ("", dtypes.by_name(dtype).name, array.shape)
    found = item.value()
    assert (found.dtype, found.shape, found.tobytes()) == (array.dtype, array.shape, array.tobytes())


@given(st.data(), st.permutations(range(3)), st.integers(1, 3))
def test_strides(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject, order: list[int], step: int) -> None:
    shape = data.draw(st.tuples(*[st.integers(1, 4)] * 3))
    array = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
    strides, width = [0, 0, 0], step
    for axis in order:
        strides[axis], width = width, width * shape[axis]
    path = one(tmp_path_factory.mktemp("t") / "a.pt", array, "Float32", strides=tuple(strides))
    assert np.array_equal(loaded(path)[""], array)


def test_repeated_elements_and_marks(tmp_path: Path) -> None:
    path = one(tmp_path / "a.pt", np.full((5, 3), [1, 2, 3], np.float32), "Float32", strides=(0, 1))
    assert np.array_equal(loaded(path)[""], np.full((5, 3), [1, 2, 3], np.float32))
    values = np.array([1 + 2j, 3 - 1j], np.complex64)
    path = one(tmp_path / "b.pt", values, "Complex64", marks={"conj": True})
    assert np.array_equal(loaded(path)[""], values.conj())
    path = one(tmp_path / "c.pt", values, "Complex64", marks={"neg": True})
    assert np.array_equal(loaded(path)[""], -values)


def test_big_endian(tmp_path: Path) -> None:
    writer = Writer()
    program = writer.tensor(np.arange(4, dtype=np.float32).byteswap(), "Float32")
    (tmp_path / "a.pt").write_bytes(writer.bytes(program, order=b"big"))
    assert np.array_equal(loaded(tmp_path / "a.pt")[""], np.arange(4, dtype=np.float32))


def test_nested_names_numbers_and_texts(tmp_path: Path) -> None:
    writer = Writer("model")
    inner = writer.mapping({"weight": writer.tensor(np.ones(2, np.float32), "Float32"), "steps": number(3)})
    listed = b"](" + number(1.5) + number("x") + b"N" + b"e"
    (tmp_path / "a.pt").write_bytes(writer.bytes(writer.mapping({"fc": inner, "more": listed})))
    found = loaded(tmp_path / "a.pt")
    assert list(found) == ["fc.weight", "fc.steps", "more.0", "more.1"]
    assert (found["fc.steps"], found["more.0"], found["more.1"]) == (3, 1.5, "x")


class Evil:
    """Its pickle calls a function when it is read."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> Any:
        return os.mkdir, (str(self.path),)


HOSTILE = {
    "system": name("os", "system") + b"(" + number("touch x") + b"tR",
    "builtins": name("builtins", "eval") + b"(" + number("1") + b"tR",
    "storage of a file": name("torch.storage", "_load_from_bytes") + b"(" + number("x") + b"tR",
    "dictionary of objects": name("collections", "OrderedDict") + b"(" + number("x") + b"tR",
    "an instruction": b"i" + b"os\nsystem\n",
    "object": b"\x81",
    "by text": number("os") + number("system") + b"\x93(" + number("x") + b"tR",
    "no call": number(3) + b")R",
    "state": name("os", "environ") + b"}b",
    "class alone": name("os", "system"),
    "deep": b"(" * 70 + number(1) + b"t" * 70,
    "memo of nothing": b"h\x07",
    "no mark": b"t",
    "mark as value": b"(\x85",
    "keys": b"}](" + b"e" + number(1) + b"s",
    "a great integer": b"\x8a\xff" + bytes(255),
}


@pytest.mark.parametrize("what", HOSTILE)
def test_nothing_hostile_is_run(what: str, tmp_path: Path) -> None:
    path = tmp_path / "a.pt"
    path.write_bytes(archive("archive", b"\x80\x02" + HOSTILE[what] + b".", []))
    with pytest.raises(ValueError, match=r"pickle|nested|tensor"):
        items(str(path))


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
def test_a_pickle_with_a_call_is_refused_and_not_run(protocol: int, tmp_path: Path) -> None:
    made = tmp_path / "made"
    path = tmp_path / "a.pt"
    path.write_bytes(archive("archive", pickle.dumps({"a": Evil(made)}, protocol), []))
    with pytest.raises(ValueError, match="mkdir"):
        items(str(path))
    assert not made.exists()


def test_shared_values_do_not_grow(tmp_path: Path) -> None:
    """Tuples of tuples of one value: 2**64 of them in a few bytes."""
    program = number(1) + b"q\x00" + b"".join(b"0h\x00h\x00\x86q\x00" for _ in range(64))
    path = tmp_path / "a.pt"
    path.write_bytes(archive("archive", b"\x80\x02" + program + b".", []))
    with pytest.raises(ValueError, match="more than 100000 objects"):
        items(str(path))


def tensor_of(shape: tuple[int, ...], strides: tuple[int, ...], start: int = 0) -> bytes:
    stored = b"(" + number("storage") + name("torch", "FloatStorage") + number("0") + number("cpu") + number(2) + b"tQ"
    inner = stored + number(start) + numbers(shape) + numbers(strides) + b"\x89" + HOOKS
    return b"\x80\x02" + name("torch._utils", "_rebuild_tensor_v2") + b"(" + inner + b"tR."


@pytest.mark.parametrize(
    ("shape", "strides", "start", "why"),
    [
        ((3,), (1,), 0, "beyond its storage"), ((2,), (1,), 1, "beyond its storage"), ((2,), (2**40,), 0, "beyond"),
        ((2**20, 2**20), (0, 0), 0, "repeated"), ((2,), (1, 1), 0, "no numbers"),
        ((2**61, 2**61), (0, 0), 0, "repeated"),
    ],
)  # fmt: skip
def test_tensors_that_do_not_fit_their_storage(
    shape: tuple[int, ...], strides: tuple[int, ...], start: int, why: str, tmp_path: Path
) -> None:
    path = tmp_path / "a.pt"
    path.write_bytes(archive("archive", tensor_of(shape, strides, start), [bytes(8)]))
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match=why):
            items(str(path))
        assert tracemalloc.get_traced_memory()[1] < 1 << 20
    finally:
        tracemalloc.stop()


def test_what_is_no_file_of_torch_save(tmp_path: Path) -> None:
    path = tmp_path / "a.pt"
    for data, why in (
        (b"", "no zip"), (b"PK\5\6", "no zip"), (bytes(1000), "no zip"),
        (b"\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19.", "save it again"),
        (archive("archive", b"\x80\x02N.", [bytes(100)], method=8), "compressed"),
    ):  # fmt: skip
        path.write_bytes(data)
        with pytest.raises(ValueError, match=why):
            items(str(path))
    path.write_bytes(archive("other", b"\x80\x02N.", []).replace(b"other/data.pkl", b"other/datapkl_"))
    with pytest.raises(ValueError, match=r"without data\.pkl"):
        items(str(path))


def test_bytes_that_changed_are_noticed(tmp_path: Path) -> None:
    data = one(tmp_path / "a.pt", np.ones(3, np.float32), "Float32").read_bytes()
    (tmp_path / "a.pt").write_bytes(data.replace(b"_rebuild_tensor_v2", b"_rebuild_tensor_v3", 1))
    with pytest.raises(ValueError, match="checksum"):
        items(str(tmp_path / "a.pt"))


@given(st.data())
def test_any_change_of_a_file_is_read_or_refused(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    path = tmp_path_factory.mktemp("t") / "a.pt"
    whole = bytearray(one(path, np.arange(6, dtype=np.float32), "Float32").read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(whole) - 1))
        whole[at] = data.draw(st.integers(0, 255))
    del whole[data.draw(st.integers(0, len(whole))) :]
    path.write_bytes(whole)
    try:
        for item in items(str(path)):
            if isinstance(item.value, StoredTensor):
                item.value()
    except ValueError:
        pass


@given(st.binary(max_size=60))
def test_any_program_ends(tmp_path_factory: pytest.TempPathFactory, program: bytes) -> None:
    path = tmp_path_factory.mktemp("t") / "a.pt"
    path.write_bytes(archive("archive", b"\x80\x02" + program + b".", [bytes(16)]))
    with suppress(ValueError):
        items(str(path))


def test_a_great_archive_of_nothing(tmp_path: Path) -> None:
    end = struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, 0xFFFE, 0xFFFE, 0xFFFFFF0, 0, 0)
    (tmp_path / "a.pt").write_bytes(end)
    with pytest.raises(ValueError, match="cannot be"):
        items(str(tmp_path / "a.pt"))
