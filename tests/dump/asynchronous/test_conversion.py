"""The output of ``convert``: the real tool's results for the sample, and the rules beyond it."""

from __future__ import annotations

import tarfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness import dtypes
from harness.devices.formats import FORMATS
from harness.dump.asynchronous import conversion, reformat
from harness.dump.asynchronous.conversion import Converter, Outcome, Request
from harness.dump.asynchronous.dump_data import BufferEntry, Header, encode
from harness.dump.writer import MAPPING, Tree
from harness.errors import ConvertError
from tests.dump.asynchronous.build import Given, content, device_entry, entry, values, write

SAMPLE = Path(__file__).parents[2] / "data" / "asynchronous" / "async.tar.gz"
TIME = "1623124369613540"


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Files, and what the real msaccucmp made of them."""
    target = tmp_path_factory.mktemp("sample")
    with tarfile.open(SAMPLE) as archive:
        archive.extractall(target, filter="data")
    return target


def converted(path: Path, out: Path, request: Request) -> tuple[Outcome, list[str]]:
    """Converts one file; also what was complained of."""
    complaints: list[str] = []
    with Tree(str(out)).opened() as directory:
        assert directory is not None
        return Converter(directory, request, complaints.append).convert(str(path)), complaints


def results(directory: Path) -> dict[str, object]:
    """What every file holds; of mappings each row once, as the sample was made in several runs."""
    found: dict[str, object] = {path.name: path.read_bytes() for path in directory.iterdir()}
    if MAPPING in found:
        found[MAPPING] = set((directory / MAPPING).read_text().splitlines())
    return found


@pytest.mark.parametrize(
    ("files", "made", "request_", "code"),
    [
        ("Conv2D*", "o_npy", Request("npy"), 0),
        ("Conv2D*", "o_nchw", Request("npy", "NCHW"), 22),
        ("Conv2D*", "o_msnpy", Request("msnpy"), 0),
        ("Opdebug*", "o_dbg", Request("npy"), 0),
        ("Add*", "o_long", Request("npy"), 0),
    ],
)
def test_the_sample(sample: Path, files: str, made: str, request_: Request, code: int, tmp_path: Path) -> None:
    for path in sorted((sample / "dump").glob(files)):
        outcome, complaints = converted(path, tmp_path, request_)
        assert outcome.code == code
        assert bool(complaints) == bool(code)
    assert results(tmp_path) == results(sample / made)
    assert {path.stat().st_mode & 0o777 for path in tmp_path.iterdir()} == {0o600}


def test_failing_tensors_are_named_and_the_others_written(sample: Path, tmp_path: Path) -> None:
    (path,) = (sample / "dump").glob("Conv2D*")
    outcome, complaints = converted(path, tmp_path, Request("npy", "NCHW"))
    assert outcome.failed == f"{path},input:1,output:1,output:2,output:3"
    assert len(outcome.written) == 2
    assert complaints[0] == f"{path}, input 1: not supported from ND to NCHW"


def one(tmp_path: Path, given: Given, request: Request = Request(), name: str = "Op.Op-op0") -> tuple[np.ndarray, str]:  # noqa: B008
    """The array made of a file of one input, and its name."""
    path = write(tmp_path / "dump", name, given)
    outcome, complaints = converted(path, tmp_path / "out", request)
    assert outcome.code == 0, complaints
    (made,) = outcome.written
    return np.load(tmp_path / "out" / made, allow_pickle=False), made.removeprefix(f"{name}.2.7.{TIME}.")


def test_bfloat16_becomes_float32(tmp_path: Path) -> None:
    array = values(dtypes.bfloat16, (2, 3))
    made, _ = one(tmp_path, [entry(array, dtypes.bfloat16)])
    assert made.dtype == np.float32
    assert np.array_equal(made, array.astype(np.float32))


def test_without_dimensions_it_has_one(tmp_path: Path) -> None:
    made, name = one(tmp_path, [entry(values(dtypes.float32, ()))])
    assert (made.shape, name) == ((1,), "input.0.npy")
    made, name = one(tmp_path, [entry(values(dtypes.float32, ()))], Request("npy", "ND"))
    assert (made.shape, name) == ((), "input.0..npy")


def test_an_empty_tensor_keeps_its_dtype(tmp_path: Path) -> None:
    made, _ = one(tmp_path, [entry(values(dtypes.int16, (0, 3)))])
    assert (made.shape, made.dtype) == ((0, 3), np.dtype(np.int16))


def test_padding_is_cut_by_the_host_shape(tmp_path: Path) -> None:
    host = values(dtypes.float16, (2, 9, 4, 5))
    made, name = one(tmp_path, [device_entry(host, "NC1HWC0")], Request("npy", "NCHW"))
    assert name == "input.0.2x9x4x5.npy"
    assert np.array_equal(made, host)
    made, name = one(tmp_path, [device_entry(host, "NC1HWC0")], Request("msnpy", "NHWC"))
    # The host shape is compared dimension by dimension with NHWC, so the padding stays, and the name says so.
    assert (made.shape, name) == ((2, 4, 5, 16), f"Op.Add-op0.2.7.{TIME}.input.0.NC1HWC0.npy")


def test_int8_matrices_have_wider_blocks(tmp_path: Path) -> None:
    host = values(dtypes.int8, (20, 40))  # msaccucmp takes blocks of 16 for granted and refuses
    made, _ = one(tmp_path, [device_entry(host, "FRACTAL_NZ")], Request("npy", "ND"))
    assert np.array_equal(made, host)


def test_to_fractal_z_keeps_its_blocks(tmp_path: Path) -> None:
    host = values(dtypes.float16, (8, 4, 3, 3))  # msaccucmp cuts the blocks by the host shape
    for groups in (0, 4):
        made, _ = one(tmp_path, [entry(host, format_name="NCHW", groups=groups)], Request("npy", "FRACTAL_Z"))
        wanted = FORMATS.get("FRACTAL_Z").to_device(host, groups=max(1, groups), c0=16)
        assert np.array_equal(made, wanted)


@pytest.mark.parametrize(
    ("number", "raw", "made"),
    [
        (0, b"\x01\xff\x03", np.array([1, -1, 3], np.int8)),
        (23, np.int64([5, -6, 7]).tobytes(), np.array([5, -6, 7], np.int64)),
        (34, b"\x3c\xbc\x7c", np.array([1, -1, np.inf])),
        (35, b"\x38\xb8\x7f", np.array([1, -1, np.nan])),
    ],
)
def test_element_types_without_a_dtype(number: int, raw: bytes, made: np.ndarray, tmp_path: Path) -> None:
    plain, _ = entry(np.zeros(3, np.int8))
    found, _ = one(tmp_path, [(replace(plain, data_type=number, size=len(raw)), raw)])
    assert found.dtype == made.dtype
    assert np.array_equal(found, made, equal_nan=made.dtype.kind == "f")


def test_bits(tmp_path: Path) -> None:
    plain, _ = entry(np.zeros(12, np.uint8))
    found, _ = one(tmp_path, [(replace(plain, data_type=29, size=2), b"\x81\xf0")])
    assert found.tolist() == [1, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1]


@pytest.mark.parametrize(
    ("number", "shape", "code"),
    [(13, (1,), 21), (28, (1,), 21), (33, (1,), 21), (99, (1,), 21), (7, (3,), 11), (29, (99,), 11)],
)
def test_what_cannot_be_read(number: int, shape: tuple[int, ...], code: int, tmp_path: Path) -> None:
    plain, payload = entry(np.zeros(2, np.float32))
    bad = replace(plain, data_type=number, shape=shape)
    path = write(tmp_path / "dump", "Op.Op-op0", [(bad, payload), entry(np.zeros(2))])
    outcome, complaints = converted(path, tmp_path / "out", Request())
    assert outcome.code == code
    assert str(path) in complaints[0]


def test_buffers_are_saved_as_they_are(tmp_path: Path) -> None:
    path = tmp_path / "Op.Op-op0.1.2.3"
    header = Header("Op", 1, buffers=(BufferEntry(0, 3), BufferEntry(5, 2)))
    path.write_bytes(encode(header) + b"abcde")
    converted(path, tmp_path / "out", Request())
    assert results(tmp_path / "out") == {
        f"{path.name}.l1buffer.0.bin": b"abc",
        f"{path.name}.Nonebuffer.1.bin": b"de",
    }


def test_a_name_from_the_file_cannot_leave_the_directory(tmp_path: Path) -> None:
    path = write(tmp_path / "dump", "Op.Op-op0", [entry(np.zeros(2))], op_name="../../x/..\0y")
    outcome, _ = converted(path, tmp_path / "out", Request("msnpy"))
    assert outcome.written == [f"Op..._y.2.7.{TIME}.input.0.ND.npy"]
    assert sorted(p.name for p in tmp_path.iterdir()) == ["dump", "out"]


def test_long_names_become_digits_with_a_row(tmp_path: Path) -> None:
    rest = len(f"Op..2.7.{TIME}.input.0.npy")
    for length, mapped in ((254 - rest, False), (255 - rest, True)):
        name = "Op." + "n" * length
        path = write(tmp_path / "dump", name, [entry(np.zeros(2))])
        outcome, _ = converted(path, tmp_path / str(length), Request())
        (made,) = outcome.written
        assert (len(made) == 36) == mapped
        assert (tmp_path / str(length) / MAPPING).exists() == mapped
        if mapped:
            assert (tmp_path / str(length) / MAPPING).read_text() == f"{made},{path.name}.input.0.npy\n"


@given(data=st.binary(max_size=300))
def test_junk_is_code_11(data: bytes, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.getbasetemp() / "Op.Op-op0.1.2.3"
    path.write_bytes(data)
    outcome, complaints = converted(path, path.parent / "junk", Request())
    assert outcome.code in (0, 11, 21)
    assert bool(complaints) == bool(outcome.code)


# --- formats ----------------------------------------------------------------------------------------------------------


@given(st.data())
def test_every_device_format_comes_back(data: st.DataObject) -> None:
    source, target = data.draw(
        st.sampled_from(sorted(pair for pair in reformat.PAIRS if pair[0] not in ("NCHW", "NHWC", "HWCN")))
    )
    rank = {"FRACTAL_NZ": 2, "NDC1HWC0": 5}.get(source, 4)
    shape = tuple(data.draw(st.integers(1, 20)) for _ in range(2)) + tuple(
        data.draw(st.integers(1, 3)) for _ in range(rank - 2)
    )
    host = values(dtypes.float16, shape)
    device = FORMATS.get(source).to_device(host)
    order = "NCHW" if rank == 4 and target in ("NCHW", "NHWC", "HWCN") else ""
    letters = [order.index(axis) for axis in target] if order else list(range(rank))
    wanted = host.transpose(letters)
    made = reformat.convert(device.reshape(-1), source, target, device.shape, wanted.shape, 0)
    assert np.array_equal(reformat.crop(made, wanted.shape), wanted)


@given(
    st.sampled_from(sorted({f for pair in reformat.PAIRS for f in pair} | {"ND", "MD"})),
    st.sampled_from(sorted({f for pair in reformat.PAIRS for f in pair} | {"ND", "MD"})),
    st.lists(st.integers(0, 4), max_size=6).map(tuple),
    st.lists(st.integers(0, 4), max_size=6).map(tuple),
    st.integers(0, 3),
    st.integers(0, 50),
)
def test_what_does_not_fit_is_one_error(
    source: str, target: str, shape: tuple[int, ...], wanted: tuple[int, ...], groups: int, size: int
) -> None:
    array, code = np.zeros(size, np.float32), 0
    try:
        made = reformat.convert(array, reformat.real_format(source, shape), target, shape, wanted, groups)
        reformat.crop(made, wanted)
    except ConvertError as error:
        code = error.code
    assert code in (0, 6, 11, 22, 23, 26)


@given(st.lists(st.integers(1, 4), max_size=6).map(tuple), st.lists(st.integers(1, 4), max_size=6).map(tuple))
def test_cutting_gives_the_shape_or_nothing(shape: tuple[int, ...], wanted: tuple[int, ...]) -> None:
    array = np.arange(int(np.prod(shape)), dtype=np.float32).reshape(shape)
    fits = len(wanted) <= len(shape) and all(w <= s for s, w in zip(shape, wanted, strict=False))
    if fits and len(shape) <= 5:
        made = reformat.crop(array, wanted)
        cut = (*wanted, *(1,) * (len(shape) - len(wanted)))
        assert made.shape[: len(shape)] in (shape, cut)
        assert set(made.reshape(-1)) <= set(array.reshape(-1))


def test_formats_that_are_known() -> None:
    assert {f for pair in reformat.PAIRS for f in pair} <= conversion.FORMATS
    assert "DECONV_SP_STRIDE8_TRANS" in conversion.FORMATS
    assert "NC" not in conversion.FORMATS


def test_content_is_what_write_writes(tmp_path: Path) -> None:
    given_ = [entry(np.zeros(2))]
    assert write(tmp_path, "Op.Op-op0", given_).read_bytes() == content(given_)
