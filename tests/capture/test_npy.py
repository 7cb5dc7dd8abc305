"""The ``.npy`` reader: every dtype, every writer, every damage."""

from __future__ import annotations

import contextlib
import io
import os
from pathlib import Path
from tempfile import TemporaryDirectory

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness import dtypes
from harness.capture import npy
from harness.dtypes import DType
from harness.dump import npy as written
from harness.errors import TreeError
from harness.records import PIECE

DTYPES = st.sampled_from(dtypes.ALL)
SHAPES = st.lists(st.integers(0, 4), max_size=4).map(tuple)


def bits(dtype: DType, shape: tuple[int, ...]) -> npy.Array:
    """An array of ``shape`` with as many different bits as it can hold."""
    count = int(np.prod(shape, dtype=np.int64))
    if dtype.kind == "b":
        return np.arange(count).reshape(shape) % 2 == 0
    raw = np.random.default_rng(count).bytes(count * dtype.itemsize)
    return np.frombuffer(raw, dtype.numpy).reshape(shape)


def stored(path: Path, array: npy.Array, descr: str) -> Path:
    """A file as MindSpore writes it: its header, then the bytes."""
    path.write_bytes(written.header(descr, array.shape) + array.tobytes())
    return path


@given(DTYPES, SHAPES)
def test_measured_headers_of_every_dtype(dtype: DType, shape: tuple[int, ...]) -> None:
    header = npy.parse_header(written.header(dtype.descr, shape))
    assert (header.dtype, header.shape, header.fortran) == (dtype, shape, False)
    assert header.size == header.offset + int(np.prod(shape, dtype=np.int64)) * dtype.itemsize


@given(DTYPES, SHAPES)
def test_headers_of_numpy(dtype: DType, shape: tuple[int, ...]) -> None:
    file = io.BytesIO()
    np.save(file, bits(dtype, shape))
    header = npy.parse_header(file.getvalue())
    assert (header.dtype, header.shape, header.size) == (dtype, shape, len(file.getvalue()))


@pytest.mark.parametrize("dtype", dtypes.ALL, ids=str)
@pytest.mark.parametrize("shape", [(), (3,), (2, 3), (0,), (1, 0, 2)], ids=str)
@pytest.mark.parametrize("limit", [None, 0])
def test_values_bit_for_bit(dtype: DType, shape: tuple[int, ...], limit: int | None, tmp_path: Path) -> None:
    array = bits(dtype, shape)
    path = stored(tmp_path / "a.npy", array, dtype.descr)
    header, found = npy.read(str(path), limit=limit)
    assert found is not None  # small files are read whole whatever the limit
    assert (header.dtype, found.dtype, found.shape) == (dtype, dtype.numpy, shape)
    assert found.tobytes() == array.tobytes()
    assert npy.load(str(path), dtype.name, shape, None).tobytes() == array.tobytes()


def test_every_bfloat16_comes_back_from_float32(tmp_path: Path) -> None:
    every = np.arange(1 << 16, dtype=np.uint16).view(ml_dtypes.bfloat16)
    head, wide = written.encode(every, dtypes.bfloat16)
    path = tmp_path / "a.npy"
    path.write_bytes(head + wide.tobytes())
    assert npy.load(str(path), "BFloat16", every.shape, None).tobytes() == every.tobytes()


def test_float32_is_not_taken_for_bfloat16(tmp_path: Path) -> None:
    path = stored(tmp_path / "a.npy", np.array([0.1], np.float32), "<f4")
    with pytest.raises(TreeError, match=r"a\.npy: its name says BFloat16"):
        npy.load(str(path), "BFloat16", (1,), None)


def test_old_spelling_of_bfloat16(tmp_path: Path) -> None:
    array = np.array([1.5, -2], ml_dtypes.bfloat16)
    path = stored(tmp_path / "a.npy", array, "<T2")
    assert npy.load(str(path), None, (2,), None).tolist() == array.tolist()


def test_column_major_files(tmp_path: Path) -> None:
    array = np.asfortranarray(np.arange(6, dtype=np.int32).reshape(2, 3))
    np.save(tmp_path / "a.npy", array)
    found = npy.load(str(tmp_path / "a.npy"), "Int32", (2, 3), None)
    assert found.flags.c_contiguous
    assert np.array_equal(found, array)


@pytest.mark.parametrize("limit", [None, 0])
@pytest.mark.parametrize(
    ("told", "shape"), [((-1, 2), (3, 2)), ((3, -1), (3, 2)), ((-1,), (6,)), ((-1, -1), (6,)), ((2, -1, -1), (6,))]
)
def test_a_size_that_the_graph_did_not_know(
    told: tuple[int, ...], shape: tuple[int, ...], limit: int | None, tmp_path: Path
) -> None:
    array, path = np.arange(6, dtype=np.float32), tmp_path / "x.npy"
    path.write_bytes(written.header("<f4", told) + array.tobytes())
    header, found = npy.read(str(path), limit=limit)
    assert header.shape == shape
    assert found is not None
    assert np.array_equal(found, array.reshape(shape))


