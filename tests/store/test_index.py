"""The table of slots."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from harness.errors import StoreError
from harness.records import Record
from harness.stats import Statistics, describe, digest
from harness.store.layout.index import Index, IndexBuilder, checked_index, describe_key
from harness.store.layout.schema import INDEX_DTYPE, MAX_NAME, NO_SOURCE
from tests.store.helpers import network, record


def built(records: list[Record]) -> Index:
    builder = IndexBuilder()
    for r in records:
        builder.claim(r.key)
        builder.add(r, digest(r.values, r.dtype), describe(r.values, r.dtype))
    return builder.build()


def test_round_trip_through_bytes() -> None:
    records = network()
    records[0].format, records[1].source = "FRACTAL_NZ", None
    made = built(records)
    rows = np.frombuffer(made.rows.tobytes(), INDEX_DTYPE)
    index = checked_index(rows, made.names)
    assert index.keys == [r.key for r in records]
    for row, r in enumerate(records):
        got = index.record(row)
        assert (got.key, got.op_type, got.dtype, got.shape) == (r.key, r.op_type, r.dtype, r.shape)
        assert (got.format, got.source) == (r.format, r.source)
        assert got.digest == digest(r.values, r.dtype)
        assert got.extra.statistics == describe(r.values, r.dtype)


def test_every_statistic_survives() -> None:
    array = np.array([math.inf, -math.inf, -0.0, 3], np.float64)
    index = built([record(array)])
    got, expected = index.statistics(0), describe(array, "Float64")
    assert repr(got) == repr(expected)
    assert isinstance(got, Statistics)
    assert {type(getattr(got, name)) for name in ("count", "nan_count")} == {int}


def test_repeated_strings_are_stored_once() -> None:
    index = built(network(operators=10))
    assert len(index.names) == len(set(index.names))


def test_a_slot_has_one_row() -> None:
    builder = IndexBuilder()
    key = record(0).key
    builder.claim(key)
    with pytest.raises(StoreError, match=r"two records .* iteration 0, Default/fc-Dense/MatMul-op0 output\.0"):
        builder.claim(key)


def test_labels_have_32_bits() -> None:
    keys = [record(0).key._replace(graph=graph, iteration=2**32 - 1 - graph) for graph in (0, 2**31 - 1, 2**32 - 1)]
    made = built([replace(record(0), key=key) for key in keys])
    assert checked_index(np.frombuffer(made.rows.tobytes(), INDEX_DTYPE), made.names).keys == keys


def test_numbers_that_do_not_fit_are_refused() -> None:
    for wrong in ({"iteration": 2**32}, {"io": "inout"}, {"slot": -(2**31) - 1}):
        with pytest.raises(StoreError, match="is not a slot"):
            IndexBuilder().claim(record(0).key._replace(**wrong))


@pytest.mark.parametrize("name", ["a\0b", "x" * (MAX_NAME + 1), "é" * MAX_NAME], ids=["nul", "long", "wide"])
def test_names_that_do_not_fit_are_refused(name: str) -> None:
    with pytest.raises(StoreError, match=r"longer than .* or has a NUL"):
        built([record(0, name)])


def test_rows_read_from_a_file_are_not_trusted() -> None:
    good = built(network())
    with pytest.raises(StoreError, match="not the table"):
        checked_index(good.rows.view(np.uint8), good.names)
    for field, value in [("operator", len(good.names)), ("type", -1), ("source", NO_SOURCE - 1), ("shape", 10**9)]:
        rows = good.rows.copy()
        rows[field][2] = value
        with pytest.raises(StoreError, match=f"column '{field}' points beyond"):
            checked_index(rows, good.names)
    rows = good.rows.copy()
    rows["io"][0] = 2
    with pytest.raises(StoreError, match="neither input nor output"):
        checked_index(rows, good.names)


@pytest.mark.parametrize("shape", ["3,x", "-1", "3,,4", ",".join("1" * 40)], ids=["word", "negative", "gap", "long"])
def test_shapes_read_from_a_file_are_not_trusted(shape: str) -> None:
    good = built(network())
    names = [shape if name == "3,5" else name for name in good.names]
    with pytest.raises(StoreError, match=r"the index.s column .shape. has the value"):
        checked_index(good.rows, names).record(0)


def test_one_slot_twice_is_noticed_when_pairing() -> None:
    good = built(network())
    rows = good.rows.copy()
    rows[3] = rows[0]
    with pytest.raises(StoreError, match="two rows for rank 0"):
        _ = checked_index(rows, good.names).position


def test_describe_key() -> None:
    key = record(0).key
    assert describe_key(key) == "rank 0, graph 0, iteration 0, Default/fc-Dense/MatMul-op0 output.0"
    assert describe_key(key._replace(execution=2)).endswith("output.0, execution 2")
