"""JSON as the configuration's reader takes it: measured texts, and agreement with Python's ``json`` on plain JSON."""

from __future__ import annotations

import json
import math
import struct
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.dump import json_text
from harness.dump.config import parse
from harness.dump.json_text import MAX_DEPTH, JsonError, SignedInt, dumps, loads
from harness.errors import DumpConfigError
from tests.dump.build import DATA

TEXTS: list[list[Any]] = json.loads((DATA / "json_texts.json").read_text())

plain = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(0, 2**64 - 1)
    | st.text()
    | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@pytest.mark.parametrize("case", TEXTS, ids=[f"{number}-{case[1]}" for number, case in enumerate(TEXTS)])
def test_measured_texts(case: list[Any]) -> None:
    text, kind, *line = case
    with pytest.raises(DumpConfigError) as caught:
        parse(text, environ={})
    assert caught.value.kind == kind
    if line:
        assert f"line {line[0]}, " in str(caught.value)


@given(plain)
def test_reads_what_json_writes(value: Any) -> None:
    for text in (json.dumps(value), json.dumps(value, ensure_ascii=False, indent=1)):
        assert loads(text.encode("utf-8", "surrogatepass")) == value


@given(plain)
def test_own_text_reads_back(value: Any) -> None:
    assert loads(dumps(value).encode("utf-8")) == value


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_float_texts_are_shortest_and_exact(value: float) -> None:
    text = dumps(value)
    assert struct.pack("d", float(text)) == struct.pack("d", value)
    assert sum(c.isdigit() for c in text.partition("e")[0].strip("-0.")) <= 17


@given(plain, st.text())
def test_text_after_the_first_value_is_not_read(value: Any, rest: str) -> None:
    text = dumps([value])
    assert loads(text.encode() + b" " + rest.encode("utf-8", "replace") + b"\xff") == [value]


@given(st.binary(max_size=60))
def test_any_bytes_give_a_value_or_one_error(data: bytes) -> None:
    try:
        value = loads(data)
    except JsonError as error:
        value = error
    assert not isinstance(value, JsonError) or min(value.line, value.column) >= 1


@given(st.integers(-(2**70), 2**70))
def test_integers_over_64_bits_become_floats(value: int) -> None:
    read = loads(str(value).encode())
    if -(2**63) <= value < 0:
        assert isinstance(read, SignedInt)
    elif 0 <= value < 2**64:
        assert type(read) is int
    else:
        assert isinstance(read, float)
    assert math.isclose(read, value)


def test_a_minus_sign_makes_an_integer_signed() -> None:
    assert isinstance(loads(b"-0"), SignedInt)
    assert not isinstance(loads(b"0"), SignedInt)


def test_nesting_is_bounded() -> None:
    assert loads(b"[" * MAX_DEPTH + b"]" * MAX_DEPTH) is not None
    with pytest.raises(JsonError, match="nested deeper"):
        loads(b"[" * 100_000)


def test_dumps_refuses_what_is_no_json() -> None:
    with pytest.raises(TypeError, match="not JSON serializable"):
        dumps({1, 2})


def test_keys_are_sorted_and_the_text_is_compact() -> None:
    assert dumps(loads(b'{ "b" : [1 , 2], "a" : {} }')) == '{"a":{},"b":[1,2]}'
    assert json_text.dumps("\x01\u00e9") == '"\\u0001\u00e9"'
