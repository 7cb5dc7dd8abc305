"""Operators, edges, attributes, results and gaps in a store: what comes out is what went in, or an error."""

from __future__ import annotations

import random
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness import dtypes
from harness.errors import StoreError
from harness.recording.described import Described, Edge
from harness.records import Gap, SlotKey
from harness.store import GoldenStore, RunData, RunId, rewrite, update
from harness.store.layout.contents import encoded, read_contents
from harness.store.layout.schema import TABLES
from harness.store.layout.tables import Declared, declared_of, tables_of
from harness.store.layout.values import Withheld, identity, text_of, value_of
from harness.store.verify import verify
from tests.store.helpers import CPU, declared, network, record, run_data

DATA = Path(__file__).with_name("data")
texts = st.text(max_size=6) | st.sampled_from(["", "$dtype", "a/b", "é", "\0", "\udc80", "-", "Float32(2)"])
arrays = st.builds(
    lambda kind, shape: (np.arange(np.prod(shape, dtype=int)).reshape(shape) % 3).astype(kind),
    st.sampled_from(["<f4", "<f8", "<i8", "u1", "?", "<f2", "<c8"]),
    st.lists(st.integers(0, 3), max_size=3).map(tuple),
)
leaves = (
    st.none() | st.booleans() | st.integers() | st.floats() | texts | st.binary(max_size=4) | arrays
    | st.complex_numbers(allow_nan=False) | st.sampled_from([dtypes.float32, dtypes.bfloat16, np.float32(0.1)])
)  # fmt: skip
values = st.recursive(
    leaves,
    lambda inner: st.lists(inner, max_size=3).map(tuple) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)
small = st.integers(0, 5)
edges = (
    st.tuples(st.sampled_from(["result", "parameter", "argument"]), texts, small).map(lambda given: Edge(*given))
    | st.just(Edge("unknown"))
    | values.map(lambda value: Edge("constant", value=value))
)
outputs = st.none() | st.tuples(st.sampled_from(["Float32", "Int8", "Odd-1"]), st.lists(small, max_size=3).map(tuple))
described = st.builds(
    Described,
    name=texts, type=texts, scope=texts, graph=st.sampled_from([0, 1, 2**32 - 1]), rank=small,
    attributes=st.dictionaries(texts, values, max_size=3), inputs=st.lists(edges, max_size=3).map(tuple),
    names=st.just(()), outputs=st.lists(outputs, max_size=3).map(tuple),
    mutates=st.none() | st.lists(small, max_size=3).map(tuple), aliases=st.dictionaries(small, small, max_size=2),
    parts=st.lists(texts, max_size=2).map(tuple), phase=texts, source=st.none() | texts.filter(bool),
)  # fmt: skip
gaps = st.builds(
    Gap,
    st.builds(SlotKey, small, small, small, texts, small, st.sampled_from(["input", "output"]), small),
    texts,
    texts,
)
everything = st.builds(
    Declared,
    st.lists(described, max_size=4, unique_by=lambda each: (each.rank, each.graph, each.name)).map(tuple),
    st.dictionaries(st.tuples(small, small), st.lists(edges, min_size=1, max_size=3).map(tuple), max_size=2),
    st.lists(gaps, max_size=3, unique_by=lambda each: each.key).map(tuple),
)


def raw(found: Declared) -> dict[str, bytes]:
    return {name: table.tobytes() for name, table in tables_of(found).items()}


def plain(value: Any) -> Any:
    """A value that can be compared: arrays and NaN by their texts."""
    return text_of(value)


def shown(found: Declared) -> Any:
    operators = [
        (
            replace(each, attributes={}, inputs=(), names=()), plain(dict(each.attributes)),
            [(edge[:3], plain(edge.value)) for edge in each.inputs],
        )
        for each in found.operators
    ]  # fmt: skip
    results = {place: [(edge[:3], plain(edge.value)) for edge in each] for place, each in found.results.items()}
    return operators, results, list(found.gaps)


@given(everything)
def test_what_comes_out_is_what_went_in(found: Declared) -> None:
    tables = raw(found)
    again = declared_of(tables)
    assert shown(again) == shown(found)
    assert raw(again) == tables
    assert identity(again.operators) == identity(found.operators)


