"""The framing: a round trip keeps everything, real bytes are understood, damage is one error."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness import dtypes
from harness.devices.formats import FORMATS
from harness.dump.asynchronous import dump_data
from harness.dump.asynchronous.dump_data import HOLE, LENGTH, BufferEntry, DumpFile, Entry, Header, decode, encode
from harness.errors import TreeError
from tests.dump.asynchronous.build import content, device_entry, entry, values
from tests.examples import examples

NUMBERS = st.integers(0, 2**31 - 1)
SHAPES = st.lists(st.integers(0, 5), max_size=4).map(tuple)
ENTRIES = st.builds(Entry, NUMBERS, NUMBERS, SHAPES, SHAPES, st.integers(0, 40), st.integers(-(2**31), 2**31 - 1))
HEADERS = st.builds(
    Header,
    op_name=st.text(max_size=20).filter(lambda text: not any(0xD800 <= ord(c) < 0xE000 for c in text)),
    dump_time=st.integers(0, 2**64 - 1),
    inputs=st.lists(ENTRIES, max_size=3).map(tuple),
    outputs=st.lists(ENTRIES, max_size=3).map(tuple),
    buffers=st.lists(st.builds(BufferEntry, NUMBERS, st.integers(0, 40)), max_size=2).map(tuple),
    version=st.sampled_from(["2.0", "1.0", ""]),
)


def opened(path: Path, data: bytes) -> DumpFile:
    path.write_bytes(data)
    return DumpFile(path)


def without_bytes(header: Header) -> Header:
    """``header`` with every offset 0, as before it was written."""
    return replace(
        header,
        inputs=tuple(replace(entry, offset=0) for entry in header.inputs),
        outputs=tuple(replace(entry, offset=0) for entry in header.outputs),
        buffers=tuple(replace(buffer, offset=0) for buffer in header.buffers),
    )


@given(HEADERS)
def test_a_header_is_read_back(header: Header) -> None:
    data = encode(header)
    (length,) = LENGTH.unpack_from(data)
    assert length == len(data) - LENGTH.size
    found = decode(data[LENGTH.size :], len(data) + header.payload, "f")
    assert without_bytes(found) == header
    offsets = [part.offset for part in (*found.inputs, *found.outputs, *found.buffers)]
    sizes = [part.size for part in (*header.inputs, *header.outputs, *header.buffers)]
    assert offsets == [len(data) + sum(sizes[:at]) for at in range(len(sizes))]


def test_numbers_of_fields() -> None:
    # The bytes a test of MindSpore's own writes for Add: one output, float16 in ND, two elements, four bytes.
    real = (
        b"\n\x032.0\x10\x83\xf7\xef\x9f\x99\xc8\xf3\x02\x1a\x10\x08\x02\x10\x02\x1a\x03\n\x01\x020\x04:\x03\n\x01\x022\x0f"
        b"Default/Add-op0"
    )
    header = decode(real, 8 + len(real) + 4, "f")
    assert (header.version, header.op_name, header.inputs) == ("2.0", "Default/Add-op0", ())
    assert header.outputs == (Entry(2, 2, (2,), (2,), 4, 0, 8 + len(real)),)
    assert header.outputs[0].dtype is dtypes.float16
    assert header.outputs[0].format_name == "ND"


@pytest.mark.parametrize("dtype", dtypes.ALL, ids=str)
@pytest.mark.parametrize("shape", [(), (3,), (2, 0, 3), (2, 3, 4)], ids=str)
def test_arrays_of_every_dtype(dtype: dtypes.DType, shape: tuple[int, ...], tmp_path: Path) -> None:
    array = values(dtype, shape)
    with opened(tmp_path / "f", content([entry(array, dtype)], [entry(array, dtype)])) as file:
        for found in (*file.header.inputs, *file.header.outputs):
            assert found.dtype is dtype
            read = file.array(found)
            assert read.dtype == array.dtype
            assert np.array_equal(read, array)


def test_big_endian_and_strided_arrays(tmp_path: Path) -> None:
    array = values(dtypes.float32, (4, 6))
    given_ = [entry(array.astype(">f4")), entry(array.T), entry(array[::2, ::3])]
    with opened(tmp_path / "f", content(given_)) as file:
        wanted = (array, array.T, array[::2, ::3])
        assert all(np.array_equal(file.array(e), w) for e, w in zip(file.header.inputs, wanted, strict=True))


@pytest.mark.parametrize("name", ["NC1HWC0", "FRACTAL_Z", "FRACTAL_NZ", "NDC1HWC0", "FRACTAL_Z_3D", "C1HWNCoC0"])
def test_device_formats_come_back_as_the_host_has_them(name: str, tmp_path: Path) -> None:
    host = values(dtypes.float16, (3, 17, 2, 2, 2) if FORMATS.get(name).rank == 5 else (3, 17, 2, 3))
    with opened(tmp_path / "f", content([device_entry(host, name)])) as file:
        (found,) = file.header.inputs
        assert found.shape != host.shape
        assert np.array_equal(file.host(found), host)


def test_groups_of_a_weight(tmp_path: Path) -> None:
    host = values(dtypes.float16, (4, 2, 3, 3))
    with opened(tmp_path / "f", content([device_entry(host, "FRACTAL_Z", 2)])) as file:
        assert np.array_equal(file.host(file.header.inputs[0]), host)


def test_rows_of_features(tmp_path: Path) -> None:
    host = values(dtypes.float16, (5, 20))
    device = FORMATS.get("NC1HWC0").to_device(host, axes="NC")
    with opened(tmp_path / "f", content([entry(device, format_name="NC1HWC0", original=host.shape)])) as file:
        assert np.array_equal(file.host(file.header.inputs[0]), host)


def test_a_host_tensor_of_another_shape(tmp_path: Path) -> None:
    array = values(dtypes.float32, (2, 6))
    with opened(tmp_path / "f", content([entry(array, original=(3, 4)), entry(array, original=())])) as file:
        assert [file.host(e).shape for e in file.header.inputs] == [(3, 4), (2, 6)]


def test_a_hole_keeps_the_place_of_an_argument(tmp_path: Path) -> None:
    array = values(dtypes.float32, (2,))
    with opened(tmp_path / "f", content([(HOLE, b""), entry(array)])) as file:
        assert [e.is_hole for e in file.header.inputs] == [True, False]
        assert np.array_equal(file.array(file.header.inputs[1]), array)


def test_bytes_behind_the_last_entry_are_of_later_fields(tmp_path: Path) -> None:
    with opened(tmp_path / "f", content([entry(values(dtypes.float32, (2,)))]) + b"more") as file:
        assert file.array(file.header.inputs[0]).shape == (2,)


# --- damage -----------------------------------------------------------------------------------------------------------


def read_all(path: Path) -> None:
    with DumpFile(path) as file:
        for found in (*file.header.inputs, *file.header.outputs):
            file.host(found)
        for buffer in file.header.buffers:
            file.payload(buffer)


GOOD = content([device_entry(values(dtypes.float16, (2, 3, 2, 2)), "NC1HWC0")], [entry(values(dtypes.float32, (4,)))])


@pytest.mark.parametrize("length", [0, 1, 8, 9, 20, len(GOOD) - 1])
def test_a_file_cut_off(length: int, tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_bytes(GOOD[:length])
    with pytest.raises(TreeError, match="f: "):
        read_all(path)


LIES: dict[str, dict[str, object]] = {
    "no such dtype": {"data_type": 999},
    "a dtype without arrays": {"data_type": 13},
    "no such format": {"format": 200},
    "a format of unknown order": {"format": 38},
    "a huge shape": {"shape": (2**40, 2**40)},
    "a dimension that is not a size": {"shape": (2**63, 0)},
    "too many dimensions": {"shape": (1,) * 65},
    "host dimensions that do not fit": {"shape": (1,) * 64, "original_shape": (2,)},
    "a huge host shape": {"original_shape": (2**62, 0)},
    "another host shape": {"original_shape": (9, 9, 9, 9)},
    "more bytes than there are": {"size": 2**62},
    "too few bytes": {"size": 1},
    "groups where there are none": {"sub_format": 7},
}


@pytest.mark.parametrize("lie", LIES)
def test_a_header_that_lies(lie: str, tmp_path: Path) -> None:
    path = tmp_path / "f"
    with opened(path, GOOD) as file:
        first = replace(file.header.inputs[0], **LIES[lie])  # type: ignore[arg-type]
        path.write_bytes(encode(replace(file.header, inputs=(first,), outputs=())) + b"\0" * 512)
    with pytest.raises(TreeError, match="f: "):
        read_all(path)


def test_a_length_that_lies(tmp_path: Path) -> None:
    for length in (41, dump_data.MAX_HEADER + 1, 2**63):
        with pytest.raises(TreeError, match=f"a header of {length} bytes"):
            opened(tmp_path / "f", LENGTH.pack(length) + b"x" * 40)


@examples(37, 300)
@given(seed=st.integers(0, 2**32 - 1), flips=st.integers(1, 8), cut=st.integers(0, 60))
def test_damage_is_one_error(seed: int, flips: int, cut: int, tmp_path_factory: pytest.TempPathFactory) -> None:
    rng = random.Random(seed)
    data = bytearray(GOOD[: len(GOOD) - cut])
    for _ in range(flips):
        data[rng.randrange(len(data) if rng.random() < 0.3 else 100)] = rng.randrange(256)
    path = tmp_path_factory.getbasetemp() / "damaged"
    path.write_bytes(bytes(data))
    failure = ""
    try:
        read_all(path)
    except TreeError as error:
        failure = str(error)
    assert not failure or (str(path) in failure and len(failure) < 1000)


def test_what_is_no_file(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "gone", Path("/dev/null")):
        with pytest.raises(TreeError, match=str(path)):
            DumpFile(path)


def test_a_file_that_shrinks_while_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "f"
    with opened(path, GOOD) as file:
        path.write_bytes(GOOD[:-3])
        with pytest.raises(TreeError, match="cut off"):
            file.array(file.header.outputs[0])


def test_closing_twice(tmp_path: Path) -> None:
    file = opened(tmp_path / "f", GOOD)
    file.close()
    file.close()
