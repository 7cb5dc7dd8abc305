"""Files of named tensors that others write: bit for bit, or refused."""

from __future__ import annotations

import json
import struct
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from harness import dtypes
from harness.capture import read_tree
from harness.capture.named_tensors import npz_items, onnx, safetensors
from harness.capture.torch_files import StoredTensor
from harness.cli import main
from harness.errors import TreeError

#: What numpy can write, and its name in a safetensors header.
KINDS = {
    "float32": "F32", "float64": "F64", "float16": "F16", "int64": "I64", "int32": "I32", "int16": "I16", "int8": "I8",
    "uint8": "U8", "uint16": "U16", "uint32": "U32", "uint64": "U64", "bool": "BOOL", "complex64": "C64",
}  # fmt: skip
#: What numpy lacks; its own files cannot say them.
MORE = {
    "bfloat16": "BF16", "float8_e4m3fn": "F8_E4M3", "float8_e5m2": "F8_E5M2", "float8_e4m3fnuz": "F8_E4M3FNUZ",
    "float8_e5m2fnuz": "F8_E5M2FNUZ",
}  # fmt: skip
ARRAY = st.sampled_from(list(KINDS)).flatmap(
    lambda kind: arrays.arrays(kind, arrays.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4))
)
NAMES = st.dictionaries(st.from_regex(r"[a-z.]{1,8}", fullmatch=True), ARRAY, min_size=1, max_size=4)


def bits(array: np.ndarray[Any, Any]) -> tuple[Any, ...]:
    return array.dtype, array.shape, array.tobytes()


def held(found: Any) -> dict[str, Any]:
    return {item.name: bits(item.value()) for item in found if isinstance(item.value, StoredTensor)}


def as_safetensors(named: dict[str, np.ndarray[Any, Any]]) -> bytes:
    header: dict[str, Any] = {"__metadata__": {"format": "pt"}}
    data = b""
    for name, array in named.items():
        raw = array.tobytes()
        place = [len(data), len(data) + len(raw)]
        header[name] = {"dtype": (KINDS | MORE)[str(array.dtype)], "shape": list(array.shape), "data_offsets": place}
        data += raw
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


@given(NAMES, st.booleans(), st.sampled_from([np.savez, np.savez_compressed]))
def test_npz(
    tmp_path_factory: pytest.TempPathFactory, named: dict[str, np.ndarray[Any, Any]], fortran: bool, save: Any
) -> None:
    path = tmp_path_factory.mktemp("n") / "a.npz"
    save(path, **{name: np.array(a, order="F") if fortran else a for name, a in named.items()})
    assert held(npz_items(str(path))) == {name: bits(array) for name, array in named.items()}


@given(NAMES)
def test_safetensors(tmp_path_factory: pytest.TempPathFactory, named: dict[str, np.ndarray[Any, Any]]) -> None:
    path = tmp_path_factory.mktemp("s") / "a.safetensors"
    path.write_bytes(as_safetensors(named))
    assert held(safetensors.items(str(path))) == {name: bits(array) for name, array in named.items()}