@given(values)
def test_a_value_has_one_text(value: Any) -> None:
    text = text_of(value)
    assert text_of(value_of(text)) == text


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (1, 1.0), (1, True), (0, False), (0.0, -0.0), ("1", 1), (b"a", "a"), (None, "None"), ((), None), ((1,), 1),
        (float("nan"), float("inf")), (np.float32(1), 1.0), (np.float32([1]), np.float64([1])), ({"a": 1}, (("a", 1),)),
        (np.float32([0.0]), np.float32([-0.0])), (np.zeros((1, 2)), np.zeros((2, 1))), (dtypes.int8, "Int8"),
        (np.zeros(5000), np.ones(5000)), ({"$dtype": "Int8"}, dtypes.int8), (1 + 0j, 1.0), (0.1, 0.1 + 2**-56),
    ],
)  # fmt: skip
def test_different_values_have_different_texts(one: Any, other: Any) -> None:
    assert text_of(one) != text_of(other)


def test_a_large_array_is_told_by_its_digest() -> None:
    found = value_of(text_of({"table": np.arange(2000.0)}))["table"]
    assert isinstance(found, Withheld)
    assert (found.dtype, found.shape) == ("Float64", (2000,))


@pytest.mark.parametrize("value", [object(), [object()], {"a": {1, 2}}, {1: 2}, np.array([object()])])
def test_what_cannot_be_stored_is_named(value: Any, tmp_path: Path) -> None:
    operator = replace(declared().operators[0], attributes={"odd": value})
    with pytest.raises(StoreError, match=r"run cpu/tensor: its operators cannot be stored|attribute 'odd'"):
        update(tmp_path / "x.h5", "net", {CPU: run_data(declared=Declared((operator,)))})


@pytest.mark.parametrize(
    "text",
    [
        "", "[", "NaN", "{}", '{"$dtype":"Odd"}', '{"$dtype":1}', '{"a":1}', '{"$array":["Float32",[2],"=AAAA"]}',
        '{"$array":["Float32",[-1],"="]}', '{"$array":["Float32",[99999999999],"=AAAA"]}',
        '{"$dict":[["a",1],["a",2]]}',
        '{"$float":"1"}', '{"$number":["Float32",[1],"=AAAAAA=="]}', "[" * 40 + "]" * 40, '{"$bytes":"?"}', "Infinity",
        '{"$array":["Float32",[2],"ff"]}', '{"$complex":["x","y"]}', '{"$dict":[[1,1]]}',
        '{"$array":["float32",[],"=AAAAAA=="]}',
    ],
)  # fmt: skip
def test_a_damaged_value_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        value_of(text)