@pytest.mark.parametrize(("told", "count"), [((-1, 2), 5), ((2, -1, -1), 5), ((4, -1), 6)])
def test_a_cut_file_of_unknown_size(told: tuple[int, ...], count: int, tmp_path: Path) -> None:
    path = tmp_path / "x.npy"
    for data in (bytes(4 * count), bytes(23)):
        path.write_bytes(written.header("<f4", told) + data)
        with pytest.raises(npy.Incomplete, match="do not make a tensor"):
            npy.read(str(path))


@pytest.mark.parametrize("told", [(-2, 3), (-1, 0)])
def test_shapes_that_nothing_fits(told: tuple[int, ...], tmp_path: Path) -> None:
    path = tmp_path / "x.npy"
    path.write_bytes(written.header("<f4", told) + bytes(24))
    with pytest.raises((ValueError, npy.Incomplete)):
        npy.read(str(path))


def test_large_files_are_read_when_asked_for(tmp_path: Path) -> None:
    array = bits(dtypes.float32, (1 << 16,))
    path = stored(tmp_path / "a.npy", array, "<f4")
    header, found = npy.read(str(path), limit=1 << 16)
    assert found is None
    assert (header.shape, header.size) == (array.shape, path.stat().st_size)
    _, found = npy.read(str(path))
    assert found is not None
    assert found.tobytes() == array.tobytes()


@pytest.mark.parametrize("cut", [0, 1, 9, 10, 11, 127, 128, 129, 151])
def test_cut_files_are_incomplete(cut: int, tmp_path: Path) -> None:
    path = stored(tmp_path / "a.npy", bits(dtypes.float32, (2, 3)), "<f4")
    path.write_bytes(path.read_bytes()[:cut])
    with pytest.raises(npy.Incomplete):
        npy.read(str(path))


def test_a_large_cut_file_is_not_read_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.npy"
    path.write_bytes(written.header("<f4", (1 << 40,)))
    os.truncate(path, 1 << 40)  # sparse
    with pytest.raises(npy.Incomplete, match="1099511627776 bytes where"):
        npy.read(str(path))


def test_data_of_the_device_dtype_under_another_header(tmp_path: Path) -> None:
    array = np.array([0.1, 1e30], np.float32)
    path = tmp_path / "a.npy"
    path.write_bytes(written.header("<f2", array.shape) + array.tobytes())
    with pytest.raises(npy.Incomplete):
        npy.read(str(path))
    header, found = npy.read(str(path), device=dtypes.float32)
    assert found is not None
    assert npy.dtype_named(header, "Float16") is dtypes.float32
    assert found.tolist() == array.tolist()
    assert npy.load(str(path), "Float16", (2,), dtypes.float32).tolist() == array.tolist()


def test_the_device_dtype_does_not_overrule_a_header_that_fits(tmp_path: Path) -> None:
    path = stored(tmp_path / "a.npy", np.array([1, 2], np.int32), "<i4")
    header, _ = npy.read(str(path), device=dtypes.float32)
    assert header.dtype is dtypes.int32


def test_modes_tell_finished_files(tmp_path: Path) -> None:
    path = stored(tmp_path / "a.npy", bits(dtypes.float32, (2,)), "<f4")
    path.chmod(0o644)
    with pytest.raises(npy.Incomplete, match="mode 0644; a finished file has 0400"):
        npy.read(str(path), modes=True)
    path.chmod(0o400)
    assert npy.read(str(path), modes=True)[1] is not None


def saved(array: object, **options: object) -> bytes:
    file = io.BytesIO()
    np.save(file, array, **options)  # type: ignore[call-overload]
    return file.getvalue()


@pytest.mark.parametrize(
    "data",
    [
        b"not an npy file at all", b"\x93NUMPY\x07\x00" + bytes(200), b"\x93NUMPY\x02\x00" + b"\xff" * 200,
        saved(np.array([{}, None], object), allow_pickle=True), saved(np.array(["a"])), saved(np.zeros(2, ">f4")),
        saved(np.zeros(2, "i4,f4")), saved(np.zeros(2, "M8[s]")), b"\x93NUMPY\x01\x00\x04\x00" + b"{}\n\n" + bytes(99),
        written.header("<f4", (1,) * 65) + bytes(4),
    ],
)  # fmt: skip
def test_other_files_are_refused(data: bytes, tmp_path: Path) -> None:
    path = tmp_path / "a.npy"
    path.write_bytes(data)
    with pytest.raises(ValueError):
        npy.read(str(path))
    with pytest.raises(TreeError, match=r"a\.npy: "):
        npy.load(str(path), None, (), None)


