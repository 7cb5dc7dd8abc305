"""statistic.csv: every row of the real host writer, its header, its file modes; what a device prints."""

from __future__ import annotations

import stat
import tarfile
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from harness import dtypes
from harness.dump import DumpConfig, parse, statistic
from harness.dump.check_saved_data import NEWEST_ITEMS
from harness.dump.writer import Tree
from harness.stats import describe
from harness.stats.printed import COLUMNS, PrintedStatistics, device_texts, host_texts
from tests.dump.build import config_text

HOST = Path(__file__).parents[1] / "data" / "statistic_host"
ALL = tuple(COLUMNS)
Array = np.ndarray[Any, np.dtype[Any]]


def real_rows(name: str) -> dict[str, str]:
    """Rows of a csv of the real writer, by their operator's name."""
    lines = (HOST / name).read_text().splitlines()
    assert statistic.header(ALL) == lines[0]
    return {line.split(",")[1]: line for line in lines[1:]}


def buffers() -> dict[str, tuple[dtypes.DType, Array]]:
    """The tensors the real writer was given; the largest come from numpy's generator (their rows hold the MD5)."""
    large = {
        "rndbig": lambda: np.random.default_rng(1).standard_normal((500, 1000)),
        "rndbig2": lambda: np.random.default_rng(3).standard_normal(2**20).astype("f4") * np.float32(1000),
    }
    found = {}
    with tarfile.open(HOST / "buf_small.tar.gz") as tar:
        members = {member.name: tar.extractfile(member) for member in tar if member.isfile()}
        for line in (HOST / "spec.txt").read_text().splitlines():
            name, dtype, shape, path = line.split()
            kind = dtypes.by_name(dtype)
            if name in large:
                array = large[name]().astype(kind.numpy)
            else:
                file = members[path]
                assert file is not None
                array = np.frombuffer(file.read(), kind.numpy)
            found[name] = kind, array.reshape([] if shape == "-" else [int(size) for size in shape.split(",")])
    return found


REAL = real_rows("statistic.csv")
TENSORS = buffers()


@pytest.mark.parametrize("name", sorted(REAL))
def test_rows_of_the_real_writer(name: str) -> None:
    dtype, array = TENSORS[name]
    texts = host_texts(array, dtype, ALL)
    assert statistic.row("OpT", name, 0, 123456789, "input", 1, array, dtype, texts) == REAL[name]


def test_the_tensors_without_a_row_are_empty() -> None:
    empty = {name for name, (_, array) in TENSORS.items() if not array.size}
    assert empty == TENSORS.keys() - REAL.keys()
    for name in empty:
        texts = host_texts(TENSORS[name][1], TENSORS[name][0], ALL[:11])
        assert dict(zip(ALL, texts, strict=False)) == {
            item: {"max": "-inf", "min": "inf", "avg": "-nan"}.get(item, "0") for item in ALL[:11]
        }


def test_chunked_sha1_of_the_real_writer() -> None:
    """The tensors of the second csv, in its order, from one numpy generator."""
    generator = np.random.default_rng(7)
    rows = real_rows("statistic_sha1_chunks.csv")
    for name, real in rows.items():
        word, size = name.rsplit("_", 1)
        dtype = dtypes.by_name(word)
        array = (generator.standard_normal(int(size)) * 10).astype(dtype.numpy)
        texts = host_texts(array, dtype, ALL)
        assert statistic.row("OpT", name, 0, 123456789, "input", 1, array, dtype, texts) == real
    assert len(rows) == 18


@given(hnp.arrays(np.float32, st.integers(1, 8), elements=st.sampled_from([1.0, -2.0, np.inf, -np.inf, np.nan])))
def test_the_sign_of_a_nan_is_that_of_a_plain_loop(array: Array) -> None:
    with np.errstate(invalid="ignore"):
        total = np.float64(0)
        for value in array.astype(np.float64):
            total = total + value
    (text,) = host_texts(array, dtypes.float32, ["avg"])
    if np.isnan(total) and not np.isnan(array).any():
        assert text == "-nan"
    elif not np.isnan(array).any():
        assert float(text) == pytest.approx(float(total / array.size), rel=1e-5)
    else:
        first = int(np.argmax(np.isnan(array)))
        both = np.isposinf(array[:first]).any() and np.isneginf(array[:first]).any()
        assert text == ("-nan" if both else "nan")


