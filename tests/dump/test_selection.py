"""The ``kernels`` list: how an entry is read, which rule matches a name, which rules matched nothing."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.dump.ecma import RegexError
from harness.dump.json_text import loads
from harness.dump.selection import Selection, entry_text, read_rule, type_part
from tests.dump.build import DATA

NETS = json.loads((DATA / "config_nets.json").read_text())
OPERATORS = [(op, name) for net in NETS.values() for op, name, _, _ in net["ops"]]


@pytest.mark.parametrize(
    ("entry", "text"),
    [
        ('"con v"', "conv"),
        ("1", "1"),
        ("null", "null"),
        ('["conv"]', "[conv]"),
        ('{"b": 1, "a": "x y"}', "{a:xy,b:1}"),
        ('"a\\"b"', "a\\b"),
        ('"\\\\d"', "\\\\d"),
        ('" "', ""),
    ],
)
def test_an_entry_counts_without_quotes_and_blanks(entry: str, text: str) -> None:
    assert entry_text(loads(entry.encode())) == text


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("name-regex(.*)", "regex"),
        ("name-regex(a)b)", "regex"),
        ("name-regex()", "regex"),
        ("Name-Regex(.*)", "type"),
        ("name-regex(.*", "type"),
        ("name-regex(.*)x", "type"),
        ("name-regex(Default/.*", "name"),
        ("Conv2D", "type"),
        ("Conv2D-op0", "name"),
        ("Default/", "name"),
    ],
)
def test_kinds(text: str, kind: str) -> None:
    if text == "name-regex(a)b)":
        with pytest.raises(RegexError):  # it is a pattern, with a parenthesis too many
            read_rule(text)
    else:
        assert read_rule(text).kind == kind


@pytest.mark.parametrize(("op", "name"), OPERATORS)
def test_the_type_part_of_an_operator_is_its_type(op: str, name: str) -> None:
    assert type_part(name) == op
    assert Selection([read_rule(op.upper())]).takes(name)
    assert Selection([read_rule(name)]).takes(name)
    assert not Selection([read_rule(name + "0")]).takes(name)


@given(st.text(max_size=20))
def test_no_rules_take_everything(name: str) -> None:
    assert Selection([]).takes(name)


def test_the_first_rule_is_the_one_of_use_patterns_before_names_before_types() -> None:
    name = "Default/fc-Dense/MatMul-op0"
    texts = ["matmul", name, "name-regex(.*MatMul.*)"]
    selection = Selection([read_rule(text) for text in texts])
    rule = selection.rule_for(name)
    assert rule is not None
    assert rule.text == texts[2]
    selection.dumped(name)
    assert selection.unused() == [name, "matmul"]
    selection.dumped("Default/MatMul-op7")
    assert selection.unused() == [name, "matmul"]
    selection.dumped("nothing takes this")
    assert selection.unused() == [name, "matmul"]


@given(st.recursive(st.none() | st.booleans() | st.text(), st.lists, max_leaves=5))
def test_any_entry_has_a_text(entry: Any) -> None:
    assert not set('" ') & set(entry_text(entry))