@pytest.mark.parametrize("seed", range(40))
def test_damaged_tables_are_read_or_refused(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(20):
        tables = {name: bytearray(each) for name, each in raw(declared()).items()}
        name = rng.choice(list(tables))
        if rng.randrange(8) == 0:
            del tables[rng.choice(list(tables))]
        elif rng.randrange(4) == 0:
            del tables[name][rng.randrange(len(tables[name])) :]
        else:
            for _ in range(rng.choice((1, 2, 8))):
                tables[name][rng.randrange(len(tables[name]))] = rng.choice((0, 1, 127, 128, 255, rng.randrange(256)))
        try:
            found = declared_of({name: bytes(each) for name, each in tables.items()})
        except StoreError:
            continue
        for each in found.operators:
            assert all(0 <= edge.slot < 2**16 for edge in each.inputs)
            assert each.rank >= 0


def test_a_store_keeps_them(tmp_path: Path) -> None:
    path = tmp_path / "x.h5"
    assert update(path, "net", {CPU: run_data()}).changed
    with GoldenStore.open(path) as store:
        run = store.run(*CPU)
        assert shown(run.declared) == shown(declared())
        assert list(run.operators) == [(0, 0, each.name) for each in declared().operators]
        assert [gap.why for gap in run.gaps] == ["it lies elsewhere"]
        assert run.identity == identity(declared().operators)
        assert store.verify() == []
    assert not update(path, "net", {CPU: run_data()}).changed
    assert verify(tmp_path).problems  # no manifest
    with h5py.File(path) as file:
        group = file["runs/cpu/tensor/described"]
        assert set(group) == set(TABLES)
        assert group["edges"]["kind"][2] == 3


def test_a_changed_attribute_changes_the_golden(tmp_path: Path) -> None:
    path = tmp_path / "x.h5"
    update(path, "net", {CPU: run_data()})
    before = declared()
    operator = replace(before.operators[0], attributes={**before.operators[0].attributes, "scale": 0.75})
    other = replace(before, operators=(operator, *before.operators[1:]))
    assert update(path, "net", {CPU: run_data(declared=other)}).changed
    with GoldenStore.open(path) as store:
        assert store.run(*CPU).operators[0, 0, operator.name].attributes["scale"] == 0.75


def test_runs_share_equal_ones(tmp_path: Path) -> None:
    one, two = tmp_path / "one.h5", tmp_path / "two.h5"
    update(one, "net", {CPU: run_data()})
    update(two, "net", {CPU: run_data(), CPU._replace(mode="other"): run_data()})
    assert two.stat().st_size - one.stat().st_size < 2000


def test_a_run_that_declares_nothing_has_none(tmp_path: Path) -> None:
    path = tmp_path / "x.h5"
    update(path, "net", {CPU: run_data(declared=None)})
    with GoldenStore.open(path) as store:
        run = store.run(*CPU)
        assert (run.operators, run.gaps, run.identity, dict(run.tables())) == ({}, (), "", {})
        assert store.verify() == []


def test_a_run_is_copied_with_them(tmp_path: Path) -> None:
    one, two = tmp_path / "one.h5", tmp_path / "two.h5"
    update(one, "net", {CPU: run_data()})
    with GoldenStore.open(one) as store:
        update(two, "net", {CPU: store.run(*CPU)})
    assert one.read_bytes() == two.read_bytes()


def test_a_function_is_asked_after_the_records(tmp_path: Path) -> None:
    read: list[str] = []

    def records() -> Any:
        yield from network()
        read.append("records")

    def late() -> Declared:
        assert read == ["records"]
        return declared()

    update(tmp_path / "x.h5", "net", {CPU: run_data(declared=late).__class__(records(), declared=late)})
    with GoldenStore.open(tmp_path / "x.h5") as store:
        assert len(store.run(*CPU).operators) == 4


def test_two_operators_of_one_name_are_refused(tmp_path: Path) -> None:
    twice = Declared((declared().operators[0],) * 2)
    with pytest.raises(StoreError, match="two operators are described as Default/layer0-Dense/MatMul-op0"):
        update(tmp_path / "x.h5", "net", {CPU: run_data(declared=twice)})


@pytest.mark.parametrize("kept", [True, False])
def test_a_large_constant_has_its_values_where_the_store_has_them(tmp_path: Path, kept: bool) -> None:
    table = np.arange(5000, dtype=np.float32)
    operator = replace(declared().operators[0], inputs=(Edge("constant", value=table),), names=())
    records = [record(table if kept else table[:5], operator.name, "input")]
    update(tmp_path / "x.h5", "net", {CPU: RunData(records, declared=Declared((operator,)))})
    with GoldenStore.open(tmp_path / "x.h5") as store:
        (edge,) = store.run(*CPU).operators[0, 0, operator.name].inputs
        assert np.array_equal(edge.value, table) if kept else isinstance(edge.value, Withheld)


def test_another_identity_is_found(tmp_path: Path) -> None:
    path = tmp_path / "x.h5"
    update(path, "net", {CPU: run_data()})
    whole = path.read_bytes()
    with open(path, "rb") as file:
        contents = read_contents(whole[:512], file.fileno(), len(whole))
    entry = contents.runs[CPU]
    forged = replace(contents, runs={CPU: replace(entry, identity="0" * 32)})
    from harness.store.layout.contents import user_block

    stored = encoded(forged)
    head = user_block(len(whole) + len(stored.raw), len(whole), stored)
    path.write_bytes(head + whole[512:] + bytes(stored.raw))
    with GoldenStore.open(path) as store:
        assert any("(identity)" in each for each in store.verify())


def test_schema_2_is_read_and_brought_up_to_date(tmp_path: Path) -> None:
    path = tmp_path / "x.h5"
    shutil.copy(DATA / "schema2.h5", path)
    with GoldenStore.open(path) as store:
        assert store.schema == 2
        before = {run: [(each.key, each.digest) for each in store.run(*run).records()] for run in store.runs()}
        assert all(store.run(*run).operators == {} for run in store.runs())
        sums = {run: store.run(*run).checksum for run in store.runs()}
        assert store.verify() == []
    assert rewrite(path).changed
    with GoldenStore.open(path) as store:
        assert store.schema == 3
        assert {run: [(each.key, each.digest) for each in store.run(*run).records()] for run in store.runs()} == before
        assert {run: store.run(*run).checksum for run in store.runs()} == sums
    assert not rewrite(path).changed


@pytest.mark.parametrize("head", [b"\x89HDF\r\n\x1a\n" + bytes(600)])
def test_schema_1_is_read_no_more(tmp_path: Path, head: bytes) -> None:
    path = tmp_path / "x.h5"
    path.write_bytes(head)
    with pytest.raises(StoreError, match="those of schema 1 are no longer read"):
        GoldenStore.open(path)
    with pytest.raises(StoreError, match="those of schema 1 are no longer read"):
        update(path, "net", {RunId("cpu", "tensor"): run_data()})