def test_each_item_can_be_asked_for_alone() -> None:
    array = np.array([1.5, -2.0, 0.0], np.float32)
    whole = dict(zip(ALL, host_texts(array, dtypes.float32, ALL), strict=True))
    for item in ALL:
        assert host_texts(array, dtypes.float32, [item]) == [whole[item]]
    assert set(NEWEST_ITEMS.values()) == set(ALL)


class TestDevice:
    """Rounded to the result's dtype, printed as a scalar tensor prints itself; null for what a kernel cannot take."""

    ITEMS = ("max", "min", "avg", "l2norm")

    def texts(self, values: Any, dtype: dtypes.DType, *, high: bool = True) -> list[str]:
        return device_texts(np.array(values).astype(dtype.numpy), dtype, self.ITEMS, high=high)

    def test_floats(self) -> None:
        third = [1 / 3, 1 / 3, 1 / 3]
        assert self.texts(third, dtypes.float32) == ["0.333333", "0.333333", "0.333333", "0.57735"]
        mean = np.float16(1 / 3)
        norm = np.sqrt(3) * float(mean)
        assert self.texts(third, dtypes.float16) == [f"{mean:g}", f"{mean:g}", f"{mean:g}", f"{norm:g}"]
        low = self.texts([1.0, 2.0, 2.0], dtypes.float16, high=False)
        assert low == ["2", "1", f"{np.float16(5 / 3):g}", "3"]
        low = self.texts([1.0, 2.0, 2.0], dtypes.bfloat16, high=False)
        assert low[2] == f"{float(ml_dtypes.bfloat16(5 / 3)):g}"
        assert self.texts([60000.0] * 8, dtypes.float16, high=False)[3] == "inf"
        assert self.texts([60000.0] * 8, dtypes.float16)[3] == f"{np.sqrt(8) * np.float16(60000):g}"

    def test_integers_are_whole(self) -> None:
        assert self.texts([2**62 + 1, -3], dtypes.int64) == [str(2**62 + 1), "-3", f"{np.float32(2**61):g}", "null"]
        assert self.texts([7, 8], dtypes.int32, high=False) == ["8", "7", "7", "null"]

    def test_bools(self) -> None:
        assert self.texts([True, False], dtypes.bool_) == ["True", "False", "null", "null"]
        assert self.texts([True, False], dtypes.bool_, high=False) == ["null"] * 4

    def test_other_dtypes(self) -> None:
        assert self.texts([1, 2], dtypes.uint16) == ["null"] * 4
        assert self.texts([1.0], dtypes.float64) == ["1", "1", "1", "null"]

    def test_special_values(self) -> None:
        assert self.texts([np.inf, -np.inf], dtypes.float32) == ["inf", "-inf", "nan", "inf"]
        assert self.texts([np.nan, 1.0], dtypes.float32) == ["nan"] * 4


def configured(path: Path, *items: str, **e2e: Any) -> DumpConfig:
    common = {"saved_data": "statistic", "statistic_category": list(items)}
    return parse(config_text(path, e2e, **common), backend="ascend", environ={})


def add(rows: statistic.StatisticRows, *values: float) -> None:
    rows.add("Add", "Default/Add-op0", 0, 1, "output", 0, np.array(values, np.float32), dtypes.float32)


