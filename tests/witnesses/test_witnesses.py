"""Each observed fact is needed by its witness: without the row what was recorded of MindSpore no longer agrees."""

from __future__ import annotations

import ast
import json
import re

import pytest

from tests.architecture.source import MODULES, parsed
from tests.framework.compile.test_recorded_graphs import RECORDED
from tests.witnesses.__main__ import is_needed
from tests.witnesses.at_import import still_holds
from tests.witnesses.changes import AT_IMPORT, changes, planted
from tests.witnesses.marks import ROOMS, marks_of, said, says
from tests.witnesses.page import PAGE, written
from tests.witnesses.recordings import apart, graphs_hold, is_there
from tests.witnesses.tables import (
    TABLES,
    WITHOUT,
    WITNESSES,
    Row,
    Table,
    facts,
    held_in_code,
    rows,
    statements,
    table_at,
    take_out,
)
from tests.witnesses.weak import accident

ROWS = rows()
HELD = held_in_code()


def test_every_row_has_a_witness() -> None:
    assert [f"{row.table}: {row.name}" for row in ROWS if not row.witness] == []


def test_every_witness_is_there() -> None:
    assert [row.witness for row in ROWS if row.witness != "crossings" and not is_there(row.witness)] == []


def test_no_witness_is_of_a_row_that_is_gone() -> None:
    there = {(row.table, row.name) for row in ROWS}
    named = {(table, name) for table, found in json.loads(WITNESSES.read_text()).items() for name in found}
    assert named <= there


@pytest.mark.sampled(25)
@pytest.mark.parametrize("row", ROWS, ids=[f"{row.table.rpartition('.')[2]}-{row.name}" for row in ROWS])
def test_a_row_taken_out_is_seen(row: Row) -> None:
    assert is_needed(row)


def test_every_fact_in_code_has_a_witness_or_is_said_to_have_none() -> None:
    """``python -m tests.witnesses seek`` looks for the witness of a new one."""
    there = {(row.table, row.name) for row in statements()}
    assert there == {(table, name) for table, found in facts().items() for name in found}


def test_every_change_and_every_witness_of_a_fact_in_code_is_there() -> None:
    gone = []
    for module, places in facts().items():
        tree = parsed(MODULES[module])
        for place, (function, change, witness) in ((place, fact) for place, fact in places.items() if fact):
            if change.startswith(WITHOUT):
                known = change.removeprefix(WITHOUT) in table_at(module, function).rows()
            else:
                found = changes(tree, only=function.removeprefix(f"{AT_IMPORT}: "))
                known = any(each.text == change for each in found)
            if not (known and is_there(witness)):
                gone.append(f"{module}: {place}: {function}: {change}: {witness}")
    assert gone == []


# A change in memory does not reach a name that other tests of the process imported before: ``tox -e deep`` runs these.
@pytest.mark.deep
@pytest.mark.parametrize("row", HELD, ids=[f"{row.table}-{row.name}" for row in HELD])
def test_a_fact_in_code_that_is_changed_is_seen(row: Row) -> None:
    assert is_needed(row)


@pytest.mark.parametrize(
    ("text", "is_one"),
    [
        ("It has one axis (measured).", True), ("Source: MindSpore 2.10.0, measured.", True),
        ("No such device was measured.", False), ("from documents, not measured", False),
        ("Which are refused was recorded from MindSpore.", True), ("What was recorded of a run.", False),
    ],
)  # fmt: skip
def test_what_says_that_it_was_measured(text: str, is_one: bool) -> None:
    assert says(text) is is_one


def test_where_a_fact_stands() -> None:
    text = """
'''Source: measured.'''
#: of these (measured)
TABLE = {"a": 1}

class Layer:
    def run(self, x):
        '''Twice (measured).'''
        if x:  # none (measured)
            return 0
        # more
        # (measured)
        return x + 1
"""
    found = list(marks_of("harness.x", text, ast.parse(text)))
    assert [(mark.place, type(mark.node).__name__) for mark in found] == [
        ("", "Module"), ("TABLE", "Assign"), ("Layer.run", "FunctionDef"), ("Layer.run #2", "If"),
        ("Layer.run #3", "Return"),
    ]  # fmt: skip


