"""The checksum of a run: sees every part, and cannot confuse one with another."""

from __future__ import annotations

import numpy as np
import pytest

from harness.errors import StoreError
from harness.store.layout.index import Index, attrs_text, run_checksum
from harness.store.layout.schema import INDEX_DTYPE


def index(names: list[str], slots: int = 1) -> Index:
    return Index(np.zeros(slots, INDEX_DTYPE), names)


def test_every_part_counts() -> None:
    sums = [
        run_checksum(index(["a"]), "tensors", {}, {}),
        run_checksum(index(["a"]), "digest", {}, {}),
        run_checksum(index(["a"], 2), "tensors", {}, {}),
        run_checksum(index(["a", "b"]), "tensors", {}, {}),
        run_checksum(index(["ab"]), "tensors", {}, {}),
        run_checksum(index(["a"]), "tensors", {"x": 1}, {}),
        run_checksum(index(["a"]), "tensors", {}, {"a": b"bc"}),
        run_checksum(index(["a"]), "tensors", {}, {"ab": b"c"}),
        run_checksum(index(["a"]), "tensors", {}, {"a": b"b", "c": b""}),
    ]
    assert len(set(sums)) == len(sums)


def test_order_of_mappings_does_not_count() -> None:
    one = run_checksum(index([]), "tensors", {"a": 1, "b": 2}, {"x": b"1", "y": b"2"})
    assert one == run_checksum(index([]), "tensors", {"b": 2, "a": 1}, {"y": b"2", "x": b"1"})


def test_attrs_must_be_json() -> None:
    assert attrs_text({"b": [1, None], "a": "é"}) == '{"a":"\\u00e9","b":[1,null]}'
    with pytest.raises(StoreError, match="not JSON"):
        attrs_text({"a": object()})