def test_npz_that_are_refused(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", a=np.array([{}], object))
    with pytest.raises(ValueError, match=r"header|descr"):
        list(npz_items(str(tmp_path / "a.npz")))


@pytest.mark.parametrize("at", [0.3, 0.5, 0.7])
def test_compressed_arrays_that_are_damaged(at: float, tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    np.savez_compressed(path, a=np.random.default_rng(0).standard_normal(300))
    raw = bytearray(path.read_bytes())
    raw[int(at * len(raw))] ^= 0x10
    path.write_bytes(raw)
    (item,) = npz_items(str(path))
    assert isinstance(item.value, StoredTensor)
    with pytest.raises(TreeError, match=r"damaged|checksum|hold"):
        item.value()


@pytest.mark.parametrize("kind", MORE)
def test_small_floats(kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Of each bits: a tensor that is changed differs, and every target holds the bits or says that it cannot."""
    dtype = dtypes.by_name(kind).numpy
    array = np.arange(256, dtype=np.uint8).repeat(dtype.itemsize).view(dtype).reshape(16, 16)
    other = array.view(f"u{dtype.itemsize}").copy()
    other[3, 4] ^= 1
    one, two = tmp_path / "one.safetensors", tmp_path / "two.safetensors"
    one.write_bytes(as_safetensors({"net.w": array}))
    two.write_bytes(as_safetensors({"net.w": other.view(dtype)}))
    assert main(["diff", "--exact", str(one), str(two)]) == 1
    assert "First divergence: iteration 0, net.w, output.0" in capsys.readouterr().out
    for to, name in (("npz", "a.npz"), ("polygraphy", "a.json"), ("onnx", "sets"), ("safetensors", "a.safetensors")):
        held = to in ("onnx", "safetensors") or kind == "bfloat16"
        assert main(["convert", str(one), str(tmp_path / name), "--to", to]) == (0 if held else 2), to
        assert held or "has no dtype" in capsys.readouterr().err
        found = [record.load() for record in read_tree(str(tmp_path / name)).records()] if held else []
        assert all(each is not None and bits(each) == bits(array) for each in found), to


@pytest.mark.parametrize(
    ("header", "why"),
    [
        ({"a": {"dtype": "F32", "shape": [3], "data_offsets": [0, 12]}}, "of the file"),
        ({"a": {"dtype": "F32", "shape": [2], "data_offsets": [0, 4]}}, "shape and dtype make 8"),
        ({"a": {"dtype": "F33", "shape": [1], "data_offsets": [0, 4]}}, "unknown dtype"),
        ({"a": {"dtype": "F32", "shape": [-1], "data_offsets": [0, 4]}}, "no shape"), ({"a": 3}, "no shape"),
        ([], "no object"),
    ],
)  # fmt: skip
def test_safetensors_that_are_refused(header: Any, why: str, tmp_path: Path) -> None:
    text = json.dumps(header).encode()
    (tmp_path / "a.safetensors").write_bytes(struct.pack("<Q", len(text)) + text + bytes(8))
    with pytest.raises(ValueError, match=why):
        list(safetensors.items(str(tmp_path / "a.safetensors")))


def varint(value: int) -> bytes:
    value &= 2**64 - 1
    found = b""
    while True:
        found += bytes([value & 0x7F | (0x80 if value > 0x7F else 0)])
        value >>= 7
        if not value:
            return found


def piece(number: int, data: bytes) -> bytes:
    return varint(number << 3 | 2) + varint(len(data)) + data


TYPES = {dtype: number for number, dtype in onnx.TYPES.items()}


def as_onnx(name: str, array: np.ndarray[Any, Any], raw: bool, packed: bool) -> bytes:
    """A TensorProto as any writer may write it."""
    dtype = dtypes.from_numpy(array.dtype)
    sizes = [varint(size) for size in array.shape]
    data = piece(1, b"".join(sizes)) if packed and sizes else b"".join(varint(1 << 3) + size for size in sizes)
    data += varint(2 << 3) + varint(TYPES[dtype]) + piece(8, name.encode())
    flat = array.reshape(-1)
    if raw or dtype.kind == "c":
        return data + piece(9, array.tobytes())
    if dtype in (dtypes.float32, dtypes.float64):
        field = 4 if dtype is dtypes.float32 else 10
        width = 5 if field == 4 else 1
        if packed:
            return data + piece(field, flat.tobytes())
        return data + b"".join(varint(field << 3 | width) + each.tobytes() for each in flat)
    field = {dtypes.int64: 7, dtypes.uint64: 11, dtypes.uint32: 11}.get(dtype, 5)
    values = flat.view(np.uint16) if dtype is dtypes.float16 else flat
    numbers = [varint(int(value)) for value in values]
    return data + (piece(field, b"".join(numbers)) if packed else b"".join(varint(field << 3) + n for n in numbers))


@given(ARRAY, st.text(max_size=5), st.booleans(), st.booleans())
def test_onnx(array: np.ndarray[Any, Any], name: str, raw: bool, packed: bool) -> None:
    found = onnx.parse(as_onnx(name, array, raw, packed))
    assert (found.name, *bits(found.array)) == (name, *bits(array))


@given(st.binary(max_size=60))
def test_any_message_is_read_or_refused(data: bytes) -> None:
    with suppress(ValueError):
        onnx.parse(data)


def test_data_sets(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for side, value in (("a", 1.0), ("b", 2.0)):
        for number in (0, 1):
            folder = tmp_path / side / f"test_data_set_{number}"
            folder.mkdir(parents=True)
            (folder / "input_0.pb").write_bytes(as_onnx("x", np.ones(3, np.float32), True, True))
            (folder / "output_0.pb").write_bytes(as_onnx("y", np.full(3, value, np.float32), False, True))
    found = [(r.key.iteration, r.key.slot_name) for r in read_tree(tmp_path / "a").records()]
    assert found == [(0, "input.0"), (0, "output.0"), (1, "input.0"), (1, "output.0")]
    sides = [str(tmp_path / side) for side in "ab"]
    assert main(["diff", sides[0], sides[0]]) == 0
    assert main(["diff", *sides]) == 1
    assert "iteration 0, test_data, output.0 Float32[3]" in capsys.readouterr().out
    (tmp_path / "a" / "test_data_set_0" / "input_0.pb").write_bytes(b"\xff")
    assert main(["diff", sides[0], sides[0]]) == 2


def test_as_operands(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    named = {"w": np.arange(4, dtype=np.float32), "n": np.array(3)}
    np.savez(tmp_path / "a.npz", **named)
    (tmp_path / "a.safetensors").write_bytes(as_safetensors(named))
    changed = named | {"w": np.array([0, 1, 2, 9], np.float32)}
    (tmp_path / "b.safetensors").write_bytes(as_safetensors(changed))
    names = [str(tmp_path / name) for name in ("a.npz", "a.safetensors", "b.safetensors")]
    assert main(["diff", names[0], names[1]]) == 0
    assert main(["diff", names[0], names[2]]) == 1
    assert "w, output.0 Float32[4]" in capsys.readouterr().out
    (tmp_path / "c.safetensors").write_bytes(struct.pack("<Q", 2) + b"{x" + bytes(8))
    with pytest.raises(TreeError, match="not JSON"):
        list(safetensors.items(str(tmp_path / "c.safetensors")))