@given(st.binary(max_size=300))
def test_any_bytes_raise_nothing_else(data: bytes) -> None:
    for start in (b"", b"\x93NUMPY\x01\x00"):
        with contextlib.suppress(npy.Incomplete, ValueError):
            npy.parse_header(start + data)


@given(st.data())
def test_damaged_headers_raise_nothing_else(data: st.DataObject) -> None:
    header = bytearray(written.header("<f4", (2, 3)))
    for _ in range(data.draw(st.integers(1, 3))):
        header[data.draw(st.integers(0, len(header) - 1))] = data.draw(st.integers(0, 255))
    with contextlib.suppress(npy.Incomplete, ValueError):
        npy.parse_header(bytes(header))


def told(path: Path, device: DType | None) -> tuple[object, ...]:
    """All that reading a file says."""
    try:
        header, array = npy.read(str(path), device=device)
    except (npy.Incomplete, ValueError) as error:
        return type(error), str(error)
    assert array is not None
    return header, array.dtype, array.shape, array.tobytes(), array.flags.c_contiguous, array.flags.writeable


@settings(max_examples=50)
@given(st.data())
def test_small_files_are_read_as_larger_ones(data: st.DataObject) -> None:
    """Whole, cut and longer ones, of all orders and dtypes, whether an equal header was read before or not."""
    dtype, shape = data.draw(DTYPES), data.draw(SHAPES)
    array = bits(dtype, shape)
    whole = data.draw(st.sampled_from([saved(array), saved(np.asfortranarray(array)),
                                       written.header(dtype.descr, shape) + array.tobytes(),
                                       written.header(dtype.descr, (-1, *shape[1:])) + array.tobytes()]))  # fmt: skip
    size = data.draw(st.sampled_from([len(whole), data.draw(st.integers(0, len(whole)))]))
    device = data.draw(st.none() | DTYPES)
    with TemporaryDirectory() as name, pytest.MonkeyPatch.context() as patch:
        path = Path(name) / "a.npy"
        path.write_bytes(whole[:size] + data.draw(st.sampled_from([b"", b"", b"1234"])))
        npy._cache.clear()
        first = told(path, device)
        assert told(path, device) == first
        patch.setattr(npy, "_LOOK", -1)
        assert told(path, device) == first


@pytest.mark.parametrize("kind", ["directory", "pipe", "missing"])
def test_what_is_no_file_is_an_error(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "a.npy"
    if kind == "directory":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    with pytest.raises((ValueError, OSError)):
        npy.read(str(path))


def test_headers_that_share_their_first_bytes_are_told_apart(tmp_path: Path) -> None:
    shapes = [(1,) * 60 + (n,) for n in (2, 3)]  # headers of 192 bytes that differ behind byte 128
    for shape in shapes * 2:
        path = stored(tmp_path / "a.npy", bits(dtypes.float32, shape), "<f4")
        assert npy.read(str(path))[0].shape == shape


def test_the_cache_of_headers_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(npy, "_CACHE_ROWS", 3)
    npy._cache.clear()
    for n in range(9):
        path = stored(tmp_path / "a.npy", bits(dtypes.float32, (n,)), "<f4")
        assert npy.read(str(path))[0].shape == (n,)
        assert len(npy._cache) <= 3


@pytest.mark.parametrize("dtype", dtypes.ALL, ids=str)
def test_pieces_are_the_whole_and_each_byte_is_read_once(
    dtype: DType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    array = bits(dtype, (3 * PIECE // dtype.itemsize + 5,))
    path = stored(tmp_path / "a.npy", array, dtype.descr)
    came = []
    readv = os.readv
    monkeypatch.setattr(os, "readv", lambda *args: came.append(readv(*args)) or came[-1])
    with npy.NpyFile(str(path)) as file:
        header, none = file.begin(limit=1000)
        assert none is None
        assert file.streams
        pieces = [piece.copy() for piece in file.pieces()]
        assert not file.streams
    assert sum(came) == path.stat().st_size
    assert {piece.nbytes for piece in pieces[:-1]} == {PIECE}
    assert {piece.dtype for piece in pieces} == {header.dtype.numpy}
    assert b"".join(piece.tobytes() for piece in pieces) == array.tobytes()
    came.clear()
    with npy.NpyFile(str(path)) as file:
        file.begin(limit=1000)
        assert file.rest().tobytes() == array.tobytes()
    assert sum(came) == path.stat().st_size


@pytest.mark.parametrize("whole", [True, False])
def test_a_file_cut_while_it_is_read(whole: bool, tmp_path: Path) -> None:
    path = stored(tmp_path / "a.npy", bits(dtypes.float32, (PIECE,)), "<f4")
    with npy.NpyFile(str(path)) as file:
        file.begin(limit=1000)
        os.truncate(path, PIECE)
        with pytest.raises(npy.Incomplete, match="became shorter"):
            file.rest() if whole else list(file.pieces())
