"""Rows of statistic.csv of every generation, and files of another kind."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.capture.statistic_rows import BadRow, Row, rows, shape_of
from harness.capture.statistic_table import table
from harness.stats.printed import COLUMNS

HOST = Path(__file__).parents[1] / "data" / "statistic_host" / "statistic.csv"
BASE = "Op Type,Op Name,Task ID,Stream ID,Timestamp,IO,Slot,Data Size,Data Type,Shape"


def read(*lines: str) -> list[Row | BadRow]:
    return list(rows(("\n".join(lines) + "\n").encode()))


def test_the_real_writer_s_rows() -> None:
    lines = HOST.read_text().splitlines()
    found = list(rows(HOST.read_bytes()))
    assert len(found) == len(lines) - 1
    for row, line in zip(found, lines[1:], strict=True):
        assert isinstance(row, Row)
        cells = line.split(",")
        assert row.op_name == cells[1]
        # Of int4 there is no hash.
        assert list(row.statistics.values()) == [cell for cell in cells[-1 - len(COLUMNS) : -1] if cell]
        assert f'"[{",".join(map(str, row.shape))}]"' in line


def test_columns_of_other_generations() -> None:
    old = read(
        "Op Type,Op Name,Task ID,Stream ID,Timestamp,IO,Slot,Data Size,Data Type,Shape,Max Value,Min Value,Avg Value",
        'Add,Default_Add-op0,0,0,17,output,1,24,float32,"(2,3)",null,1.5,',
    )
    assert isinstance(old[0], Row)
    assert (old[0].shape, dict(old[0].statistics)) == ((2, 3), {"max": "null", "min": "1.5"})
    probe = read(
        "Op Type,Op Name,Task ID,Stream ID,Timestamp,Input/Output,Slot,Data Size,Data Type,Format,Shape,MD5 Value",
        'Conv2D,x,65535,7,17,Input,0,6,float16,NC1HWC0,"[3]",abc',
    )
    assert isinstance(probe[0], Row)
    assert (probe[0].io, probe[0].format, probe[0].task, probe[0].stream) == ("input", "NC1HWC0", 65535, 7)
    assert dict(probe[0].statistics) == {"md5": "abc"}


def test_a_header_may_come_again() -> None:
    found = read(
        f"{BASE},Max Value", 'Add,A,0,0,1,input,0,4,float32,"[1]",2,', f"{BASE},MD5,Count",
        'Add,A,0,0,2,input,0,4,float32,"[1]",ff,1,',
    )  # fmt: skip
    assert [dict(row.statistics) for row in found if isinstance(row, Row)] == [
        {"max": "2"},
        {"md5": "ff", "count": "1"},
    ]


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ('Add,A,0,0,x,input,0,4,float32,"[1]",2,', "no slot"),
        ('Add,A,0,0,1,sideways,0,4,float32,"[1]",2,', "sideways"),
        ('Add,A,0,0,1,input,-1,4,float32,"[1]",2,', "no slot"),
        ('Add,A,0,0,1,input,0,4,float99,"[1]",2,', "float99"),
        ('Add,A,0,0,1,input,0,4,float32,"[1;2]",2,', "shape"),
        ("Add,A,0,0,1", "5 cells"),
    ],
)
def test_a_bad_line_is_told_and_the_rest_is_read(line: str, why: str) -> None:
    bad, good = read(f"{BASE},Max Value", line, 'Add,A,0,0,1,input,0,4,float32,"[]",2,')
    assert isinstance(bad, BadRow)
    assert bad.line == 2
    assert why in bad.why
    assert isinstance(good, Row)
    assert good.shape == ()


def test_a_file_without_a_header() -> None:
    (bad,) = read('Add,A,0,0,1,input,0,4,float32,"[1]"', "more")
    assert isinstance(bad, BadRow)
    assert "no header" in bad.why


@given(st.binary(max_size=200) | st.text('Add,"[]0127\n\rOp Type', max_size=80).map(str.encode))
def test_any_bytes_give_rows_or_bad_rows(data: bytes) -> None:
    for row in rows(f"{BASE},Max Value\n".encode() + data):
        assert isinstance(row, (Row, BadRow))


LINE = 'Add,Default/Add-op0,0,0,1,output,0,24,float32,"[2,3]",9.53939,1,'


@pytest.mark.parametrize("whole", [LINE, LINE + "\n"])
def test_a_last_line_is_whole_with_its_comma(whole: str) -> None:
    head = f"{BASE},Max Value,Min Value\n{LINE}\n"
    assert [type(each) for each in rows((head + whole).encode())] == [Row, Row]


@pytest.mark.parametrize("cut", range(1, len(LINE)))
def test_a_cut_line_is_none(cut: int) -> None:
    """A cut number would be a number, too."""
    head = f"{BASE},Max Value,Min Value\n{LINE}\n"
    data = (head + LINE[:cut]).encode()
    found = list(rows(data))
    assert [type(each) for each in found] == [Row, BadRow]
    assert table(data) is None


@pytest.mark.parametrize("shape", ["[" + "1" * 60 + "x", "[" + "9" * 5000 + "]", "[" + "1," * 40 + "]", "[1 2 x]"])
def test_shapes_that_are_none(shape: str) -> None:
    assert shape_of(shape) is None


def test_slots_no_store_can_hold_are_no_rows() -> None:
    line = LINE.replace("output,0", f"output,{2**31}") + "\n"
    data = f"{BASE},Max Value,Min Value\n{line}".encode()
    assert table(data) is None
    assert [type(each) for each in rows(data)] == [BadRow]
