"""File names are as measured, and their parts can be read back."""

from __future__ import annotations

import itertools
import json

from hypothesis import given
from hypothesis import strategies as st

from harness.dump.names import MAX_NAME_BYTES, PARAMETER, Clock, ambiguous, file_name, mangle, row_text
from tests.dump.build import DATA, NPY

REAL = json.loads((DATA / "real_names.json").read_text())


def stamp_of(file: str) -> int:
    return int(file.split(".")[-6])


def test_parameters_of_a_real_net() -> None:
    names, files = REAL["parameters"]
    pairs = zip(names, files, strict=True)
    assert [file_name(PARAMETER, name, stamp_of(file), "output", 0, "Float32") for name, file in pairs] == files


def test_operators_of_a_real_net() -> None:
    names, files = REAL["operators"]
    made = [
        file_name(n.rpartition("/")[2].partition("-op")[0], n, stamp_of(f), "output", 0, "Float32")
        for n, f in zip(names, files, strict=True)
    ]
    assert made == files


def test_real_rows_of_a_mapping_hold_names_that_are_too_long() -> None:
    for row in REAL["mapping"]:
        number, _, original = row.partition(",")
        assert number.removesuffix(".npy").isdecimal()
        assert len(original.encode()) > MAX_NAME_BYTES
        assert NPY.match(original)


@given(st.text(max_size=40))
def test_a_mangled_name_is_one_field_of_a_file_name(name: str) -> None:
    mangled = mangle(name)
    assert mangle(mangled) == mangled
    assert not set(mangled) & set("/\\. \n\0")
    assert len(mangled) == len(name)
    file = file_name("Add", name, 10**15, "input", 3, "Float32")
    assert file.split(".") == ["Add", mangled, "0", "0", str(10**15), "input", "3", "DefaultFormat", "Float32", "npy"]


@given(st.text(max_size=40))
def test_a_row_keeps_the_name_on_one_line(name: str) -> None:
    file = file_name(PARAMETER, name, 10**15, "output", 0, "Int8", mangled=False)
    assert "\n" not in file
    assert file == f"Parameter.{row_text(name)}.0.0.{10**15}.output.0.DefaultFormat.Int8.npy"


@given(st.sets(st.text("ab._/", min_size=1, max_size=4), max_size=8))
def test_names_that_stay_are_told_apart_by_their_mangled_form(names: set[str]) -> None:
    unclear = ambiguous(names)
    assert unclear <= names
    staying = names - unclear
    assert len({mangle(name) for name in staying}) == len(staying)
    for name in unclear:
        assert name != mangle(name)
        assert any(mangle(other) == mangle(name) for other in names - {name})


def test_the_clock_only_grows() -> None:
    clock = Clock()
    stamps = [clock.stamp() for _ in range(5000)]
    assert all(first < second for first, second in itertools.pairwise(stamps))
    assert all(len(str(stamp)) == 16 for stamp in stamps)
