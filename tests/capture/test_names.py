"""Parsing file names of this and of other generations."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.capture.names import NameKinds, parse
from harness.dump.names import file_name, mangle, row_text
from tests.real_trees import NAMES, extract

TEXT = st.text(st.characters(blacklist_categories=("Cs",)), min_size=1, max_size=30)
FIELDS = {
    "op_type": st.sampled_from(("MatMul", "Parameter", "Conv2DBackpropFilter")),
    "name": TEXT,
    "timestamp": st.integers(10**15, 10**16 - 1),
    "io": st.sampled_from(("input", "output")),
    "slot": st.integers(0, 10**6),
    "dtype": st.sampled_from(("Float32", "BFloat16", "float32")),
}


@given(**FIELDS)
def test_what_is_written_is_taken_apart(
    op_type: str, name: str, timestamp: int, io: str, slot: int, dtype: str
) -> None:
    written = file_name(op_type, name, timestamp, io, slot, dtype)
    found = parse(written)
    kinds = NameKinds()
    for _ in range(2):
        known = kinds.find(written)
        assert known is not None
        assert kinds.name(*known) == (found, written)
    assert len(kinds.names) == 1
    assert found == (op_type, mangle(name), 0, 0, timestamp, io, slot, "DefaultFormat", dtype)


@given(**FIELDS)
def test_unmangled_names_of_mapping_rows_are_kept(
    op_type: str, name: str, timestamp: int, io: str, slot: int, dtype: str
) -> None:
    found = parse(file_name(op_type, name, timestamp, io, slot, dtype, mangled=False))
    assert found is not None
    assert found == (op_type, row_text(name), 0, 0, timestamp, io, slot, "DefaultFormat", dtype)


@given(**FIELDS)
def test_older_names_have_no_dtype(op_type: str, name: str, timestamp: int, io: str, slot: int, dtype: str) -> None:
    whole = file_name(op_type, name, timestamp, io, slot, dtype)
    older = whole.removesuffix(f".{dtype}.npy") + ".npy"
    found = parse(older)
    assert NameKinds().find(older) is None
    assert found is not None
    assert (found.op_type, found.op_name, found.timestamp) == (op_type, mangle(name), timestamp)
    assert (found.io, found.slot, found.format, found.dtype) == (io, slot, "DefaultFormat", None)


@pytest.mark.parametrize("time", ["0", "00", "007", "+1", "1_0", " 1", "\u0661", "", "9" * 18, "9" * 19, "-1"])
@pytest.mark.parametrize("slot", ["0", "01", str(2**31)])
def test_a_known_kind_is_put_together_as_it_was_written(time: str, slot: str) -> None:
    written = f"Add.a.0.00.{time}.output.{slot}.DefaultFormat.Float32.npy"
    kinds = NameKinds()
    kinds.find(written.replace(f".{time}.output", ".5.output"))
    known = kinds.find(written)
    if known is not None:
        assert kinds.name(*known) == (parse(written), written)
    assert (known is not None) == (time in ("0", "9" * 18) and slot != str(2**31))


def test_no_more_kinds_are_kept_than_a_few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(NameKinds, "MOST", 2)
    kinds = NameKinds()
    names = [f"Add.{name}.0.0.7.output.0.DefaultFormat.Float32.npy" for name in "abcab"]
    assert [kinds.find(name) for name in names] == [(0, 7), (1, 7), None, (0, 7), (1, 7)]


def test_device_formats_and_streams() -> None:
    found = parse("Conv2D.Default_conv-Conv2d_Conv2D-op12.0.7.1795163814895615.output.0.NC1HWC0.float16.npy")
    assert found is not None
    assert (found.stream, found.format, found.dtype) == (7, "NC1HWC0", "float16")


@pytest.mark.parametrize(
    "name",
    [
        "", "npy", "mapping.csv", "123.npy", "statistic.csv", "Add.a.0.0.1.input.0.DefaultFormat.Float32",
        "Add.a.0.0.1.inout.0.DefaultFormat.Float32.npy", "Add.a.0.0.1.input.x.DefaultFormat.Float32.npy",
        "Add.a.0.x.1.input.0.DefaultFormat.Float32.npy", "Add.0.0.1.input.0.DefaultFormat.Float32.npy",
        "a.0.0.1.input.0.DefaultFormat.npy", ".input.0.f.npy", "......input.0..npy",
    ],
)  # fmt: skip
def test_other_names_are_none(name: str) -> None:
    assert parse(name) is None


@given(st.text(st.sampled_from("ab.0/input"), max_size=40).map(lambda text: text + ".npy"))
def test_any_name_is_taken(name: str) -> None:
    found = parse(name)
    assert found is None or found.io in ("input", "output")


@pytest.mark.parametrize("tree", NAMES)
def test_every_name_of_a_real_tree(tree: str, tmp_path: Path) -> None:
    for path in extract(tree, tmp_path).rglob("*.npy"):
        found = parse(path.name)
        if found is None:
            assert path.stem.isdecimal()
            continue
        assert found.dtype is not None
        fields = found.op_type, found.op_name, found.timestamp, found.io, found.slot, found.dtype
        assert file_name(*fields) == path.name
