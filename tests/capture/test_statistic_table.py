"""Files of statistics read by columns: the result of the careful reader, or nothing."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.capture import iteration, read_tree
from harness.capture.statistic_rows import BadRow, Row, rows
from harness.capture.statistic_table import RowRecord, StatisticTable, table
from harness.compare import check
from harness.compare.table import row as shown
from harness.records import Record
from harness.stats.printed import ATTRIBUTES, COLUMNS
from tests.examples import examples

HOST = Path(__file__).parents[1] / "data" / "statistic_host" / "statistic.csv"
BASE = "Op Type,Op Name,Task ID,Stream ID,Timestamp,IO,Slot,Data Size,Data Type,Shape"


def by_columns(data: bytes) -> list[Row | BadRow] | None:
    """What ``table`` gives, as ``rows`` gives it."""
    found = table(data)
    if found is None:
        return None
    columns = (
        found.op_types, found.op_names, found.tasks, found.streams, found.timestamps, found.ios, found.slots,
        found.dtypes, found.shapes,
    )  # fmt: skip
    return [
        Row(*cells, "DefaultFormat", found.statistics(at)) for at, cells in enumerate(zip(*columns, strict=True))
    ]  # fmt: skip


def test_the_real_writer_s_rows_are_read_by_columns() -> None:
    assert by_columns(HOST.read_bytes()) == list(rows(HOST.read_bytes()))


CELLS = {
    "type": ["MatMul", "op type", "", '"a,b"', " x", "é"],
    "name": ["Default/fc-op0", "a.b", 'a"b', '"a""b"'],
    "task": ["0", "7", "", "+1", "1_0", "٣", "-0", "9" * 21],
    "time": ["1", "17", "x", ""],
    "io": ["input", "Output", "sideways"],
    "dtype": ["float32", "Int4", "float99"],
    "shape": ["[3]", '"[2,3]"', '"(2,3)"', '"[]"', "[2;3]", '"[2,3]" ', '"[2,3]', "[]"],
    "item": ["1.5", "nan", "", "null", " 2", '"3"', "4,5"],
    "end": ["\n", "\n", "\r\n", ",\n", "\n\n", ",x\n", "\0\n"],
}


@st.composite
def files(draw: Any) -> bytes:
    """Files with at most one odd cell in a line, and often none."""
    items = draw(st.lists(st.sampled_from(list(COLUMNS.values())), min_size=1, max_size=3))
    text = ",".join([BASE, *items]) + draw(st.sampled_from(["\n", ",\n", "\r\n"]))
    for _ in range(draw(st.integers(1, 3))):
        names = ["type", "name", "task", "task", "time", "io", "task", "task", "dtype", "shape", *["item"] * len(items)]
        odd = draw(st.one_of(st.none(), st.integers(0, len(names))))
        cells = [draw(st.sampled_from(CELLS[name])) if at == odd else CELLS[name][0] for at, name in enumerate(names)]
        text += ",".join(cells) + (draw(st.sampled_from(CELLS["end"])) if odd == len(names) else "\n")
    if draw(st.integers(0, 9)) == 0:
        text += ",".join([BASE, *items])
    return text.encode()


@given(files())
def test_columns_are_the_rows_or_left_to_them(data: bytes) -> None:
    found = by_columns(data)
    assert found is None or found == list(rows(data))


@given(st.text(st.sampled_from('a1,"\n\r []().é')))
def test_any_text_below_a_header(text: str) -> None:
    data = f"{BASE},MD5\n{text}".encode()
    found = by_columns(data)
    assert found is None or found == list(rows(data))


def test_plain_files_of_every_choice_of_items_are_read_by_columns() -> None:
    for items in (["MD5"], ["Max Value", "Count"], list(COLUMNS.values())):
        for end in (",", ""):
            line = ",".join(["Add", "x", "0", "0", "1", "input", "0", "4", "float32", '"[1]"', *["2"] * len(items)])
            found = table(f"{','.join([BASE, *items])}\n{line}{end}\n".encode())
            assert found is not None
            assert list(found.statistics(0).values()) == ["2"] * len(items)


# -- trees -------------------------------------------------------------------------------------------------------------
ITEMS = list(ATTRIBUTES)


def tree(path: Path, lines: list[str], items: list[str] = ITEMS) -> Path:
    directory = path / "rank_0" / "Net" / "0" / "0"
    directory.mkdir(parents=True, exist_ok=True)
    header = ",".join([BASE, *(COLUMNS[item] for item in items)])
    (directory / "statistic.csv").write_text("\n".join([header, *lines, ""]))
    return path


def line(
    stamp: int, name: str = "Default/a-op0", io: str = "output", slot: int = 0, dtype: str = "float32", **changes: str
) -> str:
    texts = {"max": "2", "min": "-1", "avg": "0.5", "l2norm": "3", "count": "6", "negative zero count": "1",
             "positive zero count": "5", "nan count": "0", "negative inf count": "0", "positive inf count": "0",
             "zero count": "0"} | changes  # fmt: skip
    first = f'MatMul,{name},0,0,{stamp},{io},{slot},24,{dtype},"[2,3]"'
    return ",".join([first, *(texts[item] for item in ITEMS)])


def everything(record: Record) -> tuple[Any, ...]:
    return (
        record.key, record.op_type, record.dtype, record.shape, record.format, record.values, record.source,
        record.digest, record.row(), record.extra,
    )  # fmt: skip


LINES = st.lists(
    st.builds(
        line,
        st.integers(1, 4),
        st.sampled_from(["Default/a-op0", "Default/b-op1"]),
        st.sampled_from(["input", "output"]),
        st.integers(0, 1),
        dtype=st.sampled_from(["float32", "int32"]),
        max=st.sampled_from(["2", "2.00001", "nan", "null", ""]),
        min=st.sampled_from(["-1", "null"]),
        count=st.sampled_from(["6", "7"]),
    ),
    min_size=1,
    max_size=6,
)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("trees")


@examples(40, 40)
@given(one=LINES, other=LINES)
def test_records_and_verdicts_are_those_of_the_rows(place: Path, one: list[str], other: list[str]) -> None:
    paths = tree(place / "one", one), tree(place / "other", other)
    seen = []
    for read in (table, lambda data: None):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(iteration, "columns", read)
            sides = [list(read_tree(path).records()) for path in paths]
            trees = read_tree(paths[0]), read_tree(paths[1])
            comparisons = [check(*given, tolerance) for given in (sides, trees) for tolerance in (None, "default", 1.0)]
            whole = trees[1].as_rows()
            assert (whole is not None) == (read is table)
            if whole is not None:
                assert repr(list(map(everything, whole.records()))) == repr(list(map(everything, sides[1])))
            verdicts = [[shown(slot) for slot in each.slots] for each in comparisons]
            seen.append(
                (
                    [list(map(everything, side)) for side in sides],
                    verdicts,
                    [(each.order, each.renames, sorted(each.digests.items())) for each in comparisons],
                )
            )
            kinds = {type(record) for side in sides for record in side}
            assert kinds == ({RowRecord} if read is table else {Record})
    assert repr(seen[0]) == repr(seen[1])


def test_a_record_with_something_replaced(tmp_path: Path) -> None:
    (record,) = read_tree(tree(tmp_path, [line(1)])).records()
    other = replace(record, key=record.key._replace(graph=5))
    assert (other.digest, other.extra, other.key.graph) == (record.digest, record.extra, 5)
    bare = replace(record, digest=None)
    assert bare.digest is None
    assert record.agrees(other)
    assert bare.agrees(record) is None


def test_a_table_beside_files_is_read_row_by_row(tmp_path: Path) -> None:
    path = tree(tmp_path, [line(1)])
    name = "MatMul.Default_b-op1.0.0.2.output.0.DefaultFormat.Float32.npy"
    (path / "rank_0" / "Net" / "0" / "0" / name).write_bytes(b"")
    capture = read_tree(path)
    assert [type(record) for record in capture.records()] == [Record]
    assert isinstance(table((path / "rank_0/Net/0/0/statistic.csv").read_bytes()), StatisticTable)
