"""The text of a failure: the cause within three lines, bounded at any size, nothing raw."""

from __future__ import annotations

import re
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from harness.explain import Cause, Certainty, Change, Commands, Element, Explanation, Origin, block
from harness.explain.text import MAX_BYTES, MAX_LINES
from harness.records import SlotKey

KEY = SlotKey(0, 0, 0, "Default/optimizer-Momentum/ApplyMomentum-op0", 0, "output", 0)
ORIGIN = Origin(
    "output.0 Float32[5]", KEY.operator, KEY, element=Element((4,), "-0.0316671", "-0.0380351"), differing=5, count=5,
    inputs="inputs 0, 1, 3, 4 agree, input.2 (learning_rate) differs",
)  # fmt: skip
CAUSE = Cause(
    Certainty.REPLAY, "parameter", "learning_rate 0.05 -> 0.1", (Change("learning_rate", "0.05", "0.1"),), "train.py:31"
)
MADE = Explanation(
    "tests/test_net.py::test_train [cpu-tensor] differs from golden/x.h5", ORIGIN, CAUSE, (), 151, 278, 669
)
COMMANDS = Commands("msdump show golden/x.h5", "--msdump-report=report.html", "msdump regen tests/test_net.py")


def test_the_block() -> None:
    assert block(MADE, COMMANDS).split("\n") == [
        "tests/test_net.py::test_train [cpu-tensor] differs from golden/x.h5",
        "Cause, proven by replay: learning_rate 0.05 -> 0.1 (train.py:31)",
        "First divergence: iteration 0, Default/optimizer-Momentum/ApplyMomentum-op0, output.0 Float32[5]",
        "  at [4] expected -0.0316671, found -0.0380351; 5 of 5 elements differ; "
        "inputs 0, 1, 3, 4 agree, input.2 (learning_rate) differs",
        "Then 151 operators after it; 278 of 669 slots are identical",
        "See: msdump show golden/x.h5   Picture: --msdump-report=report.html   Meant: msdump regen tests/test_net.py",
    ]


def test_what_is_likely_says_so() -> None:
    cause = replace(CAUSE, certainty=Certainty.LIKELY, source=None)
    assert "Cause, likely: learning_rate 0.05 -> 0.1" in block(replace(MADE, cause=cause)).split("\n")


def test_without_a_cause_nothing_is_said_of_one() -> None:
    assert "Cause" not in block(replace(MADE, cause=None), COMMANDS)


def test_colour_is_asked_for() -> None:
    assert "\033[" not in block(MADE, COMMANDS)
    lines = block(MADE, COMMANDS, colour=True).split("\n")
    assert lines[0].startswith("\033[1mtests/test_net.py")
    assert lines[1].startswith("\033[1;31mCause, proven by replay\033[0m: learning_rate 0.05 -> 0.1")
    assert "expected \033[32m-0.0316671\033[0m, found \033[31m-0.0380351\033[0m; 5 of 5" in lines[3]


@given(st.text(max_size=200), st.booleans())
def test_colour_changes_no_word(text: str, proven: bool) -> None:
    cause = replace(CAUSE, text=text, certainty=Certainty.BITS if proven else Certainty.LIKELY)
    made = replace(MADE, cause=cause, title=f"{text} differs from {text}")
    assert re.sub(r"\033\[[\d;]*m", "", block(made, COMMANDS, colour=True)) == block(made, COMMANDS)


@given(st.lists(st.text(max_size=2000), max_size=40), st.text(max_size=3000))
def test_it_is_bounded_and_nothing_is_raw(others: list[str], name: str) -> None:
    key = KEY._replace(operator=name)
    made = replace(MADE, origin=replace(ORIGIN, operator=name, key=key), others=others, title=name)
    text = block(made, COMMANDS)
    assert len(text.split("\n")) <= MAX_LINES
    assert len(text.encode(errors="replace")) <= MAX_BYTES
    assert all(c == "\n" or c.isprintable() for c in text)
    assert text.split("\n")[1].startswith("Cause")


def test_json_says_the_same() -> None:
    said = MADE.to_json()
    assert said["cause"]["changes"] == [{"name": "learning_rate", "expected": "0.05", "found": "0.1"}]
    assert said["cause"]["proven"] is True
    assert said["origin"]["element"] == {"index": [4], "expected": "-0.0316671", "found": "-0.0380351"}
