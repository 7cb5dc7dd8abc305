"""The order of a hash table."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.memory.hash_order import hash_order
from tests.memory import recorded


@pytest.mark.parametrize("sample", recorded.SAMPLES)
def test_order_of_recorded_tables(sample: str) -> None:
    rows = recorded.texts(sample)[sample]["somas_solver_input_0.ir"]
    listed = [int(index) for index in re.findall(r"^T (\d+) ", rows, re.MULTILINE)]
    assert hash_order(sorted(listed)) == listed


@given(st.lists(st.integers(0, 2**63), unique=True, max_size=400))
def test_every_key_is_listed_once(keys: list[int]) -> None:
    assert sorted(hash_order(keys)) == sorted(keys)
