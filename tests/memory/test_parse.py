"""Damaged texts of plans."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import PlanTextError
from harness.memory import parse, texts
from tests.memory import recorded

TEXT = recorded.texts("lenet")["lenet"]["CPU_somas_tensor_offset_0.ir"]
LINES = TEXT.splitlines(keepends=True)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("%1T\t#2048S", "%1T\t#-1S", "line 29"),
        ("LifeLongNone\t0\t1", "LifeLongSome\t0\t1", "line 28"),
        ("%3T %4T", "%3T %99T", "%99T is mentioned"),
        ("inputs[%0P, ", "inputs[%77P, ", "%77P is mentioned"),
        ("%2P\t#16S", "%5P\t#16S", "parameter 2"),
        ("outputs[%0T, ]", "outputs[]", "%0T is neither an output"),
        ("All Stream Groups:", "All Streams:", "without 'All Stream Groups:'"),
        ("All Stream Groups:\n", "All Stream Groups:\nstm1 stm2 \n", "stream groups"),
        ("All Tensors:", "All Nodes:", "a second 'All Nodes:'"),
        ("All Parameters:", "", "begins with"),
        ("Total Memory Size", "Total", "ends with"),
    ],
)
def test_error_says_what_and_where(old: str, new: str, said: str) -> None:
    assert old in TEXT
    with pytest.raises(PlanTextError, match=said):
        parse(TEXT.replace(old, new, 1))


def rows(text: str) -> list[str]:
    """Lines that say something."""
    return [line for line in text.splitlines() if line and not line.startswith(("index:", "start_offset:"))]


@given(st.integers(0, len(LINES) - 1), st.integers(0, len(LINES) - 1))
def test_lines_left_out_are_an_error_or_change_what_is_read(start: int, count: int) -> None:
    cut = "".join(LINES[:start] + LINES[start + count :])
    try:
        state = parse(cut)
    except PlanTextError:
        return
    assert rows(texts.state_text(state)) == rows(cut)


@given(st.text(max_size=200))
def test_any_other_text_is_an_error(text: str) -> None:
    with pytest.raises(PlanTextError):
        parse(text)