class TestFile:
    """The file on disk."""

    def test_modes_and_lines(self, tmp_path: Path) -> None:
        rows = statistic.StatisticRows(configured(tmp_path, "max", "min"))
        file = tmp_path / "d" / "statistic.csv"
        with Tree(str(tmp_path)).opened("d") as directory:
            assert directory is not None
            assert not rows.write(directory)
            assert not file.exists()
            add(rows, 1, 2)
            assert rows.write(directory)
            assert stat.S_IMODE(file.stat().st_mode) == 0o400
            add(rows, 3)
            add(rows, 4, 4)
            rows.write(directory)
            assert stat.S_IMODE(file.stat().st_mode) == 0o600
        assert file.read_text().splitlines() == [
            "Op Type,Op Name,Task ID,Stream ID,Timestamp,IO,Slot,Data Size,Data Type,Shape,Max Value,Min Value",
            'Add,Default/Add-op0,0,0,1,output,0,8,float32,"[2]",2,1,',
            'Add,Default/Add-op0,0,0,1,output,0,4,float32,"[1]",3,3,',
            'Add,Default/Add-op0,0,0,1,output,0,8,float32,"[2]",4,4,',
        ]

    def test_two_rows_at_once_end_like_two_rows(self, tmp_path: Path) -> None:
        rows = statistic.StatisticRows(configured(tmp_path))
        with Tree(str(tmp_path)).opened("d") as directory:
            assert directory is not None
            add(rows, 1)
            add(rows, 2)
            rows.write(directory)
        assert stat.S_IMODE((tmp_path / "d" / "statistic.csv").stat().st_mode) == 0o600
        assert (tmp_path / "d" / "statistic.csv").read_text().count("Op Type") == 1

    def test_a_file_of_other_columns_goes_on_under_its_own_header(self, tmp_path: Path) -> None:
        for items in (("max",), ("max",), ("avg", "md5"), ("avg", "md5")):
            rows = statistic.StatisticRows(configured(tmp_path, *items))
            with Tree(str(tmp_path)).opened("d") as directory:
                assert directory is not None
                add(rows, 1)
                rows.write(directory)
        lines = (tmp_path / "d" / "statistic.csv").read_text().splitlines()
        assert [line.startswith("Op Type") for line in lines] == [True, False, False, True, False, True, False]

    def test_complex_tensors_have_no_row(self, tmp_path: Path) -> None:
        rows = statistic.StatisticRows(configured(tmp_path))
        assert not rows.add("Add", "A", 0, 1, "output", 0, np.ones(2, np.complex64), dtypes.complex64)

    def test_device_rows(self, tmp_path: Path) -> None:
        config = configured(tmp_path, "l2norm", "max", "count", stat_calc_mode="device")
        rows = statistic.StatisticRows(config)
        with Tree(str(tmp_path)).opened("d") as directory:
            assert directory is not None
            rows.add("Add", "A", 3, 1, "input", 0, np.array([3, 4], np.int32), dtypes.int32)
            rows.write(directory)
        lines = (tmp_path / "d" / "statistic.csv").read_text().splitlines()
        assert lines[0].endswith("Shape,L2Norm Value,Max Value")
        assert lines[1] == 'Add,A,0,3,1,input,0,8,int32,"[2]",null,4,'


class TestPrinted:
    """A row against what is known of another tensor."""

    ARRAY = np.array([1.0, 2.0, 4.0], np.float32)

    def printed(self, array: Array, *items: str) -> PrintedStatistics:
        return PrintedStatistics(dict(zip(items, host_texts(array, dtypes.float32, items), strict=True)), "Float32")

    def test_the_same_tensor_shows_no_change(self) -> None:
        row = self.printed(self.ARRAY, *ALL)
        for other in (self.ARRAY, describe(self.ARRAY, "Float32"), row):
            assert row.changes(other) == ""

    def test_changes_are_named(self) -> None:
        row = self.printed(self.ARRAY, "max", "count", "l2norm")
        other = np.array([1.0, 2.0, 5.0], np.float32)
        assert row.changes(other) == "max 4 -> 5, l2norm 4.58258 -> 5.47723"
        assert row.changes(describe(other, "Float32")) == "max 4 -> 5, l2norm 4.58258 -> 5.47723"
        assert row.changes(self.printed(other, "max", "min")) == "max 4 -> 5"

    def test_what_one_side_does_not_know_is_no_change(self) -> None:
        row = PrintedStatistics({"max": "null", "avg": "-nan"}, "Float32")
        assert row.changes(PrintedStatistics({"max": "3", "avg": "nan"}, "Float32")) == ""