def test_changes_of_a_statement_are_those_of_its_head() -> None:
    tree = ast.parse("def f(x):\n    y = x > 2\n    if x == 1:\n        return 3\n    return y")
    function = tree.body[0]
    assert isinstance(function, ast.FunctionDef)
    assert [change.text for change in changes(tree, function.body[1])] == [
        "if x == 1 -> never", "if x == 1 -> always", "x == 1 -> NotEq", "1 -> 2",
    ]  # fmt: skip
    changes(tree, function.body[1])[0].make()
    assert "if False" in ast.unparse(tree)


def test_changes_at_import_are_those_of_no_function() -> None:
    text = "'of y 1'\nx, z = made(1), 'y 3'\nclass A:\n    y = (x, z)\n    def f(self):\n        return 5"
    tree = ast.parse(text)
    assert [change.text for change in changes(tree, only=AT_IMPORT)] == [
        "1 -> 2", "'y 3' -> 'y 3_'", "'y 3' -> 'y 4'", "(made(1), 'y 3') -> without its last",
        "(made(1), 'y 3') -> backwards", "(x, z) -> without its last", "(x, z) -> backwards", "y = (x, z) -> None",
        "made(1) -> its last argument",
    ]  # fmt: skip
    assert "f" not in {change.function for change in changes(tree, tree.body[1])}


def test_a_change_that_is_gone_is_told() -> None:
    with pytest.raises(ValueError, match="has no 'x -> y'"):
        planted("harness.log.lines", "shown_path", "x -> y")
    with pytest.raises(ValueError, match="has no 'x -> y'"):
        still_holds("harness.log.lines", AT_IMPORT, "x -> y", "merged")


def test_no_fact_of_mindspore_is_said_elsewhere() -> None:
    """Outside of ``ROOMS`` nothing that was measured is about a release of MindSpore."""
    outside = [name for name in MODULES if not f"{name}.".startswith(tuple(f"{room}." for room in ROOMS))]
    texts = {name: MODULES[name].read_text(encoding="utf-8") for name in outside}
    found = [
        f"{name}: {words}"
        for name, text in texts.items()
        if says(text)
        for words in said(text, parsed(MODULES[name]))
        if says(words) and re.search(r"MindSpore \d", words)
    ]
    assert found == []


def test_a_row_that_nothing_needs_is_told() -> None:
    row = next(each for each in ROWS if each.witness == "merged")
    assert not is_needed(row._replace(take_out=lambda: None))


def test_a_row_is_taken_out_of_this_process_alone() -> None:
    table = next(each for each in TABLES if each.name == "SPREAD")

    def without() -> bool:
        take_out(table, "ops.relu")
        return "ops.relu" in table.value

    assert apart(without) is False
    assert "ops.relu" in table.value


def test_a_failure_in_the_other_process_is_one_here() -> None:
    with pytest.raises(RuntimeError, match="no_such_net"):
        apart(lambda: graphs_hold("no_such_net") or RECORDED["no_such_net"])


def test_a_witness_that_fails_by_an_error_alone_is_told() -> None:
    def without(change: str) -> str:
        planted("harness.framework.compile.source", "_source_line", change)
        return accident("merged")

    assert apart(lambda: without("known = column > 0 -> None")) == ""
    assert apart(lambda: without("linecache.getline(filename, line) -> its last argument")) == "AttributeError"


def test_what_is_not_a_table_is_refused() -> None:
    with pytest.raises(TypeError, match="no row can be taken out"):
        take_out(Table("framework.tensor.dispatch", "OLD", ""), "x")


def test_the_page_counts_them() -> None:
    """``python -m tests.witnesses page`` rewrites it."""
    text = PAGE.read_text(encoding="utf-8")
    assert written(text) == text
