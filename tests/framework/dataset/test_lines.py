"""Lines and fields of text files: what was written comes back, whatever it is.

``test_facts.py`` has the rows of MindSpore 2.10.0.
"""

from __future__ import annotations

import csv
import io
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import StateError
from harness.framework import dataset as ds

texts = st.text(st.characters(codec="utf-8"), max_size=6)
rows = st.lists(st.lists(texts, min_size=2, max_size=2), min_size=1, max_size=4)


def read(made: Any) -> list[tuple[str, ...]]:
    """The texts of an epoch, row by row."""
    return [tuple(map(str, row)) for row in made.create_tuple_iterator(num_epochs=1, output_numpy=True)]


# numpy drops zeros at the end of a text, in MindSpore too.
def kept(text: str) -> str:
    return text.rstrip("\0")


@given(written=rows, delimiter=st.sampled_from(",;| \t"), end=st.sampled_from(["\n", "\r\n", "\r"]))
def test_fields_come_back(
    tmp_path_factory: pytest.TempPathFactory, written: list[list[str]], delimiter: str, end: str
) -> None:
    text = io.StringIO()
    csv.writer(text, delimiter=delimiter, quoting=csv.QUOTE_ALL, lineterminator=end).writerows(written)
    path = tmp_path_factory.mktemp("csv") / "a.csv"
    path.write_bytes(text.getvalue().encode())
    found = read(ds.CSVDataset(str(path), delimiter, column_names=["a", "b"], shuffle=False))
    assert found == [tuple(map(kept, row)) for row in written]


@given(lines=st.lists(texts.filter(lambda text: "\n" not in text), min_size=1, max_size=5), ended=st.booleans())
def test_lines_come_back(tmp_path_factory: pytest.TempPathFactory, lines: list[str], ended: bool) -> None:
    path = tmp_path_factory.mktemp("text") / "a.txt"
    path.write_bytes(("\n".join(lines) + "\n" * ended).encode())
    made = ds.TextFileDataset(str(path), shuffle=False)
    if any(lines):
        assert read(made) == [(kept(line),) for line in lines if line]
    else:
        with pytest.raises(StateError, match="there is no row"):
            read(made)


@given(
    content=st.lists(st.sampled_from([b"a", b"1", b",", b'"', b"\n", b"\r", b"\xff", b" "]), max_size=12).map(b"".join)
)
def test_any_bytes_give_rows_or_one_error(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    path = tmp_path_factory.mktemp("any") / "a"
    path.write_bytes(content)
    for made in (
        ds.TextFileDataset(str(path), shuffle=False),
        ds.CSVDataset(str(path), shuffle=False),
        ds.CSVDataset(str(path), column_names=["a", "b"], column_defaults=[1, ""], shuffle=False),
    ):
        with suppress(StateError):
            assert len(read(made)) <= len(content)


def test_a_file_that_is_gone(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("1\n")
    made = ds.TextFileDataset(str(tmp_path / "a"), shuffle=False)
    (tmp_path / "a").unlink()
    with pytest.raises(StateError, match=r"cannot read .*No such file"):
        read(made)
