"""Wrong calls within graphs are of the class that they are of under the real MindSpore (recorded)."""

from __future__ import annotations

import json
import sys
from typing import Any

import pytest

from tests.differential.mistakes import Outcome
from tests.interop.graph_misuse import CALLS, KINDS, RECORDED, TABLE, letter, primitives, told

ROWS: dict[str, Any] = json.loads(RECORDED.read_text(encoding="utf-8"))
#: each with another mistake
_PRIMITIVES = 4


@pytest.fixture(scope="module")
def found() -> dict[str, Outcome | None]:
    return dict(zip(CALLS, told(sys.executable, CALLS, len(CALLS), own=True), strict=True))


def test_every_call_is_recorded() -> None:
    assert list(ROWS) == list(CALLS)


def test_calls_fail_as_recorded(found: dict[str, Outcome | None]) -> None:
    differs = []
    for call, real in ROWS.items():
        own = found[call]
        assert own is not None, call
        agrees = own.error & set(real) if isinstance(real, list) else not own.error and own.text == real
        if not agrees:
            differs.append(f"{call}: {own.text}, there {real}")
    assert not differs, "\n".join(differs)


def test_errors_name_the_line_of_the_call(found: dict[str, Outcome | None]) -> None:
    assert [call for call, own in found.items() if own and not own.names_line] == []


def test_primitives_miscounted_fail_as_recorded() -> None:
    letters = {
        name: text
        for text, names in json.loads(TABLE.read_text(encoding="utf-8"))["primitives"].items()
        for name in names.split()
    }
    wrong = {}
    for at, (name, calls) in enumerate(primitives()):
        kind = KINDS[at % _PRIMITIVES]
        if kind in calls and letters[name][KINDS.index(kind)] != "-":
            wrong[calls[kind]] = letters[name][KINDS.index(kind)]
    outcomes = dict(zip(wrong, told(sys.executable, list(wrong), len(wrong), own=True), strict=True))
    differs = [
        f"{call}: {outcomes[call]}, there {real}" for call, real in wrong.items() if letter(outcomes[call]) != real
    ]
    assert len(wrong) > 100
    assert not differs, "\n".join(differs)
